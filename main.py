"""Raygrove: `python main.py --help`."""

import sys

if __name__ == "__main__":
    try:
        from raygrove.__main__ import main

        sys.exit(main())
    except KeyboardInterrupt:  # before it could listen
        print("error: interrupted.", file=sys.stderr)
        sys.exit(130)
