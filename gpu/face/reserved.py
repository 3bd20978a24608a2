"""Names of the laboratory, which comes later: they answer so."""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import Error


def diagnose(*arguments: Any, **named: Any) -> NoReturn:
    """What is wrong with a tree, and what to do. Comes with the laboratory; until then `tree.statistics` has its cost.
    Raises Error."""
    raise _error("diagnose", "look at tree.statistics")


def _error(name: str, remedy: str) -> Error:
    return Error(f"rg.{name} comes with the laboratory, which this version does not have yet", f"rg.{name}", remedy)
