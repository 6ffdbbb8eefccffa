# `make demo` and `make test` do all their own set-up; they need Python >= 3.11 and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DATA := $(wildcard ../shared/data)
ifneq ($(DATA),)
export MERCER_DATA ?= $(abspath $(DATA))
endif

SECONDS ?= 60
OLDEST ?= .venv-oldest

# Scripts of benchmarks/ that `make bench` runs as well: these need no data folder.
BENCH ?= startup klr

.PHONY: help demo test test-interop test-oldest lint lint-only docs fuzz coverage bench dist clean

help:  ## list these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.demo  ## set up, learn from a table, say where the report is
	$(BIN)/mercer learn examples/data/wine.csv --target cultivar --id id

test: lint  ## what CI runs: lint, types, layers, tests
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -n auto -m "not slow"

# The test files of other projects, run on ours: see docs/interop.md. MERCER_SKACTIVEML
# may name a checkout of scikit-activeml, whose templates are in no release.
test-interop: $(VENV)/.dev  ## the tests of other projects, on ours
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group interop
	mkdir -p $(VENV)/interop
	$(BIN)/python -m pip download --quiet --no-deps --no-binary :all: --dest $(VENV)/interop metric-learn==0.7.0
	tar -xzf $(VENV)/interop/metric-learn-0.7.0.tar.gz -C $(VENV)/interop
	MERCER_METRIC_LEARN=$(abspath $(VENV)/interop/metric-learn-0.7.0) $(BIN)/pytest -q tests/interop

# Not LINT, which make itself has set.
LINTERS ?= .venv-lint

# The same checks without PyTorch, Dask and browsers: 0.6 GB, not three.
lint-only: $(LINTERS)/.lint  ## the same as lint, in a small environment of its own
	$(LINTERS)/bin/ruff check .
	$(LINTERS)/bin/ruff format --check .
	$(LINTERS)/bin/mypy
	$(LINTERS)/bin/lint-imports

$(LINTERS)/.lint: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(LINTERS)
	$(LINTERS)/bin/python -m pip install --quiet "pip>=25.1"
	$(LINTERS)/bin/python -m pip install --quiet --constraint constraints.txt --editable ".[app]" --group lint
	touch $@

lint: $(VENV)/.dev  ## the quick part of it
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.docs  ## the site, in docs/_build/html; runs the examples
	rm -rf docs/api/generated docs/api/*.rst
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html
	@echo "docs/_build/html/index.html"

fuzz: $(VENV)/.dev  ## random input to every estimator, for SECONDS seconds
	PYTHONPATH=. $(BIN)/python -m tests.fuzz --seconds $(SECONDS)

# Compiled functions are invisible to coverage: their tests run once more uncompiled, where
# that is quick. Random numbers of trees wrap around; uncompiled, NumPy warns of it.
TREES := tests/fewlabels/test_trees.py::test
PLAIN_TESTS ?= tests/optim tests/fewlabels/test_sizes.py \
  $(TREES)_the_order_of_the_points_changes_nothing \
  $(TREES)_mirrored_points_get_mirrored_votes \
  $(TREES)_equal_points_of_several_classes_share_a_leaf

coverage: $(VENV)/.dev  ## which lines the tests run; the table is printed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group coverage
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -n auto -m "not slow" --cov --cov-report=
	NUMBA_DISABLE_JIT=1 MERCER_PLAIN=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	  $(BIN)/pytest -q -m "not slow" -W "ignore:overflow encountered:RuntimeWarning" \
	  --cov --cov-append --cov-report=term:skip-covered $(PLAIN_TESTS)

bench: $(VENV)/.dev  ## Mercer next to its peers; BENCH="klr pairs" picks scripts
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group bench
	$(BIN)/python -m mercer_studies bench
	for name in $(BENCH); do echo "benchmarks/$$name.py"; $(BIN)/python benchmarks/$$name.py || exit 1; done

dist: $(VENV)/.dev  ## wheel and sdist, each tried in an empty environment
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group release
	PYTHON=$(BIN)/python sh .ci/dist

test-oldest: constraints-oldest.txt pyproject.toml  ## the tests with the oldest versions allowed
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet "pip>=25.1"
	$(OLDEST)/bin/python -m pip install --quiet --constraint constraints-oldest.txt \
	  --editable ".[app]" --group oldest
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(OLDEST)/bin/pytest -q -m "not slow" \
	  tests/fewlabels tests/graphs tests/kernels tests/learners tests/machines \
	  tests/optim tests/spectrum tests/model/test_unified.py tests/test_persist.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[tables]"
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet "pip>=25.1"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable . --group dev
	touch $@ $(VENV)/.demo

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet "pip>=25.1"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable . --group docs
	touch $@ $(VENV)/.demo

clean:  ## remove environments, caches and built pages
	rm -rf $(VENV) $(OLDEST) $(LINTERS) docs/_build docs/gallery docs/api/generated dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
