"""What is given to others: packages, images, releases, merged requests. And looks at these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed, Service
from trialrun.verification.programs.making import is_rehearsal, make_deed
from trialrun.verification.services import service_of
from trialrun.verification.shell import Command

_PUBLISHES = re.compile(
    r"(?:npm|pnpm|yarn|yarn npm|cargo|poetry|uv|hatch|flit|pdm|bun|jsr|deno|dart pub|mix hex\.?) publish\b|gem push\b|(?:docker|podman|buildah|crane|helm) push\b|docker image push\b"
    r"|gh (?:pr merge|release (?:create|edit|delete|upload)|workflow run|repo (?:create|delete)|secret set)|glab (?:mr merge|release create)|hub (?:merge|release create)"
)
# These say something about what was published, and nothing about whether anything works.
_LOOKS_AT = re.compile(
    r"(?:npm|pnpm|yarn|yarn npm) (?:view|info|show)\b|cargo (?:search|info)\b|gem (?:search|info)\b|pip (?:index versions|download)\b|(?:docker|podman|skopeo|crane) (?:manifest(?: inspect)?|inspect|pull|buildx imagetools inspect)\b"
    r"|gh (?:pr|release|workflow|repo) (?:view|list|status)|glab (?:mr|release) (?:view|list|status)"
)
_NAMES = frozenset(
    "npm pnpm yarn cargo poetry uv hatch flit pdm bun jsr deno dart mix gem docker podman buildah crane skopeo helm gh glab hub pip".split()
)


def publish(command: Command, words: Sequence[str]) -> Iterator[Deed]:
    """The change of a registry or of a forge, or a look there; nothing for any other command."""
    if words[0] not in _NAMES:
        return
    text = " ".join(words)
    if _PUBLISHES.match(text) and not is_rehearsal(command):
        yield make_deed(
            d.SERVICE, command, by=" ".join(words[:3]), service=_place(command, words), content=text
        )
    elif _LOOKS_AT.match(text) and words[:2] != ("docker", "inspect"):
        yield make_deed(
            d.PROBE, command, by=" ".join(words[:3]), service=_place(command, words), answers=True
        )


def _place(command: Command, words: Sequence[str]) -> Service:
    if words[0] in ("gh", "glab", "hub"):
        noun = words[1] if len(words) > 1 else ""
        named = [word for word in words[3:4] if not word.startswith("-")]
        return Service(frozenset(f"{noun} {word.lstrip('#')}" for word in named))
    if words[0] in ("docker", "podman"):
        return Service(host=service_of(command, words).host)
    return Service()
