"""Goes through the tree of a parsed script and lists the programs that it starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from trialrun.verification.paths import join
from trialrun.verification.shell_data import Command, Line
from trialrun.verification.shell_words import OPEN, Words

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST = 40
"""How deep one construct may be nested in another before it is no longer followed."""

MOST_CALLS = 100
"""Calls of functions and rounds of loops in one script that are followed."""

MOST_ROUNDS = 12
"""Words of a loop that is followed, once with each of them."""


class _Item(Struct, gc=False):
    """A command or a compound of them, with what is attached to it from outside."""

    node: Any
    redirects: Sequence[Any] = ()
    negated: bool = False


_SEPARATORS = frozenset({";", "\n", "&", ";;"})
_JOINS = frozenset({"&&", "||"})
_PIPES = frozenset({"|", "|&"})
_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
# In these a condition is tried, or a body runs any number of times: their status says little.
_BRANCHING = frozenset(
    {"if_statement", "elif_clause", "else_clause", "while_statement", "for_statement"}
    | {"c_style_for_statement", "case_statement", "case_item", "do_group"}
)
_LAID_FLAT = frozenset({"list", "pipeline", "ERROR", "redirected_statement", "negated_command"})
_NO_ITEMS = frozenset({"comment", "heredoc_body", "heredoc_end"})
_RUNNING = frozenset({"command", "redirected_statement", "subshell", "compound_statement"})
_GIVES_UP = frozenset({"exit", "return", "false"})


def _pipes_of(group: list[_Item | str]) -> tuple[list[list[_Item]], list[str]]:
    """`a | b && c`: what stands between `&&` and `||`, and these signs."""
    pipes: list[list[_Item]] = [[]]
    joins: list[str] = []
    for item in group:
        if isinstance(item, _Item):
            pipes[-1].append(item)
        elif item in _JOINS:
            joins.append(item)
            pipes.append([])
    return pipes, joins


class Walk:
    """Goes through the tree; keeps the shell's folder and options on the way."""

    def __init__(self, source: str, folder: str | None) -> None:
        self.words = Words(source)
        self.folder = folder
        self.prints = "echo" in source or "printf" in source or "cat" in source
        self.substitutes = "$(" in source or "`" in source or "<(" in source or ">(" in source
        self.stops_at_errors = False
        self.pipes_fail = False
        self.functions: dict[str, Any] = {}
        self.aliases: dict[str, list[str]] = {}
        self.arguments: tuple[str, ...] | None = None  # of the function that is being followed
        self.calls = 0
        self.branches = 0  # how many conditions and loops stand around
        self.said: list[Line] = []

    # Lists: the grammar nests `a && b 2>&1 | c` in ways of its own, so they are laid flat first and
    # put together again by the shell's own rules.

    def flat(self, nodes: Sequence[Node], depth: int) -> list[_Item | str]:
        items: list[_Item | str] = []
        for node in nodes:
            kind = node.type
            if kind == "command":
                items.append(_Item(node))
            elif not node.is_named:
                items.append(kind)
            elif kind in _LAID_FLAT and depth < DEEPEST:
                if kind == "redirected_statement":
                    items += self._redirected(node, depth)
                elif kind == "negated_command":
                    for item in self.flat(node.children[1:], depth + 1):
                        if isinstance(item, _Item):
                            item.negated = True
                        items.append(item)
                else:
                    items += self.flat(node.children, depth + 1)
            elif kind not in _NO_ITEMS:
                items.append(_Item(node))
        return items

    def _redirected(self, node: Node, depth: int) -> list[_Item | str]:
        body: list[Node] = []
        redirects: list[Node] = []
        for child in node.children:
            (redirects if child.type in _REDIRECTS else body).append(child)
        items = self.flat(body, depth + 1)
        owner = next((item for item in reversed(items) if isinstance(item, _Item)), None)
        if owner is not None:
            owner.redirects = [*owner.redirects, *redirects]
        else:
            items.append(_Item(node, redirects))
        # `cat <<EOF | tee file` and `cmd <<EOF && next` hang what follows below the here-document.
        for redirect in redirects:
            if redirect.type == "heredoc_redirect":
                rest = [
                    child
                    for child in redirect.children
                    if child.type in _PIPES | _JOINS | {"pipeline", "list", "command"}
                ]
                if rest and rest[0].type not in _PIPES | _JOINS:
                    items.append("|" if rest[0].type == "pipeline" else "&&")
                items += self.flat(rest, depth + 1)
        return items

    def statements(self, nodes: Sequence[Node], shown: bool, depth: int) -> list[Command]:
        """Statements one after the other; of these only the last one's status is seen."""
        kept = self._groups(nodes, depth)
        commands: list[Command] = []
        for index, (group, behind) in enumerate(kept):
            last = index == len(kept) - 1
            seen = shown and not behind and (last or self.stops_at_errors)
            told = None if last else self._told_status(kept[index + 1][0], piped="|" in group)
            made = self._chain(group, seen or told is not None, behind, depth)
            if made and told is not None:
                # The status of the whole is told, and with it that of each command that it shows.
                made = [
                    replace(one, shown=seen, told_by=told if one.shown else None) for one in made
                ]
                if "$?" not in told:  # of a pipe, the first one's
                    made = [
                        replace(one, told_by=told) if one.words == made[0].words else one
                        for one in made
                    ]
            commands += made
        return commands

    def _groups(self, nodes: Sequence[Node], depth: int) -> list[tuple[list[_Item | str], bool]]:
        """What stands between the ends of statements, and whether it is left in the background."""
        groups: list[tuple[list[_Item | str], bool]] = []
        group: list[_Item | str] = []
        for item in self.flat(nodes, depth):
            if isinstance(item, str):
                if item not in _SEPARATORS:
                    group.append(item)
                    continue
                groups.append((group, item == "&"))
                group = []
            elif group and isinstance(group[-1], _Item):
                groups.append((group, False))  # nothing but a line's end stands between them
                group = [item]
            else:
                group.append(item)
        groups.append((group, False))
        return [one for one in groups if one[0]]

    def _told_status(self, group: list[_Item | str], piped: bool) -> str | None:
        """The text that is echoed with the status in it: `echo "exit: $?"`."""
        first = group[0] if group and self.prints else None
        if not isinstance(first, _Item) or first.node.type != "command":
            return None
        words = [self.words.word(child) for child in first.node.children if child.is_named]
        if not words or words[0] not in ("echo", "printf"):
            return None
        text = " ".join(word for word in words[1:] if word not in ("-e", "-n"))
        if "PIPESTATUS[0]" in text or ("$?" in text and (not piped or self.pipes_fail)):
            return text
        return None

    def _chain(
        self, group: list[_Item | str], shown: bool, background: bool, depth: int
    ) -> list[Command]:
        """`a && b || c`: whether the status of each can be told from that of the whole."""
        pipes, joins = _pipes_of(group)
        seen = [shown] * len(pipes)
        for index, join_sign in enumerate(joins):
            if join_sign == "||" and not self._gives_up(pipes[index + 1]):
                seen[: index + 1] = [False] * (index + 1)
                seen[-1] = seen[-1] and index < len(joins) - 1
        commands: list[Command] = []
        behind: tuple[Command, ...] = ()
        for index, (pipe, visible) in enumerate(zip(pipes, seen, strict=True)):
            either = index > 0 and joins[index - 1] == "||"
            behind = () if either else behind
            if self.prints and not self.branches:
                commands = self._heard(pipe, behind, commands)
            made = self._pipe(pipe, visible, background, depth)
            if self.prints and not either:  # behind `a || b` either may have succeeded
                behind += self._deciding(pipe, made)
            commands += made
        return commands

    def _heard(
        self, pipe: list[_Item], behind: tuple[Command, ...], commands: list[Command]
    ) -> list[Command]:
        """The commands, of which those that a line stands behind know it."""
        line = self._listen(pipe, behind)
        if line is None:
            return commands
        return [replace(one, echoed=line) if one in behind else one for one in commands]

    def _deciding(self, pipe: list[_Item], made: list[Command]) -> tuple[Command, ...]:
        """The programs of a pipe without whose success the pipe does not succeed."""
        if not pipe or pipe[-1].negated or pipe[-1].node.type not in _RUNNING:
            return ()
        return tuple(made if self.pipes_fail else made[-1:])

    def _listen(self, pipe: list[_Item], behind: tuple[Command, ...]) -> str | None:
        """`echo "5 passed"` prints that, whatever the tests did, unless it stands behind them.

        Returned is the first line that stands behind them.
        """
        lines = [line.strip() for item in pipe for line in self._printed(item) if line.strip()]
        self.said += [Line(line, behind) for line in lines]
        return lines[0] if lines and behind else None

    def _printed(self, item: _Item) -> list[str]:
        """The lines that `echo`, or `cat` with a text of the script, prints."""
        children = item.node.children
        words = [self.words.word(child) for child in children if child.is_named]
        if item.node.type != "command" or not words:
            return []
        if words[0] == "cat":
            inner = [child for child in children if child.type in _REDIRECTS]
            return (self.words.redirections([*item.redirects, *inner])[2] or "").splitlines()
        if words[0] in ("echo", "printf"):
            text = " ".join(word for word in words[1:] if word not in ("-e", "-n"))
            if "$" not in text and "`" not in text:
                return text.replace("\\n", "\n").splitlines()
        return []

    def _gives_up(self, pipe: list[_Item]) -> bool:
        """`|| exit 1` makes a failure one of the whole."""
        if not pipe:
            return False
        text = self.words.text(pipe[-1].node).strip(" {}();\n").rstrip("; ")
        words = text.rpartition(";")[2].split()
        return bool(words) and words[0] in _GIVES_UP and words[1:2] != ["0"]

    def _pipe(self, items: list[_Item], shown: bool, background: bool, depth: int) -> list[Command]:
        if len(items) == 1 and not background:
            return self._item(items[0], shown, depth)
        last = len(items) - 1
        stages = []
        for index, item in enumerate(items):
            seen = shown and (index == last or self.pipes_fail)
            stages.append(self._item(item, seen, depth))
        commands: list[Command] = []
        before: tuple[str, ...] = ()
        for index, made in enumerate(stages):
            after = tuple(stage[0].words for stage in stages[index + 1 : index + 9] if stage)
            for command in made:
                if before or after or (background and not command.background):
                    command = replace(
                        command,
                        background=command.background or background,
                        piped_from=before or command.piped_from,
                        piped_into=(*command.piped_into, *after),
                    )
                commands.append(command)
            before = made[-1].words if made else ()
        return commands

    def _item(self, item: _Item, shown: bool, depth: int) -> list[Command]:
        if depth >= DEEPEST:
            return []
        node = item.node
        kind = node.type
        if kind in ("command", "redirected_statement"):
            return self._started(item, shown, depth)
        if kind == "function_definition":
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if name is not None and body is not None:
                self.functions[self.words.text(name)] = body
            return []
        if kind == "test_command":
            return []
        if kind == "subshell":
            folder, values = self.folder, dict(self.words.values)
            made = self.statements(node.children[1:-1], shown and not item.negated, depth + 1)
            self.folder, self.words.values = folder, values
        elif kind == "compound_statement":
            made = self.statements(node.children[1:-1], shown and not item.negated, depth + 1)
        elif kind in _BRANCHING:
            self.branches += 1
            rounds = self._rounds(node, depth) if kind == "for_statement" else None
            inner = [child for child in node.children if child.is_named or child.type == ";"]
            made = rounds if rounds is not None else self.statements(inner, False, depth + 1)
            self.branches -= 1
        else:
            self.words.assign(node, not self.branches)
            return self._substituted(node, depth) if self.substitutes else []
        writes, _, _ = self.words.redirections(item.redirects)
        if writes:
            made.append(Command((":",), self.folder, shown=False, writes=tuple(writes)))
        return made

    def _rounds(self, node: Node, depth: int) -> list[Command] | None:
        """`for p in api web; do (cd $p && pytest); done`: the body once for each word."""
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        words = [self.words.word(value) for value in node.children_by_field_name("value")]
        plain = words and len(words) <= MOST_ROUNDS and not any(set(one) & OPEN for one in words)
        if name is None or body is None or not plain:
            if name is not None:
                self.words.values.pop(self.words.text(name), None)
            return None
        made: list[Command] = []
        for word in words:
            self.calls += 1
            if self.calls > MOST_CALLS:
                break  # loops in loops
            self.words.values[self.words.text(name)] = word
            made += self.statements([body], False, depth + 1)
        self.words.values.pop(self.words.text(name), None)
        return made

    def _started(self, item: _Item, shown: bool, depth: int) -> list[Command]:
        """One command, and those that stand inside its words."""
        command = self._command(item, shown)
        made = self._substituted(item.node, depth) if self.substitutes else []
        if command is None:
            return made
        if command.words[0] in self.functions:
            return made + self._called(command, item, shown, depth)
        self._follow(command)
        made.append(command)
        return made

    def _called(self, command: Command, item: _Item, shown: bool, depth: int) -> list[Command]:
        """A function of the script's own runs what it holds, whatever program has its name."""
        self.calls += 1
        if self.calls > MOST_CALLS:
            return []  # it calls itself
        body = _Item(self.functions[command.words[0]], item.redirects, item.negated)
        before, self.arguments = self.arguments, command.words[1:]
        values, given = self.words.values, enumerate(command.words[1:10], 1)
        self.words.values = {**values, **{str(place): word for place, word in given}}
        made = self._item(body, shown, depth + 1)
        self.arguments, self.words.values = before, values
        return made

    def _command(self, item: _Item, shown: bool) -> Command | None:
        writes: list[str] = []
        reads: list[str] = []
        stdin = None
        if item.redirects:
            writes, reads, stdin = self.words.redirections(item.redirects)
        words: list[str] = []
        variables: list[str] = []
        for child in item.node.children:
            kind = child.type
            if kind == "variable_assignment":
                variables.append(self.words.text(child))
            elif kind in _REDIRECTS:
                more_writes, more_reads, text = self.words.redirections([child])
                writes, reads = writes + more_writes, reads + more_reads
                stdin = text if text is not None else stdin
            elif kind != "comment" and child.is_named:
                words.append(self.words.word(child))
        if not words and not writes:
            return None
        if words and words[0] in self.aliases:
            words = self.aliases[words[0]] + words[1:]
        if self.arguments is not None and "$@" in words:
            at = words.index("$@")
            words[at : at + 1] = self.arguments
        return Command(
            tuple(words) or (":",),
            self.folder,
            shown=shown and not item.negated,
            negated=item.negated,
            writes=tuple(writes),
            reads=tuple(reads),
            stdin=stdin,
            variables=tuple(variables),
        )

    def _substituted(self, node: Node, depth: int) -> list[Command]:
        """`$(…)` inside a command runs too; its status is lost."""
        made: list[Command] = []
        waiting = [child for child in node.children if child.is_named]
        for _ in range(2000):
            if not waiting:
                break
            child = waiting.pop()
            if child.type in ("command_substitution", "process_substitution"):
                folder = self.folder
                made += self.statements(child.children[1:-1], False, depth + 1)
                self.folder = folder
            elif child.type not in ("heredoc_body", "raw_string"):
                waiting += [part for part in child.children if part.is_named]
        return made

    def _follow(self, command: Command) -> None:
        """What the command changes about the shell itself: its folder and its options."""
        name = command.name
        if name in ("cd", "pushd"):
            places = [word for word in command.words[1:] if not word.startswith("-")]
            if not places or places[0].startswith(("$", "`")):
                self.folder = None if places else "~"
            else:
                self.folder = join(self.folder, places[0])
        elif name == "alias":
            for word in command.words[1:]:
                short, equals, value = word.partition("=")
                if equals:
                    simple = not set(value) & set("|;&<>()`$")
                    self.aliases[short] = value.split() if simple and value.strip() else [":"]
        elif name == "popd":
            self.folder = None
        elif name == "set":
            self._set(command.words[1:])

    def _set(self, options: Sequence[str]) -> None:
        """`set -euo pipefail`."""
        text = " ".join(options)
        if "pipefail" in text:
            self.pipes_fail = "+o pipefail" not in text
        for option in options:
            if option.startswith("-") and "e" in option.strip("-") and option[1:] != "o":
                self.stops_at_errors = True
            elif option == "+e":
                self.stops_at_errors = False
        if "errexit" in text:
            self.stops_at_errors = "+o errexit" not in text
