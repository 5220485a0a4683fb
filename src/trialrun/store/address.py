"""The address of a PostgreSQL store: `postgresql://user:password@host:port/database?option=value`.

libpq would read such a URL too, but not show it without the password, and it takes other special
characters as they are than trialrun 0.1 did.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote

from msgspec import Struct

# postgresql://me:p%40ss@db.example:5432/runs?sslmode=require, postgresql://[::1]/runs,
# postgresql:///runs?host=/var/run/postgresql
_URL = re.compile(
    r"""
    [\w+]+://
    (?:(?P<user>[^:/]*)(?::(?P<password>[^@]*))?@)?
    (?:\[(?P<ipv6>[^/?]+)\]|(?P<host>[^/:?]+))?
    (?::(?P<port>[^/?]*))?
    (?:/(?P<database>[^?]*))?
    (?:\?(?P<options>.*))?
    """,
    re.VERBOSE,
)
_HOST_AND_PORT = re.compile(r"([A-Za-z0-9.-]*):(\d*)")  # db.example:5433
_SECRET = ("password", "secret", "scram_client_key", "scram_server_key")


class Address(Struct, frozen=True, kw_only=True):
    """Where a database is. `options` are those of libpq: `sslmode`, `connect_timeout`, …"""

    user: str | None
    password: str | None
    host: str | None
    port: int | None
    database: str | None
    options: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """The address without what is secret in it."""
        shown = "postgresql://"
        if self.user is not None:
            password = "" if self.password is None else ":***"
            shown += quote(self.user, safe=" +") + password + "@"
        if self.host is not None:
            shown += f"[{self.host}]" if ":" in self.host else self.host
        if self.port is not None:
            shown += f":{self.port}"
        if self.database is not None:
            shown += "/" + quote(self.database, safe=" +/")
        if self.options:
            shown += "?" + "&".join(map(_shown_option, sorted(self.options)))
        return shown

    def connection_options(self) -> dict[str, Any]:
        """All of it as options of libpq; those after the `?` come first."""
        found: dict[str, Any] = {
            "user": self.user,
            "password": self.password,
            "host": self.host,
            "port": self.port,
            "dbname": self.database,
            **dict(self.options),
        }
        hosts = [value for name, value in self.options if name == "host"]
        found |= _hosts(hosts, "port" in dict(self.options))
        return {name: value for name, value in found.items() if value not in (None, "")}


def read_address(text: str) -> Address:
    """Take a URL apart; ValueError if it is not one."""
    parts = _URL.fullmatch(text)
    if parts is None:
        raise ValueError("not an address")
    user, password, database = (
        None if parts[name] is None else unquote(parts[name])
        for name in ("user", "password", "database")
    )
    return Address(
        user=user,
        password=password,
        host=parts["host"] or parts["ipv6"],
        port=int(parts["port"]) if parts["port"] else None,
        database=database,
        options=tuple(parse_qsl(parts["options"] or "")),
    )


def _shown_option(option: tuple[str, str]) -> str:
    name, value = option
    hidden = any(word in name for word in _SECRET)
    return f"{quote_plus(name)}={'***' if hidden else quote_plus(value)}"


def _hosts(given: list[str], with_ports: bool) -> dict[str, str]:
    """`host=a:1&host=b:2`, or one `host=a:1`, in the form of libpq: `host=a,b` and `port=1,2`."""
    pairs = [_HOST_AND_PORT.fullmatch(host) for host in given]
    if with_ports or not any(pairs) or (len(given) == 1 and "," in given[0]):
        return {"host": ",".join(given)} if given else {}
    hosts = [pair[1] if pair else host for pair, host in zip(pairs, given, strict=True)]
    ports = [pair[2] if pair else "" for pair in pairs]
    return {"host": ",".join(hosts), "port": ",".join(ports)}
