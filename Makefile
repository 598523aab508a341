# Everything runs in a virtual environment of its own, .venv, which the first target makes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST ?= $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: demo test lint clean

demo: $(VENV)/demo
	PATH="$(CURDIR)/$(BIN):$$PATH" sh -c 'layermap suggest examples/npu.json examples/gpu.json > mapping.yaml'
	cat mapping.yaml

test: $(VENV)/test
	$(PYTEST)

lint: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) build dist *.egg-info mapping.yaml

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

$(VENV)/dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/test
