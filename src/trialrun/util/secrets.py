"""Finds keys, tokens and passwords in texts by their form."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Sequence

from trialrun.util.lazy_patterns import lazy_pattern

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
    ("lsv2_", r"\w{20,}"),  # LangSmith
    ("GOCSPX-", r"[\w-]{20,}"),  # Google, the secret of a client
    ("do[opr]_v1_", r"\w{20,}"),  # DigitalOcean
    ("shp[acps][ast]_", r"\w{20,}"),  # Shopify
    ("lin_api_", r"\w{20,}"),  # Linear
    ("ntn_", r"\w{20,}"),  # Notion
    ("figd_", r"[\w-]{20,}"),  # Figma
    ("PMAK-", r"[\w-]{20,}"),  # Postman
    ("key-", r"(?<![\w-]key-)[0-9a-f]{32}(?![\w-])"),  # Mailgun
)
_REST = r"[\w.+/=-]{10}"

_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_END = _BEGIN.replace("BEGIN", "END")

# Texts that are always secrets: the group of the pattern if it has one, otherwise the whole match.
_CERTAIN = tuple(
    lazy_pattern(pattern, _FLAGS)
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
        r"ya29\.(?<![A-Za-z0-9]ya29\.)[\w-]{20,}",  # Google: ya29.a0Af…
        r"hv[sbr]\.(?<![A-Za-z0-9]hv[sbr]\.)[\w-]{20,}",  # Vault: hvs.CAES…
        # Doppler: dp.pt.Ab3…
        r"dp\.(?<![\w.]dp\.)(?:pt|st|ct|sa|scim|audit)\.[\w-]{20,}(?:\.[\w-]+)*",
        r"dapi(?<![A-Za-z0-9]dapi)[0-9a-f]{32}(?![0-9a-z])(?:-\d)?",  # Databricks: dapi0a1b…
        r"ATATT(?<![A-Za-z0-9]ATATT)[\w=-]{20,}",  # Atlassian: ATATT3xFf…
        r"sk\.(?<![\w.]sk\.)eyJ[\w-]{8,}\.[\w-]{8,}",  # Mapbox: sk.eyJ1….Ab3…
        r"pat(?<![A-Za-z0-9]pat)[A-Za-z0-9]{14}\.[0-9a-f]{64}",  # Airtable: patAb3….0a1b…
        r"SK(?<![A-Za-z0-9]SK)[0-9a-f]{32}(?![0-9A-Za-z])",  # Twilio: SK0a1b…
        r":(?<=\d{8}:)(AA[\w-]{33})(?![\w-])",  # a bot of Telegram: 123456789:AAF…
        # Addresses that anybody may post to: https://hooks.slack.com/services/T0…/B0…/Ab3…
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,})",
        r"/api/webhooks/\d{5,20}/([\w-]{20,})",  # https://discord.com/api/webhooks/123…/Ab3…
        r"webhook\.office\.com/webhookb2/([\w@/-]{30,})",
    )
)

_VALUE = r"[^\s\"'<>&;,(){}\[\]\\]"
_ASSIGNED = r"[\"']?\s{0,2}(?:=>|:=|[:=])\s{0,2}[\"']?"

# What is given as a password, whatever it reads like: everything but a placeholder.
_GIVEN = tuple(
    (word, lazy_pattern(pattern, _FLAGS | re.IGNORECASE))
    for word, pattern in (
        # "password": "hunter2", 'db_passwd': 'hunter2'
        *(
            (name, rf"{name}([\"'])\s{{0,2}}:\s{{0,2}}\1(?P<value>[^\"'\\\n]{{1,200}})\1")
            for name in ("password", "passwd", "passphrase")
        ),
        (  # curl -u ann:hunter2
            "curl",
            rf"curl\s(?:[^\n|;]{{0,400}}?\s)??(?:-u|--user)[\s=]{{0,2}}[\"']?[^\s:\"'$]{{1,100}}:"
            rf"(?P<value>{_VALUE}{{1,}})",
        ),
        (  # docker login -p hunter2
            "login",
            r"login\s(?:[^\n|;]{0,300}?\s)??(?:-p|--password)[\s=]{1,2}[\"']?"
            rf"(?P<value>{_VALUE}{{1,}})",
        ),
        (  # mysql -uann -phunter2
            "mysql",
            rf"mysql(?:dump|admin)?\s(?:[^\n|;]{{0,300}}?\s)??-p(?P<value>{_VALUE}{{1,}})",
        ),
        (  # machine example.com login ann password hunter2 (a line of .netrc)
            "machine",
            r"machine\s{1,4}\S{1,200}\s{1,4}login\s{1,4}\S{1,200}\s{1,4}password\s{1,4}"
            rf"(?P<value>{_VALUE}{{1,}})",
        ),
    )
)
# string, <password>, ${PASSWORD}, $PASSWORD, {{ password }}, %PASSWORD%, ****, YOUR_PASSWORD
_PLACEHOLDER = lazy_pattern(
    r"<.*>|\[.*\]|\{\{.*|\$[{(].*|\$(?:env:)?[A-Z][A-Z0-9_]*|%[A-Z0-9_]+%|\*+|[xX.…]+"
    r"|[A-Z]+(?:_[A-Z]+)+|your[-_ ].*"
    r"|(?:string|str|text|password|passwd|passphrase|pass|secret|token|required|optional|none|null"
    r"|true|false|bool|boolean|hidden|masked|redacted|undefined|any|unknown|object|number)",
    re.DOTALL,
)
_PROSE = 6
"""From this number of words on, a text is a description and no password."""


def is_placeholder(value: str) -> bool:
    """Whether a value only holds the place of a secret: `string`, `${PASSWORD}`, `<token>`."""
    return bool(_PLACEHOLDER.fullmatch(value)) or len(value.split()) >= _PROSE


_BEFORE_KEY = ("api", "access", "account", "secret", "auth", "private", "signing", "master")
_BEFORE_TOKEN = ("access", "api", "auth", "bearer", "bot", "id", "refresh", "security", "session")


def _assigned(name: str, least: int, before: Sequence[str] = ()) -> re.Pattern[str]:
    """A value of at least `least` characters assigned to a name: "api_key = 'Ab3…'".

    `before` are the words of which one must come before the name. They are look-behinds, because a
    pattern that begins with alternatives takes ten times as long.
    """
    words = "|".join(f"(?<={word}{name})|(?<={word}[_-]{name})" for word in before)
    pattern = rf"{name}(?:{words}){_ASSIGNED}({_VALUE}{{{least},}})"
    return lazy_pattern(pattern, _FLAGS | re.IGNORECASE)


# Texts that are secrets unless the value reads like words, a number or a path.
_LIKELY = (
    *(
        lazy_pattern(rf"({start}(?<![A-Za-z0-9]{start}){rest})", _FLAGS)
        for start, rest in _PREFIXED
    ),
    lazy_pattern(r"bearer\s{1,4}([\w.~+/=-]{16,})", _FLAGS | re.IGNORECASE),  # Bearer Ab3…
    lazy_pattern(  # Authorization: Basic dXNlcjpw…
        rf"authorization{_ASSIGNED}(?:basic|bearer|token|api-?key)\s{{1,4}}({_VALUE}{{8,}})",
        _FLAGS | re.IGNORECASE,
    ),
    _assigned("key", 8, _BEFORE_KEY),
    _assigned("token", 8, _BEFORE_TOKEN),
    *(_assigned(name, 8) for name in ("secret", "password", "passwd", "passphrase")),
    # `token` is also used in parsing and paging (`page_token`): only a long value alone counts.
    lazy_pattern(
        rf"token(?<![A-Za-z0-9_-]token){_ASSIGNED}({_VALUE}{{16,}})", _FLAGS | re.IGNORECASE
    ),
    lazy_pattern(  # a line of an .env file: DB_PASSWORD=Ab3…
        rf"(?:KEY|TOKEN|SECRET|PASSWORD)[A-Z0-9_]{{0,20}}=[\"']?({_VALUE}{{8,}})", _FLAGS
    ),
    lazy_pattern(  # an option of a command: --api-key Ab3…, ["--token", "Ab3…"]
        rf"--[a-z-]{{0,20}}(?:key|token|secret|password)[\"']?[\s=,]{{1,4}}[\"']?({_VALUE}{{8,}})",
        _FLAGS,
    ),
    # {"name": "API_KEY", "value": "Ab3…"}, as Kubernetes writes environment variables
    lazy_pattern(
        r"(?:KEY|TOKEN|SECRET|PASSWORD)[A-Z0-9_]{0,20}[\"']?,?\s{0,12}[\"']?value[\"']?"
        rf"\s{{0,2}}:\s{{0,2}}[\"']?({_VALUE}{{6,}})",
        _FLAGS,
    ),
    lazy_pattern(  # Set-Cookie: session=Ab3…; Path=/
        rf"set-cookie{_ASSIGNED}[\w.%-]{{1,100}}=({_VALUE}{{6,}})", _FLAGS | re.IGNORECASE
    ),
    lazy_pattern(  # Cookie: session=Ab3…; theme=dark
        rf"cookie(?<!set-cookie)[\"']?\s{{0,2}}:\s{{0,2}}[\"']?"
        rf"([\w.%-]{{1,100}}={_VALUE}{{6,}}(?:;\s?[\w.%-]{{1,100}}={_VALUE}{{1,}}){{0,50}})",
        _FLAGS | re.IGNORECASE,
    ),
    lazy_pattern(  # a query parameter: ?sig=Ab3…
        rf"[?&](?:key|sig|signature|x-(?:amz|goog)-signature)=({_VALUE}{{16,}})",
        _FLAGS | re.IGNORECASE,
    ),
)

# "auth": "YW5uOmh1bnRlcjI=", as docker's settings have it: a name, a colon and a password.
_LOGIN = lazy_pattern(r"\"auth\"\s{0,2}:\s{0,2}\"([A-Za-z0-9+/]{8,400}={0,2})\"", _FLAGS)


def _is_login(encoded: str) -> bool:
    try:
        decoded = b64decode(encoded, validate=True)
    except ValueError:
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode().isprintable()


# `your-token-here`, `YOUR_API_KEY`, `settings.secret`, `sk-text-repr-fallback` (a CSS class).
_WORDS = lazy_pattern(r"(?:(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,15}|[^\x00-\x7f]+)(?:[-_./~+=: ]+|\Z))+")
_NUMBER = lazy_pattern(r"[\d.,:_+-]+")  # `1,234.50`, `2024-07-18`
# Names in code: `authState.vaultKeypair`, `process.env.KEY_2`, `Uint8Array`, `$KEY`, `${KEY}`;
# and what another tool has masked: `gho_****`.
_CODE = lazy_pattern(
    r"(?:[\w.$]*\b(?:env|config|this|self|state)\.[\w.]+[!,]?|\w{0,4}[Ii]nt\d{1,2}Array"
    r"|\$(?:env:)?[A-Z][A-Z0-9_]*|\$\{.*|\$\(.*|\w{0,4}_?[*•]{4,}"
    r"|(?:[A-Za-z]?[a-z]{2,15}(?:[A-Z]{1,4}[a-z]{2,15})*(?:\.|\Z))+)",
    re.ASCII,
)
# How a path begins: `/etc/`, `~/`, `../`, `C:\`, `https://`.
_PATH = lazy_pattern(r"(?:[~.]{0,2}/[\w.-]+/|[~.]{1,2}/|[A-Za-z]:\\|https?://)", re.ASCII)


def reads_like_text(value: str) -> bool:
    """Whether a value after `key=` is words, a number, a name in code or a path: not a secret."""
    return bool(
        _WORDS.fullmatch(value)
        or _NUMBER.fullmatch(value)
        or _CODE.fullmatch(value)
        or _PATH.match(value)
    )


# The pre-filter. Most texts contain no secret, and the patterns above take a hundred times as long
# as this test, which searches for single characters and patterns that begin with a fixed one.


def _prefix_filter(last: str) -> re.Pattern[str]:
    """Finds prefixes that end in this character: "ghp_" with ten characters of key after it."""
    starts = "|".join(f"(?<={start})" for start, _ in _PREFIXED if start.endswith(last))
    return lazy_pattern(f"{last}(?={_REST})(?:{starts})", _FLAGS)


_AFTER_UNDERSCORE = _prefix_filter("_")
_AFTER_DASH = _prefix_filter("-")
_AFTER_A = lazy_pattern(r"A(?:KIA|SIA|Iza)")  # AKIA…, AIza…
_AFTER_PAT = lazy_pattern(r"pat[A-Za-z0-9]{14}\.", re.ASCII)  # patAb3….0a1b…
_AFTER_S = lazy_pattern(r"SK[0-9a-f]{32}", re.ASCII)  # SK0a1b…
_STARTS = ("ya29.", "hvs.", "hvb.", "hvr.", "dp.", "dapi", "ATATT", ":AA", "webhook", "slack.com/")
_SECRET_WORDS = (
    "key", "token", "secret", "pass", "bearer", "authorization", "cookie", "curl", "login", "mysql",
    'auth"', "auth\\",
)  # fmt: skip
_OTHER_NAMES = ("pwd", "credential")


def may_hold_a_secret(text: str) -> bool:
    """False only if none of the patterns above can match; `text` may be many texts, joined."""
    if (
        ("_" in text and _AFTER_UNDERSCORE.search(text))
        or ("-" in text and ("-----BEGIN" in text or _AFTER_DASH.search(text)))
        or ("A" in text and _AFTER_A.search(text))
        or ("J" in text and "eyJ" in text)
        or ("G" in text and "SG." in text)
        or ("@" in text and "://" in text)
        or _has_one(_STARTS, text)
        or ("SK" in text and _AFTER_S.search(text))
        or ("pat" in text and _AFTER_PAT.search(text))
        or ("\\" in text and ("\\u00" in text or "\\/" in text))  # a character as JSON escape
    ):
        return True
    lowered = text.lower()
    return _has_one(_SECRET_WORDS, lowered) or (
        "=" in text and "sig" in lowered and ("?" in text or "&" in text)
    )


def names_a_secret(text: str) -> bool:
    """Whether the text may have a key that says that its value is a secret (`_PASSWORD` …).

    Of the words of such keys, those that `may_hold_a_secret` does not look for.
    """
    return _has_one(_OTHER_NAMES, text.lower())


def _has_one(parts: tuple[str, ...], text: str) -> bool:
    # A loop takes half the time of `any`, and this is most of what masking a short text takes.
    for part in parts:  # noqa: SIM110
        if part in text:
            return True
    return False


def secret_spans(text: str) -> Iterable[tuple[int, int]]:
    """Where secrets of known forms are in the text."""
    for pattern in _CERTAIN:
        for match in pattern.finditer(text):
            yield match.span(pattern.groups)
    yield from _given(text)
    for pattern in _LIKELY:
        for match in pattern.finditer(text):
            # `token=encode(` is a function call in code, not a value.
            if not reads_like_text(match[1]) and not text.startswith("(", match.end()):
                yield match.span(1)


def _given(text: str) -> Iterable[tuple[int, int]]:
    lowered = text.lower()
    for word, pattern in _GIVEN:
        for match in pattern.finditer(text) if word in lowered else ():
            if not is_placeholder(match["value"]) and not text.startswith("(", match.end()):
                yield match.span("value")
    for match in _LOGIN.finditer(text) if '"auth"' in text else ():
        if _is_login(match[1]):
            yield match.span(1)
