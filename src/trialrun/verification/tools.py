"""What a tool call does, by what the tool is for and not by one vendor's names.

Names that agents are known to use stand in a table; any other name is taken apart into words
(`mcp__docs__patch_page` patches a page). A spec may say it for one's own tools, and then it holds.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from trialrun.trace import Step
from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed, Service
from trialrun.verification.patches import patched_files
from trialrun.verification.paths import is_absolute, is_fleeting
from trialrun.verification.programs import deeds_of, is_program
from trialrun.verification.python_code import deeds_of_code
from trialrun.verification.runners import Table, default_table
from trialrun.verification.services import service_of
from trialrun.verification.settings import OwnTools
from trialrun.verification.shell import Command, Script, parse
from trialrun.verification.sql import statement_kind
from trialrun.verification.values import safe_text
from trialrun.verification.wording import ENDINGS
from trialrun.verification.wrappers import script_of

_EDITS, _READS, _SEARCHES, _LISTS = "edits", "reads", "searches", "lists"
_RUNS, _CODE, _PATCHES, _EDITOR, _PROGRAM = "runs", "code", "patches", "editor", "program"
_LOOKS_UP = "looks up"  # something outside of the project: a page, a search of the web
_PROBES, _QUIET, _DELETES, _MOVES, _OPENS, _AGENT, _QUERIES, _OPERATES = (
    "probes", "quiet", "deletes", "moves", "opens", "agent", "queries", "operates",
)  # fmt: skip

_KNOWN: dict[str, str] = {
    # Claude Code
    "edit": _EDITS, "multiedit": _EDITS, "write": _EDITS, "notebookedit": _EDITS, "read": _READS,
    "notebookread": _READS, "bash": _RUNS, "bashoutput": _QUIET, "killshell": _QUIET, "grep": _SEARCHES,
    "glob": _LISTS, "ls": _LISTS, "task": _AGENT, "spawn_agent": _AGENT, "delegate": _AGENT, "dispatch_agent": _AGENT, "call_agent": _AGENT, "subagent": _AGENT, "agent": _AGENT, "todowrite": _QUIET, "todoread": _QUIET,
    "exitplanmode": _QUIET, "webfetch": _LOOKS_UP, "websearch": _LOOKS_UP, "slashcommand": _QUIET, "skill": _QUIET,
    # Codex
    "shell": _RUNS, "sh": _RUNS, "local_shell": _RUNS, "exec_command": _RUNS, "unified_exec": _RUNS, "container.exec": _RUNS,
    "apply_patch": _PATCHES, "update_plan": _QUIET, "write_stdin": _QUIET, "view_image": _QUIET,
    # OpenHands
    "execute_bash": _RUNS, "str_replace_editor": _EDITOR, "str_replace_based_edit_tool": _EDITOR,
    "execute_ipython_cell": _CODE, "ipython": _CODE, "run_ipython": _CODE, "finish": _QUIET, "think": _QUIET,
    "browser": _PROBES, "edit_file": _EDITS, "cmdrun": _RUNS, "cmdrunaction": _RUNS, "ipythonruncellaction": _CODE,
    "fileeditaction": _EDITS, "filereadaction": _READS, "filewriteaction": _EDITS, "jupyter": _CODE, "python": _CODE,
    # SWE-agent
    "open": _OPENS, "goto": _OPENS, "scroll_down": _OPENS, "scroll_up": _OPENS, "create": _EDITS,
    "search_dir": _SEARCHES, "search_file": _SEARCHES, "find_file": _LISTS, "submit": _QUIET, "insert": _EDITS,
    # Cursor, Windsurf, Cline, Roo, Gemini, Aider, Amp, opencode, Copilot
    "run_terminal_cmd": _RUNS, "run_terminal_command": _RUNS, "run_in_terminal": _RUNS, "codebase_search": _SEARCHES,
    "grep_search": _SEARCHES, "file_search": _LISTS, "list_dir": _LISTS, "read_file": _READS, "delete_file": _DELETES,
    "search_replace": _EDITS, "write_to_file": _EDITS, "replace_in_file": _EDITS, "apply_diff": _EDITS,
    "insert_content": _EDITS, "search_and_replace": _EDITS, "execute_command": _RUNS, "list_files": _LISTS,
    "search_files": _SEARCHES, "attempt_completion": _QUIET, "ask_followup_question": _QUIET, "new_task": _AGENT,
    "run_shell_command": _RUNS, "replace": _EDITS, "write_file": _EDITS, "read_many_files": _READS,
    "search_file_content": _SEARCHES, "list_directory": _LISTS, "save_memory": _QUIET, "google_web_search": _LOOKS_UP, "web_search": _LOOKS_UP, "web_fetch": _LOOKS_UP, "runtests": d.TEST, "run_tests": d.TEST,
    "run_command": _RUNS, "view_file": _READS, "write_code": _EDITS, "propose_code": _EDITS, "replace_file_content": _EDITS,
    "view_file_outline": _READS, "view_line_range": _READS, "search_replace_block": _EDITS, "run_shell": _RUNS,
    "create_file": _EDITS, "insert_edit_into_file": _EDITS, "replace_string_in_file": _EDITS, "terminal": _RUNS,
    "ssh_exec": _RUNS, "ssh": _RUNS, "run": _RUNS, "cmd": _RUNS, "command": _RUNS, "run_code": _CODE,
    "execute_python": _CODE, "python_repl": _CODE, "code_interpreter": _CODE, "todo_write": _QUIET, "todo_read": _QUIET,
    "patch": _PATCHES, "update_todo_list": _QUIET, "switch_mode": _QUIET, "edit_block": _EDITS, "fetch": _PROBES,
    "read_text_file": _READS, "read_multiple_files": _READS, "move_file": _MOVES, "get_file_contents": _READS,
    "create_or_update_file": _EDITS, "push_files": _EDITS, "create_pull_request": _QUIET, "create_pr": _QUIET,
    "browser_navigate": _PROBES, "browser_snapshot": _PROBES, "browser_take_screenshot": _PROBES,
    "report": _QUIET, "done": _QUIET, "final_answer": _QUIET, "ask_user": _QUIET, "plan": _QUIET, "todo": _QUIET,
}  # fmt: skip

_EDITOR_VERBS = ("view", "create", "str_replace", "insert", "undo_edit")
_VERB_KEYS = ("command", "op", "operation", "action", "mode")
_SHOWING_VERBS = frozenset("view read open show cat get print".split())
_EDIT_WORDS = frozenset(
    "edit write patch update replace insert append create modify set put save upsert change rename add overwrite rewrite upload".split()
)
_READ_WORDS = frozenset(
    "read view get show open cat fetch load retrieve download inspect describe display".split()
)
_SEARCH_WORDS = frozenset("search grep find query lookup locate".split())
_LIST_WORDS = frozenset("list ls glob tree browse".split())
_RUN_WORDS = frozenset(
    "bash shell terminal exec execute run command cmd console powershell script invoke".split()
)
_DELETE_WORDS = frozenset({"delete", "remove", "unlink", "trash"})
_THING_WORDS = frozenset(
    "file files doc docs document documents page pages notebook cell content text config sheet block blocks issue wiki note notes record row rows table resource spreadsheet range section article template policy".split()
)
_QUIET_WORDS = frozenset(
    "todo plan think memory comment message notify ask submit finish commit pr pull_request branch label review reply".split()
)
_ASKING_WORDS = frozenset("get list show fetch view read check status wait watch".split())
_PROBE_WORDS = frozenset(
    "http request probe health ping browser curl status check checks ci workflow runs monitor navigate screenshot".split()
)

_PATH_KEYS = (
    "file_path", "path", "filename", "file", "filepath", "notebook_path", "notebook", "target_file", "relative_workspace_path", "file_name",
    "absolutepath", "targetfile", "uri", "absolute_path", "relative_path", "doc", "doc_id", "document", "document_id", "page_id",
    "page", "id", "key", "name", "issue_number", "pull_number", "number", "uid", "slug", "sheet", "title", "resource", "target", "dir", "directory", "searchdirectory", "directorypath", "folder",
)  # fmt: skip
_COMMAND_KEYS = (
    "command", "cmd", "commandline", "script", "shell_command", "bash", "commands", "keystrokes", "input", "code", "args", "argv", "line",
)  # fmt: skip
_FOLDER_KEYS = (
    "cwd",
    "workdir",
    "working_directory",
    "working_dir",
    "dir",
    "directory",
    "workspace",
)
_HOST_KEYS = ("host", "hostname", "server", "machine", "target", "node")
_CONTENT_KEYS = (
    "new_string", "new_str", "content", "file_text", "new_source", "replacement", "replace", "code_edit", "text", "new_text",
    "contents", "diff", "patch", "input", "body", "codeedit", "codecontent", "new_content", "insert_text", "edits", "replace_text", "code",
)  # fmt: skip

_NEW_KEYS = (
    "new_string", "new_str", "content", "file_text", "new_source", "replacement", "replace", "new_text", "contents", "new_content",
    "insert_text", "newtext", "text", "body", "to",
)  # fmt: skip
_OLD_KEYS = (
    "old_string",
    "old_str",
    "old_text",
    "search",
    "find",
    "old_content",
    "target_content",
    "from",
)
_PART_KEYS = frozenset(
    "offset limit view_range start_line end_line line_start line_end startline endline line_range"
    " lines head tail start_line_one_indexed".split()
)


class Reader:
    """Goes through the calls of one trace; knows what one call leaves for the next."""

    def __init__(self, own: OwnTools | None = None, table: Table | None = None) -> None:
        self.table = table or default_table()
        self.own: dict[str, str] = {}
        for kind, names in (
            (_EDITS, own.edits if own else ()),
            (_READS, own.reads if own else ()),
            (_RUNS, own.runs if own else ()),
        ):
            self.own.update(dict.fromkeys(names, kind))
        self.folder: str | None = ""
        self.opened: str | None = None  # SWE-agent edits the file that is open
        self.sound = True
        self.said: tuple[str, ...] = ()  # what the script of this call prints by itself
        # A session runs one command many times, and many scripts begin with the same `cd`.
        self.known: dict[Command, tuple[Deed, ...]] = {}
        self.scripts: dict[tuple[str, str | None], Script] = {}
        self.read: dict[int, tuple[Script, tuple[Deed, ...], tuple[str, ...]]] = {}

    def deeds(self, step: Step) -> Sequence[Deed]:
        """What this call did, by its name and arguments alone."""
        self.sound = True
        self.said = ()
        name = step.tool_name or ""
        arguments = _mapping(step.tool_args)
        return tuple(self._by_kind(self._kind(name, arguments), name, arguments))

    def _kind(self, name: str, arguments: Mapping[str, Any]) -> str:
        if name in self.own:
            return self.own[name]
        short = short_name(name)
        if short in self.own:
            return self.own[short]
        if "path" in arguments and arguments.get("command") in _EDITOR_VERBS:
            return _EDITOR  # by whatever name: nobody has a program called `str_replace`
        if "editor" in short.lower() and _text(arguments, _VERB_KEYS) and _paths(arguments):
            return _EDITOR
        plain = short.lower()
        known = _KNOWN.get(plain) or _KNOWN.get(plain.replace("_", ""))
        if known is not None and not (known == _RUNS and _command_of(arguments) is None):
            return known
        if known is None and is_program(plain) and _words(arguments) is not None:
            return _PROGRAM  # a tool that is a program: kubectl with its arguments
        return _guessed(short, arguments)

    def _by_kind(self, kind: str, name: str, arguments: Mapping[str, Any]) -> Iterator[Deed]:
        by = short_name(name)
        if kind == _RUNS:
            yield from self._run(by, arguments)
        elif kind == _PROGRAM:
            yield from self._run(by, {**arguments, "command": f"{by} {_words(arguments)}"})
        elif kind == _CODE:
            yield from self._code(by, arguments)
        elif kind == _EDITOR:
            yield from self._editor(by, arguments)
        elif kind == _PATCHES:
            text = " ".join(
                str(value) for value in arguments.values() if isinstance(value, (str, list))
            )
            text = text if "\n" in text else text.replace("\\n", "\n")
            files = tuple(patched_files(text)) or _paths(arguments)
            yield Deed(d.EDIT, by=by, paths=files, folder=_folder(arguments), content=text)
        elif kind == _EDITS:
            yield from self._edit(by, arguments)
        elif kind == _DELETES:
            yield Deed(d.REMOVE, by=by, paths=_paths(arguments))
        elif kind == _MOVES:
            source, target = (
                _text(arguments, ("source", "from", "old_path", "src")),
                _text(arguments, ("destination", "to", "new_path", "dst", "dest")),
            )
            if source and target:
                yield Deed(d.RENAME, by=by, paths=(target,), source=source)
        elif kind in (_READS, _OPENS):
            paths = _paths(arguments)
            if kind == _OPENS:
                if paths:
                    self.opened = paths[0]
                elif self.opened:
                    paths = (self.opened,)
            yield Deed(d.READ, by=by, paths=paths, partly=_is_part(arguments))
        elif kind == _SEARCHES:
            pattern = _text(arguments, ("pattern", "regex", "query", "search_term", "search", "q"))
            yield Deed(d.SEARCH, by=by, paths=_paths(arguments), content=pattern)
        elif kind == _LISTS:
            yield Deed(d.LIST, by=by, paths=_paths(arguments), sees_names_only=True)
        elif kind == _PROBES:
            url = _text(arguments, ("url", "uri", "endpoint", "address")) or ""
            command = Command(("curl", url))
            yield Deed(
                d.PROBE, by=by, service=service_of(command, command.words) if url else Service()
            )
        elif kind in (d.TEST, d.BUILD):
            yield Deed(kind, by=by, paths=())
        elif kind == _LOOKS_UP:
            yield Deed(d.READ, by=by)
        elif kind == _NOTEBOOKS:
            yield Deed(d.RUN, by=by, paths=_paths(arguments))
        elif kind == _AGENT:
            yield from _delegated(by, arguments)
        elif kind == _QUERIES:
            yield from _sql(by, arguments)
        elif kind == _OPERATES:
            yield Deed(d.SERVICE, by=by, service=_operated(arguments))

    def _edit(self, by: str, arguments: Mapping[str, Any]) -> Iterator[Deed]:
        paths = _paths(arguments)
        if not paths and self.opened:
            paths = (self.opened,)
        if by in ("create", "open") and paths:
            self.opened = paths[0]
        paths = tuple(path for path in paths if not is_fleeting(path))
        if not paths and _paths(arguments):
            return
        new, old = _exchanged(arguments)
        yield Deed(d.EDIT, by=by, paths=paths, content=_content(arguments), new=new, old=old)

    def _editor(self, by: str, arguments: Mapping[str, Any]) -> Iterator[Deed]:
        verb = _text(arguments, _VERB_KEYS) or "view"
        paths = _paths(arguments)
        if verb in _SHOWING_VERBS:
            yield Deed(d.READ, by=f"{by} view", paths=paths, partly=_is_part(arguments))
        elif paths and not all(is_fleeting(path) for path in paths):
            new, old = _exchanged(arguments)
            yield Deed(
                d.EDIT,
                by=f"{by} {verb}",
                paths=paths,
                content=_content(arguments),
                new=new,
                old=old,
            )

    def _code(self, by: str, arguments: Mapping[str, Any]) -> Iterator[Deed]:
        code = _text(arguments, ("code", "source", "script", "input", "command", "content")) or ""
        lines = code.splitlines()
        shell = [line.lstrip()[1:] for line in lines if line.lstrip().startswith(("!", "%sx "))]
        plain = "\n".join(line for line in lines if not line.lstrip().startswith(("!", "%")))
        if code.lstrip().startswith(("%%bash", "%%sh")):
            shell, plain = [code.partition("\n")[2]], ""
        for text in shell:
            yield from self._script(self._parsed(text, self.folder))
        if plain.strip():
            yield from deeds_of_code(plain, Command(("python",), self.folder))

    def _run(self, by: str, arguments: Mapping[str, Any]) -> Iterator[Deed]:
        command = _command_of(arguments)
        if command is None:
            return
        start = _folder(arguments)
        folder = start or self._folder_for(command)
        script = (
            self._parsed(command, folder)
            if isinstance(command, str)
            else _as_script(command, folder)
        )
        host = _text(arguments, _HOST_KEYS)
        self.sound = script.sound
        if (
            arguments.get("run_in_background")
            or arguments.get("is_background")
            or arguments.get("background")
        ):
            behind = [replace(one, background=True, shown=False) for one in script.commands]
            script = replace(script, commands=tuple(behind))
        if host and not host.startswith("/"):
            there = [replace(one, host=one.host or host) for one in script.commands]
            script = replace(script, commands=tuple(there))
        yield from self._script(script)
        if start is None and by.lower() != "shell" and script.folder is not None:
            self.folder = script.folder

    def _folder_for(self, command: str | list[str]) -> str | None:
        """Where a call starts: where the last one left the shell, if the tool keeps it.

        Whether it does is not on record. A call that begins with `cd web` means the project's
        folder, or `cd api` after it would lead to `web/api`.
        """
        text = command if isinstance(command, str) else command[-1] if command else ""
        return "" if _INTO_A_PART.match(text) else self.folder

    def _parsed(self, text: str, folder: str | None) -> Script:
        known = self.scripts.get((text, folder))
        if known is None:
            known = self.scripts[text, folder] = parse(text, folder)
        return known

    def _script(self, script: Script) -> Sequence[Deed]:
        self.sound = self.sound and script.sound
        known = self.read.get(id(script))
        if known is None:
            known = self.read[id(script)] = self._read(script)
        _, deeds, said = known
        self.said += said
        return deeds

    def _read(self, script: Script) -> tuple[Script, tuple[Deed, ...], tuple[str, ...]]:
        """The script itself, that its `id` stays its own; what it does; what it prints by itself."""
        deeds: list[Deed] = []
        said: list[str] = []
        for command in script.commands:
            if command.name == "apply_patch":
                text = command.words[1] if len(command.words) > 1 else command.stdin or ""
                deed = Deed(
                    d.EDIT,
                    by="apply_patch",
                    paths=tuple(patched_files(text)),
                    folder=command.folder,
                    command=command,
                    content=text,
                )
                deeds.append(deed)
            else:
                deeds += self._deeds_of(command)
                inner = script_of(command)
                if inner is not None:
                    said += self._said(parse(inner, command.folder))
        said += self._said(script)
        return script, tuple(deeds), tuple(said)

    def _deeds_of(self, command: Command) -> tuple[Deed, ...]:
        if command not in self.known:
            self.known[command] = tuple(deeds_of(command, self.table))
        return self.known[command]

    def _kinds(self, command: Command) -> frozenset[str]:
        return frozenset(deed.kind for deed in self._deeds_of(command))

    def _said(self, script: Script) -> Iterator[str]:
        """The lines that tell nothing of a run: `pytest && echo OK` does, unless others ran too."""
        if not script.said:
            return
        tried = {one.words: self._kinds(one) for one in script.commands}
        tests = {words for words, kinds in tried.items() if d.TEST in kinds}
        for line in script.said:
            behind = {one.words for one in line.behind}
            trial = any(tried.get(words, frozenset()) & d.TRIALS for words in behind)
            if not trial or tests - behind:
                yield line.text


_INTO_A_PART = re.compile(r"\s*cd (?![./~$-])")
_NOTEBOOKS = "notebooks"
_TO_CHANGE = re.compile(
    r"\b(?:fix|implement|make|add|change|edit|update|split|refactor|rename|remove|delete|move|write|create|migrate|port|replace)\b",
    re.IGNORECASE,
)
_FILE = re.compile(rf"(?<![\w/.])(?:[\w@-]+/)*[\w-]+\.(?:{ENDINGS})\b")


def _delegated(by: str, arguments: Mapping[str, Any]) -> Iterator[Deed]:
    """Another agent was told to change files: that they changed is known, and nothing else."""
    told = " ".join(value for value in arguments.values() if isinstance(value, str))
    if _TO_CHANGE.search(told):
        files = tuple(dict.fromkeys(_FILE.findall(told)))[:20]
        if files:
            yield Deed(d.EDIT, by=by, paths=files)


def short_name(name: str) -> str:
    """Without the server in front of an MCP tool's name."""
    if name.startswith("mcp__"):
        return name.rpartition("__")[2]
    return name.rpartition(".")[2] if name.startswith("functions.") else name


def _mapping(arguments: Any) -> Mapping[str, Any]:
    """The arguments by name, in lower case: `filePath` of one agent is `filepath` of another."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return {"input": arguments}
    if not isinstance(arguments, dict):
        return {}
    return {safe_text(key).lower(): value for key, value in arguments.items()}


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SPLIT = re.compile(r"[^a-z0-9]+")


_SQL_WORDS = frozenset(
    "sql query migration migrate db database postgres psql mysql sqlite execute bigquery table".split()
)


# Words of tools that change what runs somewhere, unless they ask about it.
_OPERATION_WORDS = frozenset(
    "deploy redeploy undeploy restart reboot rollback rollout promote publish release provision reload".split()
)
_NO_OPERATION_WORDS = frozenset(
    "state history log logs lock plan preview dry notes note info browser page window tab message event draft name version url".split()
)
_OPERATED_THINGS = frozenset(
    "deployment deployments release releases rollout rollouts pods".split()
)
_MERGED_THINGS = frozenset("pull request pr mr branch branches".split())
_PLATFORMS = frozenset("terraform tofu helm kubectl kubernetes k8s pulumi cdk".split())
_CLUSTER_THINGS = frozenset(
    "deployment deployments manifest manifests hpa replicas statefulset statefulsets daemonset pod pods namespace stack chart".split()
)
_PLATFORM_VERBS = frozenset("apply upgrade install delete patch destroy scale up rollback".split())


def _operates(words: set[str]) -> bool:
    """Whether a tool deploys, restarts, publishes or merges, by the words of its name."""
    if words & _ASKING_WORDS or words & _NO_OPERATION_WORDS:
        return False
    return (
        bool(words & _OPERATION_WORDS)
        or ("merge" in words and bool(words & _MERGED_THINGS))
        or (bool(words & _PLATFORM_VERBS) and bool(words & (_PLATFORMS | _CLUSTER_THINGS)))
    )


def _operated(arguments: Mapping[str, Any]) -> Service:
    name = _text(
        arguments,
        ("service", "service_name", "app", "application", "deployment", "server", "package", "name", "release", "tag"),
    )  # fmt: skip
    number = next(
        (arguments[key] for key in ("pull_number", "pullnumber", "number") if key in arguments),
        None,
    )
    names = {name.lower()} if name else {f"pr {safe_text(number)}"} if number is not None else set()
    return Service(frozenset(names))


def _guessed(name: str, arguments: Mapping[str, Any]) -> str:
    """What an unknown tool does, by the words of its name and the arguments that it takes."""
    words = [word for word in _SPLIT.split(_CAMEL.sub("_", name).lower()) if word]
    found = set(words)
    if _operates(found) and arguments.get("dry_run") is not True:
        return _OPERATES
    if found & _ASKING_WORDS and found & _OPERATED_THINGS:
        return _PROBES
    if not words or (found & _QUIET_WORDS and not found & _ASKING_WORDS):
        return _QUIET
    sql = _text(arguments, ("sql", "query", "statement"))
    is_sql = (
        sql is not None and statement_kind(sql)[0] is not None and re.match(r"\s*\w+[\s;]", sql)
    )
    if is_sql and (found & _SQL_WORDS or "sql" in arguments):
        return _QUERIES
    if found & _RUN_WORDS and _command_of(arguments) is not None:
        return _RUNS
    if found & {"test", "tests"} and found & {
        "run",
        "execute",
        "sim",
        "macos",
        "device",
        "all",
        "suite",
    }:
        return d.TEST
    if "build" in found and found & {"project", "sim", "macos", "device", "app", "run", "solution"}:
        return d.BUILD
    if found & {"execute", "run"} and found & {"cell", "cells", "notebook"}:
        return _NOTEBOOKS
    if found & _PROBE_WORDS:
        return _PROBES
    if found & _DELETE_WORDS:
        return _DELETES
    if found & _EDIT_WORDS and (found & _THING_WORDS or _paths(arguments)):
        return _EDITS
    if found & _SEARCH_WORDS:
        return _SEARCHES
    if found & _READ_WORDS:
        return _READS
    if found & _LIST_WORDS:
        return _LISTS
    if _text(arguments, ("url", "endpoint")) is not None:
        return _PROBES
    return _QUIET


def _text(arguments: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    if arguments.keys().isdisjoint(keys):
        return None
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return None


_NUMBER_KEYS = frozenset({"issue_number", "pull_number", "number"})


def _paths(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    for key in _PATH_KEYS:
        value = arguments.get(key)
        if type(value) is int and key in _NUMBER_KEYS:
            return (f"#{safe_text(value)}",)
        if isinstance(value, str) and value.strip():
            return (value,)
    for key in ("paths", "files", "file_paths", "edits"):
        value = arguments.get(key)
        if isinstance(value, list):
            names = [
                one
                if isinstance(one, str)
                else _text(_mapping(one), _PATH_KEYS)
                if isinstance(one, dict)
                else None
                for one in value
            ]
            kept = tuple(name for name in names if name)
            if kept:
                return kept
    return ()


def _folder(arguments: Mapping[str, Any]) -> str | None:
    folder = _text(arguments, _FOLDER_KEYS)
    return folder if folder is None or is_absolute(folder) or folder != "." else None


def _exchanged(arguments: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The text that an edit puts in and the one that it takes out; of several edits, all of them."""
    several = arguments.get("edits")
    calls = [_mapping(one) for one in several] if isinstance(several, list) else [arguments]
    new = [text for call in calls if (text := _text(call, _NEW_KEYS)) is not None]
    old = [text for call in calls if (text := _text(call, _OLD_KEYS)) is not None]
    return "\n".join(new) or None, "\n".join(old) or None


def _is_part(arguments: Mapping[str, Any]) -> bool:
    """Whether a part of the file was asked for."""
    given = _PART_KEYS & arguments.keys()
    return any(arguments[key] not in (None, False, "", []) for key in given)


def _content(arguments: Mapping[str, Any]) -> str | None:
    given = [key for key in _CONTENT_KEYS if key in arguments]
    parts = [arguments[key] for key in given if isinstance(arguments[key], (str, list))]
    if not parts:
        return None
    return "\n".join(safe_text(part) for part in parts)


def _command_of(arguments: Mapping[str, Any]) -> str | list[str] | None:
    for key in _COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            return value
    return None


def _words(arguments: Mapping[str, Any]) -> str | None:
    """What a tool that is a program was given behind its name."""
    given = arguments.get("args", arguments.get("arguments", arguments.get("command")))
    if isinstance(given, list) and all(isinstance(one, str) for one in given):
        return shlex.join(given)
    return given if isinstance(given, str) and given.strip() else None


def _as_script(words: list[str], folder: str | None) -> Script:
    """A command given as a list: a program and its arguments, or several lines."""
    if (
        len(words) > 1
        and any(" " in word for word in words)
        and not re.fullmatch(r"[\w./-]+", words[0])
    ):
        return parse("\n".join(words), folder)
    command = Command(tuple(words), folder)
    if command.name in ("bash", "sh", "zsh") and len(words) >= 3:
        return parse(words[-1], folder)
    return Script((command,), True, folder)


def _sql(by: str, arguments: Mapping[str, Any]) -> Iterator[Deed]:
    text = _text(arguments, ("sql", "query", "statement")) or ""
    kind, tables = statement_kind(text)
    if kind is not None:
        yield Deed(
            d.DATA if kind == "changes" else d.QUERY, by=by, service=Service(tables), content=text
        )
