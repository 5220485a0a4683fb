import pytest

# Their assertions say what they found, as those of test modules do.
pytest.register_assert_rewrite("tests.drills.kill_drill", "tests.drills.project")
