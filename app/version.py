"""The program's version, as `--version` and the doctor say it."""

VERSION = "0.1.0"
