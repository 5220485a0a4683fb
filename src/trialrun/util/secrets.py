"""Patterns of keys, tokens and passwords in texts, and a quick test that rules most texts out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

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


def reads_like_text(value: str) -> bool:
    """Whether a value after `key=` is words, a number or a path: not a secret."""
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


def may_hold_a_secret(text: str) -> bool:
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


def secret_spans(text: str) -> Iterable[tuple[int, int]]:
    """Where secrets of known forms are in the text."""
    for pattern in _CERTAIN:
        for match in pattern.finditer(text):
            yield match.span(pattern.groups)
    for pattern in _LIKELY:
        for match in pattern.finditer(text):
            # `token=encode(` is a function call in code, not a value.
            if not reads_like_text(match[1]) and not text.startswith("(", match.end()):
                yield match.span(1)
