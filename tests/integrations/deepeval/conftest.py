"""These tests need DeepEval, which installs its own pytest plug-ins.

`make test-all` runs them in a separate environment only. `make test` runs
`tests/integrations/test_without_deepeval.py` instead.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
os.environ["DEEPEVAL_DISABLE_DOTENV"] = "1"
os.environ["ERROR_REPORTING"] = "NO"

collect_ignore_glob = [] if importlib.util.find_spec("deepeval") else ["test_*.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them, so that `make test` skips them even if DeepEval is installed."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.deepeval)
