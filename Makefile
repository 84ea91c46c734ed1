# Everything CI does is a target here. `make demo` and `make test` need only Python
# 3.11 or newer and make; they set up what they use.
.PHONY: demo test setup lint types imports tests old-duckdb test-crash test-forgeries test-spark test-postgres test-browser docs docs-pages pictures catalogues audit wheel fuzz lock bench bench-smoke studies studies-smoke clean

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
OLD    := $(VENV)/old-duckdb
PLACES := $(VENV)/places
FUZZ   := $(VENV)/fuzz
TOOLS  := $(VENV)/audit
LOCKS  := dependencies
INSTALL := -m pip install --quiet --require-hashes

# Tests start hundreds of programs; each would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

demo: $(READY)            ## make a table of patients, its policy, and audit it
	$(BIN)/privet demo build/demo --replace

test: lint types imports tests old-duckdb docs   ## every check there is
	@echo "All checks passed."

setup: $(READY)           ## the virtual environment with everything for development

$(READY): pyproject.toml $(LOCKS)/dev.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "privet needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) -r $(LOCKS)/dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
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

$(OLD)/.ready: $(READY) $(LOCKS)/old-duckdb.txt
	$(BIN)/python $(INSTALL) --target $(OLD) --no-deps --upgrade -r $(LOCKS)/old-duckdb.txt
	touch $@

old-duckdb: $(OLD)/.ready ## what touches the engine, on DuckDB 1.5; oracles are about arithmetic
	PYTHONPATH=$(OLD) $(BIN)/pytest -q -n 2 -m engines -p no:cacheprovider --ignore=tests/oracle tests

$(PLACES)/.ready: $(READY) $(LOCKS)/places.txt
	$(BIN)/python $(INSTALL) --target $(PLACES) --no-deps --upgrade -r $(LOCKS)/places.txt
	touch $@

test-spark: $(PLACES)/.ready    ## what runs on Spark: one session, a cluster with two workers; needs Java 17
	PYTHONPATH=$(PLACES) $(BIN)/pytest -q -m spark -p no:cacheprovider tests

test-postgres: $(PLACES)/.ready ## what runs on PostgreSQL: a server of its own; needs PostgreSQL's programs
	PYTHONPATH=$(PLACES) $(BIN)/pytest -q -m postgres -p no:cacheprovider tests

# `make test-crash CRASH_SECONDS=600 MOMENTS=50`: as many commands as the time allows,
# and fewer moments of Ctrl-C; the output says which commands were not tried.
CRASH_SECONDS ?=
MOMENTS ?= 100

test-crash: $(READY)      ## kills, Ctrl-C and errors at every file-system call of a commit
	PRIVET_CRASH_SECONDS=$(CRASH_SECONDS) PYTHONPATH=tests $(BIN)/python -m crash.enumeration
	PYTHONPATH=tests $(BIN)/python -m crash.ctrl_c $(MOMENTS)

test-forgeries: $(READY)  ## releases that were spoiled, and manifests with each of their fields changed
	$(BIN)/pytest -q -n 2 -m forgeries tests/release

test-browser: $(READY)    ## the survey page, reports and a notebook in Debian's chromium; its pictures are in build/pictures
	@command -v chromium >/dev/null || { echo "chromium must be installed: apt-get install chromium"; exit 1; }
	mkdir -p build/pictures
	PRIVET_BROWSER=1 PRIVET_PICTURES=build/pictures $(BIN)/pytest -q tests/browser

docs: $(READY)            ## the site; broken links and missing pages are errors
	$(BIN)/mkdocs build --quiet --strict --site-dir build/site

docs-pages: $(READY)      ## write the generated reference pages anew
	$(BIN)/python docs/generate.py

pictures: $(READY)        ## pictures of pages anew, in Debian's chromium, for the README
	PYTHONPATH=docs $(BIN)/python -m making.page_pictures

catalogues: $(READY)      ## sentences of the sources into the catalogues of every language
	$(BIN)/python catalogues/extract.py

$(FUZZ)/.ready: $(READY) $(LOCKS)/fuzz.txt
	$(BIN)/python $(INSTALL) --target $(FUZZ) --no-deps --upgrade -r $(LOCKS)/fuzz.txt
	touch $@

FUZZ_SECONDS ?= 600

fuzz: $(FUZZ)/.ready      ## broken input to every reader, FUZZ_SECONDS in all; only clear errors may come out
	PYTHONPATH=$(FUZZ) $(BIN)/python tests/fuzz/run.py --seconds $(FUZZ_SECONDS)

$(TOOLS)/.ready: $(READY) $(LOCKS)/audit.txt
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python $(INSTALL) -r $(LOCKS)/audit.txt
	touch $@

# `make audit OFFLINE=allowed`: that nobody could be asked for vulnerabilities is said, and no failure.
audit: $(FUZZ)/.ready wheel ## licences, bill of materials, known vulnerabilities of what is locked
	$(TOOLS)/bin/python $(LOCKS)/licences.py $(VENV) $(TOOLS) $(PLACES) $(FUZZ)
	$(TOOLS)/bin/python $(LOCKS)/vulnerabilities.py $(if $(OFFLINE),--offline-allowed)

wheel: $(TOOLS)/.ready $(PLACES)/.ready ## the wheel with its bill of materials, in build/dist
	$(TOOLS)/bin/python $(LOCKS)/bill_of_materials.py $(VENV) build/dist $(PLACES)

lock: $(TOOLS)/.ready     ## pin what pyproject.toml asks for anew, with hashes
	$(TOOLS)/bin/python $(LOCKS)/lock.py

bench: $(READY)           ## speed and memory beside the floor
	$(BIN)/python benchmarks/audit.py
	$(BIN)/python benchmarks/exposure.py
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/disclosure.py
	$(BIN)/python benchmarks/views.py
	$(BIN)/python benchmarks/skyline.py
	$(BIN)/python benchmarks/measures.py
	$(BIN)/python benchmarks/anonymize.py
	$(BIN)/python benchmarks/full_domain.py
	$(BIN)/python benchmarks/responses.py
	$(BIN)/python benchmarks/classifier.py
	$(BIN)/python benchmarks/discovery.py
	$(BIN)/python benchmarks/tiny_release.py
	$(BIN)/python benchmarks/tradeoff.py
	$(BIN)/python benchmarks/report.py

SMOKE := audit exposure start reading disclosure views skyline measures anonymize full_domain responses classifier discovery tiny_release tradeoff report scale
SMALL := handicapping handicapping_speed classifier many_classes classifier_epsilon skyline skyline_speed published_views responses responses_epsilon responses_recovery headers drafts longitudinal

bench-smoke: $(READY)     ## every benchmark, small: does it still run?
	@for name in $(SMOKE); do \
		echo "$$name"; PRIVET_SMOKE=1 $(BIN)/python benchmarks/$$name.py || exit 1; \
	done

studies-smoke: $(READY)   ## every study, small: does it still run?
	@for name in $(SMALL); do \
		echo "$$name"; PRIVET_SMOKE=1 $(BIN)/python studies/$$name.py || exit 1; \
	done

# `make studies SETS=5 REPEATS=20 SEEDS=5`: fewer random choices and draws, in a few
# minutes; this is the size of what is kept in studies/results. A figure that moved beyond
# its tolerance is told, written, and an error. `RENEW=1` keeps the results of any size.
SETS ?= 30
REPEATS ?= 100
SEEDS ?= 20
export PRIVET_RENEW := $(RENEW)

studies: $(READY)         ## the papers' experiments, where PRIVET_DATA is; renews studies/results
	$(BIN)/python studies/handicapping.py --sets $(SETS)
	$(BIN)/python studies/handicapping_speed.py --sets $(SETS)
	$(BIN)/python studies/classifier.py
	$(BIN)/python studies/many_classes.py
	$(BIN)/python studies/classifier_epsilon.py
	$(BIN)/python studies/skyline.py
	$(BIN)/python studies/skyline_speed.py
	$(BIN)/python studies/published_views.py
	$(BIN)/python studies/responses.py --repeats $(REPEATS)
	$(BIN)/python studies/responses_epsilon.py --seeds $(SEEDS)
	$(BIN)/python studies/responses_recovery.py
	$(BIN)/python studies/headers.py
	$(BIN)/python studies/drafts.py
	$(BIN)/python studies/longitudinal.py

clean:                    ## what make made
	rm -rf build $(VENV)
