"""Programs that only start another one: `sudo`, `uv run`, `docker exec`, `bash -lc`, `ssh`.

What counts is the program inside. A wrapper may say where it runs: on another machine, in a
container, in another folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from trialrun.verification.paths import join
from trialrun.verification.shell import Command, parse

DEEPEST = 8


class Wrapper(Struct, frozen=True):
    """How many words a wrapper takes before the program inside begins."""

    options_with_value: frozenset[str] = frozenset()
    words: int = 0  # plain words of its own (a time limit, a container)
    host_word: bool = False  # the last of these names where it runs
    assignments: bool = False  # A=b words may stand before the program
    dashes: bool = False  # the program begins after `--`, where there is one


def _w(options: str = "", words: int = 0, **rest: bool) -> Wrapper:
    return Wrapper(frozenset(options.split()), words, **rest)


_RUN_IMAGE = _w(
    "-e --env --env-file -u --user -w --workdir -v --volume -p --publish --name --entrypoint --network --net -m --memory"
    " --cpus --mount --platform --add-host --hostname -h --label -l --gpus --shm-size --ulimit --cap-add --pull",
    words=1,
)
_WRAPPERS: dict[tuple[str, ...], Wrapper] = {
    ("sudo",): _w("-u -g -h -p -C -D --user --group", assignments=True),
    ("doas",): _w("-u -C"),
    ("env",): _w("-u -C --unset --chdir", assignments=True),
    ("time",): _w("-f -o --format --output"),
    ("nice",): _w("-n --adjustment"),
    ("ionice",): _w("-c -n -p"),
    ("nohup",): _w(),
    ("setsid",): _w(),
    ("stdbuf",): _w("-i -o -e"),
    ("unbuffer",): _w(),
    ("timeout",): _w("-s -k --signal --kill-after", words=1),
    ("gtimeout",): _w("-s -k --signal --kill-after", words=1),
    ("xvfb-run",): _w("-n -s -e -f --server-num --server-args"),
    ("dbus-run-session",): _w(dashes=True),
    ("command",): _w(),
    ("exec",): _w("-a"),
    ("builtin",): _w(),
    ("strace",): _w("-e -o -p"),
    ("watchexec",): _w(),
    ("uv", "run"): _w(
        "--with --python -p --extra --group --package --project --env-file --index-url --directory --only-group --with-requirements --with-editable",
        dashes=True,
    ),
    ("uvx",): _w("--from --with --python"),
    ("uv", "tool", "run"): _w("--from --with --python"),
    ("pipx", "run"): _w("--spec"),
    ("poetry", "run"): _w("-C --directory -P --project"),
    ("pipenv", "run"): _w(),
    ("pdm", "run"): _w("-p --project"),
    ("rye", "run"): _w(),
    ("hatch", "run"): _w("-e --env"),
    ("conda", "run"): _w("-n -p --name --prefix --cwd"),
    ("micromamba", "run"): _w("-n -p"),
    ("mamba", "run"): _w("-n -p"),
    ("pixi", "run"): _w("-e --environment"),
    ("npx",): _w("-p --package -c --call"),
    ("bunx",): _w("-p --package"),
    ("pnpm", "exec"): _w("--filter -F -C --dir"),
    ("pnpm", "dlx"): _w(),
    ("yarn", "exec"): _w(),
    ("yarn", "dlx"): _w("-p"),
    ("npm", "exec"): _w("-p --package --prefix -w --workspace", dashes=True),
    ("bundle", "exec"): _w(),
    ("mise", "exec"): _w(dashes=True),
    ("mise", "x"): _w(dashes=True),
    ("asdf", "exec"): _w(),
    ("rbenv", "exec"): _w(),
    ("direnv", "exec"): _w(words=1),
    ("dotenv",): _w("-f -e", dashes=True),
    ("dotenvx", "run"): _w("-f", dashes=True),
    ("op", "run"): _w("--env-file", dashes=True),
    ("doppler", "run"): _w("-p -c --project --config", dashes=True),
    ("cross-env",): _w(assignments=True),
    ("nix", "develop"): _w("-c --command"),
    ("nix-shell",): _w("--run -p"),
    ("docker", "exec"): _w("-e --env -u --user -w --workdir --env-file", words=1, host_word=True),
    ("podman", "exec"): _w("-e --env -u --user -w --workdir", words=1, host_word=True),
    ("docker", "compose", "exec"): _w(
        "-e --env -u --user -w --workdir --index", words=1, host_word=True
    ),
    ("docker-compose", "exec"): _w(
        "-e --env -u --user -w --workdir --index", words=1, host_word=True
    ),
    ("docker", "compose", "run"): _w(
        "-e --env -u --user -w --workdir -v --volume -p --publish --name --entrypoint",
        words=1,
        host_word=True,
    ),
    ("docker", "run"): _RUN_IMAGE,
    ("podman", "run"): _RUN_IMAGE,
    ("wsl",): _w("-d --distribution -u --user --cd"),
    ("devcontainer", "exec"): _w("--workspace-folder --config"),
    ("ddev", "exec"): _w("-s --service -d --dir"),
    ("dotenv", "run"): _w("-f --file"),
    ("docker-compose", "run"): _w(
        "-e --env -u --user -w --workdir -v --volume -p --publish --name --entrypoint",
        words=1,
        host_word=True,
    ),
    ("kubectl", "exec"): _w(
        "-c --container -n --namespace --context", words=1, host_word=True, dashes=True
    ),
    ("oc", "exec"): _w("-c --container -n --namespace", words=1, host_word=True, dashes=True),
    ("oc", "rsh"): _w("-c -n", words=1, host_word=True),
    ("ssh",): _w("-p -i -o -l -F -J -L -R -D -W -b -c -E -m -Q -S", words=1, host_word=True),
    ("vagrant", "ssh"): _w("-c --command"),
    ("lxc", "exec"): _w("--user --env", words=1, host_word=True, dashes=True),
    ("chroot",): _w(words=1),
    ("xargs",): _w("-n -P -I -L -d -a -s --max-args --max-procs"),
    ("heroku", "run"): _w("-a --app -r --remote"),
    ("fly", "ssh", "console"): _w("-a --app -C --command"),
    ("flyctl", "ssh", "console"): _w("-a --app -C --command"),
    ("coverage", "run"): _w("--source --rcfile --omit --include --data-file"),
    ("kernprof",): _w(),
    ("ddtrace-run",): _w(),
    ("rr",): _w(),
}
# Written before the subcommand: `docker compose -f x.yml exec web pytest`.
_BETWEEN = {
    "docker": frozenset(
        "-f --file -p --project-name --profile --env-file -H --context -c --project-directory".split()
    ),
    "docker-compose": frozenset("-f --file -p --project-name --profile --env-file".split()),
    "kubectl": frozenset("-n --namespace --context --kubeconfig --cluster".split()),
    "oc": frozenset("-n --namespace --context".split()),
    "uv": frozenset("--directory --project".split()),
    "poetry": frozenset("-C --directory -P --project".split()),
    "pnpm": frozenset("-C --dir --filter -F".split()),
    "npm": frozenset("--prefix -C -w --workspace".split()),
    "yarn": frozenset({"--cwd"}),
}
_POWERSHELLS = frozenset({"pwsh", "powershell", "pwsh.exe", "powershell.exe"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish"})
_PYTHONS = ("python", "python2", "python3", "pypy", "pypy3", "py")
_FOLDER_OPTIONS = frozenset(
    {"-C", "--dir", "--directory", "--prefix", "--cwd", "--workdir", "-w", "--chdir"}
)


def unwrapped(command: Command, depth: int = 0) -> Iterator[Command]:
    """The programs that the command really starts; itself, where it wraps nothing."""
    if depth > DEEPEST or not command.words:
        yield command
        return
    name = command.name
    script = script_of(command)
    if script is not None:
        yield from _scripted(command, script, depth)
        return
    if name == "su" and "-c" in command.words:
        index = command.words.index("-c")
        if index + 1 < len(command.words):
            yield from _scripted(command, command.words[index + 1], depth)
            return
    if _is_python(name) and "-m" in command.words[1:3] and command.words[-1] != "-m":
        index = command.words.index("-m")
        yield from unwrapped(replace(command, words=command.words[index + 1 :]), depth + 1)
        return
    found = _find_wrapper(name, command.words)
    if found is None or _stays(name, command.words):
        yield command
        return
    wrapper, start, folder = found
    inner, host, inner_folder = _inside(command.words, wrapper, start)
    if not inner:
        yield command
        return
    if wrapper is not _RUN_IMAGE:  # a folder inside an image is none of the project's
        folder = inner_folder or folder
    command = replace(
        command,
        host=host or command.host,
        folder=join(command.folder, folder) if folder else command.folder,
    )
    if name in ("ssh", "nix-shell", "vagrant", "fly", "flyctl", "heroku", "nix") and (
        len(inner) == 1 or name == "ssh"
    ):
        # What stands behind the host is put together and read by the shell over there.
        far = replace(command, folder="" if name == "ssh" else command.folder)
        yield from _scripted(far, " ".join(inner), depth)
        return
    yield from unwrapped(replace(command, words=tuple(inner)), depth + 1)


def _stays(name: str, words: Sequence[str]) -> bool:
    """`docker run -d` leaves a service behind, and `command -v git` only asks for a program."""
    if name == "command" and words[1:2] in (["-v"], ("-v",), ("-V",)):
        return True
    return (
        name in ("docker", "podman")
        and "run" in words[:3]
        and bool({"-d", "--detach"} & set(words))
    )


def _is_python(name: str) -> bool:
    return name in _PYTHONS or (name.startswith("python3.") and name[8:].isdigit())


def script_of(command: Command) -> str | None:
    """The script that a shell is given on its command line, or by a here-document."""
    if command.name not in _SHELLS:
        return _powershell_script(command) if command.name in _POWERSHELLS else None
    script = _inline_script(command.words)
    return command.stdin or None if script is None and len(command.words) == 1 else script


def _powershell_script(command: Command) -> str | None:
    """The text behind `-Command`; its simple commands read like those of any shell."""
    for index, word in enumerate(command.words):
        if word.lower() in ("-command", "-c"):
            return " ".join(command.words[index + 1 :]) or None
    return None


def _inline_script(words: Sequence[str]) -> str | None:
    """The text of `bash -lc "…"`."""
    for index, word in enumerate(words[1:], 1):
        if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
            return words[index + 1] if index + 1 < len(words) else None
        if not word.startswith("-"):
            return None
    return None


def _scripted(command: Command, script: str, depth: int) -> Iterator[Command]:
    inside = parse(script, command.folder)
    for one in inside.commands:
        yield from unwrapped(
            replace(
                one,
                host=command.host or one.host,
                shown=one.shown and command.shown,
                background=one.background or command.background,
                piped_into=(*one.piped_into, *command.piped_into),
                writes=(*one.writes, *command.writes) if one is inside.commands[-1] else one.writes,
            ),
            depth + 1,
        )


def _find_wrapper(name: str, words: Sequence[str]) -> tuple[Wrapper, int, str | None] | None:
    """The wrapper that these words are, where its own words end, and a folder named before that."""
    between = _BETWEEN.get(name, frozenset())
    plain = [name]
    folder = None
    index = 1
    best: tuple[Wrapper, int, str | None] | None = None
    if (name,) in _WRAPPERS:
        best = (_WRAPPERS[(name,)], 1, None)
    while index < len(words) and len(plain) < 3:
        word = words[index]
        if word in between:
            if word in _FOLDER_OPTIONS and word != "-w" and index + 1 < len(words):
                folder = words[index + 1]
            index += 2
            continue
        if word.startswith("-"):
            index += 1
            continue
        plain.append(word)
        index += 1
        if tuple(plain) in _WRAPPERS:
            best = (_WRAPPERS[tuple(plain)], index, folder)
    return best


def _inside(
    words: Sequence[str], wrapper: Wrapper, start: int
) -> tuple[list[str], str | None, str | None]:
    """The words of the program inside, the host, and a folder."""
    index = start
    plain = 0
    host = folder = None
    while index < len(words):
        word = words[index]
        if word == "--":
            return list(words[index + 1 :]), host, folder
        if word.startswith("-") and len(word) > 1:
            takes_value = word in wrapper.options_with_value
            if (
                word in ("-c", "--command", "--run", "--call")
                and takes_value
                and index + 1 < len(words)
            ):
                return list(words[index + 1 :]), host, folder
            if takes_value and word in _FOLDER_OPTIONS and index + 1 < len(words):
                folder = words[index + 1]
            index += 2 if takes_value else 1
            continue
        if wrapper.assignments and "=" in word and not word.startswith("="):
            index += 1
            continue
        if plain < wrapper.words:
            plain += 1
            if wrapper.host_word and plain == wrapper.words:
                host = word.rpartition("@")[2].rpartition("/")[2]
            index += 1
            continue
        if (
            wrapper.dashes
            and "--" in words[index:]
            and plain >= wrapper.words
            and wrapper.host_word
        ):
            index = list(words).index("--", index) + 1
        return list(words[index:]), host, folder
    return [], host, folder
