"""These tests need LangGraph, the OpenAI Agents SDK and others, in a separate environment.

`make test-all` makes the environment and runs them there only.
"""

from __future__ import annotations

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("langgraph") else ["test_*.py"]
