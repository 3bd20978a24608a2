"""A row of the statistics, and how its figures are written: plain values."""

from __future__ import annotations

from typing import NamedTuple

from raygrove.app.frames.frame_history import Spread

DASH = "–"
"""What is not there, or did not happen."""

SPACE = "\u202f"
"""Before a unit: narrow, and no line breaks there."""


class Row(NamedTuple):
    """One line: a key that stays, a name, a value with its unit, the range that it had, and the key of the row that it
    belongs under. `share` of the frame is drawn as a bar in the colour of the part `part`. A tuple: some seventy are
    made and compared several times a second."""

    key: str
    name: str
    value: str = DASH
    parent: str = ""
    tip: str = ""
    spread: str = ""
    share: float | None = None
    part: str = ""


def milliseconds(value: float) -> str:
    """Four digits: "0.084 ms", "4.120 ms", "41.20 ms", "4,120 ms"."""
    return f"{four_digits(value)}{SPACE}ms"


def mebibytes(count: float) -> str:
    """A size of memory."""
    return f"{count / 2**20:,.1f}{SPACE}MiB"


def four_digits(value: float) -> str:
    """A number with four digits, in places that stay: as many decimals as its size leaves."""
    return _digits(value, 3)


def span_of(spread: Spread) -> str:
    """A range, with three digits; nothing where there is none."""
    return "" if spread.least == spread.greatest else f"{_digits(spread.least, 2)} to {_digits(spread.greatest, 2)}"


def whole_span_of(spread: Spread) -> str:
    """A range of whole numbers, of large ones in millions; nothing where there is none."""
    if spread.greatest < 1e6 or spread.least == spread.greatest:
        return "" if spread.least == spread.greatest else f"{spread.least:,.0f} to {spread.greatest:,.0f}"
    return f"{_digits(spread.least / 1e6, 2)} to {_digits(spread.greatest / 1e6, 2)}{SPACE}M"


def plain(text: str) -> str:
    """A text as it is copied and written to files: with ordinary spaces, empty for what is not there."""
    return "" if text == DASH else text.replace(SPACE, " ")


def _digits(value: float, decimals: int) -> str:
    """So many decimals below 10, one fewer for each further digit before the point; by what the rounded number has."""
    for limit in (10.0, 100.0, 1000.0):
        if abs(round(value, decimals)) < limit:
            break
        decimals = max(decimals - 1, 0)
    return f"{value:,.{decimals}f}"
