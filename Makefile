PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NODE := $(VENV)/clients-node
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help demo test check unit integration bench clients-node clients-node-if-possible wheel fuzz clean

help:
	@echo "make demo   ask the embedded model a dozen questions"
	@echo "make test   check, all tests that need no key, the built wheel"
	@echo "make check  format, lint, types, floors, house rules"
	@echo "make bench  a few items of each shipped set with a tiny model; the report is build/bench/report.html"
	@echo "make clients-node  decision clients for Node against the server; needs npm"
	@echo "make fuzz   100,000 odd inputs of each kind for the calls of tools; minutes"

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

test: check unit integration bench clients-node-if-possible wheel

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

bench: $(VENV)/.dev
	rm -rf build/bench
	$(BIN)/yesno bench benchmarks/quality/data/sms_spam.jsonl benchmarks/quality/data/strategyqa.jsonl \
	  benchmarks/quality/data/snips.jsonl benchmarks/quality/data/clinc150.jsonl benchmarks/quality/data/sentiment.jsonl \
	  benchmarks/quality/data/injection.jsonl benchmarks/sets/data/harmful_request.jsonl \
	  benchmarks/sets/data/tool_relevance.jsonl benchmarks/sets/data/rerank.jsonl \
	  --model local:smollm2 --split heldout --limit 4 --no-cache --no-memory --out build/bench

clients-node: $(VENV)/.dev $(NODE)/.ready
	$(BIN)/python -m tests.clients.serving $(NODE)/run

$(NODE)/.ready: $(wildcard tests/clients/node/* tests/clients/node/.npmrc)
	@command -v npm >/dev/null || { echo "npm is missing; install Node.js with npm, of any version from 20 on" >&2; exit 1; }
	mkdir -p $(NODE)
	cp tests/clients/node/* tests/clients/node/.npmrc $(NODE)/
	cd $(NODE) && npm ci
	@touch $@

clients-node-if-possible:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory clients-node; \
	else echo "SKIPPED: the decision clients for Node, since npm is missing"; fi

wheel: $(VENV)/.dev
	$(BIN)/python scripts/check_wheel.py

fuzz: $(VENV)/.dev
	$(BIN)/python -m tests.toolcalls.fuzzing 100000
	$(PIP) install -c constraints.txt -e '.[fuzz]'
	$(BIN)/python -m tests.toolcalls.guided 100000

clean:
	rm -rf $(VENV) dist build
