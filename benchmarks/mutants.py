"""Make small faults in source code, choose some at random, and find them again in later versions.

A mutant is kept as text (old and new lines, the function, the neighbouring lines) and not by line
number, so that it can be found again after the code around it was moved.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import itertools
import random
import re
from collections.abc import Iterator
from pathlib import Path

_SWAPS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "is": "is not"}
_SWAPS |= {"is not": "is", "in": "not in", "not in": "in", "and": "or", "or": "and"}
_SWAPS |= {"+": "-", "-": "+"}
_OPERATOR = re.compile(r"not\s+in\b|is\s+not\b|\b(?:in|is|and|or)\b|[=!<>]=|[<>+-]")  # `) not in (`

_Node = ast.stmt | ast.expr
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mutant:
    """One fault: the lines `old` become `new`; `before` and `after` are next to them.

    Lines are whole, and without indentation.
    """

    number: int = 0
    module: str
    function: str
    operator: str
    old: str
    new: str
    occurrence: int
    """How many times the function has the lines `old` before this place."""
    before: str
    after: str


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a mutant is: a file, its mutated source, and the line numbers that it changes."""

    path: Path
    source: str
    lines: range


def choose(sources: dict[str, str], count: int, seed: int) -> list[Mutant]:
    """Choose mutants at random: as many from each module, of each line at most one."""
    chooser = random.Random(seed)
    share = count // len(sources)
    chosen: list[Mutant] = []
    for module, source in sources.items():
        by_line: dict[int, list[Mutant]] = {}
        for line, mutant in candidates(source, module):
            by_line.setdefault(line, []).append(mutant)
        lines = chooser.sample(sorted(by_line), share)
        chosen += [chooser.choice(by_line[line]) for line in sorted(lines)]
    return [dataclasses.replace(mutant, number=at) for at, mutant in enumerate(chosen, 1)]


def candidates(source: str, module: str) -> Iterator[tuple[int, Mutant]]:
    """Yield every possible mutant of the functions of a module, with the number of its first line.

    Lines outside functions are left out: they are executed by an import, not by a test.
    """
    text = _Text(source)
    plain = [line.strip() for line in source.splitlines()]
    for name, function in _functions(ast.parse(source)):
        for node in _mutable(function):
            for operator, target, replacement in _changes(node, text):
                first, last = target.lineno, target.end_lineno or target.lineno
                old = plain[first - 1 : last]
                changed = text.lines_with(target, replacement)
                yield (
                    first,
                    Mutant(
                        module=module,
                        function=name,
                        operator=operator,
                        old="\n".join(old),
                        new="\n".join(line.strip() for line in changed.splitlines()),
                        occurrence=len(
                            _occurrences(plain, old, range(function.lineno - 1, first - 1))
                        ),
                        before=_neighbour(plain[: first - 1][::-1]),
                        after=_neighbour(plain[last:]),
                    ),
                )


class _Text:
    """A source by the positions that `ast` gives, which count bytes."""

    def __init__(self, source: str) -> None:
        self._bytes = source.encode()
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line.encode()))

    def of(self, node: _Node) -> str:
        """The text of a node."""
        return self._bytes[self._begin(node) : self._end(node)].decode()

    def lines_with(self, node: _Node, replacement: str) -> str:
        """The lines of a node, with another text in its place."""
        begin = self._bytes[self._starts[node.lineno - 1] : self._begin(node)].decode()
        end = self._bytes[self._end(node) : self._starts[node.end_lineno or node.lineno]].decode()
        return begin + replacement + end

    def swapped(self, node: _Node, operands: list[ast.expr]) -> str:
        """The text of an operation, with the other operator between its operands."""
        at, made = self._begin(node), ""
        for left, right in itertools.pairwise(operands):
            made += self._bytes[at : self._end(left)].decode()
            between = self._bytes[self._end(left) : self._begin(right)].decode()
            made += _OPERATOR.sub(lambda found: _SWAPS[" ".join(found[0].split())], between, 1)
            at = self._begin(right)
        return made + self._bytes[at : self._end(node)].decode()

    def _begin(self, node: _Node) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: _Node) -> int:
        return self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)


def _functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, _Function]]:
    """Yield the functions and methods within a node, with their qualified names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function | ast.ClassDef):
            name = f"{prefix}{child.name}"
            if isinstance(child, _Function):
                yield name, child
            yield from _functions(child, f"{name}.")
        else:
            yield from _functions(child, prefix)


def _mutable(function: _Function) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body that may be changed.

    Left out: nested functions, which `_functions` yields too; annotations; assertions, which are
    for the type checker; what is raised, which is the message of an error; f-strings, whose
    positions are not exact.
    """
    left: list[ast.AST] = list(function.body)
    while left:
        node = left.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                continue
            case ast.Assert() | ast.JoinedStr() | ast.Expr(value=ast.Constant()):
                continue
            case ast.Call(func=ast.Name(id="cast")):
                continue
        yield node
        if not isinstance(node, ast.Raise):
            unwanted = getattr(node, "annotation", None)
            left += [child for child in ast.iter_child_nodes(node) if child is not unwanted]


def _changes(node: ast.AST, text: _Text) -> list[tuple[str, _Node, str]]:
    """Return the changes that a node allows: the operator, what is replaced, and with what."""
    match node:
        case ast.Compare(left=left, comparators=[right]):
            return [("comparison", node, text.swapped(node, [left, right]))]
        case ast.BoolOp(values=values):
            return [("and/or", node, text.swapped(node, values))]
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            if _is_text(left) or _is_text(right):
                return []
            return [("arithmetic", node, text.swapped(node, [left, right]))]
        case ast.UnaryOp(op=ast.Not()):
            return [("not", node, text.of(node).removeprefix("not").lstrip())]
        case ast.If(test=test) | ast.IfExp(test=test):
            return [("condition", test, "True"), ("condition", test, "False")]
        case ast.Constant():
            return [("constant", node, other) for other in _other_constants(node.value)]
        case ast.stmt():
            return [(operator, node, other) for operator, other in _other_statements(node)]
    return []


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _other_constants(value: object) -> list[str]:
    if isinstance(value, bool):
        return [str(not value)]
    if isinstance(value, int | float):
        return [repr(value + 1)]
    # With two spaces or more it is prose, such as a message.
    if isinstance(value, str) and value and value.count(" ") < 2:
        return ['""']
    return []


def _other_statements(node: ast.stmt) -> list[tuple[str, str]]:
    match node:
        case ast.Return(value=ast.Constant(value=None)):
            return []
        case ast.Return(value=ast.expr()):
            return [("return", "return None")]
        case ast.Continue():
            return [("loop", "break")]
        case ast.Break():
            return [("loop", "continue")]
        case ast.Raise() | ast.Expr(value=ast.Call() | ast.Await()):
            return [("removal", "pass")]
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return [("removal", "pass")]
    return []


def locate(mutant: Mutant, paths: list[Path]) -> Place | None:
    """Find the lines of a mutant: in its function where there is one of that name, else anywhere.

    Among several places outside the function, the one with the same lines around it is meant.
    """
    old = mutant.old.splitlines()
    found: list[tuple[int, Path, int]] = []
    for path in paths:
        source = path.read_text()
        plain = [line.strip() for line in source.splitlines()]
        for name, function in _functions(ast.parse(source)):
            if name == mutant.function:
                within = range(function.lineno - 1, function.end_lineno or 0)
                places = _occurrences(plain, old, within)
                if len(places) > mutant.occurrence:
                    return _place(mutant, path, places[mutant.occurrence])
        for start in _occurrences(plain, old, range(len(plain))):
            around = _neighbour(plain[:start][::-1]), _neighbour(plain[start + len(old) :])
            alike = (around[0] == mutant.before) + (around[1] == mutant.after)
            if alike:  # `return value` alone may be anywhere
                found.append((alike, path, start))
    best = [place for place in found if place[0] == max(found)[0]]
    return _place(mutant, *best[0][1:]) if len(best) == 1 else None


def _place(mutant: Mutant, path: Path, start: int) -> Place:
    lines = path.read_text().splitlines(keepends=True)
    stop = start + len(mutant.old.splitlines())
    replaced = lines[start:stop]
    indents = [line[: len(line) - len(line.lstrip())] for line in replaced]
    new = [
        indent + line + "\n" for indent, line in zip(indents, mutant.new.splitlines(), strict=False)
    ]
    return Place(path, "".join(lines[:start] + new + lines[stop:]), range(start + 1, stop + 1))


def closest(mutant: Mutant, paths: list[Path]) -> Mutant | None:
    """Return the mutant of the present code that is most like one that is not found."""
    best, likeness = None, 0.0
    for path in paths:
        for _, other in candidates(path.read_text(), mutant.module):
            if other.operator == mutant.operator:
                alike = _likeness(mutant, other)
                if alike > likeness:
                    best, likeness = other, alike
    return best and dataclasses.replace(best, number=mutant.number)


def _likeness(one: Mutant, other: Mutant) -> float:
    """How alike two mutants are: mostly in their lines, then in function and neighbours."""
    weights = {"old": 3, "new": 3, "function": 1, "before": 1, "after": 1}
    return sum(
        weight * difflib.SequenceMatcher(None, getattr(one, field), getattr(other, field)).ratio()
        for field, weight in weights.items()
    )


def _occurrences(plain: list[str], old: list[str], within: range) -> list[int]:
    """Return the indices within a range at which these lines begin."""
    return [start for start in within if plain[start : start + len(old)] == old]


def _neighbour(lines: list[str]) -> str:
    return next((line for line in lines if line), "")
