"""The command line: words to one command, settings and flags to what it works on, errors to exit codes."""
