"""Numbers as people read them: a few digits, and never an exponent."""

from __future__ import annotations

import decimal


def brief(value: float, digits: int = 3) -> str:
    """So many digits, with commas in place of exponents, and all that stand before the point: 4.57, 1,072, 0.00002."""
    if abs(value) >= 10**digits - 0.5:
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    return f"{decimal.Decimal(text):f}" if "e" in text else text


def percent(share: float, decimals: int = 0) -> str:
    """A part of the whole: 12 %, and with decimals 12.3 %."""
    return f"{100.0 * share:.{decimals}f} %"


def least_percent(share: float) -> str:
    """The same with two digits, of parts that may be small: 0.0042 %."""
    return f"{brief(100.0 * share, 2)} %"
