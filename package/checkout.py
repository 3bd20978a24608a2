"""The checkout that this package may be part of, for what belongs to the project and not to the wheel: its pages, its
tests, its commit."""

from __future__ import annotations

import pathlib


def find() -> pathlib.Path | None:
    """The folder of the checkout; None where Raygrove was installed from a wheel."""
    root = pathlib.Path(__file__).resolve().parents[1]
    return root if (root / "package" / "checkout.py").is_file() and (root / "pyproject.toml").is_file() else None


def demand(what: str) -> pathlib.Path:
    """The folder of the checkout. Ends the program by a sentence where there is none; `what` begins it."""
    root = find()
    if root is None:
        raise SystemExit(
            f"error: {what} works on a checkout of Raygrove only, and this one was installed from a wheel."
        )
    return root
