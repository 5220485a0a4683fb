"""The agents of a spec: accepted forms, and every mistake with its place."""

from __future__ import annotations

import pytest

from tests.agent_specs import agent as one
from trialrun import SpecError, load_suite

CASES = "queries: [{query: q, path: {max_steps: 1}}]\n"
SECRET = "sk-" + "a1B2" * 8


@pytest.fixture
def spec(tmp_path):
    def write(text):
        file = tmp_path / "spec.yaml"
        file.write_text(text + CASES, encoding="utf-8")
        return file

    return write


def problems_of(file):
    with pytest.raises(SpecError) as refused:
        load_suite(file)
    return [line.removeprefix(f"{file}:") for line in str(refused.value).splitlines()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("agent: bot\n", ()),
        ("runner: null\n", ()),
        ("agent: bot\nrunner: m:f\n", (one(name="bot", runner="m:f"),)),
        ("command: [node, a.js]\n", (one(command=["node", "a.js"]),)),
        ("url: http://x/chat\n", (one(url="http://x/chat"),)),
        (
            "url: https://x/{{ case.name }}\nmethod: put\nheaders: {A: 'Bearer ${TOKEN}', B: c}\n"
            "body: {ask: '{{ input }}', all: ['{{history}}', 5, null], '{{k}}': '}}'}\n"
            "answer: choices.0.text\n",
            (
                one(
                    url="https://x/{{case.name}}",
                    method="PUT",
                    headers={"A": "Bearer ${TOKEN}", "B": "c"},
                    body={"ask": "{{input}}", "all": ["{{history}}", 5, None], "{{k}}": "}}"},
                    answer="choices.0.text",
                ),
            ),
        ),
        (
            "url: http://x\nbody: 'Q: {{input}}'\n",
            (one(url="http://x", body="Q: {{input}}"),),
        ),
        ("url: http://x\nbody: [1]\n", (one(url="http://x", body=[1]),)),
        (
            "agent: ignored\nagents:\n  old: {runner: 'm:f', timeout: 5}\n  new: {url: 'http://x'}\n",
            (
                one(name="old", runner="m:f", timeout=5.0),
                one(name="new", url="http://x"),
            ),
        ),
    ],
)
def test_every_form_of_agent_is_accepted(spec, text, expected):
    assert load_suite(spec(text)).agents == expected


def test_a_secret_is_not_read_from_the_environment(spec, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "the-value-of-the-secret")
    (agent,) = load_suite(spec("url: http://x\nheaders: {A: 'Bearer ${MY_TOKEN}'}\n")).agents
    assert agent.settings.headers == {"A": "Bearer ${MY_TOKEN}"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "runner: m:f\ncommand: [a]\n",
            "2:1: command: give one of runner, command: a suite has one agent, "
            "or several under `agents:`",
        ),
        ("method: GET\n", "1:1: method: belongs to an agent that is called by `url`"),
        (
            "runner: m:f\nbody: {a: 1}\n",
            "2:1: body: belongs to an agent that is called by `url`",
        ),
        (
            "agents: {}\n",
            "1:9: agents: expected a mapping of names to agents, found an empty one",
        ),
        ("agents: [a]\n", "1:9: agents: expected a mapping of names to agents, found a list"),
        (
            "agents: {a: m:f}\n",
            "1:13: agents.a: an agent is a mapping with `command`, `runner` or `url`, "
            'found the text "m:f"',
        ),
        ("agents: {'': {runner: 'm:f'}}\n", "1:10: agents.: an agent needs a name"),
        (
            "agents: {a: {timeout: 3}}\n",
            "1:13: agents.a: `command`, `runner` or `url` is missing: how is the agent called?",
        ),
        ("agents: {a: {runer: x}}\n", "1:14: agents.a.runer: unknown key; did you mean `runner`?"),
        (
            "agents: {a: {runner: 'm:f', url: 'http://x'}}\n",
            "1:29: agents.a.url: give one of runner, url: an agent is called in one way",
        ),
        (
            "runner: m:f\nagents: {a: {runner: 'm:f'}}\n",
            "1:1: runner: cannot be used with `agents`: move it into one of them",
        ),
        ("agents: {a: {runner: 'm:f', timeout: 0}}\n", "1:38: agents.a.timeout: expected a number"),
        ("url: http://x\nmethod: DELETE\n", "2:9: method: expected one of GET, POST, PUT, PATCH"),
        ("url: http://x\nanswer: ''\n", "2:9: answer: expected the path of the answer"),
        ("url: http://x\nanswer: a..b\n", "2:9: answer: expected the path of the answer"),
        ("url: http://x\nheaders: [a]\n", "2:10: headers: expected a mapping"),
        ("url: http://x\nheaders: {A: 5}\n", "2:14: headers.A: expected text"),
        ("url: http://x\nheaders: {'A B': c}\n", "2:11: headers.A B: not the name of a header"),
        ('url: http://x\nheaders: {A: "b\\r\\nC: d"}\n', "2:14: headers.A: a header cannot have"),
        ("url: http://x\nheaders: {A: ★}\n", "2:14: headers.A: a header cannot have line breaks"),
        (
            "url: http://x\nheaders: {A: '${1}'}\n",
            "2:14: headers.A: a variable is written ${NAME}",
        ),
        ("url: http://x\nheaders: {A: '${B'}\n", "2:14: headers.A: a variable is written ${NAME}"),
        ("url: http://x\nheaders: {A: '${}'}\n", "2:14: headers.A: a variable is written ${NAME}"),
        (
            f"url: http://x\nheaders: {{A: 'Bearer {SECRET}'}}\n",
            "2:14: headers.A: looks like a secret: put it in an environment variable "
            "and write ${NAME}",
        ),
        (
            "url: http://x\nbody: {a: [b, '{{inptu}}']}\n",
            '2:15: body.a[1]: unknown placeholder "{{inptu}}"; did you mean `input`?',
        ),
        (
            "url: http://x/{{name}}\n",
            '1:6: url: unknown placeholder "{{name}}"; did you mean `case.name`?',
        ),
        ("url: http://x\nbody: '{{input}'\n", "2:7: body: `{{` without `}}` after it"),
        ("url: http://x\nbody: {a: .nan}\n", "2:11: body.a: nan cannot be sent"),
        ("url: ftp://x\n", "1:6: url: expected an address that begins with http://"),
        ("command: []\n", "1:10: command: expected a list of texts that is not empty"),
        ("command: ['']\n", "1:11: command[0]: expected text that is not empty"),
        ("timeout: 0\n", "1:10: timeout: expected a number above 0, found the number 0"),
        ("timeout: .inf\n", "1:10: timeout: expected a number above 0, found the number inf"),
        ("timeout: soon\n", "1:10: timeout: expected a number above 0"),
        ("redact: secret\n", "1:9: redact: expected a list of texts"),
        ("redact: ['(']\n", '1:10: redact[0]: "(" is not a regular expression'),
        (
            "redact: [ok, 'x*']\n",
            '1:14: redact[1]: "x*" matches the empty text: it would mask everything',
        ),
        ("defaults: {timeout: 3}\n", "1:12: defaults.timeout: unknown key"),
    ],
)
def test_a_mistake_is_named_with_its_place(spec, text, expected):
    found = problems_of(spec(text))
    assert any(line.startswith(expected) for line in found), found


def test_a_literal_secret_is_not_repeated_in_the_message(spec):
    assert SECRET not in "\n".join(problems_of(spec(f"url: http://x\nheaders: {{A: {SECRET}}}\n")))


def test_all_mistakes_are_reported_together(spec):
    text = "url: http://x\nmethod: GO\nanswer: ''\nheaders: {A: '${'}\nbody: '{{x}}'\n"
    lines = [line.split(":")[0] for line in problems_of(spec(text))]
    assert sorted(lines) == ["2", "3", "4", "5"]


def test_timeouts_and_masks_are_read_from_suite_agent_and_case(spec, tmp_path):
    spec("timeout: 30\nredact: ['cust-[0-9]+']\nagents: {a: {runner: 'm:f', timeout: 20}}\n")
    file = tmp_path / "spec.yaml"
    file.write_text(file.read_text().replace("query: q,", "query: q, timeout: 1.5,"))
    suite = load_suite(file)
    assert (suite.timeout, suite.agents[0].timeout, suite.cases[0].timeout) == (30.0, 20.0, 1.5)
    assert suite.redact == ["cust-[0-9]+"]
