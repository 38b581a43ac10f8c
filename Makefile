# make demo | test | check | bench | run : each sets up what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PORT ?= 8787

# Some containers forbid compiled files; every process that a test starts would compile the product anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install system check test test-only demo run bench fuzz soak clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e ".[dev]"
	$(BIN)/python -m search_proxy.embedding.setup
	touch $@

# Programs that the tests talk to (a Redis server, a browser); installed through apt where we are root.
system:
	bash deploy/install-test-system.sh

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/lint-imports
	$(BIN)/python -m tests.support.house_rules

test:
	$(MAKE) -j2 install system
	$(MAKE) check test-only

# A process of tests for each processor: they share no port, folder or server.
test-only: install
	$(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist worksteal

demo: install
	$(BIN)/aisle demo --port $(PORT)

run: install
	$(BIN)/aisle serve --port $(PORT)

bench: install
	$(BIN)/python -m bench

bench-%: install
	$(BIN)/python -m bench.$(subst -,_,$*)

fuzz: install
	$(BIN)/python -m bench.fuzz

soak: install
	$(BIN)/python -m tests.conversation.kill_rounds 200
	$(BIN)/python -m bench.soak_conversations 200

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache
