"""Whatever writes a file changes it, by whichever program it is done."""

from __future__ import annotations

import pytest

from tests.verification.runs import GREEN, bash, edit, is_open, read, verdict

# Programs that write files.


@pytest.mark.parametrize(
    "command",
    [
        "sd before after src/app.py",
        "ed -s src/app.py <<'E'\n1d\nw\nq\nE",
        "ex -s src/app.py -c '%s/a/b/' -c x",
        "ex -sc '%s/a/b/|x' src/app.py",
        "vim -es '+%s/a/b/' +wq src/app.py",
        "yq -i '.a = 1' src/app.py",
        "yq eval --inplace '.a = 1' src/app.py",
        "jq '.a = 1' src/app.py | sponge src/app.py",
        "node -e \"require('fs').writeFileSync('src/app.py', 'x')\"",
        "node -e \"const p='src/app.py'; const fs=require('fs'); fs.writeFileSync(p, 'x')\"",
        "node <<'E'\nfs.appendFileSync('src/app.py', 'x')\nE",
        "ruby -e \"File.write('src/app.py', 'x')\"",
        "ruby -e \"File.open('src/app.py', 'w') { |f| f.puts 1 }\"",
        "perl -e \"open(my \\$f, '>', 'src/app.py'); print \\$f 1\"",
        "php -r \"file_put_contents('src/app.py', 'x');\"",
        "ln -sf ../shared.py src/app.py",
        "truncate -s 0 src/app.py",
        "dd if=x of=src/app.py",
        "touch src/app.py",
        "python -c \"import shutil; shutil.copy('a', 'src/app.py')\"",
    ],
)
def test_a_file_is_written(command):
    assert is_open(bash(command)) == ["src/app.py"]
    assert is_open(bash(command), bash("cat src/app.py", "x = 1")) == []


@pytest.mark.parametrize("command", ["ln -s a.py b.py", "touch b.py"])
def test_a_name_that_was_made_is_seen_in_a_list(command):
    assert is_open(bash(command), bash("ls -l", "b.py -> a.py")) == []
    assert is_open(bash(command), bash("ls -l", "c.py")) == ["b.py"]


def test_touching_what_is_there_changes_nothing():
    assert is_open(read(), bash("touch src/app.py")) == []
    assert is_open(edit(), read(), bash("touch src/app.py")) == []


@pytest.mark.parametrize(
    ("command", "target"),
    [
        ("tar xzf vendor.tgz -C vendor", "vendor/"),
        ("tar -xf vendor.tar", "tar"),
        ("unzip -o theme.zip -d static", "static/"),
    ],
)
def test_what_is_unpacked(command, target):
    assert is_open(bash(command)) == [target]
    assert is_open(bash(command), bash("ls vendor static .", "a.py")) == []
    assert is_open(bash("tar tf a.tar", "a.py"), bash("unzip -l a.zip", "a")) == []
    assert is_open(bash("tar czf out.tgz src")) == []


# Programs that put code in order.

CHANGED = [
    ("black .", "reformatted src/app.py\n\n1 file reformatted."),
    ("ruff format .", "3 files reformatted, 1 file left unchanged"),
    ("ruff check --fix .", "Found 2 errors (2 fixed, 0 remaining)."),
    ("ruff --fix src", "Found 2 errors (2 fixed)."),
    ("isort .", "Fixing src/app.py"),
    ("npx prettier --write src", "src/app.ts 34ms\nsrc/b.ts 12ms (unchanged)"),
    ("npm run format", "> format\n> prettier --write .\n\nsrc/app.ts 34ms"),
    ("make format", "1 file reformatted, 3 files left unchanged."),
    ("bundle exec rubocop -A", "app/a.rb:1:1: C: [Corrected] x\n2 offenses corrected"),
    ("cargo fix --allow-dirty", "       Fixed src/main.rs (1 fix)"),
    ("cargo clippy --fix", "       Fixed src/main.rs (2 fixes)"),
    (
        "pre-commit run --all-files",
        "trailing-whitespace....Failed\n- files were modified by this hook",
    ),
]


@pytest.mark.parametrize(("command", "output"), CHANGED)
def test_a_fixer_that_changed_something_makes_runs_before_it_stale(command, output):
    tests = bash("make test", GREEN)
    steps = [edit("src/app.py"), tests, bash(command, output)]
    assert verdict("All tests pass.", *steps) == "stale"
    assert verdict("All tests pass.", *steps, tests) == "verified"


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("black .", "All done!\n1 file left unchanged."),
        ("ruff format .", "4 files left unchanged"),
        ("ruff check --fix .", "All checks passed!"),
        ("npx prettier --write src", "src/app.ts 34ms (unchanged)"),
        ("gofmt -w .", ""),
        ("cargo fmt", ""),
        ("npx eslint --fix src", ""),
        ("rubocop -a", "4 files inspected, no offenses detected"),
        ("isort .", "Skipped 1 files"),
    ],
)
def test_a_fixer_that_changed_nothing(command, output):
    tests = bash("make test", GREEN)
    assert (
        verdict("All tests pass.", edit("src/app.py"), tests, bash(command, output)) == "verified"
    )
    assert is_open(bash(command, output)) == []


def test_a_linter_that_fixes_is_a_linter():
    fixed = bash("ruff check --fix .", "Found 2 errors (2 fixed, 0 remaining).")
    assert verdict("Ruff is clean.", edit(), fixed) == "verified"
    left = bash("ruff check --fix .", "Found 3 errors (2 fixed, 1 remaining).")
    assert verdict("Ruff is clean.", edit(), left) == "contradicted"
    left = bash("npx eslint --fix src", "✖ 2 problems (2 errors, 0 warnings)")
    assert verdict("ESLint is clean.", edit("src/a.ts"), left) == "contradicted"


# Programs that make files.


@pytest.mark.parametrize(
    ("command", "output", "target"),
    [
        (
            "python manage.py makemigrations",
            "Migrations for 'shop':\n  shop/migrations/0002_price.py\n    + Add field price",
            "shop/migrations/0002_price.py",
        ),
        (
            "alembic revision --autogenerate -m price",
            "  Generating /srv/app/alembic/versions/1a2b_price.py ...  done",
            "/srv/app/alembic/versions/1a2b_price.py",
        ),
        ("bin/rails g model Price", "      create    app/models/price.rb", "app/models/price.rb"),
        ("ng generate component a", "CREATE src/app/a.ts (20 bytes)", "src/app/a.ts"),
        (
            "php artisan make:model Price",
            "INFO  Model [app/Models/Price.php] created successfully.",
            "app/Models/Price.php",
        ),
    ],
)
def test_files_that_a_generator_reports(command, output, target):
    assert is_open(bash(command, output)) == [target]
    assert is_open(bash(command, output), bash(f"cat {target}", "class Price")) == []


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("python manage.py makemigrations", "No changes detected"),
        ("npx prisma generate", "✔ Generated Prisma Client to ./node_modules/@prisma/client"),
        ("protoc --python_out=gen a.proto", ""),
    ],
)
def test_a_generator_that_made_nothing_to_look_at(command, output):
    assert is_open(bash(command, output)) == []
