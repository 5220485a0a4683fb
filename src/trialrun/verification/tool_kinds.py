"""What a tool is for, by its name and what it was given.

Names that agents are known to use stand in a table; any other name is taken apart into words
(`mcp__docs__patch_page` patches a page).
"""

from __future__ import annotations

import re

from trialrun.verification.arguments import Arguments, command_of, paths_of, text_of, words_of
from trialrun.verification.programs import is_program
from trialrun.verification.sql import statement_kind

EDITS = "edits"
READS = "reads"
RUNS = "runs"
PATCHES = "patches"
DELETES = "deletes"
MOVES = "moves"
EDITOR = "editor"  # reads and edits, as its arguments say
OPENS = "opens"  # and what is open is edited later
SEARCHES = "searches"
LISTS = "lists"
CODE = "code"
PROGRAM = "program"  # a tool that is one: kubectl with its arguments
TESTS = "tests"
BUILDS = "builds"
NOTEBOOKS = "notebooks"
PROBES = "probes"
QUERIES = "queries"
OPERATES = "operates"
LOOKS_UP = "looks up"  # something outside of the project: a page, a search of the web
AGENT = "agent"
QUIET = "quiet"  # nothing that could be evidence

_KNOWN: dict[str, str] = {
    # Claude Code
    "edit": EDITS, "multiedit": EDITS, "write": EDITS, "notebookedit": EDITS, "read": READS,
    "notebookread": READS, "bash": RUNS, "bashoutput": QUIET, "killshell": QUIET, "grep": SEARCHES,
    "glob": LISTS, "ls": LISTS, "task": AGENT, "spawn_agent": AGENT, "delegate": AGENT, "dispatch_agent": AGENT, "call_agent": AGENT, "subagent": AGENT, "agent": AGENT, "todowrite": QUIET, "todoread": QUIET,
    "exitplanmode": QUIET, "webfetch": LOOKS_UP, "websearch": LOOKS_UP, "slashcommand": QUIET, "skill": QUIET,
    # Codex
    "shell": RUNS, "sh": RUNS, "local_shell": RUNS, "exec_command": RUNS, "unified_exec": RUNS, "container.exec": RUNS,
    "apply_patch": PATCHES, "update_plan": QUIET, "write_stdin": QUIET, "view_image": QUIET,
    # OpenHands
    "execute_bash": RUNS, "str_replace_editor": EDITOR, "str_replace_based_edit_tool": EDITOR,
    "execute_ipython_cell": CODE, "ipython": CODE, "run_ipython": CODE, "finish": QUIET, "think": QUIET,
    "browser": PROBES, "edit_file": EDITS, "cmdrun": RUNS, "cmdrunaction": RUNS, "ipythonruncellaction": CODE,
    "fileeditaction": EDITS, "filereadaction": READS, "filewriteaction": EDITS, "jupyter": CODE, "python": CODE,
    # SWE-agent
    "open": OPENS, "goto": OPENS, "scroll_down": OPENS, "scroll_up": OPENS, "create": EDITS,
    "search_dir": SEARCHES, "search_file": SEARCHES, "find_file": LISTS, "submit": QUIET, "insert": EDITS,
    # Cursor, Windsurf, Cline, Roo, Gemini, Aider, Amp, opencode, Copilot
    "run_terminal_cmd": RUNS, "run_terminal_command": RUNS, "run_in_terminal": RUNS, "codebase_search": SEARCHES,
    "grep_search": SEARCHES, "file_search": LISTS, "list_dir": LISTS, "read_file": READS, "delete_file": DELETES,
    "search_replace": EDITS, "write_to_file": EDITS, "replace_in_file": EDITS, "apply_diff": EDITS,
    "insert_content": EDITS, "search_and_replace": EDITS, "execute_command": RUNS, "list_files": LISTS,
    "search_files": SEARCHES, "attempt_completion": QUIET, "ask_followup_question": QUIET, "new_task": AGENT,
    "run_shell_command": RUNS, "replace": EDITS, "write_file": EDITS, "read_many_files": READS,
    "search_file_content": SEARCHES, "list_directory": LISTS, "save_memory": QUIET, "google_web_search": LOOKS_UP, "web_search": LOOKS_UP, "web_fetch": LOOKS_UP, "runtests": TESTS, "run_tests": TESTS,
    "run_command": RUNS, "view_file": READS, "write_code": EDITS, "propose_code": EDITS, "replace_file_content": EDITS,
    "view_file_outline": READS, "view_line_range": READS, "search_replace_block": EDITS, "run_shell": RUNS,
    "create_file": EDITS, "insert_edit_into_file": EDITS, "replace_string_in_file": EDITS, "terminal": RUNS,
    "ssh_exec": RUNS, "ssh": RUNS, "run": RUNS, "cmd": RUNS, "command": RUNS, "run_code": CODE,
    "execute_python": CODE, "python_repl": CODE, "code_interpreter": CODE, "todo_write": QUIET, "todo_read": QUIET,
    "patch": PATCHES, "update_todo_list": QUIET, "switch_mode": QUIET, "edit_block": EDITS, "fetch": PROBES,
    "read_text_file": READS, "read_multiple_files": READS, "move_file": MOVES, "get_file_contents": READS,
    "create_or_update_file": EDITS, "push_files": EDITS, "create_pull_request": QUIET, "create_pr": QUIET,
    "browser_navigate": PROBES, "browser_snapshot": PROBES, "browser_take_screenshot": PROBES,
    "report": QUIET, "done": QUIET, "final_answer": QUIET, "ask_user": QUIET, "plan": QUIET, "todo": QUIET,
}  # fmt: skip

_EDITOR_VERBS = ("view", "create", "str_replace", "insert", "undo_edit")
VERB_KEYS = ("command", "op", "operation", "action", "mode")
SHOWING_VERBS = frozenset("view read open show cat get print".split())
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


def kind_of(short: str, arguments: Arguments) -> str:
    """What the tool of that name does with these arguments."""
    plain = short.lower()
    if "path" in arguments and arguments.get("command") in _EDITOR_VERBS:
        return EDITOR  # by whatever name: nobody has a program called `str_replace`
    if "editor" in plain and text_of(arguments, VERB_KEYS) and paths_of(arguments):
        return EDITOR
    known = _KNOWN.get(plain) or _KNOWN.get(plain.replace("_", ""))
    if known is not None and not (known == RUNS and command_of(arguments) is None):
        return known
    if known is None and is_program(plain) and words_of(arguments) is not None:
        return PROGRAM  # a tool that is a program: kubectl with its arguments
    return _guessed(short, arguments)


def short_name(name: str) -> str:
    """Without the server in front of an MCP tool's name."""
    if name.startswith("mcp__"):
        return name.rpartition("__")[2]
    return name.rpartition(".")[2] if name.startswith("functions.") else name


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


def _guessed(name: str, arguments: Arguments) -> str:
    """What an unknown tool does, by the words of its name and the arguments that it takes."""
    words = [word for word in _SPLIT.split(_CAMEL.sub("_", name).lower()) if word]
    found = set(words)
    if _operates(found) and arguments.get("dry_run") is not True:
        return OPERATES
    if found & _ASKING_WORDS and found & _OPERATED_THINGS:
        return PROBES
    if not words or (found & _QUIET_WORDS and not found & _ASKING_WORDS):
        return QUIET
    sql = text_of(arguments, ("sql", "query", "statement"))
    is_sql = (
        sql is not None and statement_kind(sql)[0] is not None and re.match(r"\s*\w+[\s;]", sql)
    )
    if is_sql and (found & _SQL_WORDS or "sql" in arguments):
        return QUERIES
    if found & _RUN_WORDS and command_of(arguments) is not None:
        return RUNS
    if found & {"test", "tests"} and found & {
        "run",
        "execute",
        "sim",
        "macos",
        "device",
        "all",
        "suite",
    }:
        return TESTS
    if "build" in found and found & {"project", "sim", "macos", "device", "app", "run", "solution"}:
        return BUILDS
    if found & {"execute", "run"} and found & {"cell", "cells", "notebook"}:
        return NOTEBOOKS
    if found & _PROBE_WORDS:
        return PROBES
    if found & _DELETE_WORDS:
        return DELETES
    if found & _EDIT_WORDS and (found & _THING_WORDS or paths_of(arguments)):
        return EDITS
    if found & _SEARCH_WORDS:
        return SEARCHES
    if found & _READ_WORDS:
        return READS
    if found & _LIST_WORDS:
        return LISTS
    if text_of(arguments, ("url", "endpoint")) is not None:
        return PROBES
    return QUIET
