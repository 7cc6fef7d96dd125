PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help demo test check unit integration wheel clean

help:
	@echo "make demo   ask the embedded model a dozen questions"
	@echo "make test   check, all tests that need no key, the built wheel"
	@echo "make check  format, lint, types, floors, house rules"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install -c constraints.txt -e '.[local]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install -c constraints.txt -e '.[local,bench,serve,redis,search,toolcalls,otel,langchain,langchain-agents,mcp,openai-agents,pydantic-ai,compat,dev]'
	@touch $@ $(VENV)/.run

demo: $(VENV)/.run
	$(BIN)/yesno demo

test: check unit integration wheel

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/pytest -q tests/test_house.py

unit: $(VENV)/.dev
	$(BIN)/pytest -q -n auto --dist loadfile

integration: $(VENV)/.dev
	$(BIN)/pytest -q -m integration --force-enable-socket

wheel: $(VENV)/.dev
	$(BIN)/python scripts/check_wheel.py

clean:
	rm -rf $(VENV) dist build
