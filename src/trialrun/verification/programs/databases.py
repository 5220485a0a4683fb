"""Clients of databases: what they are told to do, and to which database."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed, Service
from trialrun.verification.paths import tidy
from trialrun.verification.programs.making import make_deed, plain_words
from trialrun.verification.shell import Command
from trialrun.verification.sql import document_kind, statement_kind

DATABASES = frozenset(
    "psql mysql mariadb sqlite3 mongosh mongo duckdb bq clickhouse-client snowsql cockroach cqlsh sqlcmd".split()
)
_DOCUMENTS = frozenset({"mongosh", "mongo"})
_PLAIN_STATEMENTS = _DOCUMENTS | {"sqlite3", "duckdb", "bq", "clickhouse-client", "snowsql"}
_GIVES_STATEMENT = frozenset("-c -e --command --execute -Atc -tAc -Q -q --eval -tc -Ac".split())
_WITH_VALUE = _GIVES_STATEMENT | frozenset(
    "-h --host -p --port -U --username -u --user -f --file -i -v --set -P -F -o --output -L -cmd".split()
)
_NAMES_DATABASE = frozenset({"-d", "--dbname", "-D", "--database", "--db"})
_URL = re.compile(r"^[a-z+]+://[^/]*/([\w.-]+)")


def ask_database(command: Command, words: list[str]) -> Iterator[Deed]:
    """`psql -c "UPDATE …"` changes, `psql -c "SELECT …"` looks."""
    texts: list[str] = []
    files: list[str] = []
    for index, word in enumerate(words[1:], 1):
        before = words[index - 1]
        if before in _GIVES_STATEMENT or (
            re.fullmatch(r"-[A-Za-z]*c", before) and command.name == "psql"
        ):
            texts.append(word)
        elif before in ("-f", "--file", "-i"):
            files.append(word)
        elif command.name in _PLAIN_STATEMENTS and " " in word:
            texts.append(word)
        elif word.startswith(("--command=", "--execute=", "--eval=")):
            texts.append(word.partition("=")[2])
    if command.stdin:
        texts.append(command.stdin)
    fed = command.piped_from
    if fed and fed[0] in ("echo", "printf"):
        texts.append(" ".join(word for word in fed[1:] if word not in ("-e", "-n")))
    elif fed and fed[0] == "cat":
        files += [word for word in fed[1:] if not word.startswith("-")]
    files += command.reads
    database = _database(command.name, words)
    for text in texts:
        read = document_kind if command.name in _DOCUMENTS else statement_kind
        kind, names = read(text)
        if kind is not None:
            made = Service(names, command.host, database=database)
            yield make_deed(
                d.DATA if kind == "changes" else d.QUERY, command, service=made, content=text
            )
    service = Service(frozenset(), command.host, database=database)
    for file in files:
        yield make_deed(d.RUN, command, by=f"{command.name} < {file}", paths=(file,))
        yield make_deed(d.DATA, command, service=service, paths=(), source=file)


def _database(name: str, words: Sequence[str]) -> str | None:
    """The database that the client is told to open; None where it takes the usual one."""
    for index, word in enumerate(words[1:], 1):
        option, equals, value = word.partition("=")
        if option in _NAMES_DATABASE:
            found = value if equals else (words[index + 1] if index + 1 < len(words) else "")
            return _plain_name(found)
    values = _WITH_VALUE | {word for word in words if re.fullmatch(r"-[A-Za-z]*c", word)}
    for word in plain_words(words[1:], values):
        if " " not in word and name not in ("bq", "snowsql", "clickhouse-client"):
            return _plain_name(word)
    return None


def _plain_name(text: str) -> str | None:
    if "://" in text:
        found = _URL.match(text)
        return found.group(1).lower() if found else None
    return None if not text or text.startswith("$") else tidy(text).lower()


_REDIS_CHANGES = frozenset(
    "set del unlink flushall flushdb hset hdel hmset expire persist lpush rpush lpop rpop ltrim sadd srem zadd zrem incr decr incrby append rename setex setnx mset getset getdel xadd xdel copy restore move".split()
)
_REDIS_LOOKS = frozenset(
    "get mget exists ttl pttl keys scan type hget hgetall hkeys hlen lrange llen smembers scard sismember zrange zcard dbsize strlen info memory object xlen xrange getrange".split()
)
_REDIS_VALUES = frozenset("-h -p -a -u -n -s --user --pass -r -i -d --pattern".split())


def ask_redis(command: Command, words: list[str]) -> Iterator[Deed]:
    """`redis-cli DEL key` changes, `redis-cli GET key` looks."""
    plain = plain_words(words[1:], _REDIS_VALUES)
    if not plain and command.piped_from[:1] == ("echo",):
        plain = " ".join(command.piped_from[1:]).split()
    if not plain:
        return
    verb = plain[0].lower()
    changes = verb in _REDIS_CHANGES or [one.lower() for one in plain[:2]] == ["config", "set"]
    if not changes and verb not in _REDIS_LOOKS:
        return
    number = words[words.index("-n") + 1] if "-n" in words[:-1] else None
    wide = verb in ("flushall", "flushdb", "dbsize", "info", "keys", "scan", "memory", "config")
    names = frozenset() if wide else frozenset(word.lower() for word in plain[1:2])
    yield make_deed(
        d.DATA if changes else d.QUERY,
        command,
        by=f"redis-cli {verb}",
        service=Service(names, command.host, database=number),
        content=" ".join(plain),
    )
