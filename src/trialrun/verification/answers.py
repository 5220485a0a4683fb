"""What a probe of a service printed: a status of HTTP, or the state of a process."""

from __future__ import annotations

import re

from trialrun.model.ledger import Outcome
from trialrun.verification.marks import Marked
from trialrun.verification.outcomes import Printed, line_of

_PASSED, _FAILED = Outcome.PASSED, Outcome.FAILED

_HTTP_STATUS = re.compile(
    r"\bHTTP/\d(?:\.\d)? (\d{3})\b|^(\d{3})$|(?:\bstatus(?:[ _]?code)?|\bHTTP(?: code)?)[\"']?\s*[:= ]\s*[\"']?(\d{3})\b"
    r"|\b(?:returned|got|->|→|=>) (\d{3})\b|\(HTTP (\d{3})\)|\s(\d{3}) (?:OK|Created|No Content|Bad Gateway|Service Unavailable|Internal Server Error|Not Found)\b"
    r"|returned error: (\d{3})",
    re.MULTILINE | re.IGNORECASE,
)
_TRAILING_STATUS = re.compile(r"(?:^|[^\d.])([1-5]\d{2})\s*$")
_PROBE_FAILED = Marked(
    (
        "conclusion",
        "error",
        "not found",
        "state",
        "packet loss",
        "0/",
        "000",
        "internal",
        "service",
        "gateway",
        "<title",
        "activ",
        "available",
        "back",
        "cannot ",
        "connect",
        "resolve",
        "deployment",
        "empty reply",
        "errimagepull",
        "exceeded",
        "exited (",
        "fail",
        "no resources",
        "no route",
        "oomkilled",
        "ready",
        "restarting",
        "running",
        "status",
        "stopped",
        "timed out",
        "timeout",
        "traceback",
        "unhealthy",
    ),
    r"\"status\"\s*:\s*\"(?:in_progress|queued|pending|waiting)\b|'status': '(?:in_progress|queued|pending)'|\"state\"\s*:\s*\"(?:pending|failure|error)\"|\"conclusion\"\s*:\s*\"(?:failure|cancelled|timed_out|action_required|startup_failure)\"|\bconclusion: (?:failure|cancelled)|connection refused|could not resolve|couldn't connect|Failed to connect|timed out|timeout|no route to host|connection reset|"
    r"^\S+\s+fail\s|Pipeline state: failed|completed with 'failure'|ActiveState=(?:activating|failed|inactive|deactivating)|SubState=(?:auto-restart|failed|dead)|^000$|Empty reply|CrashLoopBackOff|ImagePullBackOff|ErrImagePull|\bError\b.*\bback-off|OOMKilled|\bExited \(\d+\)|\(unhealthy\)|\bunhealthy\b|\bRestarting \(|"
    r"Active: (?:failed|inactive|activating)|^(?:inactive|failed|activating|deactivating)$|502 Bad Gateway|503 Service|500 Internal|504 Gateway|"
    r"\"?status\"?\s*[:=]\s*\"?(?:down|error|fail|failed|unhealthy|degraded|DOWN)\b|\bstopped\b|not (?:running|ready|available)|0/[1-9]\d* +(?:\w+ )?|"
    r"error: (?:deployment|timed out)|exceeded its progress deadline|NotReady|Internal Server Error|Bad Gateway|Service Unavailable|Traceback \(most|"
    r"100(?:\.0)?% packet loss|No resources found|<title>[^<]{0,60}\b(?:[45]\d\d|error|not found|forbidden|unauthorized)\b|^Cannot (?:GET|POST|PUT|PATCH|DELETE) /|"
    r"\A\s*\{\s*\"(?:error|errors)\"\s*:\s*(?!null|false|\"\"|\[\s*\]|\{\s*\}|0\b)|\"detail\"\s*:\s*\"Not Found\"|\"statusCode\"\s*:\s*[45]\d\d",
    re.IGNORECASE | re.MULTILINE,
)
_PROBE_PASSED = re.compile(
    r"\"conclusion\"\s*:\s*\"success\"|\bhealthy\b|Active: active \(running\)|^active$|successfully rolled out|\bUp \d+|\bUp About|\bUp Less|\bRunning\b|"
    r"\"?status\"?\s*[:=]\s*\"?(?:ok|up|pass|passing|healthy|UP|green|ready|running|success|active|deployed)\b|"
    r"\b200 OK\b|\b([1-9]\d*)/\1\b|\bSTATUS: deployed\b|^(?:ok|pong|healthy|running)$|\bready\b|succeeded|\bonline\b|listening on",
    re.IGNORECASE | re.MULTILINE,
)


# The names of the columns, and below them nothing: there is no such container.
_ONLY_A_HEADER = re.compile(r"[A-Z]+(?: [A-Z]+)?(?: {2,}[A-Z]+(?: [A-Z]+)?){2,} *")


def read_probe(output: str) -> Printed | None:
    """What a probe of a service printed: a status of HTTP, or the state of a process."""
    if _ONLY_A_HEADER.fullmatch(output.strip()):
        return Printed(_FAILED, None, "it lists nothing")
    codes = [
        (int(next(group for group in match.groups() if group)), match)
        for match in _HTTP_STATUS.finditer(output)
    ]
    if codes:
        code, match = codes[-1]
        # 000 is what curl prints where nobody answered.
        bad = next((one for one in codes if one[0] >= 400 or one[0] < 100), None)
        if bad is not None and (code >= 400 or code < 100):
            return Printed(_FAILED, None, line_of(output, bad[1]))
        return Printed(_PASSED, None, line_of(output, match))
    failure = _PROBE_FAILED.search(output)
    if failure:
        return Printed(_FAILED, None, line_of(output, failure))
    trailing = _TRAILING_STATUS.search(output.strip())
    if trailing:
        code = int(trailing.group(1))
        outcome = _PASSED if code < 400 else _FAILED
        return Printed(outcome, None, output.strip().splitlines()[-1][:200])
    good = _PROBE_PASSED.search(output)
    if good:
        return Printed(_PASSED, None, line_of(output, good))
    return None
