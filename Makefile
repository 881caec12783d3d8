# Everything works in .venv at the root, made on first use from requirements.lock.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests that need more than Python packages: a browser, Postgres, Celery, Ray, PyTorch, a Qdrant server, a live daemon, a package index, frameworks.
EXTERNAL := server or daemon or browser or postgres or celery or ray or torch or wheel or interop
# What takes many seconds: large inputs, growth, curves, many runs at once.
SLOW := slow or fuzz
WORKERS ?= 2
# Many tests start processes: where Python may not keep what it compiled, each compiles Dagster anew, for seconds.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-dagster lint format docs dist dev lock resolve clean

help: ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: $(VENV)/.installed ## Build the demo index, validate it, print the summary, write the report
	$(BIN)/ragval demo

test: $(VENV)/.installed ## Run the tests that need nothing but Python packages
	@echo "Collecting the tests in $(WORKERS) processes: the first results come after about a minute, all after some ten ..."
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not ($(EXTERNAL) or $(SLOW))"

test-all: $(VENV)/.installed ## Run all tests; fails where a tool they need is missing
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --cov --cov-report=term:skip-covered
	$(BIN)/python -m benchmarks.branches

lint: $(VENV)/.installed ## Check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed ## Build the docs site into site/, with its generated pages
	$(BIN)/python -m docs.generate
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

# `dg dev`, which Dagster would rather see, opens one code location of a project; the demo has two.
dev: $(VENV)/.installed ## Open the Dagster UI with the demo's two code locations
	mkdir -p .ragval/dagster_home
	cp dagster.yaml .ragval/dagster_home/
	DAGSTER_HOME="$(CURDIR)/.ragval/dagster_home" PYTHONWARNINGS='ignore:Function `dev_command` is superseded' \
		$(BIN)/dagster dev -w workspace.yaml

dist: $(VENV)/.installed ## Build what a package index takes: make dist REPOSITORY=https://HOST/OWNER/ragval
	$(BIN)/python -m docs.publish $(REPOSITORY)

test-dagster: $(VENV)/.installed ## Run the Dagster tests with the lowest and the newest Dagster of the range
	UV=$(BIN)/uv EXCEPT="$(EXTERNAL) or $(SLOW)" .ci/dagster

resolve: $(VENV)/.installed ## Check that the package installs from wheels alone, on every supported Python and platform
	UV=$(BIN)/uv .ci/resolve

lock: $(VENV)/.installed ## Resolve requirements.lock, and the part of it that the package needs, anew
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --no-strip-extras --upgrade -o requirements.lock
	$(BIN)/uv pip compile pyproject.toml --constraint requirements.lock --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --no-strip-extras --no-annotate --upgrade -o requirements-core.lock
	$(BIN)/python -m tests.interop.environments

clean: ## Remove what the other targets made
	rm -rf $(VENV) .ragval build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .coverage*

# uv installs the locked packages in seconds where pip takes a minute or two; pip is the fallback.
$(VENV)/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15) and "ragval needs Python 3.11 to 3.14: make PYTHON=python3.12 ...")'
	@echo "Setting up $(VENV) with the packages of requirements.lock, once: a minute with uv, several with pip ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@awk '/^uv==/ {on=1} on {print} on && !/\\$$/ {exit}' requirements.lock > $(VENV)/uv.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/uv.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@echo "$(VENV) is ready."
	@touch $@
