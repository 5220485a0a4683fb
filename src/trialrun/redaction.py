"""Masks secrets in what an agent said or did, before anything is shown or written.

Masked are private keys, the keys and tokens of well-known services, bearer and basic credentials,
passwords in URLs, opaque values after a name like `api_key=`, what a key like `password` holds in
plain data, the values of environment variables named like secrets, and matches of the user's
patterns. An encoded secret (base64, percent-encoding,
compression) is out of scope: it cannot be distinguished from other data.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from trialrun.errors import CannotMask
from trialrun.measures import patterns
from trialrun.measures.patterns import Pattern, compiled
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.util.secret_names import Place, secret_places
from trialrun.util.secrets import (
    may_hold_a_secret,
    names_a_secret,
    reads_like_text,
    secret_spans,
)

MASK = "[redacted]"

Spans = list[tuple[int, int]]

_SECRET_NAME = lazy_pattern(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)  # OPENAI_API_KEY
_SURELY_LONG_ENOUGH = 12
_SHORTEST_VALUE = 8
_ESCAPED_IN_JSON = lazy_pattern(r"[^ !#-\[\]-~]|/")  # `"`, `\`, `é`, and `/`, which some escape


def _environment() -> Mapping[Any, Any]:
    # Comparing the dict inside `os.environ` takes a microsecond; `os.environ` itself decodes every
    # item, which takes longer than all the rest. It is the fallback where that dict is missing.
    found: Mapping[Any, Any] = getattr(os.environ, "_data", os.environ)
    return found


def _secret_values(environment: Mapping[Any, Any], variables: Collection[str]) -> list[str]:
    named = ((os.fsdecode(name), value) for name, value in environment.items())
    values = {
        os.fsdecode(value).strip()
        for name, value in named
        if name in variables or _SECRET_NAME.search(name)
    }
    return sorted(value for value in values if _is_worth_masking(value))


def _is_worth_masking(value: str) -> bool:
    if len(value) >= _SURELY_LONG_ENOUGH:
        return True
    return len(value) >= _SHORTEST_VALUE and not (
        reads_like_text(value) or "/" in value or "\\" in value
    )


_MOST_PASSES = 4
_MOST_REMEMBERED = 4000
_LONGEST_REMEMBERED = 200


class Redactor:
    """Masks secrets, including the matches of the user's patterns.

    Values of secret environment variables are masked if they have 12 characters or more, or 8 or
    more and do not read like words, a number or a path: `true` and `us-east` are in many texts,
    `hunter2-x` in few. The environment is read on each call: an agent may load keys as it runs.
    """

    def __init__(self, patterns: Sequence[str] = (), variables: Collection[str] = ()) -> None:
        """`variables`: further environment variables whose values are secret."""
        self._patterns = [_compiled(pattern) for pattern in patterns]
        self._variables = frozenset(variables)
        self._seen: dict[Any, Any] | None = None
        self._values: list[str] = []
        self._is_escaped = False
        self._clean: set[str] = set()
        self._clean_before: set[str] = set()

    def text(self, text: str) -> str:
        """The text with every secret masked."""
        self._read_environment()
        return self._masked(text)

    def plain(self, value: Any) -> Any:
        """The value with every text in its dicts, lists and tuples masked, keys included.

        The value is a tree, as in JSON, of any depth. If there is nothing to mask, the same object
        is returned.
        """
        self._read_environment()
        if isinstance(value, str):
            return self._masked(value)
        containers, texts = _containers_and_texts(value)
        # As in `_masked_entry`: some texts are recognized as secrets only by their key.
        texts += [
            f"{key}: {item}"
            for container in containers
            if isinstance(container, dict)
            for key, item in container.items()
            if isinstance(key, str) and isinstance(item, str)
        ]
        new = self._unknown([text for text in texts if text not in self._clean])
        named = secret_places(containers)
        if not named and self._are_clean(new):
            self._remember(new)
            return value
        # Inner containers come after outer ones: in reverse, parts are rebuilt before the whole.
        made: dict[int, Any] = {}
        for container in reversed(containers):
            made[id(container)] = self._rebuilt(container, made, named)
        return made[id(value)] if containers else value

    def clean(self, values: Iterable[Any]) -> list[bool]:
        """Of each value, whether a look at all of it at once shows that there is nothing to mask.

        That is much quicker than `plain`, which looks at each text; False says nothing.
        """
        self._read_environment()
        return [self._is_clean_value(value) for value in values]

    def _is_clean_value(self, value: Any) -> bool:
        if self._patterns:
            return False
        try:
            text = msgspec.json.encode(value).decode()
        except (TypeError, ValueError, RecursionError):
            return False
        known = f"\0{text}"  # as plain text, the same may be clean where the value is not
        if self._is_clean(known):
            return True
        if self._may_change(text) or names_a_secret(text):
            return False
        self._remember([known])
        return True

    def _are_clean(self, texts: list[str]) -> bool:
        """Whether none of the texts holds a secret, alone."""
        if not texts or not self._may_change("\n".join(texts)):
            return True
        return not any(self._may_change(text) and self._spans(text) for text in texts)

    def _rebuilt(self, container: Any, made: dict[int, Any], named: set[Place]) -> Any:
        own = id(container)
        if not isinstance(container, dict):
            items = [
                MASK if (own, index) in named else self._part(item, made)
                for index, item in enumerate(container)
            ]
            return items if isinstance(container, list) else tuple(items)
        rebuilt: dict[Any, Any] = {}
        for key, item in container.items():
            name = self._masked(key) if isinstance(key, str) else key
            number = 2
            while name in rebuilt:  # two secrets as keys: neither entry may be lost
                name, number = f"{MASK} ({number})", number + 1
            if (own, key) in named:
                rebuilt[name] = MASK
            elif isinstance(key, str) and isinstance(item, str):
                rebuilt[name] = self._masked_entry(key, item)
            else:
                rebuilt[name] = self._part(item, made)
        return rebuilt

    def _part(self, item: Any, made: dict[int, Any]) -> Any:
        return self._masked(item) if isinstance(item, str) else made.get(id(item), item)

    def _masked_entry(self, name: str, text: str) -> str:
        """The text of a dict entry, masked as part of `name: text` too: the key may reveal it."""
        together, cut = f"{name}: {text}", len(name) + 2
        if self._is_clean(together) or not self._may_change(together):
            return text
        inner = [(max(at - cut, 0), end - cut) for at, end in self._spans(together) if end > cut]
        spans = self._spans(text) + inner
        if not spans:
            self._remember([text, together])
        return self._with_all_masks(text, spans)

    def _masked(self, text: str) -> str:
        if self._is_clean(text) or not self._may_change(text):
            return text
        spans = self._spans(text)
        if not spans:
            self._remember([text])
        return self._with_all_masks(text, spans)

    def _with_all_masks(self, text: str, spans: Spans) -> str:
        """Mask, then search again: in `AIza…sk-…` the second key is only found after a mask."""
        masked = _with_masks(text, spans)
        for _ in range(_MOST_PASSES):  # a custom pattern could match its own mask for ever
            if masked == text:
                break
            text, masked = masked, _with_masks(masked, self._spans(masked))
        return masked

    def _remember(self, texts: Iterable[str]) -> None:
        """Remember short texts without a secret: words of our results repeat thousands of times.

        When the memory is full, what was not used since it was last full is forgotten: the names of
        thousands of cases must not keep out `prompt_tokens`, which is in every trace.
        """
        if len(self._clean) >= _MOST_REMEMBERED:
            self._clean_before = self._clean
            self._clean = set()
        self._clean.update(text for text in texts if len(text) <= _LONGEST_REMEMBERED)

    def _unknown(self, texts: list[str]) -> list[str]:
        """Those of the texts that are not remembered from before; the others are kept longer."""
        known = self._clean_before.intersection(texts)
        if not known:
            return texts
        self._remember(known)
        return [text for text in texts if text not in known]

    def _is_clean(self, text: str) -> bool:
        return text in self._clean or not self._unknown([text])

    def _may_change(self, text: str) -> bool:
        if self._patterns or may_hold_a_secret(text):
            return True
        for value in self._values:
            if value in text:
                return True
        return self._is_escaped and "\\" in text

    def _spans(self, text: str, levels: int = 3) -> Spans:
        """Where the secrets are, including those with the escapes of JSON inside JSON."""
        spans = list(secret_spans(text))
        # An earlier mask counts as a secret: a pattern like `\w+` must not mask the word in it.
        for value in (MASK, *self._values):
            at = text.find(value)
            while at >= 0:
                spans.append((at, at + len(value)))
                at = text.find(value, at + 1)
        for pattern in self._patterns:
            found = pattern.spans(text)
            if found is None:  # timed out: writing the text unmasked could leak a secret
                raise CannotMask(
                    f'redact: "{pattern.text}" takes longer than {patterns.LIMIT_SECONDS:g} s on a '
                    f"text of {len(text):,} characters; write it without repeats inside repeats"
                )
            spans += found
        if levels and "\\" in text:
            plain, offsets = _unescaped(text)
            if len(plain) < len(text):
                inner = self._spans(plain, levels - 1)
                spans += [
                    (_original_offset(offsets, at), _original_offset(offsets, end))
                    for at, end in inner
                ]
        return spans

    def _read_environment(self) -> None:
        if self._seen is None or _environment() != self._seen:
            self._seen = dict(_environment())
            self._values = _secret_values(self._seen, self._variables)
            self._clean.clear()
            self._clean_before.clear()
            self._is_escaped = any(map(_ESCAPED_IN_JSON.search, self._values))


def _compiled(pattern: str) -> Pattern:
    try:
        return compiled(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f'redact: "{pattern}" is not a regular expression: {error}') from None


def _with_masks(text: str, spans: Spans) -> str:
    pieces, done = [], 0
    for start, end in _merged(spans):
        pieces += [text[done:start], MASK]
        done = end
    return "".join([*pieces, text[done:]])


def _merged(spans: Spans) -> Spans:
    merged: Spans = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


# The escapes of JSON: `\n`, `\"`, `\u003d`. After `\n` a key seems to begin with an n, and `\/` or
# `\u003d` split a key: such a text is searched a second time without its escapes.
_ESCAPE = lazy_pattern(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/bfnrt]))")
_MEANING = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

Offsets = tuple[list[int], list[int]]


def _unescaped(text: str) -> tuple[str, Offsets]:
    """The text with escapes decoded, and a map from its offsets to those of the original.

    The map is two parallel lists: from `decoded[i]` on, offsets continue at `original[i]`.
    """
    pieces: list[str] = []
    decoded, original = [0], [0]
    done = 0
    for match in _ESCAPE.finditer(text):
        pieces.append(text[done : match.start()])
        pieces.append(chr(int(match[1], 16)) if match[1] else _MEANING.get(match[2], match[2]))
        at = decoded[-1] + match.start() - done
        decoded += [at, at + 1]
        original += [match.start(), match.end()]
        done = match.end()
    return "".join([*pieces, text[done:]]), (decoded, original)


def _original_offset(offsets: Offsets, at: int) -> int:
    decoded, original = offsets
    nearest = bisect_right(decoded, at) - 1
    return original[nearest] + at - decoded[nearest]


def _containers_and_texts(value: Any) -> tuple[list[Any], list[str]]:
    """Every dict, list and tuple of the value, outer before inner, and every text. No recursion."""
    containers = [value] if isinstance(value, (dict, list, tuple)) else []
    texts: list[str] = []
    for container in containers:  # the list grows during the loop
        parts: Iterable[Any] = container
        if isinstance(container, dict):
            texts += [key for key in container if isinstance(key, str)]
            parts = container.values()
        for part in parts:
            if isinstance(part, str):
                texts.append(part)
            elif isinstance(part, (dict, list, tuple)):
                containers.append(part)
    return containers, texts


def strings_of(value: Any) -> list[str]:
    """Every text in a value, keys included."""
    return [value] if isinstance(value, str) else _containers_and_texts(value)[1]


def is_masked(value: Any) -> bool:
    """Whether a text in the value contains the mask."""
    if isinstance(value, str):
        return MASK in value
    return any(MASK in text for text in strings_of(value))


def masks_in(texts: Iterable[str]) -> int:
    """How many values are masked in the texts, those that masking them now would add included."""
    return sum(redact(text).count(MASK) for text in texts if text)


_default: Redactor | None = None


def _default_redactor() -> Redactor:
    global _default
    if _default is None:  # created on first use: importing trialrun reads no environment
        _default = Redactor()
    return _default


def redact(text: str) -> str:
    """The text with keys, tokens and the values of secret environment variables masked."""
    return _default_redactor().text(text)


def redacted(value: Any) -> Any:
    """The value with every text in it masked, as by `Redactor.plain`."""
    return _default_redactor().plain(value)
