# Everything here works on a machine with Python >= 3.11, pip and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo serve reproduce test test-all coverage test-distributed check bench gallery notebooks test-adapters docs format install clean

demo: install  ## find anomalies in built-in data; writes demo/report.html
	$(BIN)/subadjacent demo --output demo

serve: install  ## watch made-up series on http://127.0.0.1:8080
	$(BIN)/subadjacent serve --demo

reproduce: install  ## render the committed results: docs/results.md, docs/leaderboard.md, docs/results
	$(BIN)/python -m reproduce all --no-run --output docs/results --page docs/results.md
	$(BIN)/python -m reproduce leaderboard --no-run --output docs/results --page docs/leaderboard.md

docs: install  ## build the documentation's site, and follow its links; open site/index.html
	$(BIN)/python -m website

ONE_MACHINE := -n 2 --dist worksteal --ignore tests/distributed --ignore tests/adapters/apart

test: install  ## run every test that needs one machine
	$(BIN)/pytest $(ONE_MACHINE)

test-all: install  ## the same with the sweeps: promises, calibration, every detector, website, gallery, tutorials
	$(BIN)/pytest $(ONE_MACHINE) -m ''

coverage: install  ## the same with branch coverage, which takes twice as long; fails below 95 %
	$(BIN)/pytest $(ONE_MACHINE) --cov --cov-report=term

test-adapters: $(VENV)-adapters/installed  ## run the checks of libraries that cannot be installed beside ours
	$(VENV)-adapters/bin/pytest --confcutdir tests/adapters/apart tests/adapters/apart

test-distributed: install  ## run the tests of work on a cluster, one of two workers on this machine
	$(BIN)/pytest tests/distributed

check: install  ## format, lint, types, layers
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: install  ## how fast this machine runs it, in a few minutes; never fails
	$(BIN)/python benchmarks/ratios.py

gallery: install  ## six cases, from a file to a page about what was found: docs/gallery
	$(BIN)/python -m examples.gallery --draws

notebooks: install  ## run the tutorials in place: docs/tutorials
	$(BIN)/python -m examples.tutorials

format: install  ## rewrite the code in the project's format
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

$(VENV)-adapters/installed: pyproject.toml tests/adapters/apart/constraints.txt
	$(PYTHON) -m venv $(VENV)-adapters
	$(VENV)-adapters/bin/pip install --quiet --no-compile --constraint tests/adapters/apart/constraints.txt --editable '.[aeon,sktime]' pytest
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-adapters
