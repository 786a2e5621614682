# make play   set up .venv with what playing needs, and play a game: make play GAME=pig AGAINST=easy
# make test   set up .venv; lint, types and everyday tests, on all cores
# make test-long  lint, types and all tests, with random laws on ten times as many examples
# make test-newest  rules, compiled games, tree search and matches on the newest Python here, from a wheel
# make test-adapters  quizzes for libraries that pin other releases than the tests need, each in an environment of its own
# make check  lint, types and all tests but the long ones, as CI runs them
# make docs   the site of the documentation, in docs/_site; a link that leads nowhere is an error
# make dist   what would be published, in dist/, checked
# make benchmark  measure the sheets of gdl/, and write the table of docs/results/speed.md anew
# make coverage  the suite again with branch coverage, which takes more than twice as long
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
GAME   ?= copolymer
AGAINST ?= medium
# The newest Python that pyenv has; $(PYTHON) where it has none.
NEWEST ?= $(lastword $(PYTHON) $(shell ls -d $(or $(PYENV_ROOT),$(HOME)/.pyenv)/versions/3.*/bin/python 2>/dev/null | sort -V))
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal

.PHONY: play test test-long test-newest test-adapters coverage lint types check benchmark docs dist clean

$(VENV)/.playing: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "anygame needs Python 3.11 or newer; this one is " + sys.version.split()[0])'
	@echo "Setting up $(VENV), once; this takes a minute or two."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python tools/in_one_line.py $(BIN)/python -m pip install --disable-pip-version-check --editable '.[terminal]'
	@touch $@

$(VENV)/.installed: $(VENV)/.playing
	$(PIP) --editable '.[terminal,test,dev]'
	@touch $@

play: $(VENV)/.playing
	@$(BIN)/anygame play $(GAME) --against $(AGAINST)

test: $(VENV)/.installed lint types
	$(PYTEST)

test-long: $(VENV)/.installed lint types
	ANYGAME_EXAMPLES=10 $(PYTEST) -m ""

check: $(VENV)/.installed lint types
	$(PYTEST) -m "not long" --durations=40 --durations-min=5

# Users have the package from a wheel, with what pip resolves today. What an earlier build left would be in it, too.
test-newest:
	rm -rf build/lib
	$(NEWEST) -m venv --clear $(VENV)-newest
	$(VENV)-newest/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir $(VENV)-newest .
	$(VENV)-newest/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls $(CURDIR)/$(VENV)-newest/*.whl)[test]"
	$(VENV)-newest/bin/python -m pytest --numprocesses auto --dist worksteal \
	  tests/test_package.py tests/language tests/sheets tests/datalog tests/game tests/native tests/search/tree tests/match

# Verifiers and OpenEnv want other releases of mcp than the tools, and than each other: what each wants lies over $(VENV).
PURELIB := -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
test-adapters: $(VENV)/.installed
	@for extra in verifiers openenv; do \
	  $(BIN)/python -m venv --clear $(VENV)-$$extra && \
	  echo "import site; site.addsitedir('$$($(BIN)/python $(PURELIB))')" > "$$($(VENV)-$$extra/bin/python $(PURELIB))/below.pth" && \
	  $(VENV)-$$extra/bin/python -m pip install --quiet --disable-pip-version-check "anygame[$$extra]" && \
	  $(VENV)-$$extra/bin/python -m pytest -m "not long" -k $$extra tests/quiz/test_adapters.py || exit 1; \
	done

coverage: $(VENV)/.installed
	$(PYTEST) -m "not long" --cov --cov-report=term:skip-covered

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/prose.py --quiet

types: $(VENV)/.installed
	$(BIN)/mypy

benchmark: $(VENV)/.installed
	$(BIN)/python tools/benchmark.py gdl --into docs/results/speed.md

docs: $(VENV)/.installed
	$(BIN)/zensical build --clean --strict --config-file docs/zensical.toml

dist: $(VENV)/.playing
	rm -rf build/lib dist
	$(PIP) build twine
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*

clean:
	rm -rf $(VENV) $(VENV)-newest $(VENV)-verifiers $(VENV)-openenv build dist docs/_site docs/.cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
