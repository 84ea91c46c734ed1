# Everything CI does is a target here. `make demo` and `make test` need only Python
# 3.11 or newer and make; they set up what they use.
.PHONY: demo test setup lint types imports tests old-duckdb test-spark test-postgres test-browser docs docs-pages bench bench-smoke studies clean

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
OLD    := $(VENV)/old-duckdb
PLACES := $(VENV)/places

demo: $(READY)            ## make a table of patients, its policy, and audit it
	$(BIN)/privet demo build/demo --replace

test: lint types imports tests old-duckdb docs   ## every check there is
	@echo "All checks passed."

setup: $(READY)           ## the virtual environment with everything for development

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "privet needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $@

lint: $(READY)            ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)           ## types
	$(BIN)/mypy

imports: $(READY)         ## import direction
	$(BIN)/lint-imports

tests: $(READY)           ## tests, doctests, README's code
	$(BIN)/pytest -q -n 2

$(OLD)/.ready: $(READY)
	$(BIN)/python -m pip install --quiet --target $(OLD) --no-deps --upgrade "duckdb>=1.5,<1.6"
	touch $@

old-duckdb: $(OLD)/.ready ## what touches the engine, on DuckDB 1.5; oracles are about arithmetic
	PYTHONPATH=$(OLD) $(BIN)/pytest -q -n 2 -m engines -p no:cacheprovider --ignore=tests/oracle tests

$(PLACES)/.ready: $(READY)
	$(BIN)/python -m pip install --quiet --target $(PLACES) --upgrade --no-deps pyspark py4j grpcio grpcio-status googleapis-common-protos protobuf zstandard adbc-driver-postgresql adbc-driver-manager importlib-resources typing-extensions
	touch $@

test-spark: $(PLACES)/.ready    ## what runs on Spark: one session, a cluster with two workers; needs Java 17
	PYTHONPATH=$(PLACES) $(BIN)/pytest -q -m spark -p no:cacheprovider tests

test-postgres: $(PLACES)/.ready ## what runs on PostgreSQL: a server of its own; needs PostgreSQL's programs
	PYTHONPATH=$(PLACES) $(BIN)/pytest -q -m postgres -p no:cacheprovider tests

test-browser: $(READY)    ## the survey page in Debian's chromium
	@command -v chromium >/dev/null || { echo "chromium must be installed: apt-get install chromium"; exit 1; }
	PRIVET_BROWSER=1 $(BIN)/pytest -q tests/browser

docs: $(READY)            ## the site; broken links and missing pages are errors
	$(BIN)/mkdocs build --quiet --strict --site-dir build/site

docs-pages: $(READY)      ## write the generated reference pages anew
	$(BIN)/python docs/generate.py

bench: $(READY)           ## speed and memory beside the floor
	$(BIN)/python benchmarks/audit.py
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/disclosure.py
	$(BIN)/python benchmarks/views.py
	$(BIN)/python benchmarks/skyline.py
	$(BIN)/python benchmarks/measures.py
	$(BIN)/python benchmarks/anonymize.py
	$(BIN)/python benchmarks/responses.py
	$(BIN)/python benchmarks/classifier.py

SMOKE := audit start disclosure views skyline measures anonymize responses classifier scale
SMALL := handicapping classifier skyline responses responses_epsilon

bench-smoke: $(READY)     ## every benchmark and study, small: does it still run?
	@for name in $(SMOKE:%=benchmarks/%) $(SMALL:%=studies/%); do \
		echo "$$name"; PRIVET_SMOKE=1 $(BIN)/python $$name.py || exit 1; \
	done

studies: $(READY)         ## the papers' experiments, where PRIVET_DATA is
	$(BIN)/python studies/handicapping.py
	$(BIN)/python studies/classifier.py
	$(BIN)/python studies/skyline.py
	$(BIN)/python studies/responses.py
	$(BIN)/python studies/responses_epsilon.py --seeds 20

clean:                    ## what make made
	rm -rf build $(VENV)
