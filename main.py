"""Raygrove: `python main.py --help`."""

import sys

if __name__ == "__main__":
    try:
        from raygrove.__main__ import main

        sys.exit(main())
    except KeyboardInterrupt:  # before it could listen
        print("error: interrupted.", file=sys.stderr)
        sys.exit(130)
    except EOFError as error:  # raygrove/whole_code.py sees to the modules behind it alone
        print(
            f"error: {error}: a module that Python has compiled was cut, by a full disk most likely.", file=sys.stderr
        )
        print("Remove the folders __pycache__, or that of PYTHONPYCACHEPREFIX, and start again.", file=sys.stderr)
        sys.exit(1)
