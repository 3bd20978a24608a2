"""Raygrove: `python main.py --help`."""

import sys

if __name__ == "__main__":
    try:
        from app.cli import main

        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:  # before the command line could listen
        print("error: interrupted.", file=sys.stderr)
        sys.exit(130)
