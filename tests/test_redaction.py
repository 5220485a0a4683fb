from __future__ import annotations

import base64
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.helpers import property_test
from tests.watchdog import cpu_watchdog
from trialrun import redaction
from trialrun.errors import SpecError
from trialrun.redaction import MASK, Redactor, is_masked, redact

BODY = "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6hJ9kL2n"  # 43 characters, no word among them

KEYS = {
    "openai": "sk-proj-" + BODY,
    "openai, old": "sk-" + BODY,
    "anthropic": "sk-ant-api03-" + BODY + "-" + BODY,
    "xai": "xai-" + BODY,
    "groq": "gsk_" + BODY,
    "replicate": "r8_" + BODY[:37],
    "hugging face": "hf_" + BODY[:34],
    "github": "ghp_" + BODY[:36],
    "github, fine": "github_pat_" + BODY,
    "gitlab": "glpat-" + BODY[:20],
    "npm": "npm_" + BODY[:36],
    "pypi": "pypi-" + BODY,
    "slack": "xoxb-123456789012-" + BODY[:24],
    "stripe": "sk_live_" + BODY[:24],
    "stripe, restricted": "rk_live_" + BODY[:24],
    "sendgrid": "SG." + BODY[:22] + "." + BODY,
    "langsmith": "lsv2_pt_" + "0a1b2c3d4e5f60718293a4b5c6d7e8f9_0a1b2c3d4e",
    "google, access": "ya29." + BODY,
    "google, client": "GOCSPX-" + BODY[:28],
    "vault": "hvs." + BODY[:24],
    "twilio": "SK" + "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "mailgun": "key-" + "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "digitalocean": "dop_v1_" + "0a1b2c3d4e5f60718293a4b5c6d7e8f9" * 2,
    "databricks": "dapi" + "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "shopify": "shpat_" + "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "linear": "lin_api_" + BODY[:40],
    "notion": "ntn_" + BODY,
    "airtable": "pat" + BODY[:14] + "." + "0a1b2c3d4e5f60718293a4b5c6d7e8f9" * 2,
    "figma": "figd_" + BODY[:40],
    "postman": "PMAK-" + "0a1b2c3d4e5f60718293a4b5-" + "0a1b2c3d4e5f60718293a4b5c6d7e8f9aa",
    "doppler": "dp.pt." + BODY,
    "atlassian": "ATATT3xFfGF0" + BODY + "=1A2B3C4D",
    "mapbox": f"sk.eyJ{BODY}.{BODY[:22]}",
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "aws, for a while": "ASIA" + "IOSFODNN7EXAMPLE",
    "google": "AIza" + BODY[:35],
    "jwt": f"eyJ{BODY}.eyJ{BODY}.{BODY}",
    "jwt, unsigned": f"eyJ{BODY}.eyJ{BODY}",
    "jwt, encrypted": f"eyJ{BODY}.{BODY}.{BODY}.{BODY}.{BODY}",
    "private key": f"-----BEGIN PRIVATE KEY-----\n{BODY}\n{BODY}\n-----END PRIVATE KEY-----",
    "openssh": (f"-----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}\n-----END OPENSSH PRIVATE KEY-----"),
    "pgp": (
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{BODY}\n-----END PGP PRIVATE KEY BLOCK-----"
    ),
}

# Text before a secret, the secret, and text after it: only the secret is masked.
NAMED = {
    "bearer": ("Authorization: Bearer ", BODY, "\n"),
    "bearer, alone": ("curl with bearer ", BODY, " please"),
    "basic": ("Authorization: Basic ", "dXNlcjpwYXNz", "\r\n"),
    "basic, in json": ('{"Authorization": "Basic ', "dXNlcjpwYXNzd29yZA==", '"}'),
    "password in a url": ("https://user:", "password", "@host/path"),
    "password with an at": ("postgres://me:", "p@ss:w", "@db:5432/x"),
    "password alone in a url": ("redis://:", "hunter2", "@cache"),
    "key in a url": ("https://x.example/v1?q=a&api_key=", "9f8e7d6c5b4a", "&page=2"),
    "token in a url": ("https://x.example/v1?access_token=", BODY, "&top"),
    "signature in a url": ("https://x.example/blob?sv=2&sig=", BODY, "&se=1"),
    "aws secret": ("aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "\n"),
    "aws secret, in json": ('"SecretAccessKey": "', "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEX", '"'),
    "azure": ("AccountName=a;AccountKey=", BODY + "==", ";EndpointSuffix=core"),
    "header": ("X-Api-Key: ", "0123456789abcdef", "\n"),
    "env file": ("DEBUG=1\nDATABASE_PASSWORD=", "correct7horse", "\nPORT=80"),
    "env file, quoted": ('export ACME_KEY="', "a1b2c3d4e5", '"'),
    "option": ("acme --api-token ", "a1b2c3d4e5", " --verbose"),
    "yaml": ("client_secret: ", "a1b2c3d4e5", "\nname: x"),
    "login": ('{"token": "', "0123456789abcdef0", '", "ok": true}'),
    "slack, webhook": (
        "https://hooks.slack.com/services/",
        "T0A1B2C3D/B0A1B2C3D/" + BODY[:24],
        " ",
    ),
    "discord": ("https://discord.com/api/webhooks/123456789012345678/", BODY, " "),
    "teams": ("https://a.webhook.office.com/webhookb2/", "0a1b2c3d-4e5f@6071/IncomingWebhook", " "),
    "telegram": ("bot 123456789:", "AA" + BODY[:33], " said"),
    "kubernetes": ('{"name":"API_KEY","value":"', "a1b2c3d4", '"}'),
    "kubernetes, yaml": ("- name: DB_PASSWORD\n  value: ", "a1b2c3d4", "\n"),
    "option in a list": ('{"args":["--token","', "a1b2c3d4", '"]}'),
    "option with a sign": ("acme --token=", "a1b2c3d4", " --verbose"),
    "curl": ("curl -s -u ann:", "hunter2", " https://x.example"),
    "curl, long": ("curl --user ann:", "swordfish", " https://x.example"),
    "docker login": ("docker login -u ann -p ", "hunter2", " x.example"),
    "mysql": ("mysql -uroot -p", "hunter2", " shop"),
    "cookie": ("Cookie: ", "session=a1b2c3d4; theme=dark", "\r\n"),
    "set-cookie": ("Set-Cookie: session=", "a1b2c3d4", "; Path=/"),
    "netrc": ("machine x.example login ann password ", "hunter2", "\n"),
    "docker": ('{"auths":{"x":{"auth":"', "YW5uOmh1bnRlcjI=", '"}}}'),
    "short password": ('{"user": "ann", "password": "', "hunter2", '"}'),
    "password of words": ('{"password": "', "correct-horse-battery", '"}'),
    "password, python": ("{'db_password': '", "hunter2", "'}"),
}


@pytest.fixture(autouse=True)
def no_secrets_in_environment(monkeypatch):
    """Secrets in the environment of the machine must not influence the tests."""
    import os

    for name in list(os.environ):
        if redaction._SECRET_NAME.search(name):
            monkeypatch.delenv(name)


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize(
    "around", ["{}", "the key is {}.", '"{}"', "a={}\n", "密钥{}", "<{}>", "\t{}, and", "({})"]
)
def test_a_key_is_masked_whole(key, around):
    assert redact(around.format(key)) == around.format(MASK)


@pytest.mark.parametrize(("before", "secret", "after"), NAMED.values(), ids=NAMED)
def test_only_the_value_after_a_name_is_masked(before, secret, after):
    assert redact(before + secret + after) == before + MASK + after


@pytest.mark.parametrize(("before", "secret", "after"), NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_a_value_is_masked_in_json_inside_json(before, secret, after, levels):
    text, wanted = before + secret + after, before + MASK + after
    for _ in range(levels):
        text, wanted = json.dumps(text), json.dumps(wanted)
    assert redact(text) == wanted


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_a_key_after_an_escaped_line_break_is_masked(key, levels):
    text, wanted = f"first\n{key}\nlast", f"first\n{MASK}\nlast"
    for _ in range(levels):
        text, wanted = json.dumps(text), json.dumps(wanted)
    assert redact(text) == wanted


def test_a_key_that_is_split_by_escapes_is_masked():
    key = KEYS["openai"].replace("-", "\\u002d")
    assert redact(f'{{"out": "{key}"}}') == f'{{"out": "{MASK}"}}'
    secret = "wJalrXUtnFEMI\\/K7MDENG\\/bPxRfiCY"
    assert redact(f"aws_secret_access_key\\u003d{secret}") == f"aws_secret_access_key\\u003d{MASK}"
    assert redact("https:\\/\\/me:hunter2@host") == f"https:\\/\\/me:{MASK}@host"


def test_a_private_key_that_was_cut_off_is_masked_to_the_end():
    assert redact(f"see -----BEGIN RSA PRIVATE KEY-----\n{BODY}\nMII") == f"see {MASK}"
    headed = f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{BODY}\nMII"
    assert redact(headed) == MASK
    assert redact(json.dumps([headed, "more"])) == json.dumps([MASK, "more"])


def test_a_short_private_key_is_masked():
    key = "-----BEGIN EC PRIVATE KEY-----\nMHcC\n-----END EC PRIVATE KEY-----"
    assert redact(f"a {key} b") == f"a {MASK} b"
    assert redact(json.dumps(key)) == f'"{MASK}"'


PAGE = """
Refunds take 30 days. The task-force-of-the-department looked at it; risk-assessment-of-suppliers
is in docs/how-to-get-an-api-key.md, and the basic authentication/authorization flow is described in
RFC 7617. A bearer authentication/authorization scheme needs a bearer token. Authorization: Bearer
<token>, or Authorization: Bearer YOUR_ACCESS_TOKEN, or Authorization: Bearer ${TOKEN}. Password:
required. The password must have 8 characters; "password": "string". Basic JavaScript/TypeScript.
Secret: there is none. Пароль, password: обязательно. The secret=ingredient is love.
Asia, ASIA PACIFIC, and AKIA are names.
commit 3f786850e387550fdab836ed7e6dc881de23001b, id 550e8400-e29b-41d4-a716-446655440000,
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
https://example.com:8080/a/b?page=2&sort=key&q=who@example.com and mailto:me@example.com,
git@github.com:acme/trial-run.git, http://localhost:3000?mail=a@b.c, https://user@host/x
max_tokens=128000, "total_tokens": 123456789, next_page_token=CAUQAA1234567890123456,
TOKEN_LIMIT=100000000
<div class="sk-text-repr-fallback sk-estimator-doc-link-wrapper">glass-panel-42-of-the-hotel</div>
api_key = os.environ["OPENAI_API_KEY"]; client = Client(api_key=settings.api_key, token=token)
password = hash_sha256(value); access_token: Optional[str] = None; secret_key = get_secret2("name")
token = tokenizer.encode2(text)[0]; def key(self): return self._private_key
SECRET_KEY_FILE=/run/secrets/key2/file --key ~/.ssh/id_ed25519 PRIMARY_KEY=identifier
look for "-----BEGIN PRIVATE KEY-----" and "-----END PRIVATE KEY-----" in *.pem
C:\\new\\table\\secrets, "a \\"quoted\\" word", \\u00e9t\\u00e9, msg.SG.x,
hf_hub_download_of_the_model_card
privateKey: Uint8Array, token: installationToken.token, apiKey: config.oracle.apiKey, idToken:
cipherboxJwt, api_key="$OPENAI_API_KEY", --token $env:RELEASE_TOKEN, secret = process.env.LOGIN_2,
Token: gho_************************************, PASSWORD: 'passwordFactor', "password": "${SECRET}"
"password": "<your password>", docker login -p $PASSWORD, docker run -u 1000:1000 -p 8080:80 mysql
curl -u $NAME:$PASSWORD, cookie: {secure: true}, "auth": "required1", cache-key-0123456789abcdef
0123456789abcdef, SKILL, path.to.a.module, slack.com/help, login -- or not, "auth": "OAuth2Bearer"
npm_config_registry_of_the_project, eyJust.a.word, sk-learn, xox, [redacted], unknown: not recorded
"""


def test_ordinary_text_is_not_changed():
    assert redact(PAGE) == PAGE
    for line in PAGE.splitlines():
        assert redact(line) == line
        assert redact(json.dumps(line)) == json.dumps(line)


# The environment


@pytest.mark.parametrize(
    "value",
    ["correct horse battery", "a" * 12, "hunter2x", "p@ssword!", "  hunter2x\n", "x1/y2-z3/abcd"],
)
@pytest.mark.parametrize("name", ["ACME_KEY", "my_token", "Secret", "DB_PASSWORD_2"])
def test_the_value_of_a_secret_variable_is_masked(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert redact(f"x{value.strip()}y") == f"x{MASK}y"


@pytest.mark.parametrize(
    "value",
    ["", "true", "a1b2c3d", "monkeys", "password", "us-east", "20260501", "/run/k1", "a/b/c1d2"],
)
def test_a_short_common_value_is_not_masked(monkeypatch, value):
    monkeypatch.setenv("ACME_KEY", value)
    assert redact(f"x {value} y") == f"x {value} y"


def test_the_value_of_another_variable_is_not_masked(monkeypatch):
    monkeypatch.setenv("ACME_HOME", "correct horse battery")
    assert redact("correct horse battery") == "correct horse battery"


def test_a_variable_that_is_set_or_changed_later_is_masked(monkeypatch):
    redactor = Redactor()
    assert redactor.text("first value! second value!") == "first value! second value!"
    monkeypatch.setenv("ACME_KEY", "first value!")
    assert redactor.text("first value! second value!") == f"{MASK} second value!"
    monkeypatch.setenv("ACME_KEY", "second value!")
    assert redactor.plain(["first value! second value!"]) == [f"first value! {MASK}"]


@pytest.mark.parametrize(
    "value", ['say "friend"\n', "back\\nslash\\path", "schlüssel-wörter", "a/b/c/d/e/f/g"]
)
@pytest.mark.parametrize("levels", [0, 1, 2, 3])
def test_a_value_with_characters_that_json_escapes_is_masked_in_json(monkeypatch, value, levels):
    monkeypatch.setenv("ACME_KEY", value)
    text, wanted = f"it is {value.strip()}.", f"it is {MASK}."
    for _ in range(levels):
        text, wanted = json.dumps(text), json.dumps(wanted)
    assert redact(text) == wanted
    assert redact(text.replace("/", "\\/")) == wanted


def test_values_that_overlap_are_masked_to_the_end_of_the_last(monkeypatch):
    monkeypatch.setenv("A_KEY", "abcdefgh1234")
    monkeypatch.setenv("B_KEY", "1234ijklmnop")
    assert redact("<abcdefgh1234ijklmnop>") == f"<{MASK}>"


# The user's patterns


def test_the_users_patterns_are_masked():
    redactor = Redactor([r"ACME-\d+", "(?i)project (x|y)"])
    assert redactor.text("ACME-1 of Project X") == f"{MASK} of {MASK}"
    assert redactor.plain({"a": "ACME-1"}) == {"a": MASK}
    assert redact("ACME-1") == "ACME-1"


@pytest.mark.parametrize("pattern", ["", "x*", "(?=a)", r"\b", "|"])
def test_a_pattern_with_empty_matches_masks_nothing(pattern):
    assert Redactor([pattern]).text("banana") == "banana"


def test_only_the_matches_that_are_not_empty_are_masked():
    assert Redactor(["x*"]).text("axxb") == f"a{MASK}b"


@pytest.mark.parametrize("pattern", [r"\w+", "act", "[a-z]+", ".*", "a|redacted"])
def test_a_pattern_that_matches_the_mask_does_not_mask_it_again(pattern):
    redactor = Redactor([pattern])
    once = redactor.plain({"name": "an act of theirs"})
    assert redactor.plain(once) == once
    assert "[[" not in once.popitem()[1]


def test_a_pattern_may_name_the_key_of_a_dict():
    assert Redactor(["pin: .*"]).plain({"pin": "1234", "pen": "1234"}) == {
        "pin": MASK,
        "pen": "1234",
    }


def test_an_invalid_pattern_is_refused_by_name():
    with pytest.raises(ValueError, match=r'redact: "a\(" is not a regular expression: missing \)'):
        Redactor(["a("])


# Values of any shape


def test_every_text_of_a_value_is_masked_and_nothing_else_changes():
    key = KEYS["openai"]
    value = {"a": [key, 1, None, (key, 2.5)], key: {"b": f"x {key}"}, 3: True, "c": {}, "d": ()}
    assert Redactor().plain(value) == {
        "a": [MASK, 1, None, (MASK, 2.5)],
        MASK: {"b": f"x {MASK}"},
        3: True,
        "c": {},
        "d": (),
    }
    assert value["a"][0] == key  # the value that was given is not changed
    assert Redactor().plain(key) == MASK
    assert Redactor().plain(7) == 7
    assert Redactor(["a"]).plain(None) is None


def test_the_same_object_is_returned_if_nothing_is_masked():
    value = {"a": ["b", {"c": "d"}]}
    assert Redactor().plain(value) == value


def test_two_keys_that_are_secrets_stay_two_entries():
    value = {KEYS["openai"]: 1, KEYS["groq"]: 2, KEYS["npm"]: 3, "a": 4}
    assert Redactor().plain(value) == {MASK: 1, f"{MASK} (2)": 2, f"{MASK} (3)": 3, "a": 4}


def test_a_dict_key_reveals_that_its_value_is_a_secret():
    value = {
        "aws_secret_access_key": "wJalrXUtnFEMI/K7MDENG",
        "headers": {"Authorization": "Basic dXNlcjpwYXNz", "Accept": "text/html"},
        "api_key": "YOUR_API_KEY",
    }
    assert Redactor().plain(value) == {
        "aws_secret_access_key": MASK,
        "headers": {"Authorization": f"Basic {MASK}", "Accept": "text/html"},
        "api_key": "YOUR_API_KEY",
    }


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ({"password": "hunter2"}, {"password": MASK}),
        ({"dbPassword": "correct horse"}, {"dbPassword": MASK}),
        ({"DB_PWD": "hunter2"}, {"DB_PWD": MASK}),
        ({"token": "plainvalue123"}, {"token": MASK}),
        (
            {"credentials": {"user": "ann", "pass": "hunter2"}},
            {"credentials": {"user": "ann", "pass": MASK}},
        ),
        ({"secret": {"value": "a1b2c3d4e5f6"}}, {"secret": {"value": MASK}}),
        ({"credentials": ["a1b2c3d4"]}, {"credentials": [MASK]}),
        ([{"name": "API_KEY", "value": "a1b2c3"}], [{"name": "API_KEY", "value": MASK}]),
        ([{"key": "password", "value": "abc"}], [{"key": "password", "value": MASK}]),
        ({"args": ["--token", "a1b2c3", "-v"]}, {"args": ["--token", MASK, "-v"]}),
        (("--password", "abc"), ("--password", MASK)),
        # A password may also be what a text looks like that is masked by its form, in part.
        ({"password": KEYS["openai"] + " x"}, {"password": MASK}),
    ],
)
def test_a_value_is_masked_by_the_name_of_its_key(value, masked):
    assert Redactor().clean([value]) == [False]
    assert Redactor().plain(value) == masked
    assert Redactor().plain(masked) == masked


@pytest.mark.parametrize(
    "value",
    [
        {"password": {"type": "string", "description": "At-least-8 characters1"}},
        {"password": "string", "passphrase": "${PASSPHRASE}", "pwd": "<password>"},
        {"password": ""},
        {"password": "The password that the user has chosen at the start"},
        {"password_hint": "the-dog-1"},
        {"token": " the", "logprob": -0.1},
        {"token": {"id": "chatcmpl-AHH0HKxF2K5R"}},  # what a streaming chat model logs
        {"next_page_token": "CAUQAA12", "max_tokens": "128000", "tokens": "a1b2c3d4"},
        {"name": "search_key_words", "value": "a1b2c3d4"},
        {"name": "API_KEY", "value": "YOUR_API_KEY"},
        {"args": ["--tokenizer", "gpt-4o-2024"], "key": "a1b2c3d4"},
        {"pass": "true", "fail": "false", "secret": "none"},
    ],
)
def test_a_value_that_only_looks_like_a_named_secret_is_not_masked(value):
    assert Redactor().plain(value) == value


@pytest.mark.parametrize("fold", [lambda v: [v], lambda v: (v,), lambda v: {"k": v}])
def test_deep_values_are_masked(fold):
    value, wanted = KEYS["openai"], MASK
    for _ in range(50_000):
        value, wanted = fold(value), fold(wanted)
    found = Redactor().plain(value)
    for _ in range(50_000):
        (found,) = found.values() if isinstance(found, dict) else found
    assert found == MASK


def test_is_masked():
    assert is_masked(f"a {MASK}")
    assert is_masked({"a": [1, {f"x{MASK}": 2}]})
    assert not is_masked({"a": ["redacted", None]})
    assert not is_masked(None)


# The pre-filter is fast and misses no secret

SNIPPETS = st.sampled_from(
    [*PAGE.split(), " ", "\n", ": ", "=", "\\", "\\n", '"', "-", "_", "key", "é", "://", "@", "&"]
)
ORDINARY = st.lists(SNIPPETS | st.text(max_size=8), max_size=12).map("".join)
SECRETS = st.sampled_from([*KEYS.values(), "value of the env!", 'an "other" \\ value'])


@st.composite
def texts(draw):
    pieces = [draw(ORDINARY)]
    for _ in range(draw(st.integers(0, 3))):
        before, secret, after = draw(st.sampled_from([*NAMED.values(), ("", draw(SECRETS), "")]))
        pieces += [before, secret, after, draw(ORDINARY)]
    text = "".join(pieces)
    for _ in range(draw(st.integers(0, 2))):
        text = json.dumps(text, ensure_ascii=draw(st.booleans()))
    return text


def slowly(redactor, text):
    """Mask again and again, until nothing changes: a mask may show where the next key begins."""
    for _ in range(5):
        text, before = masked_once(redactor, text), text
        if text == before:
            break
    return text


def masked_once(redactor, text):
    """Mask with every pattern, without the pre-filter, one character at a time."""
    hidden = [False] * len(text)
    for start, end in redactor._spans(text):
        hidden[start:end] = [True] * (end - start)
    shown = ""
    for at, character in enumerate(text):
        if not hidden[at]:
            shown += character
        elif at == 0 or not hidden[at - 1]:
            shown += MASK
    return shown


@property_test
@given(text=texts())
def test_the_pre_filter_misses_nothing(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACME_KEY", "value of the env!")
        patch.setenv("ACME_TOKEN", 'an "other" \\ value')
        redactor = Redactor()
        quick = redactor.text(text)
        assert quick == slowly(redactor, text)
        assert redactor.plain(["a", text, "b"]) == ["a", quick, "b"]
        # A look at the whole value at once may say too little, never too much.
        assert quick == text or redactor.clean([{"a": [text]}]) == [False]


def test_most_values_are_clean_at_one_look():
    value = {"query": "How long?", "found": [{"text": "Within 30 days.\n"}, None, 4, 0.5]}
    # What is not JSON is not known.
    assert Redactor().clean([value, [object()], value]) == [True, False, True]
    assert Redactor([r"\d days"]).clean([value]) == [False]


@property_test
@given(
    before=ORDINARY,
    after=ORDINARY,
    secret=SECRETS,
    sign=st.sampled_from(" \n\t\"'<>(,;"),
)
def test_a_secret_is_masked_at_any_position(before, after, secret, sign):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACME_KEY", "value of the env!")
        patch.setenv("ACME_TOKEN", 'an "other" \\ value')
        shown = Redactor().text(before + sign + secret + " " + after)
    assert secret not in shown
    assert MASK in shown


GLUED = (
    "AIza" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG" + "sk-proj-aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"
)


def test_a_key_that_follows_another_without_a_gap_is_masked():
    assert Redactor().text(f"a {GLUED} b") == f"a {MASK} b"
    assert Redactor().plain({"note": GLUED}) == {"note": MASK}


def test_looking_again_after_a_mask_ends():
    """Each mask makes the next character match: character by character that would take hours."""
    masked = Redactor([r"^b|(?<=\])a"]).text("b" + "a" * 100_000)
    assert masked.startswith(MASK)


@property_test
@example(text=GLUED)
@given(text=texts())
def test_masking_twice_changes_nothing(text):
    redactor = Redactor()
    once = redactor.text(text)
    assert redactor.text(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "-eyJ",
        "-sk-",
        "bearer ",
        "-----BEGIN ",
        "token=",
        "api_key=a(",
        "://a:",
        "\\u002d",
        "\\",
        "SG.a",
        "-----BEGIN PRIVATE KEY-----",
        "Authorization: Basic ",
        "&sig=",
        "--a-",
        "KEY",
        "eyJaaaaaaaa.",
        "curl ",
        "login ",
        "mysql ",
        "machine a login a ",
        "cookie: a=aaaaaa; ",
        '"password": "a',
        "1:AA",
        "KEY value: ",
    ],
)
def test_masking_takes_linear_time(text):
    with cpu_watchdog(20):  # about 0.05 s are needed; quadratic time would take minutes
        redact(text * (400_000 // len(text)))


def test_encoded_secrets_are_out_of_scope(monkeypatch):
    """Documented in the module's docstring; tested so that a change is noticed."""
    monkeypatch.setenv("ACME_KEY", "value of the env!")
    encoded = base64.b64encode(b"value of the env!").decode()
    assert redact(encoded) == encoded


def test_a_variable_given_by_name_is_a_secret(monkeypatch):
    monkeypatch.setenv("GATEWAY", "hunter2-and-more")
    text = "refused: hunter2-and-more"
    assert Redactor().text(text) == text
    assert Redactor(variables=["GATEWAY"]).text(text) == f"refused: {MASK}"


def test_a_pattern_that_takes_too_long_is_an_error():
    with pytest.raises(SpecError, match=r"takes longer than 0\.05 s on a text of 61 characters"):
        Redactor(["(a|aa)+$"]).text("a" * 60 + "!")


def test_texts_in_use_stay_known_when_many_others_pass_by(monkeypatch):
    """Ten thousand names of cases must not keep out the name of a field that all traces have."""
    monkeypatch.setattr(redaction, "_MOST_REMEMBERED", 10)
    redactor = Redactor()
    asked = []
    may = redaction.may_hold_a_secret
    monkeypatch.setattr(
        redaction, "may_hold_a_secret", lambda text: asked.append(text) or may(text)
    )
    for number in range(100):
        redactor.plain({"prompt_tokens": 1, "case": f"case {number}"})
    # Alone it is looked at when it is new; after that only new texts are.
    assert sum("prompt_tokens" in text for text in asked) <= 2
    assert len(redactor._clean) + len(redactor._clean_before) <= 2 * 10 + 4


def test_what_is_remembered_is_forgotten_with_the_environment(monkeypatch):
    monkeypatch.setattr(redaction, "_MOST_REMEMBERED", 2)
    redactor = Redactor()
    for text in ("hunter2-xyzw!", "a b", "c d", "e f"):
        assert redactor.plain({"x": text}) == {"x": text}
    monkeypatch.setenv("MY_PASSWORD", "hunter2-xyzw!")
    assert redactor.plain({"x": "hunter2-xyzw!"}) == {"x": MASK}


def test_a_word_of_secrets_alone_does_not_rebuild_the_value():
    value = {"note": "the api key and the password pass", "rows": [{"max_tokens": "key"}]}
    assert Redactor().plain(value) is value
