# Everything is set up in .venv from the lock file. On a fresh machine: Python >= 3.11 with pip is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

SITE := build/docs

# The tests start the program a few hundred times, which should not compile itself each time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test slow long lint types check docs reference clean

$(STAMP): requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(STAMP)

setup: $(STAMP)

# The main job: evolve a job-shop solver from simple operators and what language models wrote for other runs, compare
# it on held-out instances with its start and with the hand-tuned baseline, and verify the log.
DEMO := demo-$(shell date +%Y%m%d-%H%M%S)
demo: setup
	$(BIN)/dga2d evolve jsp --library basic --bank shipped --generations 4 --work 60000 --seed 1 \
	    --test-instances 16 --test --hand-tuned --run-id $(DEMO)
	$(BIN)/dga2d replay $(DEMO) --verify

# A whole file to each worker, files that wait first (tests/conftest.py). A quarter of the time tests wait for
# processes and limits, so that three workers keep two cores busy.
WORKERS ?= 3
test: setup
	$(BIN)/pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# What the above takes a sample of: compiled code, stops at many moments, real models, two browsers.
slow: setup
	$(BIN)/pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "slow and not long" -o timeout=600

# The full counts: 50 crashes, 200 runs against a faulty endpoint, 10,000 evaluations, 2,000 variants of hostile
# programs; every recorded run verified, every library text compiled, every hostile program in all modes, further
# tutorials followed, every panel in Firefox. An hour and more.
long: setup
	$(BIN)/pytest -q -m long

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

check: lint types test slow

# The pages as a site; a broken link or anchor is an error.
docs: setup
	$(BIN)/sphinx-build -W --keep-going -q -b html -c docs . $(SITE)
	@echo $(SITE)/index.html

# The parts of docs/reference that follow from the code.
reference: setup
	cd docs && ../$(BIN)/python -m reference_pages

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
