"""The window beside a running program: memory that both map, the document that follows it, and what a program calls."""
