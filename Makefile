# make run     installs what is missing and starts the viewer (without a display: renders the built-in animation under out/)
# make test    the same set-up and the whole test suite; ARGS="-k lbvh" hands options to pytest
# make lint    ruff and mypy
# make env     only the set-up, into .venv

.PHONY: env run test lint

env:
	@.ci/environment core

run: env
	@.ci/show $(ARGS)

test:
	@.ci/environment dev
	.venv/bin/python -m pytest --timeout 300 $(ARGS)

lint:
	@.ci/environment dev
	@outcome=0; .venv/bin/ruff check . || outcome=1; .venv/bin/ruff format --check . || outcome=1; .venv/bin/mypy || outcome=1; exit $$outcome
