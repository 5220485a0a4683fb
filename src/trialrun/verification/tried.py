"""Whether a run plausibly tries out a file: by language, folder and name, and by what it was told.

A test run of another package, another language or another worktree does not count; a run without
arguments covers what lies below it.
"""

from __future__ import annotations

import re

from trialrun.verification import deeds as d
from trialrun.verification.events import Events, Look
from trialrun.verification.marks import Marked
from trialrun.verification.paths import same, tidy, within
from trialrun.verification.subjects import MILD, subject_words

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


_MILD_STEMS = frozenset(word[:-1] if word.endswith("s") else word for word in MILD)
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
