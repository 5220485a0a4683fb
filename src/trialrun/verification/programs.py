"""What a program of a shell script does: reads, writes, tries out, changes a service or data.

Anything that is not known here does nothing that could count as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed, Service
from trialrun.verification.paths import join
from trialrun.verification.python_code import deeds_of_code
from trialrun.verification.runners import Runner, Table, default_table, kind_of_target
from trialrun.verification.services import service_of
from trialrun.verification.shell import Command
from trialrun.verification.sql import statement_kind
from trialrun.verification.wrappers import unwrapped

# Files that nobody needs to look at again: what a run printed, what is thrown away.
_FLEETING = re.compile(
    r"^/(?:var/)?tmp/[^/]+$|(?:^|/)(?:\.cache|node_modules|__pycache__|\.pytest_cache)/|^/dev/|\.(?:log|pid|out|tmp|bak|orig|rej|swp)$|(?:^|/)nohup\.out$"
    r"|^\$|(?:^|/)\.git/"
)


def is_fleeting(path: str) -> bool:
    """Whether a file is a log, a scratch file or the like."""
    return bool(_FLEETING.search(path))


def deeds_of(command: Command, table: Table) -> Iterator[Deed]:
    """All that the command does, wrappers taken off."""
    for one in unwrapped(command):
        yield from _deeds_of_one(one, table)


def _deeds_of_one(command: Command, table: Table) -> Iterator[Deed]:
    words = command.words
    for path in command.writes:
        if not is_fleeting(path):
            content = command.stdin if command.name in ("cat", "tee") else None
            yield _deed(d.EDIT, command, paths=(path,), content=content)
    name = command.name
    # `-` between the program and its subcommand: npm --prefix web test, git -C api diff.
    plain, folder, package = _without_globals(name, words)
    if folder is not None:
        command = _moved(command, folder)
    found = table.find((name, *plain[1:]))
    program = _PROGRAMS.get(name)
    if found is not None:
        runner, rest = found
        if runner.kind == d.PROBE:
            yield from _probe(command, runner, [name, *words[1:]])
        else:
            yield replace(_trial(command, runner, rest), package=package)
    elif name in _TARGET_RUNNERS:
        for deed in _targets(command, plain, name, table):
            yield replace(deed, package=package)
    elif program is not None:
        # A service is known by its options too (`kubectl -n`), a file program by its plain words.
        yield from program(command, list(words) if program is _service else plain)
    else:
        yield from _own_program(command, plain)


def _deed(kind: str, command: Command, **fields: Any) -> Deed:
    return Deed(
        kind,
        by=fields.pop("by", command.name),
        folder=fields.pop("folder", command.folder),
        command=command,
        **fields,
    )


def _moved(command: Command, folder: str) -> Command:
    return replace(command, folder=join(command.folder, folder))


_GLOBAL_OPTIONS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    # program: (options with a value, those of them that name a folder)
    "npm": (
        frozenset("--prefix -C --workspace -w --loglevel".split()),
        frozenset({"--prefix", "-C", "--workspace", "-w"}),
    ),
    "pnpm": (
        frozenset("-C --dir --filter -F".split()),
        frozenset({"-C", "--dir", "--filter", "-F"}),
    ),
    "yarn": (frozenset({"--cwd"}), frozenset({"--cwd"})),
    "bun": (frozenset({"--cwd"}), frozenset({"--cwd"})),
    "make": (frozenset("-C --directory -f --file -j".split()), frozenset({"-C", "--directory"})),
    "git": (frozenset("-C -c --git-dir --work-tree".split()), frozenset({"-C", "--work-tree"})),
    "go": (frozenset({"-C"}), frozenset({"-C"})),
    "docker": (
        frozenset("-f --file -p --project-name --profile --env-file -H --context".split()),
        frozenset(),
    ),
    "docker-compose": (
        frozenset("-f --file -p --project-name --profile --env-file".split()),
        frozenset(),
    ),
    "kubectl": (frozenset("-n --namespace --context --kubeconfig --cluster".split()), frozenset()),
    "helm": (frozenset("-n --namespace --kube-context".split()), frozenset()),
    "terraform": (frozenset(), frozenset()),
    "just": (
        frozenset("-f --justfile -d --working-directory".split()),
        frozenset({"-d", "--working-directory"}),
    ),
    "task": (frozenset("-t --taskfile -d --dir".split()), frozenset({"-d", "--dir"})),
    "mvn": (frozenset("-f --file -pl --projects -P".split()), frozenset({"-pl", "--projects"})),
    "mvnw": (frozenset("-f --file -pl --projects -P".split()), frozenset({"-pl", "--projects"})),
    "gradle": (frozenset("-p --project-dir".split()), frozenset({"-p", "--project-dir"})),
    "gradlew": (frozenset("-p --project-dir".split()), frozenset({"-p", "--project-dir"})),
    "cargo": (
        frozenset("--manifest-path -p --package --config".split()),
        frozenset({"-p", "--package"}),
    ),
    "dotnet": (frozenset(), frozenset()),
    "alembic": (frozenset("-c --config -x -n --name".split()), frozenset()),
    "systemctl": (frozenset("-H --host -M".split()), frozenset()),
    "prisma": (frozenset({"--schema"}), frozenset()),
}


_PACKAGE_OPTIONS = frozenset("--workspace -w --filter -F -pl --projects -p --package".split())


def _without_globals(name: str, words: Sequence[str]) -> tuple[list[str], str | None, str | None]:
    """The words without options that stand before a subcommand; the folder or package they name."""
    options, folders = _GLOBAL_OPTIONS.get(name, (frozenset(), frozenset()))
    kept = [words[0]] if words else []
    folder = package = None
    index = 1
    if name == "cargo" and len(words) > 1 and words[1].startswith("+"):
        index = 2
    if name == "yarn" and list(words[1:2]) == ["workspace"] and len(words) > 3:
        package, index = words[2], 3
    while index < len(words):
        word = words[index]
        option, equals, value = word.partition("=")
        if option in options and (equals or index + 1 < len(words)):
            if option in folders:
                value = value if equals else words[index + 1]
                if option in _PACKAGE_OPTIONS and name not in ("gradle", "gradlew"):
                    package = value
                else:
                    folder = value
            index += 1 if equals else 2
            continue
        kept.append(word)
        index += 1
    if package is not None:
        package = package.rpartition("/")[2].strip(".^!*:{}[]")
    return kept, folder, package or None


# Runners

_FILTER_OPTIONS = frozenset(
    "-k -t --deselect --ignore --ignore-glob --filter --grep -g --testNamePattern --test-name-pattern -run --run -m --only --spec --tests --name -R --testPathPattern --bench --test".split()
)
_FILTER_FLAGS = frozenset(
    {"--lf", "--last-failed", "--sw", "--stepwise", "--onlyFailures", "--onlyChanged", "--changed"}
)
_VALUE_OPTIONS = frozenset(
    "-p -c -o -n --maxfail --cov --cov-report --tb --timeout -W --rootdir --config --project -P --reporter --workers -j --jobs"
    " --durations --junitxml --format --coverage --config-file --ext --rulesdir --max-warnings --logger --configuration --framework --seed -s --settings --verbosity"
    " --output-format --select --target-version -race -count -timeout -coverprofile --features --package -e --environment --env --level".split()
)
_NO_VALUE = {
    # With these programs the option stands alone.
    "go test": frozenset({"-race", "-c", "-n"}),
    "pytest": frozenset({"-s", "--cov"}),
    "jest": frozenset({"--coverage", "-o", "-i", "-e"}),
    "vitest": frozenset({"--coverage"}),
    "npm": frozenset({"--coverage"}),
    "mypy": frozenset({"-p"}) - {"-p"},
    "tsc": frozenset(),
    "playwright": frozenset({"-x"}),
    "unittest": frozenset({"-c"}),
    "tox": frozenset({"-p"}),
}


def _trial(command: Command, runner: Runner, rest: Sequence[str]) -> Deed:
    paths, filters = _arguments(runner.name, rest, runner.takes_paths)
    # `vitest` alone watches in a terminal and runs once elsewhere: what it printed tells.
    endless = any(_given(rest, option) for option in runner.endless)
    if endless and any(_given(rest, option) for option in runner.ends_with):
        endless = False
    if runner.ends_with:
        paths = tuple(path for path in paths if path not in runner.ends_with)
    if runner.name == "unittest":
        paths = tuple(path for path in paths if path != "discover")
        paths = tuple(
            path.replace(".", "/") if "/" not in path and not path.endswith(".py") else path
            for path in paths
        )
    return _deed(
        runner.kind,
        command,
        by=runner.name,
        paths=paths,
        filters=filters,
        languages=frozenset(runner.languages),
        endless=endless,
        runner=runner,
    )


def _given(rest: Sequence[str], option: str) -> bool:
    return any(word == option or word.startswith(option + "=") for word in rest) if option else True


def _arguments(
    runner: str, rest: Sequence[str], takes_paths: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The paths that a runner was given, and the words that pick a part of its tests."""
    paths: list[str] = []
    filters: list[str] = []
    alone = _NO_VALUE.get(runner, frozenset())
    index = 0
    while index < len(rest):
        word = rest[index]
        option, equals, value = word.partition("=")
        if word == "--":
            index += 1
            continue
        if word.startswith("-"):
            if option in _FILTER_FLAGS:
                filters.append(option)
            elif option in _FILTER_OPTIONS:
                if equals:
                    filters.append(value)
                elif index + 1 < len(rest):
                    filters.append(rest[index + 1])
                    index += 1
            elif option in _VALUE_OPTIONS and option not in alone and not equals:
                index += 1
            index += 1
            continue
        if "::" in word and not word.startswith("::"):
            word, _, name = word.partition("::")
            filters.append(name)
        if takes_paths:
            paths.append(word)
        elif word not in ("run", "all"):
            filters.append(word)
        index += 1
    return tuple(paths), tuple(filters)


_TARGET_RUNNERS = frozenset(
    "make gmake just task npm pnpm yarn bun gradle gradlew rake invoke inv doit composer mvn mvnw hatch poe pdm moon lage deno scons ant dagger earthly tilt mage".split()
)
_TARGET_LANGUAGES = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun", "deno"), frozenset({"javascript", "proto"})),
    **dict.fromkeys(("gradle", "gradlew", "mvn", "mvnw"), frozenset({"jvm"})),
    "composer": frozenset({"php"}),
    "rake": frozenset({"ruby"}),
    **dict.fromkeys(("hatch", "pdm", "poe"), frozenset({"python"})),
}
_SCRIPT_RUNNERS = frozenset({"npm", "pnpm", "yarn", "bun", "composer", "hatch", "pdm", "deno"})
_NOT_SCRIPTS = frozenset(
    "install i ci add remove rm uninstall update upgrade init link audit outdated publish pack version config cache login whoami view why list ls dedupe require dump-autoload".split()
)
_NOT_TARGET = re.compile(r"^-|=")


def _targets(command: Command, words: list[str], name: str, table: Table) -> Iterator[Deed]:
    """`make test`, `npm run lint`, `gradle :app:check`: known by the name of the target."""
    rest = words[1:]
    if name in _SCRIPT_RUNNERS:
        plain = [word for word in rest if not word.startswith("-")]
        if not plain or plain[0] in _NOT_SCRIPTS:
            return
        if plain[0] in ("run", "run-script", "task", "exec", "x", "dlx"):
            plain = plain[1:]
        if not plain:
            return
        target, extra = plain[0], plain[1:]
        if "--" in rest:
            extra = rest[rest.index("--") + 1 :]
        inner = table.find((target, *extra))
        if inner is not None and inner[0].kind != d.PROBE and name in ("yarn", "pnpm", "bun"):
            yield _trial(command, *inner)
            return
        yield from _target(command, f"{name} {target}", target, extra)
        return
    filters = [rest[index + 1] for index, word in enumerate(rest[:-1]) if word in _FILTER_OPTIONS]
    targets = [word for word in rest if not _NOT_TARGET.search(word) and word not in filters]
    if not targets:
        if name in ("make", "gmake", "ant", "scons"):
            yield _deed(d.BUILD, command, by=name)
        return
    for target in targets:
        yield from _target(
            command, f"{name} {target}", target, [f"--filter={one}" for one in filters]
        )


def _target(command: Command, shown: str, target: str, extra: Sequence[str]) -> Iterator[Deed]:
    kind, endless = kind_of_target(target)
    if kind is None and not endless:
        kind = d.RUN
    if kind in (d.SERVICE, d.DATA):
        yield _deed(kind, command, by=shown, service=Service(frozenset(), command.host))
        return
    paths, filters = _arguments("npm", extra, True)
    watched = any(word.startswith("--watch") and "false" not in word for word in extra)
    folder = command.folder
    if target.startswith(":") and target.count(":") > 1:  # a module of gradle
        folder = join(folder, target.strip(":").rpartition(":")[0].replace(":", "/"))
    if kind is not None:
        if kind == d.FORMAT and not re.search(r"check|verify|diff", target):
            return  # it rewrites files
        yield _deed(
            kind,
            command,
            by=shown,
            paths=paths,
            filters=filters,
            endless=endless or watched,
            folder=folder,
            languages=_TARGET_LANGUAGES.get(command.name, frozenset()),
        )


# Services and probes


def _probe(command: Command, runner: Runner, words: list[str]) -> Iterator[Deed]:
    saved = _saved_to(words) if runner.name in ("curl", "wget") else None
    if saved is not None and not is_fleeting(saved):
        yield _deed(d.EDIT, command, by=f"{command.name} -o", paths=(saved,))
    if runner.name == "curl" and _sends(words):
        service = service_of(command, words)
        if any("reload" in word or "restart" in word for word in words):
            yield _deed(d.SERVICE, command, by="curl", service=service)
            return
    yield _deed(d.PROBE, command, by=runner.name, service=service_of(command, words), runner=runner)


def _saved_to(words: Sequence[str]) -> str | None:
    """The file that a download is written to."""
    for word, after in pairwise(words):
        if word in ("-o", "-O", "--output", "--output-document") and not after.startswith("-"):
            return None if word == "-O" and words[0].endswith("curl") else after
    return None


def _sends(words: Sequence[str]) -> bool:
    joined = " ".join(words[:-1])
    return bool(
        re.search(r"-X ?(?:POST|PUT|DELETE|PATCH)|--request (?:POST|PUT|DELETE|PATCH)", joined)
    )


_SERVICE_COMMANDS: tuple[tuple[str, str], ...] = (
    (
        "kubectl",
        r"apply|set|rollout (?:restart|undo)|scale|patch|delete|create|replace|edit|run|expose|cordon|drain|label|annotate|autoscale",
    ),
    ("oc", r"apply|rollout|new-app|start-build|scale|patch|delete|create|replace|set"),
    ("helm", r"install|upgrade|rollback|uninstall|delete"),
    ("helmfile", r"apply|sync|destroy"),
    (
        "docker",
        r"run|restart|start|stop|kill|rm|compose (?:up|restart|down|start|stop|rm)|stack deploy|service (?:update|create|scale|rm)|push",
    ),
    ("docker-compose", r"up|restart|down|start|stop|rm"),
    ("podman", r"run|restart|start|stop|kill|rm"),
    (
        "systemctl",
        r"restart|reload|start|stop|enable|disable|reload-or-restart|try-restart|mask|unmask|kill",
    ),
    ("service", r"\S+ (?:restart|reload|start|stop)"),
    ("supervisorctl", r"restart|reload|start|stop|update|reread"),
    ("pm2", r"restart|reload|start|stop|delete|deploy"),
    ("nginx", r"-s (?:reload|stop|quit|reopen)"),
    ("apachectl", r"restart|graceful|start|stop"),
    ("terraform", r"apply|destroy|import"),
    ("tofu", r"apply|destroy|import"),
    ("terragrunt", r"apply|destroy|run-all apply"),
    ("pulumi", r"up|destroy"),
    ("cdk", r"deploy|destroy"),
    ("ansible-playbook", r".*"),
    ("ansible", r".*-m (?:service|systemd|shell|command|copy|template|apt)"),
    ("vercel", r".*"),
    ("netlify", r"deploy"),
    ("fly", r"deploy|scale|machine|secrets set|apps restart"),
    ("flyctl", r"deploy|scale|machine|secrets set|apps restart"),
    ("heroku", r"(?:ps:)?restart|releases:rollback|config:set|container:release|ps:scale"),
    ("railway", r"up|redeploy"),
    ("wrangler", r"deploy|publish|rollback"),
    ("serverless", r"deploy|remove"),
    ("sls", r"deploy|remove"),
    ("sam", r"deploy"),
    ("eb", r"deploy"),
    ("firebase", r"deploy"),
    ("gcloud", r".*\b(?:deploy|update|create|delete|update-traffic|set)\b"),
    (
        "aws",
        r".*\b(?:update-\S+|create-\S+|deploy|put-\S+|delete-\S+|run-\S+|start-\S+|stop-\S+|sync|cp|mv|rm)\b",
    ),
    ("az", r".*\b(?:deploy|update|create|delete|restart|up)\b"),
    ("cap", r".*deploy.*"),
    ("kamal", r"deploy|redeploy|rollback"),
    ("dokku", r"ps:restart|ps:rebuild|git:.*"),
    ("nomad", r"(?:job )?(?:run|stop)"),
    ("argocd", r"app (?:sync|rollback|set)"),
    ("skaffold", r"run|deploy"),
    ("twine", r"upload"),
    ("rc-service", r"\S+ (?:restart|start|stop|reload)"),
    ("initctl", r"restart|reload|start|stop"),
    ("launchctl", r"load|unload|kickstart|start|stop"),
    ("reboot", r".*"),
    ("crontab", r"(?!-l).*"),
    ("firewall-cmd", r".*(?:--add|--remove|--reload).*"),
    ("ufw", r"allow|deny|delete|enable|disable|reload"),
    ("iptables", r"-[AID].*"),
    ("docker-machine", r"start|stop|restart"),
    ("varnishadm", r".*"),
    ("redis-cli", r".*\b(?i:set|del|flushall|flushdb|hset|expire|lpush|rpush|config set)\b.*"),
)
_SERVICE_PATTERNS = {
    name: re.compile(rf"(?:-\S+ )*(?:{pattern})(?:\s|$)", re.DOTALL)
    for name, pattern in _SERVICE_COMMANDS
}
_VERCEL_READS = re.compile(
    r"(?:inspect|ls|list|logs|whoami|env (?:ls|pull)|--version|link|pull|build)\b"
)


def _service(command: Command, words: list[str]) -> Iterator[Deed]:
    name = command.name
    text = " ".join(_without_globals(name, words)[0][1:])
    if name == "crontab" and not words[1:]:
        return
    if not _SERVICE_PATTERNS[name].match(text) or "--dry-run" in text:
        return
    if name == "vercel" and _VERCEL_READS.match(text):
        return
    detached = any(word in ("-d", "--detach") for word in words)
    if name == "docker" and words[1:2] == ["run"] and not detached:
        # A container that runs a command to its end is that command; one left running is a service.
        yield _deed(d.RUN, command, by="docker run")
        return
    if name == "docker" and words[1:2] == ["push"]:
        return
    yield _deed(
        d.SERVICE,
        command,
        by=_called(words),
        service=service_of(command, words),
        content=" ".join(words),
    )


def _called(words: Sequence[str]) -> str:
    return " ".join(word for word in words[:3] if not word.startswith("-"))


# Migrations and data

_MIGRATIONS = re.compile(
    r"alembic (?:-\S+ \S+ )*(?:upgrade|downgrade|stamp)|prisma (?:migrate (?:deploy|dev|reset|resolve)|db (?:push|seed|execute))|manage\.py (?:migrate|loaddata|flush)|rails db:\S+|rake db:\S+"
    r"|flyway (?:migrate|repair|clean)|knex (?:migrate:(?:latest|up|down|rollback)|seed:run)|sequelize(?:-cli)? db:(?:migrate|seed)\S*|liquibase (?:update|rollback)|dbmate (?:up|down|migrate|rollback)"
    r"|goose (?:.* )?(?:up|down)|migrate (?:.* )?(?:up|down)|typeorm migration:(?:run|revert)|drizzle-kit (?:push|migrate)|artisan (?:migrate|db:seed)\S*|mix ecto\.(?:migrate|rollback)|sqlx migrate run|diesel migration run|atlas (?:migrate|schema) apply|dbt (?:seed|snapshot)|supabase db (?:push|reset)|hasura migrate apply|cargo sqlx migrate run|python manage\.py migrate|flask db (?:upgrade|downgrade)|doctrine:migrations:migrate"
)
_MIGRATION_LOOKS = re.compile(
    r"alembic (?:-\S+ \S+ )*(?:current|history|heads|show)|prisma migrate (?:status|diff)|manage\.py (?:showmigrations|dbshell|inspectdb|sqlmigrate)|rails db:migrate:status|flyway (?:info|validate)|knex migrate:(?:status|list)|dbmate status|goose .*status|migrate .*version|typeorm migration:show|artisan migrate:status|flask db (?:current|history)|mix ecto\.migrations|liquibase status|atlas migrate status|dbt (?:show|source freshness)"
)


def _migration(command: Command, words: list[str]) -> Iterator[Deed]:
    text = " ".join([command.name, *words[1:]])
    if _MIGRATION_LOOKS.search(text):
        yield _deed(
            d.QUERY,
            command,
            by=_called([command.name, *words[1:]]),
            service=Service(frozenset(), command.host),
        )
    elif _MIGRATIONS.search(text) and "--sql" not in words:
        yield _deed(d.RUN, command, by="migration " + _called([command.name, *words[1:]]))
        yield _deed(
            d.DATA,
            command,
            by=_called([command.name, *words[1:]]),
            service=Service(frozenset(), command.host),
        )
    else:
        yield from _own_program(command, words)


def _database(command: Command, words: list[str]) -> Iterator[Deed]:
    """`psql -c "UPDATE …"` changes, `psql -c "SELECT …"` looks."""
    texts: list[str] = []
    files: list[str] = []
    for index, word in enumerate(words[1:], 1):
        before = words[index - 1]
        if before in (
            "-c",
            "-e",
            "--command",
            "--execute",
            "-Atc",
            "-tAc",
            "-Q",
            "-q",
            "--eval",
            "-tc",
            "-Ac",
        ) or (re.fullmatch(r"-[A-Za-z]*c", before) and command.name == "psql"):
            texts.append(word)
        elif before in ("-f", "--file", "-i"):
            files.append(word)
        elif (
            command.name
            in ("sqlite3", "mongosh", "mongo", "duckdb", "bq", "clickhouse-client", "snowsql")
            and " " in word
        ):
            texts.append(word)
        elif word.startswith(("--command=", "--execute=", "--eval=")):
            texts.append(word.partition("=")[2])
    if command.stdin:
        texts.append(command.stdin)
    files += command.reads
    service = Service(frozenset(), command.host)
    for text in texts:
        kind, names = statement_kind(text)
        if kind is not None:
            made = Service(names, command.host)
            yield _deed(
                d.DATA if kind == "changes" else d.QUERY, command, service=made, content=text
            )
    for file in files:
        yield _deed(d.RUN, command, by=f"{command.name} < {file}", paths=(file,))
        yield _deed(d.DATA, command, service=service, paths=(), source=file)


# Files

_READERS = frozenset(
    "cat head tail less more nl bat batcat od xxd hexdump strings jq yq tac column cut sort uniq fold view tree-sitter wc md5sum sha256sum shasum stat file zcat csvlook xsv csvcut xmlstarlet toml dasel gron fx".split()
)
_NAMES_ONLY = frozenset({"stat", "file", "md5sum", "sha256sum", "shasum"})
_SEARCHERS = frozenset("grep egrep fgrep rg ag ack ripgrep zgrep ugrep".split())
_FIRST_IS_NOT_A_FILE = frozenset({"jq", "yq", "dasel", "gron", "xmlstarlet"})
_READER_VALUES = {
    "head": frozenset({"-n", "-c", "--lines"}),
    "tail": frozenset({"-n", "-c", "--lines"}),
    "cut": frozenset({"-d", "-f", "-c"}),
    "sort": frozenset({"-k", "-t", "-o"}),
    "jq": frozenset({"--arg", "--argjson", "--indent"}),
    "bat": frozenset({"-r", "--line-range", "-l"}),
    "nl": frozenset({"-b", "-s", "-w"}),
}
_SEARCH_VALUES = frozenset(
    "-e -f -A -B -C -m --include --exclude --exclude-dir -g --glob -t --type -T --max-count --context --color -d".split()
)


def _plain(words: Sequence[str], with_value: frozenset[str]) -> list[str]:
    """The words that are neither options nor their values."""
    kept = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in with_value:
            skip = True
        elif not word.startswith("-") or word == "-":
            kept.append(word)
    return kept


def _read(command: Command, words: list[str]) -> Iterator[Deed]:
    files = _plain(words[1:], _READER_VALUES.get(command.name, frozenset()))
    if command.name in _FIRST_IS_NOT_A_FILE:
        files = files[1:]
    files = [file for file in files if file != "-"] + list(command.reads)
    if files:
        # A count of lines says something about data, and little about code.
        counts = command.name == "wc" and not re.search(r"\.(?:csv|tsv|jsonl|txt|log)$", files[0])
        names = counts or command.name in _NAMES_ONLY
        yield _deed(d.READ, command, paths=tuple(files), sees_names_only=names)


def _search(command: Command, words: list[str]) -> Iterator[Deed]:
    plain = _plain(words[1:], _SEARCH_VALUES)
    has_pattern = any(word in ("-e", "-f") or word.startswith("--regexp") for word in words)
    files = plain if has_pattern else plain[1:]
    pattern = "" if has_pattern or not plain else plain[0]
    if has_pattern:
        pattern = " ".join(
            words[index + 1] for index, word in enumerate(words[:-1]) if word == "-e"
        )
    if (
        files
        or command.name in ("rg", "ag", "ack")
        or any(re.fullmatch(r"-\w*[rR]\w*|--recursive", word) for word in words)
    ):
        if command.piped_from and not files:
            return
        yield _deed(d.SEARCH, command, paths=tuple(files), content=pattern)


def _sed(command: Command, words: list[str]) -> Iterator[Deed]:
    in_place = any(re.match(r"-[a-zA-Z]*i|--in-place", word) for word in words[1:])
    plain = _plain(words[1:], frozenset({"-e", "-f", "--expression", "--file"}))
    scripted = any(word in ("-e", "-f", "--expression") for word in words)
    files = plain if scripted else plain[1:]
    if in_place and files and files[0] == "":  # BSD: sed -i '' …
        files = files[1:]
    if not files and in_place and command.piped_from:
        files = _fed_files(command)
    if not files:
        return
    if in_place:
        script = next((word for word in words[1:] if not word.startswith("-")), "")
        yield _deed(
            d.EDIT,
            command,
            by="sed -i",
            paths=tuple(file for file in files if not is_fleeting(file)),
            content=script,
        )
    else:
        yield _deed(d.READ, command, paths=tuple(files))


def _fed_files(command: Command) -> list[str]:
    """`rg -l old src | xargs sed -i …` changes whatever was found below that folder."""
    searched = _plain(command.piped_from[1:], _SEARCH_VALUES | {"-name", "-type"})
    if command.piped_from[0] == "git":
        searched = searched[1:]
    only_folder = command.piped_from[0] in ("find", "fd")
    folder = searched[-1] if len(searched) > 1 or (searched and only_folder) else "."
    return [folder.rstrip("/") + "/"]


def _perl(command: Command, words: list[str]) -> Iterator[Deed]:
    if any(re.match(r"-\w*i", word) for word in words[1:]):
        if command.piped_from and command.piped_from[0] in (
            "rg",
            "grep",
            "git",
            "find",
            "fd",
            "ag",
        ):
            yield _deed(d.EDIT, command, by="perl -i", paths=tuple(_fed_files(command)))
            return
        files = _plain(words[1:], frozenset({"-e", "-pe", "-i.bak"}))
        files = [file for file in files if not re.search(r"^s[/|#{]|;", file)]
        if files:
            yield _deed(d.EDIT, command, by="perl -i", paths=tuple(files))
        return
    yield from _own_program(command, words)


def _awk(command: Command, words: list[str]) -> Iterator[Deed]:
    files = _plain(words[1:], frozenset({"-F", "-v", "-f"}))[1:]
    if "inplace" in words:
        yield _deed(d.EDIT, command, paths=tuple(files))
    elif files or command.reads:
        yield _deed(d.READ, command, paths=(*files, *command.reads))


def _tee(command: Command, words: list[str]) -> Iterator[Deed]:
    files = [file for file in _plain(words[1:], frozenset()) if not is_fleeting(file)]
    if files:
        yield _deed(d.EDIT, command, paths=tuple(files), content=command.stdin)


def _move(command: Command, words: list[str]) -> Iterator[Deed]:
    *sources, target = _plain(words[1:], frozenset({"-t", "-S"})) or [""]
    for source in sources:
        into = target.endswith("/") or len(sources) > 1
        name = f"{target.rstrip('/')}/{source.rpartition('/')[2]}" if into else target
        if is_fleeting(source) and is_fleeting(name):
            continue
        yield _deed(d.RENAME, command, paths=(name,), source=source)


def _copy(command: Command, words: list[str]) -> Iterator[Deed]:
    *sources, target = _plain(words[1:], frozenset({"-t", "-P", "-i", "-e"})) or [""]
    if command.name in ("scp", "rsync") and ":" in target:
        host, _, path = target.partition(":")
        yield _deed(
            d.EDIT,
            command,
            paths=(f"{host.rpartition('@')[2]}:{path}",),
            source=sources[0] if sources else None,
        )
        return
    if not sources or is_fleeting(target):
        return
    into = target.endswith("/") or len(sources) > 1
    for source in sources:
        name = f"{target.rstrip('/')}/{source.rpartition('/')[2]}" if into else target
        if not is_fleeting(name):
            yield _deed(d.EDIT, command, paths=(name,), source=source)


def _remove(command: Command, words: list[str]) -> Iterator[Deed]:
    files = [file for file in _plain(words[1:], frozenset()) if not is_fleeting(file)]
    if files:
        yield _deed(d.REMOVE, command, paths=tuple(files))


def _list(command: Command, words: list[str]) -> Iterator[Deed]:
    files = _plain(
        words[1:],
        frozenset(
            "-name -type -maxdepth -mindepth -path -iname -mtime -newer -size -L -I --ignore".split()
        ),
    )
    if command.name == "find" and "-exec" in words:
        index = words.index("-exec")
        inner = [word for word in words[index + 1 :] if word not in ("{}", ";", "\\;", "+")]
        if inner:
            folder = files[:1] or ["."]
            yield from _file_program(replace(command, words=(*inner, *folder)))
        return
    if command.name == "find" and "-delete" in words:
        yield _deed(d.REMOVE, command, paths=tuple(files[:1]))
        return
    yield _deed(d.LIST, command, paths=tuple(files), sees_names_only=True)


def _file_program(command: Command) -> Iterator[Deed]:
    program = _PROGRAMS.get(command.name)
    if program is not None:
        yield from program(command, list(command.words))


def _diff(command: Command, words: list[str]) -> Iterator[Deed]:
    yield _deed(d.DIFF, command, paths=tuple(_plain(words[1:], frozenset({"-U", "-x"}))))


def _patch(command: Command, words: list[str]) -> Iterator[Deed]:
    from trialrun.verification.patches import patched_files

    if "--stat" in words or "--numstat" in words:
        return
    if "--dry-run" in words or "--check" in words:
        yield _deed(d.CONFIG, command, by="patch --dry-run")
        return
    files = patched_files(command.stdin or "")
    yield _deed(d.EDIT, command, paths=tuple(files), content=command.stdin, by="patch")


def _git(command: Command, words: list[str]) -> Iterator[Deed]:
    rest = words[1:]
    while rest and rest[0].startswith("-"):
        rest = rest[1:]
    if not rest:
        return
    verb, arguments = rest[0], rest[1:]
    plain = _plain(
        arguments, frozenset({"-m", "--author", "-n", "--source", "-s", "-C", "--format", "-U"})
    )
    if "--" in arguments:
        plain = arguments[arguments.index("--") + 1 :]
    if verb in ("diff", "show"):
        if verb == "diff" and any(word in ("--cached", "--staged") for word in arguments):
            plain = plain or []
        files = (
            [word for word in plain if "/" in word or "." in word]
            if "--" not in arguments
            else plain
        )
        files = [
            file
            for file in files
            if not re.fullmatch(
                r"[\w./-]*(?:HEAD|main|master|origin/\S+|\w+\.\.\.?\w*)[\w~^.]*", file
            )
        ]
        names = any(
            word
            in (
                "--stat",
                "--name-only",
                "--name-status",
                "--shortstat",
                "--numstat",
                "--quiet",
                "--exit-code",
            )
            for word in arguments
        )
        if verb == "show" and not files:
            return
        yield _deed(d.DIFF, command, by="git " + verb, paths=tuple(files), sees_names_only=names)
    elif verb == "grep":
        yield _deed(
            d.SEARCH,
            command,
            by="git grep",
            paths=tuple(plain[1:]),
            content=plain[0] if plain else "",
        )
    elif verb in ("apply", "am"):
        yield from _patch(command, ["patch", *arguments])
    elif verb == "mv":
        yield from _move(command, ["mv", *arguments])
    elif verb == "rm":
        if "--cached" not in arguments:
            yield from _remove(command, ["rm", *arguments])
    elif verb == "restore" and "--staged" not in arguments:
        yield _deed(d.RESTORE, command, by="git restore", paths=tuple(plain))
    elif verb == "checkout" and "--" in arguments:
        yield _deed(d.RESTORE, command, by="git checkout", paths=tuple(plain))
    elif verb == "checkout" and plain and (plain[-1] == "." or re.search(r"\.\w+$", plain[-1])):
        yield _deed(d.RESTORE, command, by="git checkout", paths=(plain[-1],))
    elif verb == "stash" and (not plain or plain[0] in ("push", "save")):
        yield _deed(d.RESTORE, command, by="git stash", paths=())
    elif verb == "reset" and "--hard" in arguments:
        yield _deed(d.RESTORE, command, by="git reset --hard", paths=())
    elif verb in ("status", "log", "ls-files", "blame", "branch"):
        files = plain if verb in ("ls-files", "blame") else []
        yield _deed(d.LIST, command, by="git " + verb, paths=tuple(files), sees_names_only=True)
    elif verb in ("revert", "cherry-pick", "merge", "rebase", "pull"):
        yield _deed(d.LIST, command, by="git " + verb, sees_names_only=True)


_FORMATTERS = {
    "black": "python",
    "isort": "python",
    "prettier": None,
    "gofmt": "go",
    "goimports": "go",
    "rustfmt": "rust",
    "autopep8": "python",
    "yapf": "python",
    "clang-format": "c",
    "shfmt": "shell",
}


def _python(command: Command, words: list[str]) -> Iterator[Deed]:
    if "-c" in words[1:]:
        index = words.index("-c")
        code = words[index + 1] if index + 1 < len(words) else ""
        yield from deeds_of_code(code, command)
        return
    files = [word for word in words[1:] if not word.startswith("-")]
    if (not files or files[0] == "-") and command.stdin:
        yield from deeds_of_code(command.stdin, command)
        return
    if files:
        if files[0].rpartition("/")[2] == "manage.py":
            inner = tuple(words[words.index(files[0]) :])
            yield from _deeds_of_one(replace(command, words=inner), default_table())
            return
        yield _deed(
            d.RUN,
            command,
            paths=(files[0],),
            by=f"{command.name} {files[0]}",
            languages=frozenset({"python"}),
        )


_INTERPRETERS = {
    "node": "javascript", "deno": "javascript", "ts-node": "javascript", "tsx": "javascript", "bun": "javascript",
    "ruby": "ruby", "php": "php", "perl": "perl", "bash": "shell", "sh": "shell", "zsh": "shell", "Rscript": "r", "java": "jvm",
    "julia": "julia", "lua": "lua", "elixir": "elixir", "swift": "swift", "dart": "dart", "scala": "jvm", "kotlin": "jvm",
}  # fmt: skip


def _interpreted(command: Command, words: list[str]) -> Iterator[Deed]:
    language = _INTERPRETERS[command.name]
    options = [word for word in words[1:] if word.startswith("-")]
    files = [word for word in words[1:] if not word.startswith("-")]
    if files and files[0] == "run":
        files = files[1:]
    if any(option in ("-v", "--version", "-V") for option in options):
        return
    if files and files[0] == "artisan":
        yield from _deeds_of_one(replace(command, words=tuple(files)), default_table())
        return
    inline = any(option in ("-e", "--eval", "-p", "-r") for option in options)
    yield _deed(
        d.RUN,
        command,
        paths=() if inline else tuple(files[:1]),
        by=" ".join([command.name, *([] if inline else files[:1])]),
        languages=frozenset({language}),
    )


# Whatever the program is called: `dune test`, `forge build`, `dprint check`.
_GENERIC_VERBS = {
    **dict.fromkeys(("test", "tests", "runtest", "spec", "selftest"), d.TEST),
    **dict.fromkeys(("build", "compile", "assemble"), d.BUILD),
    **dict.fromkeys(("lint", "vet", "audit"), d.LINT),
    **dict.fromkeys(("typecheck",), d.TYPES),
    **dict.fromkeys(("validate", "check", "verify"), d.CONFIG),
}
_CODEMODS = frozenset(
    {
        "jscodeshift",
        "codemod",
        "rector",
        "comby",
        "ast-grep",
        "sg",
        "2to3",
        "pyupgrade",
        "ng-update",
        "openrewrite",
    }
)
_GO_CARGO = {
    ("go", "run"): "go",
    ("cargo", "run"): "rust",
    ("dotnet", "run"): "dotnet",
    ("swift", "run"): "swift",
    ("mix", "run"): "elixir",
    ("cargo", "bench"): "rust",
    ("go", "generate"): "go",
}
_QUIET = frozenset(
    "cd echo printf true false : export source . set unset alias sleep wait exit return mkdir touch chmod chown ln pwd whoami date which type hash test [ [[ read clear kill pkill killall"
    " pip pip3 uv poetry conda apt apt-get brew dnf yum apk gem bundle gh glab hub svn hg tar zip unzip gzip gunzip base64 xargs seq basename dirname realpath readlink uname hostname id groups free df du env printenv"
    " npm pnpm yarn nvm rustup go cargo dotnet mix swift docker kubectl helm git jobs fg bg trap ulimit umask time local declare eval let shift getopts history popd pushd tput reset stty yes rev tr paste comm expr bc".split()
)


def _own_program(command: Command, words: list[str]) -> Iterator[Deed]:
    """A program of the project (`./run.sh`, `bin/check`), or one that nobody here knows."""
    name = command.name
    language = _GO_CARGO.get((name, words[1] if len(words) > 1 else ""))
    if language is not None:
        yield _deed(d.RUN, command, by=_called([name, *words[1:]]), languages=frozenset({language}))
        return
    if name in _CODEMODS and not any(word in ("--dry", "-d", "--dry-run") for word in words):
        places = [
            word
            for word in words[1:]
            if not word.startswith("-") and not word.endswith((".js", ".ts", ".py", ".yml"))
        ]
        yield _deed(d.EDIT, command, paths=((places[-1] if places else ".").rstrip("/") + "/",))
        return
    if (
        name in _FORMATTERS
        or (name == "ruff" and "--fix" in words)
        or (
            len(words) > 1
            and words[1] in ("fmt", "format")
            and not any("check" in word for word in words)
        )
    ):
        return  # rewrites files in a way that changes no meaning
    if name in _QUIET:
        return
    first = command.words[0]
    if "/" in first or first.endswith((".sh", ".py")):
        kind, endless = kind_of_target(name.rpartition(".")[0] or name)
        if kind in (d.SERVICE, d.DATA):
            yield _deed(
                kind, command, service=Service(frozenset(), command.host), paths=(), by=first
            )
            yield _deed(d.RUN, command, paths=(first,), by=first)
            return
        yield _deed(
            kind or d.RUN, command, paths=(first,), by=first, endless=endless and kind is None
        )
        return
    if any(word in ("format", "fmt") for word in words[1:4]) and any(
        word.startswith(("--check", "--verify")) for word in words
    ):
        yield _deed(d.FORMAT, command, by=_called([name, *words[1:]]))
        return
    verb = next((word for word in words[1:] if not word.startswith("-")), "")
    if verb in _GENERIC_VERBS:
        rest = words[words.index(verb) + 1 :]
        paths, filters = _arguments(name, rest, True)
        yield _deed(
            _GENERIC_VERBS[verb], command, by=f"{name} {verb}", paths=paths, filters=filters
        )
        return
    named = tuple(
        word for word in words[1:] if re.search(r"[\w-]\.\w{1,6}$|/", word) and "=" not in word
    )
    yield _deed(d.RUN, command, by=_called([name, *words[1:]]), paths=named)


_PROGRAMS: dict[str, Callable[[Command, list[str]], Iterator[Deed]]] = {
    **dict.fromkeys(_READERS, _read),
    **dict.fromkeys(_SEARCHERS, _search),
    **{name: _service for name, _ in _SERVICE_COMMANDS},
    **dict.fromkeys(("alembic", "prisma", "manage.py", "rails", "rake", "flyway", "knex", "sequelize", "sequelize-cli", "liquibase", "dbmate", "goose", "migrate", "typeorm", "drizzle-kit", "artisan", "mix", "sqlx", "diesel", "atlas", "dbt", "supabase", "hasura", "flask", "django-admin"), _migration),
    **dict.fromkeys(("psql", "mysql", "mariadb", "sqlite3", "mongosh", "mongo", "duckdb", "bq", "clickhouse-client", "snowsql", "cockroach", "cqlsh", "sqlcmd"), _database),
    **dict.fromkeys(("python", "python2", "python3", "pypy", "pypy3", "py", "python3.11", "python3.12", "python3.13", "ipython"), _python),
    **dict.fromkeys(_INTERPRETERS, _interpreted),
    "sed": _sed,
    "gsed": _sed,
    "perl": _perl,
    "awk": _awk,
    "gawk": _awk,
    "tee": _tee,
    "sponge": _tee,
    "mv": _move,
    "cp": _copy,
    "install": _copy,
    "scp": _copy,
    "rsync": _copy,
    "rm": _remove,
    "unlink": _remove,
    "ls": _list,
    "find": _list,
    "fd": _list,
    "tree": _list,
    "diff": _diff,
    "colordiff": _diff,
    "cmp": _diff,
    "patch": _patch,
    "git": _git,
}  # fmt: skip
