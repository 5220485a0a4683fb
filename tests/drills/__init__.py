import pytest

# So that their assertions show values on failure, as in test modules.
pytest.register_assert_rewrite("tests.drills.kill_drill", "tests.drills.project")
