"""Untrusted names and texts: never printed unescaped, no encoding errors, no forged lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import junitparser
import lxml.etree
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tiers import all_but_first
from tests.watchdog import WALL_SECONDS
from trialrun.engine.baseline_lookup import file_key

from .conftest import UNSAFE

NAMES = [
    "../../../pwned",
    "/etc/passwd",
    "..",
    ".",
    "a/b",
    "a\\b",
    "C:\\x",
    "CON",
    "con",
    "nul",
    "aux.txt",
    "x" * 300,
    "x" * 300 + "y",
    "\U0001f600\U0001f389",
    unicodedata.normalize("NFC", "café"),
    unicodedata.normalize("NFD", "café"),
    "Install",
    "install",
    "a\x1b[31mred\x07",
    "c1\x9b31m",
    "rtl\u202eevil",
    "isolate\u2066x\u2069",
    "bom\ufeff",
    "line\u2028separator",
    "tab\tx",
    "new\nline",
    "carriage\rreturn",
    "new\n::error::pwned",
    "::error::pwned",
    "::add-mask::x",
    "nul\0byte",
    " leading",
    "-rf",
    "<script>alert(1)</script>",
    "]]>",
    "&amp;",
    "[bold red]x[/]",
    ":smile:",
    "tags\U000e0041",
    "\ufffe\uffff",
    "\U0001fffe",
]
ANSWER = (
    "said \x1b[2J\x07 \u202e \u2066 \x9b \x00 \ufffe \u2028 <b> ]]> & \n::error::pwned \U0001f600"
)


def quoted(text):
    """Any text as YAML: every character except ASCII letters and digits escaped."""
    return (
        '"' + "".join(c if c.isascii() and c.isalnum() else f"\\U{ord(c):08x}" for c in text) + '"'
    )


@pytest.fixture
def strange(bench):
    """A suite with a case for every name in NAMES, each with a trace that fails."""
    lines = [
        f"  - {{name: {quoted(name)}, query: q{number}, tags: [{quoted(name)}], "
        "correctness: {exact_match: no}, path: {max_steps: 3}}"
        for number, name in enumerate(NAMES)
    ]
    bench.spec("\n".join([f"name: {quoted(NAMES[0])}", "queries:", *lines, ""]))
    bench.traces(
        *(
            {"name": name, "input": f"q{number}", "output": ANSWER + name}
            for number, name in enumerate(NAMES)
        )
    )
    return bench


@pytest.mark.parametrize("options", [(), ("-v",), ("-q",), ("--strict",)])
def test_names_and_answers_are_escaped_on_the_terminal(strange, options):
    strange.score(*options).expect(1, f"{len(NAMES)} cases: {len(NAMES)} failed")


def test_names_are_the_same_in_the_json_report(strange):
    outcome = strange.score("--format", "json")
    assert outcome.code == 1
    report = json.loads(outcome.out)
    assert [result["case"] for result in report["results"]] == NAMES
    assert [result["tags"] for result in report["results"]] == [[name] for name in NAMES]
    assert report["summary"]["fail"] == len(NAMES)


def test_a_json_report_has_no_characters_that_a_terminal_acts_on(strange):
    """JSON can escape all unsafe characters without changing the text."""
    found = UNSAFE.search(strange.score("--format", "json").out)
    assert found is None, repr(found)


def test_the_junit_report_is_valid_xml(strange):
    outcome = strange.score("--format", "junit").expect_safe()
    assert outcome.code == 1
    root = lxml.etree.fromstring(outcome.out.encode())
    assert len(root.findall(".//testcase")) == len(NAMES)
    parsed = junitparser.JUnitXml.fromstring(outcome.out.encode())
    assert parsed.failures == len(NAMES)


def test_names_create_no_files(strange, tmp_path):
    before = set(tmp_path.parent.rglob("*"))
    strange.score("-o", "report.json").expect(1)
    strange.score("-o", "report.xml").expect(1)
    made = {path.name for path in set(tmp_path.parent.rglob("*")) - before}
    assert made == {"report.json", "report.xml"}


def test_baselines_are_looked_up_only_in_their_folder(strange, tmp_path):
    """The folder of the suite exists, so names too long for a file reach the file system."""
    torn = b'{"input":'
    folder = tmp_path / "baselines" / file_key(NAMES[0])
    folder.mkdir(parents=True)
    for outside in (tmp_path / "pwned.json", tmp_path.parent / "pwned.json", folder / "..json"):
        outside.write_bytes(torn)
    strange.score().expect(1, f"{len(NAMES)} failed")
    (tmp_path.parent / "pwned.json").unlink()


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:24])
def test_every_name_has_its_own_baseline(bench, name):
    bench.spec(
        f"queries:\n  - {{name: {quoted(name)}, query: q, path: {{max_steps: 1}}}}\n"
        "  - {name: other, query: r, path: {max_steps: 1}}\n"
    )
    bench.traces(
        {"name": name, "input": "q", "output": "a"}, {"input": "r", "output": "a", "steps": []}
    )
    bench.write(f"baselines/spec/{file_key(name)}.json", b"torn")
    bench.score().expect(3, file_key(name), "PASS  other", "1 passed, 1 in error")


SAFE = set("abcdefghijklmnopqrstuvwxyz0123456789-_")


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(first=st.text(), second=st.text())
def test_two_names_never_share_a_file(first, second):
    keys = [file_key(name) for name in (first, second)]
    assert all(key and set(key) <= SAFE and len(key) <= 100 for key in keys)
    assert (keys[0].casefold() == keys[1].casefold()) == (first == second)


def test_no_two_names_of_the_list_share_a_file():
    keys = {unicodedata.normalize("NFC", file_key(name)).casefold() for name in NAMES}
    assert len(keys) == len(NAMES)
    assert not keys & {"con", "nul", "aux", "prn", ".", ".."}


def test_names_that_differ_only_in_unicode_normalization_are_two_cases(bench):
    twins = [unicodedata.normalize(form, "café") for form in ("NFC", "NFD")]
    bench.spec(
        "queries:\n"
        f"  - {{name: {quoted(twins[0])}, query: q, correctness: {{exact_match: first}}}}\n"
        f"  - {{name: {quoted(twins[1])}, query: q, correctness: {{exact_match: second}}}}\n"
    )
    bench.traces(
        {"name": twins[0], "input": "q", "output": "first"},
        {"name": twins[1], "input": "q", "output": "second"},
    )
    bench.score().expect(0, "2 cases: 2 passed")


# Messages about traces


@pytest.mark.parametrize("field", ["name", "id"])
def test_a_stray_trace_cannot_forge_a_line(bench, field):
    bench.case('correctness: {expected_in_answer: ["yes"]}')
    stray = {field: "x\n::error::pwned\x1b[2J\u202e", "input": "y\n::error::pwned\x1b"}
    bench.traces(
        {"name": "one", "input": "q", "output": "yes"},
        {"name": "good", "input": "fine", "output": "yes"},
        stray,
    )
    outcome = bench.score().expect(0, "belongs to no case", "2 passed")
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize("form", ["terminal", "junit"])
def test_an_error_of_an_agent_cannot_forge_a_line(bench, form):
    bench.case('correctness: {expected_in_answer: ["yes"]}')
    bench.traces(
        {"name": "one", "input": "q", "status": "error", "error": "boom\n::error::pwned\x1b[2J"},
        {"name": "good", "input": "fine", "output": "yes"},
    )
    outcome = bench.score("--format", form).expect_safe()
    assert outcome.code == 3
    assert "boom" in outcome.out


@pytest.mark.parametrize("name", ["x\n::error::y.jsonl", "\x1b[2J.jsonl", "\u202e.jsonl"])
def test_a_file_name_cannot_forge_a_line(bench, name):
    bench.case('correctness: {expected_in_answer: ["yes"]}')
    bench.run("score", "spec.yaml", name).expect(2, "no such file")
    bench.write(name, b'{"inp')
    for form in ("terminal", "json", "junit"):
        outcome = bench.run("score", "spec.yaml", name, "--format", form).expect(3, "cut off")
        assert len(outcome.err.splitlines()) == 1


def test_an_unknown_command_is_echoed_escaped(bench):
    bench.run("\x1b[2Jscor\n::error::x").expect(2, "no command")
    bench.run("explain", "\x1b[2Jmax_steps\n::error::x").expect(2, "no check or metric")


def test_file_names_that_are_not_utf_8_cause_no_encoding_error(bench):
    spec, traces = os.fsdecode(b"\xff.yaml"), os.fsdecode(b"\xfe.jsonl")
    bench.case('correctness: {expected_in_answer: ["yes"]}')
    Path("spec.yaml").rename(spec)
    Path(traces).write_bytes(b'{"name":"good","input":"fine","output":"yes"}\n{"inp')
    for form in ("terminal", "json", "junit"):
        outcome = bench.run("score", spec, traces, "--format", form)
        outcome.expect(3, "\\udcfe.jsonl:2", "cut off")
        if form == "json":
            assert json.loads(outcome.out)["summary"]["pass"] == 1
        if form == "junit":
            lxml.etree.fromstring(outcome.out.encode())
    # In a separate process such a name arrives through the arguments.
    bench.spawn("score", spec, traces).expect(3, "\\udcfe.jsonl:2", "cut off")
    bench.run("score", os.fsdecode(b"\xfd.yaml")).expect(2, "no such file")


LONE_SURROGATES = b'{"name":"one","input":"q","output":"yes \\ud800 \\udfff","zzz":{"\\ud801":1}}'


@pytest.mark.parametrize("form", ["terminal", "json", "junit"])
def test_lone_surrogates_are_kept_as_escapes(bench, form):
    bench.case("correctness: {exact_match: no}")
    bench.traces(LONE_SURROGATES, {"name": "good", "input": "fine", "output": "yes"})
    outcome = bench.score("--format", form).expect_safe()
    assert outcome.code == 1
    assert "traces.jsonl:1" in outcome.err
    assert "ud800" in outcome.out
    if form == "json":
        json.loads(outcome.out)
    if form == "junit":
        lxml.etree.fromstring(outcome.out.encode())


# Terminals with limited encodings


ENVIRONMENTS = {
    "POSIX": {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "LANG=C": {"LANG": "C", "LC_ALL": "C"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "strict ascii": {"PYTHONIOENCODING": "ascii:strict"},
}


@pytest.mark.parametrize(
    "environment", all_but_first(pytest.mark.process, ENVIRONMENTS.values()), ids=ENVIRONMENTS
)
def test_a_terminal_with_a_limited_encoding_causes_no_error(bench, environment):
    bench.case("correctness: {exact_match: 'ü \U0001f389'}", name="é\U0001f600")
    bench.traces(
        {"name": "é\U0001f600", "input": "q", "output": "ß \u202e \U0001f600"},
        {"name": "good", "input": "fine", "output": "yes"},
    )
    command = ("score", "spec.yaml", "traces.jsonl")
    bench.spawn(*command, env=environment).expect(1, "exact_match", "1 passed, 1 failed")
    report = subprocess.run(
        [sys.executable, "-m", "trialrun", *command, "--format", "json"],
        env={**os.environ, **environment},
        capture_output=True,
        timeout=WALL_SECONDS,
    )
    assert json.loads(report.stdout)["results"][0]["case"] == "é\U0001f600"
    report = subprocess.run(
        [sys.executable, "-m", "trialrun", *command, "--format", "junit"],
        env={**os.environ, **environment},
        capture_output=True,
        timeout=WALL_SECONDS,
    )
    assert len(lxml.etree.fromstring(report.stdout).findall(".//testcase")) == 2


@pytest.mark.parametrize(
    "command",
    all_but_first(
        pytest.mark.process, ["demo", "checks", "metrics", "explain regex_match", "schema"]
    ),
)
def test_every_command_can_print_to_an_ascii_terminal(bench, command):
    bench.spawn(*command.split(), env={"PYTHONIOENCODING": "ascii:strict"}).expect(0)


# Where the report goes


@pytest.fixture
def ready(bench):
    """A spec and a trace; its one case passes."""
    bench.spec('queries:\n  - {name: one, query: q, correctness: {expected_in_answer: ["yes"]}}\n')
    bench.traces({"name": "one", "input": "q", "output": "yes"})
    return bench


def closed_pipe():
    """The writing end of a pipe without a reader."""
    reading, writing = os.pipe()
    os.close(reading)
    return os.fdopen(writing, "wb")


@pytest.mark.parametrize(
    ("form", "output", "code"),
    all_but_first(
        pytest.mark.process,
        [
            (form, output, code)
            for form in ("json", "terminal", "junit")
            for output, code in (("no", 1), ("yes", 0), (None, 3))
        ],
    ),
)
def test_a_closed_pipe_does_not_change_the_exit_code(ready, form, output, code):
    ready.traces({"name": "one", "input": "q", "output": output})
    with closed_pipe() as stream:
        outcome = ready.spawn("score", "spec.yaml", "traces.jsonl", "--format", form, stdout=stream)
    outcome.expect(code)
    assert outcome.err == ""


@pytest.mark.process
@pytest.mark.parametrize("command", ["checks", "metrics", "schema", "--version", "--help"])
def test_a_closed_pipe_does_not_fail_a_listing(bench, command):
    with closed_pipe() as stream:
        outcome = bench.spawn(command, stdout=stream).expect(0)
    assert outcome.err == ""


def test_piping_into_head_does_not_change_the_exit_code(ready):
    """As in a shell: `trialrun score … | head -0`, with the exit code of trialrun."""
    ready.traces({"name": "one", "input": "q", "output": "no"})
    script = f"{sys.executable} -m trialrun score spec.yaml traces.jsonl | head -0"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {script}"], capture_output=True, timeout=WALL_SECONDS
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("closed", "form"),
    all_but_first(
        pytest.mark.process,
        [("1", "terminal"), ("2", "terminal"), ("1", "json"), ("2", "json")],
    ),
)
def test_a_closed_stream_causes_no_traceback(ready, closed, form):
    ready.traces({"name": "one", "input": "q", "output": "no"}, {"input": "stray"})
    done = subprocess.run(
        [
            "bash",
            "-c",
            f"exec {sys.executable} -m trialrun score spec.yaml traces.jsonl --format {form} "
            f"{closed}>&-",
        ],
        capture_output=True,
        timeout=WALL_SECONDS,
    )
    assert b"Traceback" not in done.stdout + done.stderr
    assert done.returncode in (1, 2)


def test_a_closed_stderr_does_not_fail_a_command(ready):
    done = subprocess.run(
        ["bash", "-c", f"exec {sys.executable} -m trialrun init fresh.yaml 2>&-"],
        capture_output=True,
        timeout=WALL_SECONDS,
    )
    assert done.returncode == 0
    assert Path("fresh.yaml").exists()


@pytest.mark.parametrize(
    "command",
    all_but_first(
        pytest.mark.process, ["score spec.yaml traces.jsonl", "checks", "validate spec.yaml"]
    ),
)
def test_a_full_disk_behind_stdout_is_reported(ready, command):
    with Path("/dev/full").open("wb") as stream:
        ready.spawn(*command.split(), stdout=stream).expect(2, "No space left")


@pytest.mark.parametrize(
    "target",
    ["missing/report.json", "", ".", "/", "./", "traces.jsonl/report.json", "x" * 300],
    ids=["missing", "empty", "dot", "root", "dot slash", "under a file", "300"],
)
def test_a_report_that_cannot_be_written_is_an_error_message(ready, target):
    outcome = ready.score("-o", target).expect(2)
    assert outcome.err.splitlines()[-1].startswith("error: ")
    assert not list(ready.folder.glob(".*.tmp"))


def test_a_report_to_a_folder_is_refused_and_leaves_no_temporary_file(ready):
    (ready.folder / "here").mkdir()
    ready.score("-o", "here").expect(2, "here", "cannot be written")
    assert not list(ready.folder.glob(".*.tmp"))


def test_an_earlier_report_survives_a_refused_spec(ready):
    ready.score("-o", "report.json").expect(0)
    before = Path("report.json").read_bytes()
    ready.spec("querys: []\n")
    ready.score("-o", "report.json").expect(2)
    assert Path("report.json").read_bytes() == before


def test_a_report_to_a_named_pipe_does_not_replace_it(ready):
    """Replacing the file by a rename would delete the pipe (or /dev/stdout, or /dev/null)."""
    os.mkfifo("pipe.json")
    reader = subprocess.Popen(["cat", "pipe.json"], stdout=subprocess.PIPE)
    try:
        ready.score("-o", "pipe.json").expect(0)
        assert Path("pipe.json").is_fifo()
        received, _ = reader.communicate(timeout=WALL_SECONDS)
    finally:
        reader.kill()
        reader.wait()
        reader.stdout.close()
    assert json.loads(received)["summary"]["pass"] == 1


def test_a_report_to_a_symbolic_link_is_written_to_its_target(ready):
    Path("real.json").write_text("{}")
    Path("link.json").symlink_to("real.json")
    ready.score("-o", "link.json").expect(0)
    assert Path("link.json").is_symlink()
    assert json.loads(Path("real.json").read_text())["summary"]["pass"] == 1
