"""The table of runners: which commands try something out, and what they are about.

A row names the words that a command begins with; options between them do not matter. How a result
is read follows from the kind of the runner (`outcomes.py`); a row may add patterns of its own. Others
add rows by the entry point `trialrun.verification.runners`, or in a spec.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from trialrun.util.texts import did_you_mean
from trialrun.verification.deeds import BUILD, CONFIG, FORMAT, LINT, PROBE, TEST, TYPES

KINDS = (TEST, LINT, TYPES, BUILD, FORMAT, CONFIG, PROBE)
"""What a runner may be: each has its own way of reading a result."""

ENTRY_POINTS = "trialrun.verification.runners"


class Runner(Struct, frozen=True, kw_only=True):
    """One program that proves something, and how it is called."""

    name: str
    kind: str
    commands: tuple[str, ...]
    languages: tuple[str, ...] = ()  # keys of `LANGUAGES`; none: whatever the project holds
    needs: tuple[str, ...] = ()  # one of these options makes it a check (`--check`)
    endless: tuple[str, ...] = ()  # with one of these it never ends (`--watch`)
    ends_with: tuple[str, ...] = ()  # and with one of these it ends after all (`--run`)
    passed: tuple[str, ...] = ()  # patterns of its own result, tried before the common ones
    failed: tuple[str, ...] = ()
    nothing: tuple[str, ...] = ()
    takes_paths: bool = True  # its plain arguments are paths


LANGUAGES: dict[str, frozenset[str]] = {
    "python": frozenset("py pyi pyx ipynb".split()),
    "javascript": frozenset(
        "js jsx ts tsx mjs cjs mts cts vue svelte astro css scss less html".split()
    ),
    "go": frozenset({"go", "mod"}),
    "rust": frozenset({"rs"}),
    "jvm": frozenset("java kt kts scala groovy".split()),
    "dotnet": frozenset("cs fs vb csproj sln razor cshtml".split()),
    "ruby": frozenset("rb erb rake gemspec haml".split()),
    "php": frozenset({"php", "twig", "blade"}),
    "c": frozenset("c h cc cpp cxx hpp hh m mm".split()),
    "swift": frozenset({"swift"}),
    "elixir": frozenset("ex exs heex".split()),
    "dart": frozenset({"dart"}),
    "shell": frozenset("sh bash zsh bats".split()),
    "powershell": frozenset("ps1 psm1 psd1".split()),
    "r": frozenset({"r", "rmd"}),
    "julia": frozenset({"jl"}),
    "lua": frozenset({"lua"}),
    "perl": frozenset("pl pm t".split()),
    "haskell": frozenset({"hs"}),
    "ocaml": frozenset({"ml", "mli"}),
    "erlang": frozenset({"erl", "hrl"}),
    "clojure": frozenset("clj cljs cljc".split()),
    "zig": frozenset({"zig"}),
    "nim": frozenset({"nim"}),
    "crystal": frozenset({"cr"}),
    "solidity": frozenset({"sol"}),
    "fortran": frozenset("f90 f95 f".split()),
    "godot": frozenset("gd tscn".split()),
    "sql": frozenset({"sql"}),
    "terraform": frozenset("tf tfvars hcl".split()),
    "docs": frozenset("md rst txt adoc mdx org tex".split()),
    "markup": frozenset("yaml yml toml ini cfg json env conf properties xml lock".split()),
    "proto": frozenset({"proto", "graphql", "gql", "prisma"}),
}
_LANGUAGE_OF = {ending: name for name, endings in LANGUAGES.items() for ending in endings}


def language_of(path: str) -> str | None:
    """The language of a file by its name, or None."""
    base = path.rpartition("/")[2].lower()
    if base in ("dockerfile", "containerfile") or base.startswith("dockerfile."):
        return "docker"
    if base in ("makefile", "justfile", "cmakelists.txt", "rakefile", "gemfile", "procfile"):
        return "markup"
    _, dot, ending = base.rpartition(".")
    return _LANGUAGE_OF.get(ending) if dot else None


_JS = ("javascript", "proto")
_PY = ("python",)


def _tests(name: str, *commands: str, languages: tuple[str, ...] = (), **rest: object) -> Runner:
    return Runner(name=name, kind=TEST, commands=commands, languages=languages, **rest)  # type: ignore[arg-type]


def _each(kind: str, *commands: str, **rest: object) -> tuple[Runner, ...]:
    """Programs of one sort, each under its own name: a reader looks for what was called."""
    return tuple(_row(kind, command, **rest) for command in commands)


def _row(kind: str, name: str, *commands: str, **rest: object) -> Runner:
    return Runner(name=name, kind=kind, commands=commands or (name,), **rest)  # type: ignore[arg-type]


_WATCH = ("--watch", "--watchAll", "-w", "--ui")

OURS: tuple[Runner, ...] = (
    # Tests
    _tests("pytest", "pytest", "py.test", languages=_PY, endless=("--looponfail", "-f")),
    _tests("pytest-watch", "ptw", "pytest-watch", languages=_PY, endless=("",)),
    _tests("unittest", "unittest", languages=_PY),
    _tests("nose", "nose2", "nosetests", languages=_PY),
    _tests("doctest", "doctest", languages=("python", "docs")),
    _tests("behave", "behave", languages=_PY),
    _tests("tox", "tox", languages=_PY, takes_paths=False),
    _tests("nox", "nox", languages=_PY, takes_paths=False),
    _tests("django", "manage.py test", "django-admin test", languages=_PY),
    _tests("jest", "jest", languages=_JS, endless=_WATCH),
    _tests("react-scripts", "react-scripts test", languages=_JS, endless=("--watch",)),
    _tests(
        "vitest", "vitest", languages=_JS, endless=_WATCH, ends_with=("run", "--run", "related")
    ),
    _tests("mocha", "mocha", languages=_JS, endless=_WATCH),
    _tests("ava", "ava", languages=_JS, endless=_WATCH),
    _tests("tap", "tap", "node --test", "tape", languages=_JS, endless=_WATCH),
    _tests("jasmine", "jasmine", languages=_JS),
    _tests("karma", "karma start", languages=_JS, ends_with=("--single-run",)),
    _tests("ng test", "ng test", languages=_JS, endless=("",), ends_with=("--watch=false",)),
    _tests("bun test", "bun test", languages=_JS, endless=_WATCH),
    _tests("deno test", "deno test", languages=_JS, endless=("--watch",)),
    _tests("playwright", "playwright test", languages=_JS, endless=("--ui", "--debug")),
    _tests("cypress", "cypress run", languages=_JS),
    _tests(
        "nx", "nx test", "nx run", "nx affected", "nx run-many", languages=_JS, takes_paths=False
    ),
    _tests("go test", "go test", "gotestsum", "ginkgo", languages=("go",)),
    _tests(
        "cargo test",
        "cargo test",
        "cargo nextest",
        "cargo t",
        languages=("rust",),
        takes_paths=False,
    ),
    _tests(
        "maven",
        "mvn test",
        "mvn verify",
        "mvnw test",
        "mvnw verify",
        "mvn install",
        "mvn package",
        "mvnw package",
        "mvnw install",
        "mvn clean",
        "mvnw clean",
        "mvn surefire:test",
        languages=("jvm",),
        takes_paths=False,
    ),
    _tests("dotnet test", "dotnet test", "vstest.console", languages=("dotnet",)),
    _tests("rspec", "rspec", languages=("ruby",)),
    _tests("minitest", "minitest", "rails test", "m", "ruby -Itest", languages=("ruby",)),
    _tests("cucumber", "cucumber", languages=()),
    _tests("robot", "robot", "pabot", languages=()),
    _tests("Pester", "Invoke-Pester", languages=("powershell",), takes_paths=False),
    _tests("behat", "behat", languages=("php",)),
    _tests(
        "phpunit",
        "phpunit",
        "artisan test",
        "pest",
        "paratest",
        "codecept run",
        "composer test",
        languages=("php",),
    ),
    _tests("ctest", "ctest", languages=("c",), takes_paths=False),
    _tests(
        "bazel",
        "bazel test",
        "bazelisk test",
        "buck test",
        "buck2 test",
        "pants test",
        takes_paths=False,
    ),
    _tests(
        "swift test", "swift test", "xcodebuild test", languages=("swift", "c"), takes_paths=False
    ),
    _tests("mix test", "mix test", languages=("elixir",)),
    _tests(
        "sbt",
        "sbt test",
        "sbt testOnly",
        "sbt testQuick",
        "mill test",
        languages=("jvm",),
        takes_paths=False,
    ),
    _tests("flutter test", "flutter test", "dart test", languages=("dart",)),
    _tests("bats", "bats", languages=("shell",)),
    _tests(
        "lein test",
        "lein test",
        "clj -M:test",
        "clojure -M:test",
        "bb test",
        languages=("clojure",),
    ),
    _tests("stack test", "stack test", "cabal test", languages=("haskell",), takes_paths=False),
    _tests("zig test", "zig test", "zig build test", languages=("zig",)),
    _tests("crystal spec", "crystal spec", languages=("crystal",)),
    _tests("nimble test", "nimble test", "testament", languages=("nim",)),
    _tests("dune test", "dune test", "dune runtest", languages=("ocaml", "c"), takes_paths=False),
    _tests(
        "rebar3",
        "rebar3 eunit",
        "rebar3 ct",
        "rebar3 proper",
        languages=("erlang",),
        takes_paths=False,
    ),
    _tests("forge test", "forge test", languages=("solidity",), takes_paths=False),
    _tests("hardhat test", "hardhat test", "truffle test", languages=("solidity", "javascript")),
    _tests("meson test", "meson test", "ninja test", languages=("c",), takes_paths=False),
    _tests("platformio", "pio test", "platformio test", languages=("c",), takes_paths=False),
    _tests("west", "west twister", "twister", languages=("c", "markup"), takes_paths=False),
    _tests("colcon test", "colcon test", "catkin run_tests", takes_paths=False),
    _tests("R CMD check", "R CMD check", languages=("r",), takes_paths=False),
    _tests("lighthouse", "lighthouse", "lhci autorun", languages=_JS, takes_paths=False),
    _tests("conftest", "conftest test", "opa test", languages=("markup", "terraform")),
    _tests("fastlane", "fastlane test", "fastlane scan", takes_paths=False),
    _tests("rake test", "rake test", "rake spec", "rake", languages=("ruby",), takes_paths=False),
    _tests("busted", "busted", languages=("lua",)),
    _tests("nvim", "nvim", languages=("lua",), needs=("--headless",), takes_paths=False),
    _tests(
        "unity",
        "unity-editor",
        "Unity",
        languages=("dotnet",),
        needs=("-runTests",),
        takes_paths=False,
    ),
    _tests("prove", "prove", languages=("perl",)),
    _tests("promtool test rules", "promtool test rules", languages=("markup",)),
    _tests("hurl", "hurl --test"),
    _tests("newman", "newman run"),
    _tests("k6", "k6 run"),
    _tests("locust", "locust"),
    _tests("molecule", "molecule test", takes_paths=False),
    _tests("pre-commit", "pre-commit run", takes_paths=False),
    _tests("dbt test", "dbt test", "dbt build", languages=("sql", "markup"), takes_paths=False),
    _tests("helm test", "helm test", languages=("markup",), takes_paths=False),
    _tests("great expectations", "great_expectations checkpoint run"),
    # Linters
    _row(LINT, "ruff", "ruff check", "ruff", languages=_PY, endless=("--watch",)),
    _row(LINT, "flake8", languages=_PY),
    _row(LINT, "pylint", languages=_PY),
    _row(LINT, "bandit", languages=_PY),
    *_each(LINT, "pycodestyle", "pydocstyle", "vulture", languages=_PY),
    _row(
        LINT, "eslint", "eslint", "next lint", "ng lint", "standard", "xo", "oxlint", languages=_JS
    ),
    _row(LINT, "biome", "biome check", "biome lint", "biome ci", languages=_JS),
    _row(LINT, "stylelint", languages=_JS),
    _row(LINT, "deno lint", "deno lint", languages=_JS),
    *_each(
        LINT, "golangci-lint run", "golint", "staticcheck", "go vet", "revive", languages=("go",)
    ),
    _row(LINT, "clippy", "cargo clippy", languages=("rust",), takes_paths=False),
    _row(LINT, "rubocop", "rubocop", "standardrb", "brakeman", languages=("ruby",)),
    _row(LINT, "phpcs", "phpcs", "phpmd", languages=("php",)),
    *_each(
        LINT, "mvn checkstyle:check", "mvn spotbugs:check", "ktlint", "detekt", languages=("jvm",)
    ),
    *_each(LINT, "clang-tidy", "cppcheck", languages=("c",)),
    _row(LINT, "swiftlint", languages=("swift",)),
    _row(LINT, "credo", "mix credo", languages=("elixir",)),
    _row(LINT, "dart analyze", "dart analyze", "flutter analyze", languages=("dart",)),
    _row(LINT, "shellcheck", languages=("shell",)),
    _row(LINT, "hadolint", languages=("docker",)),
    *_each(
        LINT,
        "markdownlint",
        "markdownlint-cli2",
        "mdl",
        "vale",
        "linkcheck",
        "lychee",
        "markdown-link-check",
        "textlint",
        "cspell",
        "codespell",
        languages=("docs",),
    ),
    _row(LINT, "yamllint", languages=("markup",)),
    _row(LINT, "ansible-lint", languages=("markup",)),
    _row(LINT, "actionlint", languages=("markup",)),
    _row(LINT, "sqlfluff", "sqlfluff lint", languages=("sql",)),
    *_each(LINT, "tflint", "tfsec", "checkov", languages=("terraform",)),
    _row(LINT, "helm lint", "helm lint", languages=("markup",)),
    _row(LINT, "buf lint", "buf lint", languages=("proto",)),
    *_each(LINT, "semgrep", "sonar-scanner", "trivy", "snyk test"),
    # Type checkers
    _row(TYPES, "mypy", "mypy", "dmypy run", languages=_PY),
    _row(TYPES, "pyright", "pyright", "basedpyright", languages=_PY, endless=("--watch", "-w")),
    *_each(TYPES, "ty check", "pyre check", "pyre", "pytype", "pyrefly check", languages=_PY),
    _row(
        TYPES,
        "tsc",
        "tsc",
        "vue-tsc",
        "tsgo",
        "svelte-check",
        languages=_JS,
        endless=("--watch", "-w"),
    ),
    _row(TYPES, "flow", "flow check", "flow", languages=_JS),
    _row(TYPES, "deno check", "deno check", languages=_JS),
    _row(TYPES, "cargo check", "cargo check", "cargo c", languages=("rust",), takes_paths=False),
    *_each(TYPES, "phpstan analyse", "phpstan", "psalm", "larastan", languages=("php",)),
    *_each(TYPES, "srb tc", "steep check", languages=("ruby",)),
    _row(TYPES, "dialyzer", "mix dialyzer", languages=("elixir",)),
    # Builds
    *_each(
        BUILD,
        "build",
        "py_compile",
        "compileall",
        "hatch build",
        "poetry build",
        "uv build",
        "flit build",
        languages=_PY,
    ),
    *_each(
        BUILD,
        "webpack",
        "vite build",
        "next build",
        "nuxt build",
        "rollup",
        "esbuild",
        "parcel build",
        "ng build",
        "tsup",
        "astro build",
        "react-scripts build",
        "bun build",
        languages=_JS,
        endless=("--watch", "-w"),
    ),
    _row(BUILD, "node --check", "node --check", "node -c", languages=_JS),
    _row(BUILD, "go build", "go build", "go install", languages=("go",)),
    _row(
        BUILD,
        "cargo build",
        "cargo build",
        "cargo b",
        "cargo doc",
        languages=("rust",),
        takes_paths=False,
    ),
    _row(
        BUILD,
        "maven compile",
        "mvn compile",
        "mvnw compile",
        "javac",
        "kotlinc",
        "ant",
        languages=("jvm",),
        takes_paths=False,
    ),
    _row(
        BUILD, "sbt compile", "sbt compile", "mill compile", languages=("jvm",), takes_paths=False
    ),
    _row(BUILD, "dotnet build", "dotnet build", "dotnet publish", "msbuild", languages=("dotnet",)),
    *_each(
        BUILD,
        "cmake --build",
        "cmake",
        "ninja",
        "meson compile",
        "gcc",
        "g++",
        "clang",
        "clang++",
        "cc",
        languages=("c",),
        takes_paths=False,
    ),
    _row(
        BUILD,
        "swift build",
        "swift build",
        "xcodebuild",
        "xcodebuild build",
        languages=("swift", "c"),
        takes_paths=False,
    ),
    _row(BUILD, "mix compile", "mix compile", languages=("elixir",), takes_paths=False),
    *_each(
        BUILD,
        "pio run",
        "platformio run",
        "idf.py build",
        "arduino-cli compile",
        "west build",
        languages=("c",),
        takes_paths=False,
    ),
    *_each(BUILD, "colcon build", "catkin build", "dune build", "forge build", takes_paths=False),
    _row(
        BUILD,
        "bazel build",
        "bazel build",
        "bazelisk build",
        "buck build",
        "buck2 build",
        "pants package",
        takes_paths=False,
    ),
    _row(
        BUILD,
        "docker build",
        "docker build",
        "docker buildx build",
        "docker compose build",
        "docker-compose build",
        "podman build",
        "buildah bud",
        takes_paths=False,
    ),
    _row(BUILD, "flutter build", "flutter build", languages=("dart",), takes_paths=False),
    _row(BUILD, "ruby -c", "ruby -c", languages=("ruby",)),
    _row(BUILD, "php -l", "php -l", languages=("php",)),
    _row(BUILD, "zeitwerk", "rails zeitwerk:check", languages=("ruby",), takes_paths=False),
    _row(LINT, "django check", "manage.py check", languages=_PY, takes_paths=False),
    _row(CONFIG, "lint:yaml", "console lint:yaml", languages=("markup",)),
    _row(CONFIG, "lint:twig", "console lint:twig", languages=("php",)),
    _row(CONFIG, "lint:container", "console lint:container", takes_paths=False),
    _row(BUILD, "bash -n", "bash -n", "sh -n", "zsh -n", languages=("shell",)),
    *_each(
        BUILD,
        "mkdocs build",
        "sphinx-build",
        "docusaurus build",
        "hugo",
        "jekyll build",
        "mdbook build",
        "pandoc",
        languages=("docs", "markup"),
    ),
    _row(
        BUILD,
        "dbt run",
        "dbt run",
        "dbt compile",
        "dbt parse",
        languages=("sql", "markup"),
        takes_paths=False,
    ),
    *_each(BUILD, "zig build", "stack build", "cabal build"),
    *_each(BUILD, "pdflatex", "latexmk", "xelatex", languages=("docs",)),
    _row(BUILD, "nx build", languages=_JS, takes_paths=False),
    # Formatters, in check mode
    _row(FORMAT, "black", "black", languages=_PY, needs=("--check", "--diff")),
    _row(FORMAT, "ruff format", "ruff format", languages=_PY, needs=("--check", "--diff")),
    _row(
        FORMAT, "isort", "isort", languages=_PY, needs=("--check", "--check-only", "-c", "--diff")
    ),
    _row(FORMAT, "prettier", "prettier", needs=("--check", "-c", "--list-different", "-l")),
    _row(FORMAT, "gofmt", "gofmt", "goimports", "gofumpt", languages=("go",), needs=("-l", "-d")),
    _row(
        FORMAT,
        "rustfmt",
        "cargo fmt",
        "rustfmt",
        languages=("rust",),
        needs=("--check",),
        takes_paths=False,
    ),
    _row(FORMAT, "clang-format", "clang-format", languages=("c",), needs=("--dry-run", "-n")),
    _row(FORMAT, "mix format", "mix format", languages=("elixir",), needs=("--check-formatted",)),
    _row(
        FORMAT,
        "dotnet format",
        "dotnet format",
        languages=("dotnet",),
        needs=("--verify-no-changes",),
    ),
    _row(
        FORMAT,
        "terraform fmt",
        "terraform fmt",
        "tofu fmt",
        languages=("terraform",),
        needs=("-check", "--check"),
    ),
    _row(FORMAT, "stylua", languages=("lua",), needs=("--check",)),
    _row(FORMAT, "shfmt", "shfmt", languages=("shell",), needs=("-d", "-l")),
    # Validators of configuration
    _row(
        CONFIG,
        "makemigrations --check",
        "manage.py makemigrations",
        "django-admin makemigrations",
        languages=("python",),
        needs=("--check",),
        takes_paths=False,
    ),
    _row(CONFIG, "nginx -t", "nginx -t", "nginx -T", "openresty -t", takes_paths=False),
    _row(
        CONFIG,
        "apachectl configtest",
        "apachectl configtest",
        "apache2ctl configtest",
        "httpd -t",
        "apachectl -t",
        takes_paths=False,
    ),
    _row(CONFIG, "haproxy -c", "haproxy -c", takes_paths=False),
    _row(CONFIG, "caddy validate", "caddy validate", takes_paths=False),
    *_each(
        CONFIG,
        "terraform validate",
        "tofu validate",
        "terraform plan",
        "tofu plan",
        "terragrunt plan",
        "terragrunt validate",
        languages=("terraform",),
        takes_paths=False,
    ),
    *_each(CONFIG, "pulumi preview", "cdk synth", "cdk diff", takes_paths=False),
    _row(CONFIG, "packer validate", "packer validate"),
    _row(
        CONFIG,
        "kubectl --dry-run",
        "kubectl apply",
        "kubectl create",
        "kubectl replace",
        needs=("--dry-run",),
    ),
    *_each(
        CONFIG,
        "kubectl diff",
        "kubeval",
        "kubeconform",
        "kube-linter lint",
        "kustomize build",
        "helm template",
        "helmfile diff",
    ),
    _row(CONFIG, "docker compose config", "docker compose config", "docker-compose config"),
    *_each(CONFIG, "json.tool", "jsonlint", "ajv validate", "check-jsonschema"),
    _row(
        CONFIG,
        "promtool",
        "promtool check rules",
        "promtool check config",
        "promtool check",
        "amtool check-config",
    ),
    *_each(
        CONFIG,
        "sshd -t",
        "named-checkconf",
        "named-checkzone",
        "visudo -c",
        "postfix check",
        "systemd-analyze verify",
        "unbound-checkconf",
        "dovecot -n",
        "squid -k parse",
        "rsyslogd -N1",
        "logrotate -d",
        "crontab -T",
        takes_paths=False,
    ),
    _row(
        CONFIG,
        "ansible-playbook --check",
        "ansible-playbook",
        needs=("--check", "--syntax-check", "-C"),
        takes_paths=False,
    ),
    *_each(CONFIG, "cfn-lint", "aws cloudformation validate-template", "sam validate"),
    *_each(CONFIG, "circleci config validate", "gitlab-ci-lint", "act --dryrun"),
    *_each(
        CONFIG,
        "alembic check",
        "prisma validate",
        "prisma format --check",
        "flyway validate",
        takes_paths=False,
    ),
    *_each(CONFIG, "desktop-file-validate", "xmllint", "plutil -lint", "taplo check", "toml-test"),
    # Probes of services
    _row(PROBE, "curl"),
    _row(PROBE, "wget"),
    *_each(
        PROBE,
        "gh pr checks",
        "gh run view",
        "gh run watch",
        "gh run list",
        "glab ci status",
        "socat",
    ),
    _row(PROBE, "httpie", "http", "https", "xh", "xhs"),
    *_each(PROBE, "grpcurl", "grpc_health_probe", "websocat"),
    *_each(
        PROBE, "nc", "ncat", "telnet", "nmap", "openssl s_client", "dig", "nslookup", "host", "ping"
    ),
    *_each(
        PROBE,
        "kubectl rollout status",
        "kubectl get",
        "kubectl describe",
        "kubectl logs",
        "kubectl wait",
        "kubectl top",
        "oc get",
        "oc rollout status",
        "stern",
    ),
    *_each(PROBE, "helm status", "helm list", "helm history", "helm get"),
    *_each(
        PROBE,
        "docker ps",
        "docker inspect",
        "docker logs",
        "docker container ls",
        "docker stats",
        "docker compose ps",
        "docker compose logs",
        "docker compose top",
        "docker-compose ps",
        "docker-compose logs",
        "docker service ps",
        "docker service ls",
        "docker stack ps",
        "podman ps",
        "podman logs",
        "nomad status",
        "nomad job status",
    ),
    *_each(
        PROBE,
        "systemctl is-active",
        "systemctl status",
        "systemctl show",
        "systemctl is-failed",
        "systemctl list-units",
        "journalctl",
        "rc-service",
        "sv status",
        "initctl status",
        "launchctl list",
    ),
    *_each(
        PROBE,
        "supervisorctl status",
        "pm2 status",
        "pm2 list",
        "pm2 ls",
        "pm2 logs",
        "pm2 show",
        "pm2 describe",
    ),
    *_each(
        PROBE,
        "pgrep",
        "ps",
        "ss",
        "netstat",
        "lsof",
        "pg_isready",
        "redis-cli ping",
        "mysqladmin ping",
        "mysqladmin status",
        "rabbitmqctl status",
    ),
    *_each(
        PROBE,
        "vercel inspect",
        "vercel ls",
        "netlify status",
        "fly status",
        "flyctl status",
        "heroku ps",
        "heroku logs",
        "fly logs",
        "flyctl logs",
        "railway status",
        "eb status",
        "eb health",
        "gcloud run services describe",
        "aws ecs describe-services",
        "aws ecs wait",
        "aws lambda get-function",
        "aws lambda invoke",
        "aws cloudformation describe-stacks",
        "aws elbv2 describe-target-health",
        "az webapp show",
        "wrangler tail",
        "wrangler deployments",
    ),
    *_each(PROBE, "terraform show", "terraform output", "terraform state", "tofu show"),
    *_each(PROBE, "crontab -l", "atq"),
)

# The words in the name of a target (`make lint`, `npm run test:unit`, `gradle :app:check`).
_TARGETS: tuple[tuple[str, frozenset[str]], ...] = (
    (TYPES, frozenset({"typecheck", "types", "type", "tsc", "mypy", "pyright", "typescript"})),
    (
        LINT,
        frozenset(
            {
                "lint",
                "eslint",
                "ruff",
                "flake8",
                "vet",
                "clippy",
                "rubocop",
                "stylelint",
                "pylint",
                "detekt",
                "ktlint",
            }
        ),
    ),
    (
        TEST,
        frozenset(
            {
                "test",
                "tests",
                "spec",
                "specs",
                "check",
                "unit",
                "e2e",
                "integration",
                "ci",
                "verify",
                "pytest",
                "jest",
                "vitest",
                "coverage",
                "cover",
                "testdebugunittest",
                "validate",
                "qa",
                "smoke",
                "regression",
                "connectedcheck",
            }
        ),
    ),
    (
        BUILD,
        frozenset(
            {
                "build",
                "compile",
                "bundle",
                "dist",
                "package",
                "all",
                "assemble",
                "docs",
                "compilejava",
                "compilekotlin",
                "bootjar",
                "jar",
                "image",
                "install",
            }
        ),
    ),
    (FORMAT, frozenset({"format", "fmt", "prettier"})),
)
_ENDLESS_TARGETS = frozenset({"dev", "start", "serve", "watch", "run", "server", "storybook", "up"})
_DEPLOY_TARGETS = frozenset({"deploy", "release", "publish", "ship", "rollout", "promote"})
_MIGRATION_TARGETS = frozenset({"migrate", "migration", "migrations", "seed"})
_WORDS = re.compile(r"[a-z0-9]+")


def kind_of_target(target: str) -> tuple[str | None, bool]:
    """What a target is for by its name, and whether it never ends; "service" is a deploy."""
    lowered = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", target).lower()
    words = set(_WORDS.findall(lowered)) | {lowered.rpartition(":")[2]}
    endless = bool(words & {"watch", "dev"}) or words <= _ENDLESS_TARGETS
    if words & _DEPLOY_TARGETS:
        return "service", False
    if words & _MIGRATION_TARGETS:
        return "data", False
    if {"type", "check"} <= words or {"check", "types"} <= words:
        return TYPES, endless
    for kind, names in _TARGETS:
        if words & names:
            if kind == TEST and words & {"format", "fmt", "prettier"}:
                return FORMAT, endless
            return kind, endless
    return (None, True) if endless else (None, False)


@cache
def _others() -> tuple[Runner, ...]:
    from importlib.metadata import entry_points

    from trialrun.errors import PluginError, crash

    found: list[Runner] = []
    for point in entry_points(group=ENTRY_POINTS):
        try:
            made = point.load()
            rows = made() if callable(made) else made
            rows = (rows,) if isinstance(rows, Runner) else tuple(rows)
        except BaseException as error:
            raise PluginError(f"runners of {point.value} cannot be had: {crash(error)}") from error
        for row in rows:
            wrong = _wrong_with(row)
            if wrong is not None:
                raise PluginError(f"runners of {point.value}: {wrong}")
            found.append(row)
    return tuple(found)


def _wrong_with(row: object) -> str | None:
    """What is the matter with a row of somebody else's, if anything: it would never match."""
    if not isinstance(row, Runner):
        return f"{row!r} is not a Runner"
    if row.kind not in KINDS:
        return f"`{row.name}`: kind {row.kind!r}{did_you_mean(str(row.kind), KINDS)}"
    commands = row.commands
    if (
        isinstance(commands, str)
        or not commands
        or not all(isinstance(one, str) and one.split() for one in commands)
    ):
        return f"`{row.name}`: commands must be a tuple of texts, found {commands!r}"
    unknown = [language for language in row.languages if language not in LANGUAGES]
    if unknown:
        return f"`{row.name}`: language {unknown[0]!r}{did_you_mean(unknown[0], LANGUAGES)}"
    return None


Row = tuple[tuple[str, ...], Runner]


class Table:
    """All runners, found by the first word of a command. One's own come first."""

    def __init__(self, own: Sequence[Runner] = ()) -> None:
        self.rows: dict[str, list[Row]] = {}
        for runner in (*own, *_others(), *OURS):
            for text in runner.commands:
                words = tuple(text.split())
                self.rows.setdefault(words[0], []).append((words, runner))
        for name, rows in self.rows.items():
            # The longest fit counts: `ruff format` is not `ruff`. Sorting keeps one's own first.
            self.rows[name] = sorted(rows, key=lambda row: -len(row[0]))

    def find(self, words: Sequence[str]) -> tuple[Runner, list[str]] | None:
        """The runner that these words call, and the arguments that are left."""
        for wanted, runner in self.rows.get(words[0], ()):
            rest = _after(words, wanted)
            if rest is None:
                continue
            if runner.needs and not _has(rest, runner.needs):
                continue
            return runner, rest
        return None


def _has(rest: Sequence[str], options: Sequence[str]) -> bool:
    return any(
        word == option or word.startswith(option + "=") for word in rest for option in options
    )


def _after(words: Sequence[str], wanted: Sequence[str]) -> list[str] | None:
    """What is left when the wanted words are taken away, in order; options may stand between."""
    rest: list[str] = []
    position = 1
    for index, word in enumerate(words[1:], 1):
        if position == len(wanted):
            rest += words[index:]
            break
        if word == wanted[position]:
            position += 1
        elif word.startswith("-") or (rest and rest[-1].startswith("-") and "=" not in rest[-1]):
            rest.append(word)
        else:
            return None
    return rest if position == len(wanted) else None


@cache
def default_table() -> Table:
    """The table without anything from a spec."""
    return Table()
