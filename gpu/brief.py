"""Numbers as people read them: a few digits, and never an exponent."""

from __future__ import annotations

import decimal


def brief(value: float, digits: int = 3) -> str:
    """So many digits, with commas in place of exponents, and all that stand before the point: 4.57, 1,072, 0.00002."""
    if abs(value) >= 10**digits - 0.5:
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    return f"{decimal.Decimal(text):f}" if "e" in text else text
