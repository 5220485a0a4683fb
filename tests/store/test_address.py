"""Addresses of PostgreSQL: the connection options, and how an address is shown."""

from __future__ import annotations

import pytest

from trialrun.store.address import read_address


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("postgresql://", {}),
        ("postgresql:///runs", {"dbname": "runs"}),
        ("postgresql://host/", {"host": "host"}),
        ("postgres://me@host/runs", {"user": "me", "host": "host", "dbname": "runs"}),
        (
            "postgresql+psycopg://me:word@host:5433/runs",
            {"user": "me", "password": "word", "host": "host", "port": 5433, "dbname": "runs"},
        ),
        (
            "postgresql://m%40e:p%2F%3A%40%25+d@host/my%20runs",
            {"user": "m@e", "password": "p/:@%+d", "host": "host", "dbname": "my runs"},
        ),
        ("postgresql://[::1]:5433/runs", {"host": "::1", "port": 5433, "dbname": "runs"}),
        (
            "postgresql:///runs?host=/var/run/pg&sslmode=require&application_name=a%20b+c",
            {
                "dbname": "runs",
                "host": "/var/run/pg",
                "sslmode": "require",
                "application_name": "a b c",
            },
        ),
        (
            "postgresql://me:one@host/runs?password=two&user=you",
            {"user": "you", "password": "two", "host": "host", "dbname": "runs"},
        ),
        ("postgresql://?host=a,b&port=1,2", {"host": "a,b", "port": "1,2"}),
        ("postgresql://?host=a:1&host=b", {"host": "a,b", "port": "1,"}),
        ("postgresql://?host=a:1", {"host": "a", "port": "1"}),
        ("postgresql://?host=a&host=b", {"host": "a,b"}),
        ("postgresql://me:@host/?sslmode=", {"user": "me", "host": "host"}),
    ],
)
def test_an_address_is_parsed_into_connection_options(url, options):
    assert read_address(url).connection_options() == options


@pytest.mark.parametrize(
    "url", ["postgresql://h:port/x", "postgresql://h:1:2/x", "postgresql://[::1]x/y"]
)
def test_an_invalid_address_is_refused(url):
    with pytest.raises(ValueError):
        read_address(url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgres://me:hidden@host:1/x", "postgresql://me:***@host:1/x"),
        ("postgresql+psycopg://me@[::1]/x", "postgresql://me@[::1]/x"),
        ("postgresql://:hidden@h/x", "postgresql://:***@h/x"),
        ("postgresql://m%40e:%40hidden@h/a%3Fb", "postgresql://m%40e:***@h/a%3Fb"),
        (
            "postgresql:///x?sslmode=require&password=hidden&sslpassword=hidden",
            "postgresql:///x?password=***&sslmode=require&sslpassword=***",
        ),
        (
            "postgresql:///x?password=hidden&password=hidden2&oauth_client_secret=hidden",
            "postgresql:///x?oauth_client_secret=***&password=***&password=***",
        ),
    ],
)
def test_an_address_is_shown_without_its_secrets(url, shown):
    assert str(read_address(url)) == shown
