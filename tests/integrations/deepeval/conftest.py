"""These tests need DeepEval, which brings plug-ins of its own for pytest.

`make test` runs them in an environment of their own, and leaves them out of the others.
"""

from __future__ import annotations

import importlib.util
import os

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
os.environ["DEEPEVAL_DISABLE_DOTENV"] = "1"
os.environ["ERROR_REPORTING"] = "NO"

collect_ignore_glob = [] if importlib.util.find_spec("deepeval") else ["test_*.py"]
