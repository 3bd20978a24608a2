"""The machine around the program: what it can do, its display, Ctrl+C, files that change."""
