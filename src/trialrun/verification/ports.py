"""Which service of a compose file listens on which port, where such a file was seen."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SERVICE_KEY = re.compile(r"^  ([\w-]+):\s*$")
_PORT = re.compile(r"[\"'\s\[-](\d{2,5}):\d{2,5}")
_LINE_NUMBER = re.compile(r"^\s*\d+[→\t]")


def ports_in(texts: Iterable[str]) -> dict[str, str]:
    """The name of the service by its port."""
    found: dict[str, str] = {}
    for text in texts:
        if "ports:" not in text or len(text) > 100_000:
            continue
        name = ""
        for line in text.splitlines():
            line = _LINE_NUMBER.sub("", line)
            key = _SERVICE_KEY.match(line)
            if key:
                name = key.group(1)
            for port in _PORT.findall(line):
                if name:
                    found.setdefault(port, name)
    return found
