"""Requests by HTTP: one that asks, one that tries the program out, one that changes another machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed
from trialrun.verification.paths import is_fleeting
from trialrun.verification.programs.making import make_deed
from trialrun.verification.runners import Runner
from trialrun.verification.services import service_of, stages_of
from trialrun.verification.shell import Command

_SENDERS = frozenset({"curl", "wget", "httpie"})
_METHOD = re.compile(r"(?:-X|--request=?|--method=?)(GET|POST|PUT|PATCH|DELETE|HEAD)?$")
_WITH_BODY = frozenset(
    "-d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form --post-data --post-file".split()
)
_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# What these addresses do is meant for the machine that answers, whatever is sent.
_OPERATES = re.compile(
    r"(?<![a-z])(?:re)?(?:deploy|start|load)(?![a-z])|(?<![a-z])(?:deployments?|rollback|rollout|promote|purge|releases?|publish|shutdown|dispatches|hooks?|webhooks?)(?![a-z])"
)
# A question that happens to be sent as a POST, or a request that only tries an address.
_ASKS = re.compile(
    r"(?<![a-z])(?:log-?in|sign-?in|auth|oauth2?|tokens?|sessions?|graphql|search|query|queries|health\w*|status|validate|check|preview|tests?|echo|rpc|completions?|embeddings?|predict|render|convert|introspect|ping|_search|_count)(?![a-z])"
)


# A message to people leaves nothing behind that could be looked at.
_MESSAGES = re.compile(
    r"hooks\.slack\.com|slack\.com/api/chat|discord(?:app)?\.com/api/webhooks|api\.telegram\.org|webhook\.office\.com"
)


def probe_service(command: Command, runner: Runner, words: list[str]) -> Iterator[Deed]:
    saved = _saved_to(words) if runner.name in ("curl", "wget") else None
    if saved is not None and not is_fleeting(saved):
        yield make_deed(d.EDIT, command, by=f"{command.name} -o", paths=(saved,))
    service = service_of(command, words)
    probe = make_deed(d.PROBE, command, by=runner.name, service=service, runner=runner)
    method = _method(words) if runner.name in _SENDERS else None
    if method not in _CHANGING:
        yield probe
        return
    change = make_deed(d.SERVICE, command, by=runner.name, service=service)
    address = _address(words)
    path = address.partition("://")[2].partition("/")[2].lower()
    if any("reload" in word or "restart" in word for word in words):
        yield change
    elif not _is_elsewhere(address) or _MESSAGES.search(address):
        yield probe
    elif _OPERATES.search(path) and not (_is_rehearsed(address) and _wants_status(words)):
        yield change
    elif method == "POST" and (
        _ASKS.search(path) or _is_rehearsed(address) or _wants_status(words)
    ):
        yield probe
    else:
        # The answer shows that the machine is there; what was made or taken away there is owed a look.
        yield probe
        yield change


def _wants_status(words: Sequence[str]) -> bool:
    """`-o /dev/null -w '%{http_code}'`: what it wants to know is whether it is answered."""
    return any("http_code" in word or "response_code" in word for word in words)


def _method(words: Sequence[str]) -> str | None:
    for word, after in pairwise((*words, "")):
        found = _METHOD.match(word)
        if found:
            return found.group(1) or after.upper()
        if word in _CHANGING:  # http POST …
            return word
    if {"-G", "--get", "-I", "--head"} & set(words):
        return None
    if any(word.partition("=")[0] in _WITH_BODY for word in words):
        return "POST"
    if any(word in ("-T", "--upload-file") for word in words):
        return "PUT"
    return None


def _address(words: Sequence[str]) -> str:
    """The address that is asked, with its scheme."""
    for word in words[1:]:
        if "://" in word:
            return word
    for word in words[1:]:
        if re.match(r"^(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:/|$)|^localhost\b|^:\d", word):
            return "http://" + word
    return ""


_NEAR = re.compile(
    r"^(?:localhost|0\.0\.0\.0|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[|[^.]*$|.*\.(?:local|localhost|internal)$)"
)


def _host(address: str) -> str:
    return address.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0]


def _is_elsewhere(address: str) -> bool:
    """Whether the address is one of another machine, and not of what is being worked on here."""
    host = _host(address).lower()
    return bool(host) and not host.startswith("$") and not _NEAR.match(host)


def _is_rehearsed(address: str) -> bool:
    """Whether the machine is there for trying things out."""
    return bool(stages_of(_host(address).lower().rpartition(".")[0]) - {"production"})


def _saved_to(words: Sequence[str]) -> str | None:
    """The file that a download is written to."""
    for word, after in pairwise(words):
        if word in ("-o", "-O", "--output", "--output-document") and not after.startswith("-"):
            return None if word == "-O" and words[0].endswith("curl") else after
    return None
