"""Errors to problems: one place that knows which sentence and which exit code an error has."""

from __future__ import annotations

import traceback

from app.problem import Problem


def problem_of(error: BaseException) -> Problem:
    """The problem an error is."""
    details = "".join(traceback.format_exception(error))
    return Problem("Something went wrong", f"{type(error).__name__}: {error}", details)
