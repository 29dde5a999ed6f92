# make repro   run the pipeline and write the report (YES=1 if it may take more than an hour; JOBS cells at once;
#              ONLY="adam xor": these experiments alone, and what they need)
# make plan    how long that may take here, and how much memory and disk
# make test    check everything, in minutes
# make test-system   what takes longer: check the whole pipeline, and kill it at random moments (ITERLIN_KILLS=5: five times as often)
# make test-cluster  submit everything to a real SLURM of two nodes on this machine (root, and Debian's slurmctld and slurmd)
# make soak    kill all commands and their processes 1000 times at random moments, and compare every byte (hours; KILLS=20)
# make test-data     compare MNIST and CIFAR-10, as prepared in TFDS_DATA_DIR, with what is said of them
# make ui      browse the runs in MLflow, from this machine alone (HOST=0.0.0.0: from any, and whoever comes may change them)
# make check-report   recompute the committed report and compare its tables (ISA=SSE4_2: with the instructions of an older
#              processor, all of it, in a clone below .cache)
# make bench   what a step costs beside other ways to take it (minutes; GROUPS="dual 'full batch'": these alone)
# make docs    the documentation as a site, with its notebooks run
# make lint    style and types
# make lock    choose the newest versions of everything again

PYTHON ?= python3
VENV := .venv
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export MLFLOW_SERVER_ENABLE_JOB_EXECUTION = false
export MLFLOW_DISABLE_TELEMETRY = true
PORT ?= 5000
HOST ?= 127.0.0.1

.PHONY: repro plan test test-system test-cluster soak test-data bench ui check-report docs lint lock

repro: $(VENV)/installed
	@iterlin repro $(ONLY)

plan: $(VENV)/installed
	@iterlin plan

# In two halves: XLA has crashed in processes that had compiled programs for twenty minutes.
test: $(VENV)/installed
	pytest tests/test_[a-l]*.py
	pytest tests/test_[m-z]*.py

test-system: $(VENV)/installed
	pytest tests/system

test-cluster: $(VENV)/installed
	pytest -n 0 tests/cluster

soak: $(VENV)/installed
	@python -m tests.system.soak $(KILLS)

test-data: $(VENV)/installed
	pytest tests/prepared

bench: $(VENV)/installed
	@python -m benchmarks $(if $(GROUPS),--groups $(GROUPS))

ui: $(VENV)/installed
	@iterlin sync
	@echo "MLflow: http://$(HOST):$(PORT)/#/experiments?workflowType=machine_learning  (Ctrl-C ends it)"
	@mlflow server --host $(HOST) --port $(PORT) --workers 1 --backend-store-uri sqlite:///mlflow.db

CLONE = .cache/isa/$(ISA)
older_processor = { [ -d $(CLONE) ] || git clone -q . $(CLONE); } && cd $(CLONE) && git fetch -q origin HEAD && \
  git reset -q --hard FETCH_HEAD && YES=1 PYTHONPATH=$(CURDIR)/$(CLONE)/src \
  XLA_FLAGS=--xla_cpu_max_isa=$(ISA) OPENBLAS_CORETYPE=$(if $(filter SSE4_2,$(ISA)),Nehalem,Haswell)

check-report: $(VENV)/installed
	@$(if $(ISA),$(older_processor)) iterlin check-report

docs: $(VENV)/docs
	@sphinx-build -q -W --keep-going docs .cache/site/html
	@echo ".cache/site/html/index.html"

lint: $(VENV)/installed
	ruff check --no-cache . && ruff format --no-cache --check . && basedpyright

lock:
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-annotate --no-header -o requirements.lock
	uv pip compile pyproject.toml --extra docs --constraint requirements.lock --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-annotate --no-header -o requirements-docs.lock

$(VENV)/installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, this is " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/docs: requirements-docs.lock $(VENV)/installed
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements-docs.lock
	@touch $@
