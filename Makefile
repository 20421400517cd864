# Each target sets up what it needs by itself; on a fresh machine that takes minutes, afterwards nothing.

.PHONY: help setup demo test check check-all bench conformance chaos fuzz docs bare clean
.DEFAULT_GOAL := help

help:
	@echo "make demo       two real tasks on a private desktop, no key needed"
	@echo "make test       the test suite"
	@echo "make check      format, lint, types, tests: what every change must pass"
	@echo "make check-all  the same with the long tests and the benchmarks' bounds"
	@echo "make bench      the benchmarks"
	@echo "make conformance  100 catalog entries of input, 5 times, through a neutral harness"
	@echo "make chaos      500 tasks, each with a fault at a random moment (root)"
	@echo "make fuzz       100,000 inputs of every kind that comes from outside"
	@echo "make docs       the documentation as a site"
	@echo "make bare       demo and tests in a fresh Debian 12 (root)"
	@echo "make clean      remove what the others made"

setup:
	@scripts/setup

demo: setup
	@.venv/bin/computer demo

test: setup
	@.venv/bin/python -m pytest

check: setup
	@scripts/check

check-all: setup
	@scripts/check --all

bench: setup
	@scripts/bench

conformance: setup
	@scripts/conformance

chaos: setup
	@.venv/bin/python tests/chaos/run.py

fuzz: setup
	@FUZZ_CASES=$${FUZZ_CASES:-100000} .venv/bin/python -m pytest -o timeout=0 tests/fuzz

docs: setup
	@scripts/docs

bare:
	@scripts/bare

clean:
	rm -rf .venv .venv-conformance .venv-docs site dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
