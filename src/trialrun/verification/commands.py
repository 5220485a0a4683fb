"""What one program of a shell script does, by its name and arguments: nothing is run or looked up.

A program is *inert* (it only shows something), changes files, is a check, acts on something outside
of the files, or is not known. What is not known is never held against anybody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from trialrun.verification.done import (
    ACT,
    CHECK,
    DELETE,
    FORMAT_WRITE,
    INERT,
    MOVE,
    READ,
    TREE,
    UNKNOWN,
    WRITE,
    Done,
    is_dry,
    plain_words,
)
from trialrun.verification.git_commands import forge_does, git_does
from trialrun.verification.runners import Runner, Table, kind_of_target
from trialrun.verification.shell import Command

_INERT = frozenset(
    """: [ [[ alias awk touch basename bat cat cd clear column comm command cut date declare df diff dirname
    dirs du echo env exit export expr eza false fd file find fmt fold free function getent grep head
    hexdump history hostname htop id ifconfig jobs join jq kill killall less let local locale ls lsof
    man md5sum mkdir mktemp more nl nproc od paste pgrep pkill popd printenv printf ps pushd pwd read
    readlink realpath return rg select seq set sha256sum shasum shift sleep sort source stat strings
    sw_vers tac tail test tput tr tree true type typeset ulimit umask uname uniq unset uptime wait watch
    wc which who whoami xxd yes yq zcat zgrep trap open say xargs ack ag fzf tig delta
    Get-ChildItem Get-Content Get-Item Get-Location Select-Object Select-String Sort-Object Where-Object
    ForEach-Object Measure-Object Group-Object Format-Table Format-List Write-Host Write-Output Test-Path
    Out-String Get-Command Get-Process Get-Date Join-Path Split-Path Get-FileHash Out-Null Start-Sleep
    Set-Location foreach if param brew apt apt-get apt-cache bd entire gh glab chmod chown
    base64 security ssh-keygen ssh-add gpg tee objdump
    readelf ldd otool nm rustup pip pip3 rmdir cal dig host ping mdfind
    ConvertFrom-Json ConvertTo-Json New-Item Out-Host findstr Invoke-WebRequest continue break""".split()
)
"""Programs that show or arrange something and try nothing out; of some, only without options."""

_READERS = frozenset(
    "cat head tail less more bat nl sed awk grep rg jq yq strings xxd od wc Get-Content".split()
)
_DEPLOYS = (  # the words that a deployment, a release or a migration of data begins with
    "kubectl apply", "kubectl rollout restart", "kubectl set", "kubectl delete", "kubectl scale",
    "kubectl create", "helm upgrade", "helm install", "helm rollback", "terraform apply",
    "tofu apply", "terraform destroy", "pulumi up", "cdk deploy", "vercel deploy", "vercel --prod",
    "netlify deploy", "fly deploy", "flyctl deploy", "wrangler deploy", "wrangler publish",
    "firebase deploy", "serverless deploy", "sls deploy", "eb deploy", "gcloud run deploy",
    "gcloud app deploy", "aws ecs update-service", "aws lambda update-function-code",
    "az webapp deploy", "railway up", "docker push", "docker stack deploy", "npm publish",
    "pnpm publish", "yarn publish", "cargo publish", "twine upload", "gem push", "poetry publish",
    "uv publish", "gh release create", "systemctl restart", "systemctl start", "systemctl reload",
    "ansible-playbook", "cap production deploy", "nomad job run", "docker compose up",
    "docker-compose up", "pm2 restart", "pm2 start", "supervisorctl restart", "service restart",
)  # fmt: skip
_DEPLOY_WORDS = tuple(tuple(text.split()) for text in _DEPLOYS)
_DEPLOYERS = frozenset(words[0] for words in _DEPLOY_WORDS)
_TASK_RUNNERS = frozenset(
    """make gmake just task npm pnpm yarn bun gradle gradlew rake invoke inv doit composer mvn mvnw
    hatch poe pdm moon lage deno scons ant dagger earthly mage lerna mise pixi devbox turbo nx tox
    nox node""".split()
)
_NOT_TASKS = frozenset(
    """install i ci add remove rm uninstall update upgrade init link audit outdated pack version config
    cache login whoami view why list ls dedupe help info create search fund doctor prune store tasks
    trust use settings env current where which plugins ls-remote""".split()
)
_INTERPRETERS = frozenset(
    "python python3 node ruby php perl deno bun tsx ts-node Rscript lua".split()
)
_TOLERANT = frozenset(
    {"--exit-zero", "--no-verify", "--passWithNoTests", "-DskipTests", "-Dmaven.test.skip", "--skip-tests", "--no-build",
     "-u", "--updateSnapshot", "--update-snapshots", "--quiet", "--reruns", "--snapshot-update"}
)  # fmt: skip
"""Options with which a check passes where it would not without them."""


def done_by(command: Command, table: Table) -> list[Done]:
    """What the program does. A program may do several things: `make lint test`."""
    words = command.words
    name = command.name
    made = _file_changes(command, name, words)
    if name == "git":
        return made + git_does(command, words)
    if name in ("gh", "glab"):
        return made + forge_does(words)
    if len(made) > bool(command.writes):
        return made  # it writes files itself; `pytest > log` only prints into one
    if _is_deploy(name, words):
        act = Done(ACT, name, act="deploy", target=_target_of(words), dry=is_dry(words))
        return [*made, act]
    if _ASKING & set(words[1:3]):
        return [*made, Done(INERT, name)]
    found = table.find((name, *words[1:]))
    if found is not None:
        runner, rest = found
        return [*made, *(_checked(one, rest) for one in (runner, *runner.also))]
    if name in _TASK_RUNNERS:
        tasks = _tasks(name, _without_places(words[1:]), table)
        if tasks is not None:
            return made + tasks
    if name in table.rows and len(words) > 1 and name not in _INTERPRETERS:
        # `cargo tree`, `go mod tidy`: a known program that does something else than check.
        return [*made, Done(INERT if words[1] in _SHOWING else UNKNOWN, name)]
    others = _other(command, name, words, table)
    return made if made and others[0].kind in (INERT, READ) else made + others


_SHOWING = frozenset(
    "tree list ls show info env why graph doc search metadata log status config version targets init".split()
)
_ASKING = frozenset({"--version", "-V", "--help", "version", "help"})
_PLACES = frozenset(
    "--filter -F -C --dir --prefix -w --workspace --cwd --cd -f --directory".split()
)


def _without_places(words: Sequence[str]) -> list[str]:
    """Without options that say where a task runs: `pnpm --filter web test`, `mise --cd x run y`."""
    kept: list[str] = []
    skip = False
    for word in words:
        if not skip and word not in _PLACES:
            kept.append(word)
        skip = not skip and word in _PLACES
    return kept


def _other(command: Command, name: str, words: Sequence[str], table: Table) -> list[Done]:
    if name in ("psql", "sqlite3", "mysql") and not _WRITES_DATA.search(" ".join(words)):
        return [Done(INERT, name)]
    if name == "find" and {"-delete", "-exec", "-execdir", "-ok"} & set(words):
        return [Done(UNKNOWN, name)]
    if name in ("bash", "sh", "zsh") and plain_words(words[1:]):
        return [Done(CHECK, name, paths=plain_words(words[1:])[:1], check="run", dry=is_dry(words))]
    if name in _READERS or name in _INERT or name.startswith(("$", "@", "}", "{")):
        kind = READ if name in _READERS else INERT
        return [Done(kind, name, paths=plain_words(words[1:]))]
    program = name.removesuffix(".exe")
    if program in _INTERPRETERS or re.fullmatch(r"python3\.\d+", program):
        found = table.find((words[1].rpartition("/")[2], *words[2:])) if len(words) > 1 else None
        if found is not None and "." in words[1]:  # `python manage.py test`
            return [_checked(*found)]
        return [_interpreted(command, program, words)]
    if len(words) > 2 and (words[1] == "git" or (words[1] in table.rows and len(words[1]) > 3)):
        return done_by(replace(command, words=words[1:]), table)  # a wrapper: `rtk pytest -q`
    if words[0].startswith(("./", "../", "/", "~")) or name.endswith((".sh", ".py", ".ps1")):
        return [Done(CHECK, name, paths=(words[0],), check="run", dry=is_dry(words))]
    return [Done(UNKNOWN, name)]


_WRITES_DATA = re.compile(
    r"\b(?:insert|update|delete|drop|alter|create|truncate)\b|-f\b", re.IGNORECASE
)


def _interpreted(command: Command, name: str, words: Sequence[str]) -> Done:
    """`python script.py`, `node -e "…"`, `python - <<EOF`: a run of the files that it names."""
    inline = next((index for index, word in enumerate(words) if word in ("-c", "-e", "-p", "-")), 0)
    if inline or command.stdin is not None:
        code = words[inline + 1] if inline and inline + 1 < len(words) else ""
        code += command.stdin or ""
        if _WRITES_FILE.search(code):
            return Done(UNKNOWN, name)
        return Done(CHECK, name, paths=tuple(_FILE_IN_CODE.findall(code)[:20]), check="run",
                    target=code[:2000])  # fmt: skip
    files = [word for word in words[1:] if not word.startswith("-")][:1]
    return Done(CHECK, name, paths=tuple(files), check="run", dry=is_dry(words) or not files)


# A snippet that writes: open("tax.py", "w"), path.write_text(…), fs.writeFileSync(…)
_WRITES_FILE = re.compile(r"""open\([^)]*["'][wax]b?\+?["']|write_(?:text|bytes)\(|writeFile""")
# The names of files in a snippet: open('.vscode/launch.json').
_FILE_IN_CODE = re.compile(r"['\"]([\w./~-]+\.[A-Za-z]{1,5})['\"]")


def _checked(runner: Runner, rest: Sequence[str]) -> Done:
    paths, filters = arguments_of(rest, runner.takes_paths)
    endless = _given(rest, runner.endless) and not _given(rest, runner.ends_with)
    paths = tuple(path for path in paths if path not in runner.ends_with)
    if runner.kind == "probe":
        return Done(ACT, runner.name, act="probe", target=_target_of(rest))
    return Done(
        CHECK,
        runner.name,
        paths=() if paths in (("./...",), (".",), ("./",)) else paths,
        filters=filters,
        check=runner.kind,
        runner=runner,
        languages=runner.languages,
        tolerant=_given(rest, tuple(_TOLERANT)),
        dry=is_dry(rest),
        endless=endless,
    )


_FILTERS = frozenset(
    "-k -t --deselect --filter --grep -g --testNamePattern -run --run -m --only --spec --tests -R "
    "--testPathPattern --ignore --tags --group --project -Dtest".split()
)
_VALUES = frozenset(
    """--test-dir -L -p -c -o -n --maxfail --cov --cov-report --tb --timeout -W --rootdir --config -P
    --reporter --workers -j --jobs --durations --junitxml --format --config-file --ext --max-warnings
    --logger --configuration --framework --seed -s --settings --verbosity --output-format --select
    -count -timeout -coverprofile --features --package -e --env --level --pretty""".split()
)
_ALONE = frozenset({"-race", "-v", "-s", "-q", "--cov", "--pretty"})


def arguments_of(rest: Sequence[str], takes_paths: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The paths that a runner was given, and the words that pick a part of its tests."""
    paths: list[str] = []
    filters: list[str] = []
    skip = False
    for index, word in enumerate(rest):
        if skip:
            skip = False
            continue
        option, equals, value = word.partition("=")
        if word.startswith("-") and len(word) > 1:
            following = rest[index + 1] if index + 1 < len(rest) else ""
            if option in _FILTERS:
                filters.append(value if equals else following)
                skip = not equals
            elif option in ("--lf", "--last-failed", "--onlyChanged", "--changed"):
                filters.append(option)
            elif option in _VALUES and not equals and option not in _ALONE:
                skip = True
            continue
        if not takes_paths or "=" in word:
            continue
        path, _, test = word.partition("::")
        paths.append(path)
        if test:
            filters.append(test)
    return tuple(paths), tuple(filters)


def _tasks(name: str, rest: list[str], table: Table) -> list[Done] | None:
    """`npm run lint`, `make test`, `mise run check`: known by the words in the task's name."""
    plain = plain_words(rest)
    if name == "node":
        plain = tuple(rest[1:]) if rest[:1] == ["--run"] else ()
        if not plain:
            return None
    if not plain:
        return [Done(UNKNOWN, name)]
    if plain[0] in _NOT_TASKS and name not in ("make", "just", "task", "gmake"):
        return [Done(INERT, name)]
    if plain[0] in ("run", "run-script", "exec", "x", "test:", "task") and len(plain) > 1:
        plain = plain[1:]
    elif name == "bun" and "." in plain[0]:
        return None  # `bun script.ts`
    found = table.find(tuple(plain))
    if found is not None and name in ("mise", "pixi") and len(plain[0]) > 4:
        return [_checked(*found)]
    if found is not None and name in ("pnpm", "yarn", "bun") and "javascript" in found[0].languages:
        return [_checked(*found)]
    if name in ("make", "gmake") and "-n" in rest:
        return [Done(INERT, name)]
    several = name in (
        "make",
        "gmake",
        "just",
        "task",
        "mage",
        "rake",
        "turbo",
        "gradle",
        "gradlew",
    )
    made = []
    for task in plain if several else plain[:1]:
        kind, endless = kind_of_target(task)
        label = f"{name} {task}"
        if kind == "service":
            made.append(Done(ACT, label, act="deploy", target=task, dry=is_dry(rest)))
        elif kind in (None, "data"):
            made.append(Done(UNKNOWN, label))
        else:
            made.append(
                Done(CHECK, label, check=kind, filters=_filters(rest), endless=endless,
                     dry=is_dry(rest), tolerant=_given(rest, tuple(_TOLERANT)))
            )  # fmt: skip
    return made


def _filters(rest: Sequence[str]) -> tuple[str, ...]:
    """What comes behind `--`, and values of `--filter`: the task is run on a part."""
    extra = rest[rest.index("--") + 1 :] if "--" in rest else []
    chosen = [word for word in rest if word.startswith(("--filter=", "-F="))]
    chosen += [
        rest[at + 1] for at, word in enumerate(rest[:-1]) if word in ("--filter", "-F", "-t")
    ]
    return (*(word for word in extra if not word.startswith("-")), *chosen)


def _file_changes(command: Command, name: str, words: Sequence[str]) -> list[Done]:
    """Files that the program writes, deletes or moves; redirections included."""
    made = [Done(WRITE, name, paths=command.writes)] if command.writes else []
    plain = plain_words(words[1:])
    if name in ("tee", "Set-Content", "Out-File", "Add-Content") and plain:
        made.append(Done(WRITE, name, paths=plain[:1]))
    elif name in ("sed", "gsed", "perl", "ruby", "yq") and _in_place(words):
        made.append(Done(WRITE, name, paths=_edited_files(words)))
    elif name in ("rm", "unlink", "Remove-Item") and plain:
        made.append(Done(DELETE, name, paths=plain))
    elif name in ("mv", "Move-Item") and len(plain) > 1:
        made.append(Done(MOVE, name, paths=plain))
    elif name in ("cp", "Copy-Item", "ln", "install") and len(plain) > 1:
        made.append(Done(WRITE, name, paths=plain[-1:]))
    elif name in ("patch", "truncate", "ed"):
        made.append(Done(WRITE, name, paths=plain) if plain else Done(TREE, name))
    elif name in ("curl", "wget"):
        saved = [
            words[i + 1] for i, w in enumerate(words[:-1]) if re.fullmatch(r"-\w*o|--output", w)
        ]
        saved = [path for path in saved if path not in ("/dev/null", "-")]
        made += [Done(WRITE, name, paths=tuple(saved))] if saved else []
    elif _formats(name, words):
        made.append(Done(FORMAT_WRITE, name, paths=plain))
    return made


def _in_place(words: Sequence[str]) -> bool:
    return any(re.fullmatch(r"-[a-zA-Z0-9]*i.*|--in-place.*", word) for word in words[1:4])


def _edited_files(words: Sequence[str]) -> tuple[str, ...]:
    """The files of `sed -i '' 's/a/b/' f`: plain words behind the script."""
    rest = [word for word in words[1:] if word != ""]
    given = any(
        word in ("-e", "-f", "-pe", "-ne", "-0pe", "-0pi") or re.fullmatch(r"-\w*e", word)
        for word in rest
    )
    plain: list[str] = []
    skip = False
    for word in rest:
        if skip or word.startswith("-"):
            skip = not skip and bool(re.fullmatch(r"-\w*[ef]", word))
            continue
        plain.append(word)
    return tuple(plain if given else plain[1:])


_FORMATTERS = (
    "gofmt -w", "goimports -w", "gofumpt -w", "prettier --write", "prettier -w", "ruff format",
    "black", "isort", "cargo fmt", "rustfmt", "mix format", "eslint --fix", "ruff check --fix",
    "biome check --write", "biome format --write", "biome check --apply", "biome check --fix",
    "dotnet format", "terraform fmt", "swiftformat", "clang-format -i", "rubocop -a", "rubocop -A",
    "modernize --fix", "fieldalignment --fix", "golangci-lint fmt", "shfmt -w", "stylua", "dart format",
)  # fmt: skip
_FORMATTER_WORDS = tuple(tuple(text.split()) for text in _FORMATTERS)


def _formats(name: str, words: Sequence[str]) -> bool:
    """Whether the program rewrites files by the rules of a formatter or a fixer."""
    given = set(words)
    if given & {"--check", "--diff", "-l", "-d", "--check-formatted", "--verify-no-changes"}:
        return False
    return any(row[0] == name and given.issuperset(row[1:]) for row in _FORMATTER_WORDS)


def _is_deploy(name: str, words: Sequence[str]) -> bool:
    if name not in _DEPLOYERS:
        return False
    rest = [name, *words[1:]]
    return any(_in_order(row, rest) for row in _DEPLOY_WORDS if row[0] == name)


def _in_order(row: Sequence[str], words: Sequence[str]) -> bool:
    remaining = iter(words)
    return all(word in remaining for word in row)


def _target_of(words: Sequence[str]) -> str:
    """The host of the address that is called, or the last plain word."""
    for word in words:
        found = re.search(r"https?://([^/\s:]+(?::\d+)?)|\b(localhost:\d+|127\.0\.0\.1:\d+)", word)
        if found:
            return found.group(1) or found.group(2)
    plain = plain_words(words)
    return plain[-1] if plain else ""


def _given(rest: Sequence[str], options: Sequence[str]) -> bool:
    if not options:
        return False
    given = {*rest, *(word.partition("=")[0] for word in rest)}
    return "" in options or not given.isdisjoint(options)
