"""Errors as a person reads them: a title, a sentence and an exit code."""
