# make run     installs what is missing and starts the viewer (without a display: renders the built-in animation under out/)
# make test    the same set-up and the tests, in a process more than there are processors, four at most (WORKERS=2: two); ARGS="-k lbvh" hands options
#              to pytest, "-n 0" one process, as a debugger needs it, "--broad" runs what is left to .ci/run, too (docs/testing.md)
# make quick   one case of each test that does not take long: for the inner loop
# make campaign  changed files into every reader of the program (docs/reliability.md); ARGS="--seconds 300 --seed 7".
#              .ci/campaign runs all campaigns, for a scheduler to start each night
# make lint    ruff, mypy and clang-format
# make env     only the set-up, into .venv

.PHONY: env run test quick campaign lint

WORKERS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n > 3 ? 4 : n + 1)))

# Three processes collect the tests, and hundreds are started by them: none compiles every Python file anew.
unexport PYTHONDONTWRITEBYTECODE
test quick: export PYTHONPYCACHEPREFIX = $(CURDIR)/.venv/pycache

PYTEST = .venv/bin/python -m pytest -n $(WORKERS) --dist worksteal

env:
	@.ci/environment core

run: env
	@.ci/show $(ARGS)

test:
	@.ci/environment dev
	$(PYTEST) --timeout 1200 $(ARGS)

quick:
	@.ci/environment dev
	$(PYTEST) --timeout 60 --quick --most-cpu-s=150 $(ARGS)

campaign:
	@.ci/environment dev
	.venv/bin/python -m tests.campaign $(ARGS)

lint:
	@.ci/environment dev
	@outcome=0; .venv/bin/ruff check . || outcome=1; .venv/bin/ruff format --check . || outcome=1; .venv/bin/mypy || outcome=1; git ls-files "*.cu" "*.cuh" "*.cpp" | xargs .venv/bin/clang-format --dry-run --Werror || outcome=1; exit $$outcome
