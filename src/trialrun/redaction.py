"""Masks secrets in what an agent said or did, before anything is shown or written.

Masked are private keys, the keys and tokens of well-known services, bearer and basic credentials,
passwords in URLs, opaque values after a name like `api_key=`, the values of environment variables
named like secrets, and matches of the user's patterns. An encoded secret (base64, percent-encoding,
compression) is out of scope: it cannot be distinguished from other data.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from trialrun.errors import SpecError
from trialrun.measures import patterns
from trialrun.measures.patterns import Pattern, compiled

MASK = "[redacted]"

Spans = list[tuple[int, int]]

# Everything is ASCII: with Unicode `\b` and `\w`, a key right after a Chinese letter would be part
# of that word, and `(?i)` would match `ſecret` (long s), which the pre-filter does not find.
_FLAGS = re.ASCII | re.DOTALL

# The prefix of a service's keys, and what follows: "sk-" + "proj-Ab3…", "ghp_" + "x9Kd…". Each
# prefix ends in `_` or `-`, because the pre-filter jumps from one such character to the next; each
# rest has at least ten characters of `_REST`.
_PREFIXED = (
    ("sk-", r"[\w-]{20,}"),  # OpenAI, Anthropic, OpenRouter and others
    ("xai-", r"[\w-]{20,}"),
    ("gsk_", r"\w{20,}"),  # Groq
    ("r8_", r"\w{20,}"),  # Replicate
    ("hf_", r"\w{20,}"),
    ("pplx-", r"[\w-]{20,}"),
    ("tvly-", r"[\w-]{20,}"),
    ("nvapi-", r"[\w-]{20,}"),
    ("gh[pousr]_", r"\w{30,}"),
    ("github_pat_", r"\w{20,}"),
    ("glpat-", r"[\w-]{20,}(?:\.[\w-]+)*"),
    ("glptt-", r"[\w-]{20,}"),
    ("glcbt-", r"[\w-]{20,}"),
    ("npm_", r"\w{20,}"),
    ("pypi-", r"[\w-]{40,}"),
    ("xox[a-z]-", r"[\w-]{10,}"),  # Slack
    ("xapp-", r"[\w-]{10,}"),
    ("sk_live_", r"\w{10,}"),  # Stripe
    ("rk_live_", r"\w{10,}"),
    ("sk_test_", r"\w{10,}"),
    ("rk_test_", r"\w{10,}"),
    ("whsec_", r"[\w+/=-]{20,}"),
)
_REST = r"[\w.+/=-]{10}"

_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_END = _BEGIN.replace("BEGIN", "END")

# Texts that are always secrets: the group of the pattern if it has one, otherwise the whole match.
_CERTAIN = tuple(
    re.compile(pattern, _FLAGS)
    for pattern in (
        # "-----BEGIN RSA PRIVATE KEY-----\nMIIE…". A private key contains no quotation marks. One
        # that was cut off has no END line and is recognized by its first line of key characters;
        # a header without such a line is only mentioned in the text. No possessive repeat of
        # alternatives here: Python before 3.11.5 matches it wrongly.
        rf"{_BEGIN}(?:\s|\\+[nr])[^\"'-]*(?:-(?!----)[^\"'-]*)*{_END}",
        rf"{_BEGIN}(?=(?:\s|\\+[nr]){{0,9}}[\w+/=]{{24}}|[^\"']{{0,200}}?(?:\n|\\n)[\w+/=]{{24}})"
        rf"[^\"']*?(?:{_END}|(?=[\"'])|\Z)",
        r"A(?<![A-Za-z0-9]A)(?:KIA|SIA)[0-9A-Z]{16}(?![0-9A-Za-z])",  # AWS: AKIAIOSFODNN7EXAMPLE
        r"AIza(?<![A-Za-z0-9]AIza)[\w-]{35}",  # Google: AIzaSy…
        # A JSON web token, "eyJhbGci….eyJzdWIi….c2ln…": two parts and perhaps a signature, or five
        # if encrypted. The look-behind avoids quadratic time on a text full of `-eyJ`.
        r"eyJ(?<![\w-]eyJ)[\w-]{8,}\."
        r"(?:eyJ[\w-]{6,}(?:\.[\w-]+)?|[\w-]*(?:\.[\w-]{8,}){1,3})",
        r"SG\.(?<![A-Za-z0-9]SG\.)[\w-]{16,}\.[\w-]{16,}",  # Sendgrid: SG.….…
        r"://[^\s/:@?#\"'<>\\]{0,256}:([^\s/?#\"'<>\\]{1,256})@",  # https://user:password@host
    )
)

_VALUE = r"[^\s\"'<>&;,(){}\[\]\\]"
_ASSIGNED = r"[\"']?\s{0,2}(?:=>|:=|[:=])\s{0,2}[\"']?"

_BEFORE_KEY = ("api", "access", "account", "secret", "auth", "private", "signing", "master")
_BEFORE_TOKEN = ("access", "api", "auth", "bearer", "bot", "id", "refresh", "security", "session")


def _assigned(name: str, least: int, before: Sequence[str] = ()) -> re.Pattern[str]:
    """A value of at least `least` characters assigned to a name: "api_key = 'Ab3…'".

    `before` are the words of which one must come before the name. They are look-behinds, because a
    pattern that begins with alternatives takes ten times as long.
    """
    words = "|".join(f"(?<={word}{name})|(?<={word}[_-]{name})" for word in before)
    pattern = rf"{name}(?:{words}){_ASSIGNED}({_VALUE}{{{least},}})"
    return re.compile(pattern, _FLAGS | re.IGNORECASE)


# Texts that are secrets unless the value reads like words, a number or a path.
_LIKELY = (
    *(re.compile(rf"({start}(?<![A-Za-z0-9]{start}){rest})", _FLAGS) for start, rest in _PREFIXED),
    re.compile(r"bearer\s{1,4}([\w.~+/=-]{16,})", _FLAGS | re.IGNORECASE),  # Bearer Ab3…
    re.compile(  # Authorization: Basic dXNlcjpw…
        rf"authorization{_ASSIGNED}(?:basic|bearer|token|api-?key)\s{{1,4}}({_VALUE}{{8,}})",
        _FLAGS | re.IGNORECASE,
    ),
    _assigned("key", 8, _BEFORE_KEY),
    _assigned("token", 8, _BEFORE_TOKEN),
    *(_assigned(name, 8) for name in ("secret", "password", "passwd", "passphrase")),
    # `token` is also used in parsing and paging (`page_token`): only a long value alone counts.
    re.compile(
        rf"token(?<![A-Za-z0-9_-]token){_ASSIGNED}({_VALUE}{{16,}})", _FLAGS | re.IGNORECASE
    ),
    re.compile(  # a line of an .env file: DB_PASSWORD=Ab3…
        rf"(?:KEY|TOKEN|SECRET|PASSWORD)[A-Z0-9_]{{0,20}}=[\"']?({_VALUE}{{8,}})", _FLAGS
    ),
    re.compile(  # an option of a command: --api-key Ab3…
        rf"--[a-z-]{{0,20}}(?:key|token|secret|password)\s{{1,4}}[\"']?({_VALUE}{{8,}})", _FLAGS
    ),
    re.compile(  # a query parameter: ?sig=Ab3…
        rf"[?&](?:key|sig|signature|x-(?:amz|goog)-signature)=({_VALUE}{{16,}})",
        _FLAGS | re.IGNORECASE,
    ),
)

# `your-token-here`, `YOUR_API_KEY`, `settings.secret`, `sk-text-repr-fallback` (a CSS class).
_WORDS = re.compile(r"(?:(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,15}|[^\x00-\x7f]+)(?:[-_./~+=: ]+|\Z))+")
_NUMBER = re.compile(r"[\d.,:_+-]+")  # `1,234.50`, `2024-07-18`
# How a path begins: `/etc/`, `~/`, `../`, `C:\`, `https://`.
_PATH = re.compile(r"(?:[~.]{0,2}/[\w.-]+/|[~.]{1,2}/|[A-Za-z]:\\|https?://)", re.ASCII)


def _reads_like_text(value: str) -> bool:
    return bool(_WORDS.fullmatch(value) or _NUMBER.fullmatch(value) or _PATH.match(value))


# The pre-filter. Most texts contain no secret, and the patterns above take a hundred times as long
# as this test, which searches for single characters and patterns that begin with a fixed one.


def _prefix_filter(last: str) -> re.Pattern[str]:
    """Finds prefixes that end in this character: "ghp_" with ten characters of key after it."""
    starts = "|".join(f"(?<={start})" for start, _ in _PREFIXED if start.endswith(last))
    return re.compile(f"{last}(?={_REST})(?:{starts})", _FLAGS)


_AFTER_UNDERSCORE = _prefix_filter("_")
_AFTER_DASH = _prefix_filter("-")
_AFTER_A = re.compile(r"A(?:KIA|SIA|Iza)")  # AKIA…, AIza…
_SECRET_WORDS = ("key", "token", "secret", "pass", "bearer", "authorization")


def _may_hold_a_secret(text: str) -> bool:
    """False only if none of the patterns above can match; `text` may be many texts, joined."""
    if (
        ("_" in text and _AFTER_UNDERSCORE.search(text))
        or ("-" in text and ("-----BEGIN" in text or _AFTER_DASH.search(text)))
        or ("A" in text and _AFTER_A.search(text))
        or ("J" in text and "eyJ" in text)
        or ("G" in text and "SG." in text)
        or ("@" in text and "://" in text)
        or ("\\" in text and ("\\u00" in text or "\\/" in text))  # a character as JSON escape
    ):
        return True
    lowered = text.lower()
    return any(word in lowered for word in _SECRET_WORDS) or (
        "=" in text and "sig" in lowered and ("?" in text or "&" in text)
    )


# The environment

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)  # OPENAI_API_KEY
_SURELY_LONG_ENOUGH = 12
_SHORTEST_VALUE = 8
_ESCAPED_IN_JSON = re.compile(r"[^ !#-\[\]-~]|/")  # `"`, `\`, `é`, and `/`, which some escape


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
        _reads_like_text(value) or "/" in value or "\\" in value
    )


_MOST_PASSES = 4
_MOST_REMEMBERED = 10_000
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
        new = [text for text in texts if text not in self._clean]
        if not new or not self._may_change("\n".join(new)):
            self._remember(new)
            return value
        # Inner containers come after outer ones: in reverse, parts are rebuilt before the whole.
        made: dict[int, Any] = {}
        for container in reversed(containers):
            made[id(container)] = self._rebuilt(container, made)
        return made[id(value)] if containers else value

    def _rebuilt(self, container: Any, made: dict[int, Any]) -> Any:
        if not isinstance(container, dict):
            items = [self._part(item, made) for item in container]
            return items if isinstance(container, list) else tuple(items)
        rebuilt: dict[Any, Any] = {}
        for key, item in container.items():
            name = self._masked(key) if isinstance(key, str) else key
            number = 2
            while name in rebuilt:  # two secrets as keys: neither entry may be lost
                name, number = f"{MASK} ({number})", number + 1
            if isinstance(key, str) and isinstance(item, str):
                rebuilt[name] = self._masked_entry(key, item)
            else:
                rebuilt[name] = self._part(item, made)
        return rebuilt

    def _part(self, item: Any, made: dict[int, Any]) -> Any:
        return self._masked(item) if isinstance(item, str) else made.get(id(item), item)

    def _masked_entry(self, name: str, text: str) -> str:
        """The text of a dict entry, masked as part of `name: text` too: the key may reveal it."""
        together, cut = f"{name}: {text}", len(name) + 2
        if together in self._clean or not self._may_change(together):
            return text
        inner = [(max(at - cut, 0), end - cut) for at, end in self._spans(together) if end > cut]
        spans = self._spans(text) + inner
        if not spans:
            self._remember([text, together])
        return self._with_all_masks(text, spans)

    def _masked(self, text: str) -> str:
        if text in self._clean or not self._may_change(text):
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
        """Remember short texts without a secret: words of our results repeat thousands of times."""
        if len(self._clean) < _MOST_REMEMBERED:
            self._clean.update(text for text in texts if len(text) <= _LONGEST_REMEMBERED)

    def _may_change(self, text: str) -> bool:
        if self._patterns or _may_hold_a_secret(text):
            return True
        for value in self._values:
            if value in text:
                return True
        return self._is_escaped and "\\" in text

    def _spans(self, text: str, levels: int = 3) -> Spans:
        """Where the secrets are, including those with the escapes of JSON inside JSON."""
        spans = list(_known(text))
        # An earlier mask counts as a secret: a pattern like `\w+` must not mask the word in it.
        for value in (MASK, *self._values):
            at = text.find(value)
            while at >= 0:
                spans.append((at, at + len(value)))
                at = text.find(value, at + 1)
        for pattern in self._patterns:
            found = pattern.spans(text)
            if found is None:  # timed out: writing the text unmasked could leak a secret
                raise SpecError(
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
            self._is_escaped = any(map(_ESCAPED_IN_JSON.search, self._values))


def _compiled(pattern: str) -> Pattern:
    try:
        return compiled(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f'redact: "{pattern}" is not a regular expression: {error}') from None


def _known(text: str) -> Iterable[tuple[int, int]]:
    for pattern in _CERTAIN:
        for match in pattern.finditer(text):
            yield match.span(pattern.groups)
    for pattern in _LIKELY:
        for match in pattern.finditer(text):
            # `token=encode(` is a function call in code, not a value.
            if not _reads_like_text(match[1]) and not text.startswith("(", match.end()):
                yield match.span(1)


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
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/bfnrt]))")
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


_default: Redactor | None = None


def redact(text: str) -> str:
    """The text with keys, tokens and the values of secret environment variables masked."""
    global _default
    if _default is None:  # created on first use: importing trialrun reads no environment
        _default = Redactor()
    return _default.text(text)
