"""The command `raygrove`, which is `python -m raygrove`, too."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; returns the exit code."""
    try:
        import raygrove.whole_code  # noqa: F401 - before other modules are imported
        from raygrove.app.cli.main import main as run

        return run(sys.argv[1:])
    except KeyboardInterrupt:  # before the command line could listen
        print("error: interrupted.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
