"""`python -m raygrove.bench CASE`, and `python -m bench CASE` in a checkout: a measurement of the project's own."""

from __future__ import annotations

import sys

from raygrove.bench.cases import main  # by the package's name, also where Python calls this folder `bench`

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
