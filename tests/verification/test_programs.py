"""What commands do: seen through wrappers, by what a program is for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trialrun.verification import deeds as d
from trialrun.verification.programs import deeds_of
from trialrun.verification.runners import Runner, Table, default_table, kind_of_target
from trialrun.verification.shell import parse


def deeds(text, table=None):
    return [
        deed for one in parse(text).commands for deed in deeds_of(one, table or default_table())
    ]


def kinds(text):
    return [deed.kind for deed in deeds(text)]


TESTS = """
pytest; python -m pytest tests; python3 -m unittest discover; tox; nox; npx jest; npx vitest run; npx mocha
npm test; npm run test:unit; pnpm test; yarn test; bun test; npx playwright test; npx cypress run; go test ./...
cargo test; cargo nextest run; mvn -q test; ./mvnw verify; ./gradlew test; gradle :app:test; dotnet test
bundle exec rspec; rspec spec; robot tests; vendor/bin/behat; cucumber; Invoke-Pester; pwsh -NoProfile -Command "Invoke-Pester -CI"; vendor/bin/phpunit; ctest --test-dir build; make test; just test; task test
bazel test //...; swift test; mix test; sbt test; deno test; node --test; python manage.py test; php artisan test
uv run pytest -q; poetry run pytest; npx --yes jest; pnpm exec vitest run; bundle exec rake test; timeout 60 pytest
sudo pytest; env A=1 pytest; docker exec web pytest; docker compose exec -T web pytest; bash -lc "pytest -q"
ssh host 'cd app && pytest'; nice -n 5 pytest; hatch run pytest; pdm run pytest; conda run -n x pytest; xvfb-run pytest
dune test; crystal spec; ruby -Itest test/a_test.rb; cross-env CI=1 jest; kubectl exec pod -- pytest; coverage run -m pytest
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("command", [one.strip() for one in TESTS if one.strip()])
def test_a_test_run_is_known_whatever_stands_around_it(command):
    assert d.TEST in kinds(command), kinds(command)


@pytest.mark.parametrize(
    ("kind", "commands"),
    [
        (
            d.LINT,
            "ruff check .; flake8; pylint a; eslint src; npx eslint .; golangci-lint run; go vet ./...; cargo clippy; rubocop; shellcheck a.sh; yamllint x.yml; hadolint Dockerfile; npm run lint; make lint; python manage.py check",
        ),
        (
            d.TYPES,
            "mypy .; pyright; npx tsc --noEmit; cargo check; vendor/bin/phpstan analyse; npm run typecheck",
        ),
        (
            d.BUILD,
            "npm run build; go build ./...; cargo build; mvn compile; dotnet build; cmake --build build; docker build .; npx vite build; make; bash -n a.sh; php -l a.php; mkdocs build; docker-compose build; rails zeitwerk:check",
        ),
        (
            d.FORMAT,
            "black --check .; ruff format --check; prettier --check .; gofmt -l .; cargo fmt --check; terraform fmt -check; npm run format:check",
        ),
        (
            d.CONFIG,
            "nginx -t; sudo nginx -t; terraform validate; terraform plan; kubectl apply --dry-run=client -f x.yaml; python -m json.tool a.json; docker compose config; promtool check rules a.yml; ansible-playbook --check site.yml; visudo -c; php bin/console lint:yaml config; bin/console lint:twig templates",
        ),
        (
            d.PROBE,
            "curl localhost; wget -qO- x.test; http :8000/health; kubectl rollout status deploy/a; kubectl get pods; docker ps; systemctl is-active a; systemctl status a; journalctl -u a; helm status a; pg_isready; nc -z h 80",
        ),
        (
            d.SERVICE,
            "systemctl restart a; kubectl apply -f a.yaml; kubectl -n p rollout restart deploy/a; helm upgrade a b; docker compose up -d; docker restart a; terraform apply; fly deploy; vercel --prod; nginx -s reload; ansible-playbook site.yml; pm2 restart a",
        ),
        (
            d.DATA,
            "alembic upgrade head; python manage.py migrate; npx prisma migrate deploy; psql -c 'UPDATE a SET b=1'; rails db:migrate; sqlite3 a.db 'DELETE FROM x'",
        ),
        (
            d.QUERY,
            "psql -c 'SELECT 1'; alembic current; sqlite3 a.db 'select * from x'; npx prisma migrate status",
        ),
        (d.READ, "cat a.py; head -5 a.py; sed -n 1,5p a.py; less a.py; jq . a.json"),
        (d.SEARCH, "grep -n x a.py; rg x src; git grep x"),
        (d.DIFF, "git diff; git diff a.py; git --no-pager diff; diff a b"),
        (
            d.EDIT,
            "sed -i s/a/b/ f.py; echo x > f.py; tee f.py; cp a.py b.py; git apply; perl -pi -e s/a/b/ f.py; cat >> f.py",
        ),
        (d.RENAME, "mv a.py b.py; git mv a.py b.py"),
        (d.REMOVE, "rm a.py; git rm a.py"),
        (d.RESTORE, "git checkout -- a.py; git restore a.py; git stash; git reset --hard"),
    ],
)
def test_programs_by_what_they_are_for(kind, commands):
    for command in commands.split("; "):
        assert kind in kinds(command), (command, kinds(command))


@pytest.mark.parametrize(
    "command",
    [
        "echo pytest",
        "git commit -m 'run pytest'",
        "pip install pytest",
        "npm install",
        "ls tests",
        "cd tests",
        "black .",
        "prettier --write .",
        "git push",
        "mkdir x",
        "export A=pytest",
        "which pytest",
    ],
)
def test_what_proves_nothing(command):
    assert not set(kinds(command)) & (d.TRIALS | {d.PROBE, d.QUERY}), kinds(command)


@pytest.mark.parametrize(
    ("command", "paths", "folder", "package"),
    [
        ("cd web && npm test -- src/a.test.ts", ("src/a.test.ts",), "web", None),
        ("make -C api test", (), "api", None),
        ("npm --prefix web test", (), "web", None),
        ("pnpm --filter @acme/web test", (), "", "web"),
        ("yarn workspace web test", (), "", "web"),
        ("cargo test -p core", (), "", "core"),
        ("mvn -pl core test", (), "", "core"),
        ("pytest tests/a.py::test_b -k foo", ("tests/a.py",), "", None),
        ("go test ./pkg/...", ("./pkg/...",), "", None),
        ("bundle exec rspec spec/a_spec.rb:12", ("spec/a_spec.rb:12",), "", None),
        ("poetry -C api run pytest", (), "api", None),
    ],
)
def test_what_a_run_is_about(command, paths, folder, package):
    (deed,) = deeds(command)
    assert (deed.paths, deed.folder, deed.package) == (paths, folder, package)


def test_a_watch_never_ends():
    assert deeds("npx jest --watch")[0].endless
    assert deeds("npm run dev")[0].endless if deeds("npm run dev") else True
    assert not deeds("npx vitest run")[0].endless


def test_files_that_nobody_needs_to_look_at():
    assert deeds("pytest > /tmp/out.log")[0].kind == d.TEST
    assert kinds("echo x > build.log") == []
    assert kinds("cat > /tmp/scratch.py") == []


def test_python_code_is_read_and_never_run(tmp_path):
    bomb = f"open({str(tmp_path / 'made')!r}, 'w')"
    found = deeds(f'python -c "{bomb}"')
    assert [deed.kind for deed in found] in ([d.EDIT], [d.RUN])
    assert not (tmp_path / "made").exists()
    (deed,) = deeds("python - <<'E'\nfrom pathlib import Path\nPath('a.py').write_text('x')\nE")
    assert (deed.kind, deed.paths) == (d.EDIT, ("a.py",))


def test_services_are_known_by_name_host_and_port():
    (restart, probe) = deeds("ssh cache-b 'systemctl restart memcached; curl -s localhost:8080/x'")
    assert str(restart.service) == "memcached on cache-b"
    assert str(probe.service) == "service on cache-b on port 8080"


def test_a_runner_of_ones_own_comes_first():
    own = Runner(name="mine", kind=d.TEST, commands=("mycheck run",))
    (deed,) = deeds("mycheck run tests/a", Table([own]))
    assert (deed.kind, deed.by, deed.paths) == (d.TEST, "mine", ("tests/a",))


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("test", d.TEST),
        ("test:unit", d.TEST),
        ("lint", d.LINT),
        ("type-check", d.TYPES),
        ("build:prod", d.BUILD),
        ("ci", d.TEST),
        ("deploy", "service"),
        ("db-migrate", "data"),
        ("banana", None),
    ],
)
def test_targets_by_their_names(target, kind):
    assert kind_of_target(target)[0] == kind


@given(st.text(max_size=120))
def test_any_command_is_read(text):
    deeds(text)


@pytest.mark.parametrize(
    ("command", "kind", "paths"),
    [
        ("bazel test //sim/render/...", d.TEST, ("sim/render",)),
        ("bazel test //sim/render:layout_test", d.TEST, ("sim/render",)),
        ("Rscript -e 'devtools::test(filter = \"x\")'", d.TEST, ()),
        ("julia -e 'using Pkg; Pkg.test()'", d.TEST, ()),
        ("php bin/phpunit tests/Cart", d.TEST, ("tests/Cart",)),
        ("node node_modules/.bin/jest src", d.TEST, ("src",)),
        ("promtool test rules a_test.yml", d.TEST, ("a_test.yml",)),
        ("gh pr checks 42", d.PROBE, ()),
        ("rg -l old web admin | xargs sed -i s/a/b/", d.EDIT, ("web/", "admin/")),
    ],
)
def test_what_else_is_known(command, kind, paths):
    (deed,) = [one for one in deeds(command) if one.kind == kind]
    assert deed.paths == paths


def test_tasks_of_sbt():
    found = deeds("sbt 'producer/test; consumer/test'")
    assert [(one.kind, one.package) for one in found] == [
        (d.TEST, "producer"),
        (d.TEST, "consumer"),
    ]


def test_the_folder_of_ctest_is_no_filter():
    (deed,) = deeds("ctest --test-dir build --output-on-failure")
    assert deed.filters == ()
