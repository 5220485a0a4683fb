"""Whether a look is about a change: a read of that file, a run that plausibly covers it, a probe of
that service.

"Plausibly" is a matter of language, folder and name: a test run of another package, another
language or another worktree does not count; a run without arguments covers what lies below it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Service
from trialrun.verification.events import DATA, FILE, SERVICE, Change, Events, Look, program_of
from trialrun.verification.marks import Marked
from trialrun.verification.paths import same, tidy, within
from trialrun.verification.services import is_stage_of, same_service, stages_of
from trialrun.verification.values import safe_text

# Folder and file words that say nothing about the subject of a test.
_GENERIC = frozenset(
    "test tests spec specs unit integration e2e functional acceptance src lib app apps main java kotlin scala python js ts cmd pkg packages package services service crates crate modules module libs internal"
    " __tests__ testing it its features feature index init conftest py mod rs go test_helper suite all core common shared models views controllers requests components utils helpers api server client backend frontend web".split()
)
_MILD = frozenset(
    "core common shared models views controllers requests components utils helpers api server client backend frontend web services service app apps".split()
)
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+")
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_CI = Marked(
    (
        "workflows",
        ".circleci",
        ".gitlab-ci",
        ".buildkite",
        "jenkinsfile",
        "azure-pipelines",
        ".travis",
    ),
    r"(?:^|/)(?:\.github/workflows|\.circleci|\.gitlab-ci|\.buildkite)(?:/|\.)|(?:^|/)(?:jenkinsfile|azure-pipelines\.ya?ml|\.travis\.yml)$",
    re.IGNORECASE,
)
_OPERATED = re.compile(
    r"(?:^|/)(?:k8s|kubernetes|helm|charts?|deploy|deployment|infra|terraform|ansible|nginx|etc|gitops|manifests?|systemd|cron\.\w+|roles|playbooks?)/|nginx[\w.-]*\.conf$|docker-compose[\w.-]*\.ya?ml$|compose\.ya?ml$|\.service$"
)
CI_TOOLS = re.compile(
    r"gh run|glab ci|checks|check_(?:runs?|suites?|status)|workflow|pipeline|\bci\b|(?:^|_)(?:build|job)s?(?:_|$)|commit_status|pull_request_status",
    re.IGNORECASE,
)
_END_TO_END = Marked(
    (
        "playwright",
        "cypress",
        "e2e",
        "end-to-end",
        "smoke",
        "integration",
        "acceptance",
        "selenium",
    ),
    r"\b(?:playwright|cypress|e2e|end-to-end|smoke|integration|acceptance|selenium)\b|/e2e/",
)
_MIGRATION_FILE = re.compile(r"migrat|/versions/|schema\.(?:prisma|rb|sql)|/db/", re.IGNORECASE)
# Languages that only a tool of their own, or a run of everything, can try out.
_APART = frozenset({"docs", "terraform", "docker", "shell"})


_NO_SUBJECTS = _GENERIC | {word.rstrip("s") for word in _GENERIC}
_TEST_WORDS = frozenset({"test", "tests", "spec"})


@lru_cache(maxsize=50_000)
def subject_words(path: str, keep_generic: bool = False) -> frozenset[str]:
    """The words of a path that say what it is about: `tests/test_orders.py` → order."""
    words = set()
    for word in map(str.lower, _PARTS.findall(_ENDING.sub("", path))):
        if word[-1] == "s" and len(word) > 3:
            word = _singular(word)
        if len(word) > 1:
            words.add(word)
    return frozenset(words - (_TEST_WORDS if keep_generic else _NO_SUBJECTS))


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word if word.endswith("ss") else word[:-1]


def fits(look: Look, change: Change, events: Events) -> bool:
    """Whether the look shows something about what was changed, wherever it stands in time."""
    if change.kind == FILE:
        return _covers_file(look, change, events)
    if change.kind == SERVICE:
        return _covers_service(look, change, events)
    if change.kind == DATA:
        return _covers_data(look, change)
    return False


def _covers_file(look: Look, change: Change, events: Events) -> bool:
    target = change.target
    if change.widely and look.kind in d.TRIALS:
        return True  # the whole tree was put back: every run before it was of something else
    if change.is_tree:
        return _covers_tree(look, change)
    if target in look.missed:
        return False
    if look.kind == d.READ:
        if look.names_only and not change.removed:
            return False
        return any(same(path, target) for path in look.paths)
    if look.kind == d.DIFF:
        if look.names_only:
            return change.removed
        return _below(look, target)
    if look.kind == d.SEARCH:
        return _searched(look, target)
    if look.kind == d.LIST:
        listed = not look.paths or any(within(target, path) for path in look.paths)
        named = change.is_name and _is_listed(target.rpartition("/")[2], look.text)
        return listed and (change.removed or named)
    if look.kind in d.TRIALS:
        return tries(look, target, change.language, events)
    if look.kind == d.PROBE:
        host, colon, _ = target.partition(":")
        if colon and look.service is not None and look.service.host == host:
            return True  # a file on another machine, and that machine's service was asked
        return (
            is_about_ci(look)
            or (is_served(change.language) and runs_code(look))
            or _took_effect(look, target, events)
        )
    return False


def _covers_tree(look: Look, change: Change) -> bool:
    """Whether the look takes in something of a folder that was changed as a whole."""
    folder = change.target
    if look.kind in (d.READ, d.SEARCH, d.DIFF):
        # One file says little about a merge. What was pulled may simply be read.
        merged = change.by.startswith("git ") and change.by != "git pull"
        if look.names_only or (merged and look.kind != d.DIFF):
            return False
        return any(_overlap(path, folder) for path in look.paths or (look.folder,))
    if look.kind == d.LIST:
        listed = any(_overlap(path, folder) for path in look.paths or (look.folder,))
        return change.is_name and listed and bool(look.text.strip())
    if look.kind == d.PROBE:
        return is_about_ci(look)
    if look.kind not in d.TRIALS or (look.kind == d.RUN and look.content):
        return False
    if change.language is not None and look.languages and change.language not in look.languages:
        return False
    return _overlap(look.folder, folder)


def _overlap(path: str, folder: str) -> bool:
    return not path or within(path, folder) or within(folder, path)


_COMPOSED = re.compile(r"compose[\w.-]*\.ya?ml$|(?:^|/)Dockerfile[\w.-]*$|\.env$")
_PLAYED = re.compile(r"(?:^|/)(?:roles|playbooks|group_vars|host_vars)/|(?:^|/)\w+\.ya?ml$")


def _took_effect(look: Look, target: str, events: Events) -> bool:
    """A file that was applied after its last change, and the service that it went to was asked."""
    return any(
        look.at > change.at > events.latest.get(target, 0)
        and same_service(change.service or Service(), look.service or Service())
        for change in _consumers(target, events)
    )


def _consumers(target: str, events: Events) -> list[Change]:
    """The changes of services that read that file; asked for each probe, and found once."""
    known = events.consumers.get(target)
    if known is None:
        named = [one for part in target.split("/") for one in events.services_by_word.get(part, ())]
        by_sort = [one for one in events.services if _BY_SORT.search(one.by)]
        apart = {id(one): one for one in (*named, *by_sort)}.values()
        known = events.consumers[target] = [one for one in apart if consumes(one, target)]
    return known


_BY_SORT = re.compile("compose|ansible|terraform|tofu|terragrunt")  # these read files of a sort


def consumes(change: Change, target: str) -> bool:
    """Whether what changed the service reads that file."""
    base = target.rpartition("/")[2]
    if "compose" in change.by:
        return bool(_COMPOSED.search(target))
    if program_of(change.by) in ("terraform", "tofu", "terragrunt"):
        return target.endswith((".tf", ".tfvars", ".hcl"))
    if "ansible" in change.by and _PLAYED.search(target):
        return True
    words = change.content.split()
    return base in change.content or any(
        "/" in word and not word.startswith("-") and within(target, word.rstrip("/"))
        for word in words
    )


def is_about_ci(look: Look) -> bool:
    """Whether a probe asked what the machines that build everything say."""
    return bool(CI_TOOLS.search(look.by))


def runs_code(look: Look) -> bool:
    """A page or an endpoint on this machine was asked: that runs the code behind it."""
    if look.command and look.by not in ("curl", "wget", "httpie") and " " in look.command:
        return False  # `pg_isready` and `ps` run no code of the project
    if look.service is None or not (look.service.port or look.by in ("curl", "wget", "httpie")):
        return False  # nobody knows what was asked
    return look.service.host is None and not look.service.names


def is_served(language: str | None) -> bool:
    """Whether files of that language are what a service is made of."""
    return language not in (None, "docs", "markup", "docker", "terraform", "shell")


def _below(look: Look, target: str) -> bool:
    if not look.paths:
        return within(target, look.folder)
    return any(same(path, target) or within(target, path) for path in look.paths)


_NO_MATCH = re.compile(
    r"no (?:files? )?match|\b0 (?:results?|matches)|no matches found|not found|^0$|none|\(empty\)|no references|\(no output\)|no results",
    re.IGNORECASE | re.MULTILINE,
)


def _searched(look: Look, target: str) -> bool:
    if any(same(path, target) for path in look.paths):
        return True
    folders = look.paths or ((look.folder,) if look.folder else ("",))
    if not any(within(target, folder) or within(folder, target) for folder in folders):
        return False
    base = target.rstrip("/").rpartition("/")[2]
    # A search for what must be gone finds nothing, and that says something about every file.
    return _is_listed(base, _hits(look)) or found_nothing(look)


def _is_listed(base: str, text: str) -> bool:
    """Whether a file of that name is in a listing: `test_orders.py` is not `orders.py`."""
    return base in text and bool(re.search(rf"(?<![\w@+.-]){re.escape(base)}(?!\.?[\w@+-])", text))


def _hits(look: Look) -> str:
    return look.text.partition("[The command completed")[0]


def found_nothing(look: Look) -> bool:
    """Whether a search had no hit."""
    text = _hits(look)
    return not text.strip() or (len(text) < 200 and bool(_NO_MATCH.search(text)))


def tries(look: Look, target: str, language: str | None, events: Events) -> bool:
    """Whether a test, build, lint or plain run plausibly exercises that file."""
    if _sibling_named(look, target) or _in_another_worktree(look, target):
        return False
    if "/" in look.by and look.kind != d.RUN and same(tidy(look.by), target):
        return True  # the script itself
    return _exercises(look, target, language, events) or _for_the_runner(look, target)


_WORKTREE = re.compile(r"^(.*/\.(?:wt|worktrees?|trees|\w+/worktrees)/[^/]+)/")


def _in_another_worktree(look: Look, target: str) -> bool:
    """A worktree that lies below the checkout is none of its files."""
    tree = _WORKTREE.match(target) if "/." in target else None
    if tree is None or not look.folder:
        return False
    root = tree.group(1)
    return not within(look.folder, root) and not any(within(path, root) for path in look.paths)


def _exercises(look: Look, target: str, language: str | None, events: Events) -> bool:
    for path in look.paths:
        if same(path, target):
            return True  # it was told to take that very file
    if not _speaks(look, target, language):
        return False
    for path in look.paths:
        if path and within(target, scope_of(path)):
            return True
    if look.kind == d.CONFIG:
        return _config_of(look, target)
    if look.package is not None:
        return _in_package(look.package, target)
    if not _in_reach(look, target):
        return False
    if look.kind == d.RUN:
        return _ran(look, target, events)
    if is_end_to_end(look):
        return True  # such tests run the whole thing
    return not look.paths or any(_about(path, target, events) for path in look.paths)


def is_in_question(look: Look, target: str, language: str | None) -> bool:
    """Whether the run is about that file, where it was not told to take something certain."""
    if _for_the_runner(look, target):
        return True
    if not _speaks(look, target, language):
        return False
    if look.kind == d.CONFIG:
        return _config_of(look, target)
    if look.package is not None:
        return _in_package(look.package, target)
    if look.by.startswith("migration ") and not _MIGRATION_FILE.search(target):
        return False
    return _in_reach(look, target)


# What a runner reads beside the code: its own settings, what tests feed on, pages that code fills.
_SETTINGS = {
    "eslint": re.compile(r"(?:^|/)(?:\.eslintrc|eslint\.config)[\w.]*$"),
    "ruff": re.compile(r"(?:^|/)(?:\.?ruff\.toml|pyproject\.toml)$"),
    "mypy": re.compile(r"(?:^|/)(?:mypy\.ini|setup\.cfg|pyproject\.toml)$"),
    "pytest": re.compile(
        r"(?:^|/)(?:pytest\.ini|setup\.cfg|tox\.ini|pyproject\.toml|requirements[\w.-]*\.txt)$"
    ),
    "tsc": re.compile(r"(?:^|/)tsconfig[\w.]*\.json$"),
    "jest": re.compile(r"(?:^|/)(?:jest\.config|package)[\w.]*$"),
    "vitest": re.compile(r"(?:^|/)(?:vite|vitest)\.config[\w.]*$"),
    "make": re.compile(r"(?:^|/)GNUmakefile$|(?:^|/)[Mm]akefile$|\.mk$"),
    "just": re.compile(r"(?:^|/)[Jj]ustfile$"),
}
_FED_TO_TESTS = Marked(
    ("fixture", "data", "snapshot", "resources"),
    r"(?:^|/)(?:tests?|spec|__tests__)/(?:\w+/)*(?:fixtures?|data|testdata|snapshots?|resources)/|(?:^|/)(?:fixtures|testdata)/",
)
_FILLED_PAGES = Marked(("template",), r"(?:^|/)templates?/.*\.(?:html?|jinja2?|j2|txt|xml)$")


_SITE = re.compile(r"(?:^|/)(?:docs?|documentation|website|site|book)$")
_MIGRATES_FIRST = frozenset({"mix test", "django", "rails test"})
_MIGRATIONS = re.compile(r"(?:^|/)migrations?/")
_ALL_SETTINGS = Marked(
    ("eslint", ".toml", ".ini", ".cfg", ".txt", "tsconfig", "jest", "package", "vite", "akefile", ".mk", "ustfile"),
    "|".join(one.pattern for one in _SETTINGS.values()),
    flags=0,
)  # fmt: skip
_READ_FOLDERS = frozenset(
    "fixtures fixture data testdata snapshots snapshot resources templates template migrations migration".split()
)


def is_read_by_runners(target: str) -> bool:
    """Whether the file is of a sort that some runner reads, whatever it is told to run."""
    folder, _, base = target.rpartition("/")
    return not _READ_FOLDERS.isdisjoint(folder.split("/")) or bool(_ALL_SETTINGS.search(base))


def builds_site(look: Look) -> bool:
    """Whether a site is built, which is made of all pages of its folder."""
    return look.kind == d.BUILD and bool(_SITE.search(look.folder))


def _for_the_runner(look: Look, target: str) -> bool:
    """Whether the file is one that the runner itself reads."""
    settings = _SETTINGS.get(look.by.partition(" ")[0])
    if settings is not None and settings.search(target) and _in_reach(look, target):
        return True
    if builds_site(look) and within(target, look.folder):
        return True
    if look.kind != d.TEST or not _in_reach(look, target):
        return False
    if look.by in _MIGRATES_FIRST and _MIGRATIONS.search(target):
        return True  # these make a database for the tests by the project's migrations
    return bool(_FED_TO_TESTS.search(target) or _FILLED_PAGES.search(target)) and not look.package


def _sibling_named(look: Look, target: str) -> bool:
    """`helm lint chart -f chart/values-staging.yaml` says nothing about `values-prod.yaml`."""
    if look.kind not in (d.CONFIG, d.LINT) or len(look.paths) < 2:
        return False
    folder, _, base = target.rpartition("/")
    start = re.split(r"[-_.]", base)[0]
    beside = [path for path in look.paths if path.rpartition("/")[0] == folder and "." in path]
    return (
        bool(beside)
        and not any(same(path, target) for path in look.paths)
        and any(re.split(r"[-_.]", path.rpartition("/")[2])[0] == start for path in beside)
    )


def is_end_to_end(look: Look) -> bool:
    """Whether the tests are of a kind that goes through everything."""
    return look.kind == d.TEST and bool(_END_TO_END.search(f"{look.by} {look.command}"))


_WIDE = re.compile(r"/?(?:\.\.\.|\*\*.*|\*[^/]*)$")


def scope_of(path: str) -> str:
    """The folder that an argument of a runner stands for: `./pkg/...`, `src/**/*.ts`, `.`."""
    return (_WIDE.sub("", path) if "*" in path or "..." in path else path) or "."


def _speaks(look: Look, target: str, language: str | None) -> bool:
    """Whether the runner is about files of that kind at all."""
    if _CI.search(target):
        return look.by in ("actionlint", "yamllint") or (
            look.kind in (d.LINT, d.CONFIG) and "markup" in look.languages
        )
    if look.kind == d.CONFIG and not look.languages:
        return True
    if language == "docker":
        return "docker" in look.by or "docker" in look.languages or "hadolint" in look.by
    if look.languages:
        if language in look.languages:
            return True
        if language is None or language in _APART or look.kind in (d.LINT, d.TYPES, d.FORMAT):
            return False
        if language == "markup" and (_OPERATED.search(target) or look.paths):
            return False  # tests of one part do not speak of every file beside it
        return language in ("markup", "sql", "proto")
    if language == "docs":
        return "doc" in look.by
    if look.kind == d.BUILD and "docker" in look.by:
        return True
    return not (language == "markup" and _OPERATED.search(target) and look.kind != d.RUN)


def _config_of(look: Look, target: str) -> bool:
    name = look.by.partition(" ")[0]
    if look.paths:
        return False
    if name in ("nginx", "openresty"):
        return "nginx" in target or target.endswith(".conf")
    if name in ("apachectl", "apache2ctl", "httpd"):
        return "apache" in target or "httpd" in target or target.endswith(".conf")
    if name in ("sshd", "haproxy", "named-checkconf", "postfix", "squid", "dovecot"):
        return name.rstrip("d") in target
    kept_to = _OWN_FILES.get(name)
    if kept_to is not None and not kept_to.search(target):
        return False
    return within(target, look.folder) if look.folder else True


# Validators that read files of their own kind, and nothing else of the folder.
_OWN_FILES = {
    "docker": re.compile(r"compose[\w.-]*\.ya?ml$|\.env$", re.IGNORECASE),
    "docker-compose": re.compile(r"compose[\w.-]*\.ya?ml$|\.env$", re.IGNORECASE),
    "promtool": re.compile(r"prom|alert|rule|record", re.IGNORECASE),
    "amtool": re.compile(r"alert", re.IGNORECASE),
    "caddy": re.compile(r"caddy", re.IGNORECASE),
    "alembic": re.compile(r"\.py$|alembic", re.IGNORECASE),
    "prisma": re.compile(r"\.prisma$", re.IGNORECASE),
}


def _in_package(package: str, target: str) -> bool:
    """Whether the file is of one of the packages, of which several stand with commas between."""
    parts = [part.lower() for part in target.split("/")]
    place = _WORKSPACE.search(target)
    folder = place.group(1).lower() if place else None
    return any(
        wanted in parts
        or wanted.replace("-", "_") in parts
        or any(part.endswith("-" + wanted) for part in parts)
        # The crate in `crates/codec` may be called `wirekit-codec`.
        or (folder is not None and wanted.endswith("-" + folder))
        for wanted in package.lower().split(",")
    )


def _in_reach(look: Look, target: str) -> bool:
    """Whether the file lies below the folder that the run was started in."""
    if not look.folder or within(target, look.folder):
        return True
    built, _, last = look.folder.rpartition("/")
    if _BUILD_FOLDER.fullmatch(last) and within(target, built):
        return True  # what is built in there is made of the sources beside it
    return (
        not target.startswith("/") and not look.folder.startswith("/") and look.folder in ("", ".")
    )


_BUILD_FOLDER = re.compile(r"_?build(?:[-_.]\w+)*|cmake-build-[\w-]+|out|builddir|bin|obj-\w+")


def _about(path: str, target: str, events: Events) -> bool:
    """Whether a test that lies elsewhere is about the file, by its name or by what it imports."""
    scope = scope_of(path)
    # Two parts of one folder have its name in common, and nothing else.
    own = _beyond_common(scope, target).removeprefix(events.paths.root or "\0")
    wanted = subject_words(own)
    if _RAILS_SPECS.search(scope) and "/controllers/" in f"/{target}":
        wanted -= {"request", "system", "controller", "feature"}
    target_words = subject_words(target, keep_generic=True)
    if not wanted:
        mild = (
            subject_words(scope.removeprefix(events.paths.root or "\0"), keep_generic=True)
            & _MILD_STEMS
        )
        return not mild or bool(mild & target_words) or _only_test_words(scope)
    if wanted & target_words:
        return _same_part(scope, target)
    content = events.contents.get(path, "")
    stem = target.rpartition("/")[2].partition(".")[0]
    return (
        len(stem) > 2
        and bool(content)
        and re.search(rf"\b{re.escape(stem)}\b", content) is not None
    )


_RAILS_SPECS = re.compile(r"(?:^|/)spec/(?:requests|system|controllers|features)\b")


def _beyond_common(path: str, other: str) -> str:
    """What is left of a path without the folders that it begins with as the other one does."""
    parts, others = path.split("/"), other.split("/")
    same_parts = 0
    for one, two in zip(parts[:-1], others[:-1], strict=False):
        if one != two:
            break
        same_parts += 1
    return "/".join(parts[same_parts:])


_MILD_STEMS = frozenset(word[:-1] if word.endswith("s") else word for word in _MILD)
_WORKSPACE = re.compile(
    r"(?:^|/)(?:packages|services|apps|crates|modules|libs|pkg|plugins|projects)/([^/]+)"
)


def _only_test_words(scope: str) -> bool:
    return subject_words(scope.rpartition("/")[2], keep_generic=True) <= frozenset(
        {"unit", "integration", "e2e", "functional", "src", "lib", "app"}
    )


def _same_part(scope: str, target: str) -> bool:
    """Two packages of one repository are two things, though a word of their paths be the same."""
    one, other = _WORKSPACE.search(scope), _WORKSPACE.search(target)
    return (
        one is None
        or other is None
        or one.group(1).partition(".")[0] == other.group(1).partition(".")[0]
    )


def _ran(look: Look, target: str, events: Events) -> bool:
    stem = target.rpartition("/")[2].partition(".")[0]
    if look.by.startswith("migration "):
        return bool(_MIGRATION_FILE.search(target))
    if look.content:
        return len(stem) > 1 and re.search(rf"\b{re.escape(stem)}\b", look.content) is not None
    if any(same(path, target) for path in look.paths):
        return True
    if runs_own_script(look):
        return True
    if not look.languages:
        return len(stem) > 2 and stem in look.command
    for path in look.paths:
        content = events.contents.get(path)
        named = len(stem) > 1 and re.search(rf"\b{re.escape(stem)}\b", content or "")
        if content and not named:
            return False
    return True


_OWN_SCRIPT = re.compile(r"(?:^|/)(?:scripts?|bin|tools|ci|hack|dev)/[\w.-]+$")


def runs_own_script(look: Look) -> bool:
    """A script of the project (a soak test, a check of one's own) runs whatever it runs."""
    return any(_OWN_SCRIPT.search(path) and not path.endswith(".py") for path in look.paths)


def _covers_service(look: Look, change: Change, events: Events) -> bool:
    service = change.service or Service()
    if look.answers and program_of(look.by) != program_of(change.by):
        return False
    if look.kind == d.PROBE:
        probed = look.service or Service()
        if is_stage_of(service, probed) and not _told_stage(change, probed, events):
            return False
        if not same_service(service, probed):
            return _through_its_door(look, service)
        if service.names and not probed.names and probed.port and not service.port:
            known = events.ports.get(probed.port)
            return known is None or known in service.names
        return True
    if look.kind == d.TEST:
        return asks_services(look)
    if look.kind == d.CONFIG:
        return asks_services(look) and program_of(look.by) == program_of(change.by)
    return look.kind == d.QUERY and not service.names and "terraform" in change.by


_SMOKE = re.compile("smoke|e2e|health|playwright|cypress|hurl|newman|k6|helm test")


def asks_services(look: Look) -> bool:
    """Whether a run asks what runs somewhere, and not only the code."""
    if look.kind == d.CONFIG:  # a plan compares what was declared with what is there
        return "plan" in look.command
    return look.kind == d.TEST and bool(_SMOKE.search(look.by + look.command))


_FRONT_DOORS = frozenset(
    "nginx apache2 httpd caddy haproxy traefik envoy openresty varnish".split()
)


def _told_stage(change: Change, probed: Service, events: Events) -> bool:
    """Whether the call that changed it names the stage: `-n staging`, a context, a project."""
    call = events.call_of.get(change.step)
    given = safe_text(call.tool_args).lower() if call is not None else ""
    return bool(stages_of(*re.split(r"[^a-z-]+", given)) & stages_of(probed.host or ""))


def _through_its_door(look: Look, service: Service) -> bool:
    """A site was asked from the machine whose web server was changed: it is the one that answers."""
    return (
        service.host is not None
        and look.host == service.host
        and bool(service.names & _FRONT_DOORS)
        and look.by in ("curl", "wget", "httpie")
    )


def _covers_data(look: Look, change: Change) -> bool:
    if look.kind != d.QUERY:
        return False
    changed, seen = change.service or Service(), look.service or Service()
    if changed.database and seen.database and not same(changed.database, seen.database):
        return False  # a table of that name in another database
    if changed.host and seen.host and changed.host != seen.host:
        return False
    if not changed.names or not seen.names:
        return True
    return bool(tables_of(changed) & tables_of(seen)) or is_about_tables(seen)


def tables_of(service: Service) -> set[str]:
    """The tables without the schema that they are in."""
    return {name.rpartition(".")[2] for name in service.names}


def is_about_tables(service: Service) -> bool:
    """Whether the database was asked about itself."""
    return any(name.startswith(("pg_", "information_schema", "sqlite_")) for name in service.names)
