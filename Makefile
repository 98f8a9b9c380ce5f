# Every target is self-contained: it makes .venv and installs what it needs, again only when pyproject.toml or
# constraints.txt has changed.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
RUN_EXTRAS := demo,video,tensorboard,plot,formats
# What the tests and checks look at; folders that do not exist yet are left out.
CODE := $(wildcard src tests benchmarks examples)
# Extra arguments for one run, for example: make test ARGS="-m 'not slow'"
ARGS ?=

# The first of these that starts and is new enough makes the environment; PYTHON=... overrides the choice.
PYTHON ?= $(firstword $(foreach p,python3.11 python3,$(shell $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test soak docs check lint types format bench constraints clean distclean

help:
	@echo "make demo         train and judge a small example, start to end"
	@echo "make test         run the tests                (ARGS=\"-m 'not slow'\" for the quick ones)"
	@echo "make soak         an hour of kills, full disks and bad files   (ARGS='--minutes 15' for less)"
	@echo "make check        make lint, types and docs    (make format mends what can be mended)"
	@echo "make docs         the documentation as a site"
	@echo "make bench        throughput against the bare simulator"
	@echo "make constraints  resolve the pins in constraints.txt afresh"
	@echo "make clean        remove caches and build products; make distclean also removes $(VENV)"

demo: $(VENV)/.installed-run
	$(BIN)/rilco demo $(ARGS)

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

soak: $(VENV)/.installed-dev
	$(BIN)/python -m tests.soak $(ARGS)

check: lint types docs

lint: $(VENV)/.installed-dev
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)

types: $(VENV)/.installed-dev
	$(BIN)/python -m mypy

format: $(VENV)/.installed-dev
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

bench: $(VENV)/.installed-run
	$(BIN)/rilco bench $(ARGS)

# A warning, a broken link among them, is an error; with -q it would not be.
docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "build/site/index.html"

$(VENV)/.installed-run: pyproject.toml constraints.txt | $(VENV)/.created
	@echo "Installing rilco into $(VENV); the first time takes a few minutes."
	@$(PIP) install -q -c constraints.txt -e '.[$(RUN_EXTRAS)]'
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed-run
	@echo "Installing the developer tools."
	@$(PIP) install -q -c constraints.txt -e '.[$(RUN_EXTRAS),dev]'
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed-dev
	@$(PIP) install -q -c constraints.txt -e '.[$(RUN_EXTRAS),dev,docs]'
	@touch $@

# An environment that already answers is kept: only one that is missing or half-made is created.
$(VENV)/.created:
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "rilco needs Python 3.11 or newer; found $(or $(PYTHON),no such python3.11 or python3)." >&2; \
		echo "Install Python 3.11, or name one: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { \
		echo "Creating $(VENV) with $$($(PYTHON) --version)."; \
		$(PYTHON) -m venv $(VENV); } || { \
		echo "$(PYTHON) could not create $(VENV). If an old one is there, remove it: make distclean." >&2; \
		echo "On Debian and Ubuntu the module may be missing: apt install python3-venv." >&2; exit 1; }
	@touch $@

# Names and versions only, ray included, so that the pins hold for every extra.
constraints: | $(VENV)/.created
	@$(PIP) install -q --dry-run --ignore-installed --report $(VENV)/resolved.json -e '.[all,dev,docs]'
	@$(BIN)/python -c 'import json, sys; \
		names = [p["metadata"] for p in json.load(sys.stdin)["install"] if not p["metadata"]["name"] == "rilco"]; \
		print("# The versions that rilco is tested with, on Python 3.11 and 3.13; written by make constraints on 3.11."); \
		print("\n".join(sorted((m["name"] + "==" + m["version"] for m in names), key=str.lower)))' \
		< $(VENV)/resolved.json > constraints.txt
	@rm $(VENV)/resolved.json

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)
