"""Scripts as the programs they start, and whether the status of each can be told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trialrun.verification.shell import parse

SHOWN, HIDDEN = True, False


def programs(text: str) -> list[tuple[str, bool]]:
    return [(" ".join(one.words), one.shown) for one in parse(text).commands]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pytest", [("pytest", SHOWN)]),
        ("a && b", [("a", SHOWN), ("b", SHOWN)]),
        ("a; b", [("a", HIDDEN), ("b", SHOWN)]),
        ("a\nb", [("a", HIDDEN), ("b", SHOWN)]),
        ("a || b", [("a", HIDDEN), ("b", HIDDEN)]),
        ("pytest || true", [("pytest", HIDDEN), ("true", HIDDEN)]),
        ("pytest || exit 1", [("pytest", SHOWN), ("exit 1", SHOWN)]),
        ("pytest; exit 0", [("pytest", HIDDEN), ("exit 0", SHOWN)]),
        ("pytest | tail -5", [("pytest", HIDDEN), ("tail -5", SHOWN)]),
        ("pytest 2>&1 | tail", [("pytest", HIDDEN), ("tail", SHOWN)]),
        (
            "set -o pipefail; pytest | tail",
            [("set -o pipefail", HIDDEN), ("pytest", SHOWN), ("tail", SHOWN)],
        ),
        ("set -e; a; b", [("set -e", HIDDEN), ("a", SHOWN), ("b", SHOWN)]),
        (
            "set -euo pipefail\na | b\nc",
            [("set -euo pipefail", HIDDEN), ("a", SHOWN), ("b", SHOWN), ("c", SHOWN)],
        ),
        ("cd x && a | b", [("cd x", SHOWN), ("a", HIDDEN), ("b", SHOWN)]),
        ("! a", [("a", HIDDEN)]),
        ("(a; b)", [("a", HIDDEN), ("b", SHOWN)]),
        ("{ a && b; }", [("a", SHOWN), ("b", SHOWN)]),
        ("if a; then b; fi", [("a", HIDDEN), ("b", HIDDEN)]),
        ("for i in 1 2; do a; done", [("a", HIDDEN), ("a", HIDDEN)]),
        ("server & curl x", [("server", HIDDEN), ("curl x", SHOWN)]),
        ("f() { a; }", []),
        ('echo "pytest passed"', [("echo pytest passed", SHOWN)]),
        ("# pytest", []),
        ("", []),
    ],
)
def test_what_is_started_and_whose_status_is_seen(text, expected):
    assert programs(text) == expected


def test_the_folder_follows_cd_and_a_subshell_keeps_its_own():
    script = parse("cd web && a && (cd src; b); c; cd /abs; d")
    folders = {one.words[0]: one.folder for one in script.commands if one.words[0] != "cd"}
    assert folders == {"a": "web", "b": "web/src", "c": "web", "d": "/abs"}
    assert script.folder == "/abs"


def test_a_folder_that_cannot_be_known_is_not_guessed():
    assert parse('cd "$HOME/x" && a').commands[-1].folder is None


def test_words_are_as_the_program_gets_them():
    (command,) = parse("""FOO=1 prog "a b"'c' d\\ e $X --x='y z'""").commands
    assert command.words == ("prog", "a bc", "d e", "$X", "--x=y z")
    assert command.variables == ("FOO=1",)


def test_redirections_and_here_documents():
    (command,) = parse("cat > out.py <<'EOF'\nx = 1\nEOF\n").commands
    assert (command.writes, command.stdin) == (("out.py",), "x = 1\n")
    (command,) = parse("prog < in.txt >> log 2>/dev/null").commands
    assert (command.reads, command.writes) == (("in.txt",), ("log",))
    assert parse("a 2>&1").commands[0].writes == ()


def test_a_status_that_is_echoed_is_known():
    first, _ = parse('pytest; echo "exit: $?"').commands
    assert first.told_by == "exit: $?"
    assert parse("pytest | tail; echo $?").commands[0].told_by is None
    assert parse("pytest | tail; echo ${PIPESTATUS[0]}").commands[0].told_by is not None


@pytest.mark.parametrize("text", ["echo 'abc", 'a "b', "a $(b", "if a", "((", "\0", "a" * 300_000])
def test_what_does_not_parse_is_not_sound_and_nothing_of_it_succeeded(text):
    script = parse(text)
    assert not script.sound
    assert not any(one.shown for one in script.commands)


def test_letters_beyond_ascii_do_not_kill_the_process():
    (command,) = parse("echo 'Größe 日本' µªÂwGÞgÖ=Wþ{\U000a2ce7U").commands
    assert command.words[:2] == ("echo", "Größe 日本")


@given(st.text(max_size=200))
def test_any_text_is_read(text):
    parse(text)


@given(
    st.lists(
        st.sampled_from(
            [
                "a",
                "&&",
                "||",
                ";",
                "|",
                "(",
                ")",
                "{",
                "}",
                "&",
                "$(",
                "`",
                "!",
                "<<E",
                "\n",
                "if",
                "fi",
                "'",
                '"',
            ]
        ),
        max_size=40,
    )
)
def test_any_mixture_of_signs_is_read(parts):
    for command in parse(" ".join(parts)).commands:
        assert command.words


def test_what_is_nested_too_deeply_is_given_up_quietly():
    parse("(" * 5000 + "a" + ")" * 5000)
    parse("$(" * 3000)


def where(text):
    return [(" ".join(one.words), one.folder) for one in parse(text).commands if one.name != "cd"]


def test_a_loop_over_words_runs_once_for_each():
    assert where("for p in api web; do (cd pkg/$p && npm test); done") == [
        ("npm test", "pkg/api"),
        ("npm test", "pkg/web"),
    ]
    assert where("for f in *.py; do python $f; done") == [("python $f", "")]
    assert where('p=old; for p in $(ls); do cat "$p"; done') == [("cat $p", "")]


def test_a_variable_stands_for_the_value_that_the_script_gives_it():
    assert where('DIR=api; cd $DIR && pytest "${DIR}_tests"') == [("pytest api_tests", "api")]
    assert where("export A=x B=$(date); run $A $B") == [("date", ""), ("run x $B", "")]
    assert where("run() { cd $1 && pytest; }; (run api); (run web)") == [
        ("pytest", "api"),
        ("pytest", "web"),
    ]


@pytest.mark.parametrize(
    "script",
    [
        "if a; then D=x; else D=y; fi; run $D",
        "D=x; D+=y; run $D",
        "(D=x); run $D",
        "for D in x y; do :; done; run $D",
        "D=*.py; run $D",
        "D=x run $D",
    ],
)
def test_a_value_that_cannot_be_known_is_not_made_up(script):
    assert parse(script).commands[-1].words == ("run", "$D")


def test_loops_in_loops_are_followed_so_far():
    inner = "pytest"
    for letter in "abcdef":
        inner = f"for {letter} in 1 2 3 4 5 6 7 8; do {inner}; done"
    assert 0 < len(parse(inner).commands) <= 200


def test_a_variable_that_doubles_stays_short():
    script = "A=xxxxxxxx; " + 'A="$A$A"; ' * 200 + "run $A"
    assert len(parse(script).commands[-1].words[1]) < 5_000
    many = "A=" + "x" * 900 + "; run " + "$A" * 50_000
    assert len(parse(many).commands[-1].words[1]) < 200_000
