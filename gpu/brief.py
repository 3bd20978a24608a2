"""Numbers as people read them: a few digits, and never an exponent."""

from __future__ import annotations

import decimal
import re
import string
from typing import Any

_ONE = {"boxes": "box", "leaves": "leaf", "passes": "pass", "are": "is", "have": "has"}
_ONE |= {
    f"{noun}s": noun
    for noun in (
        *("bar", "cell", "degree", "file", "frame", "glyph", "kernel", "key", "level", "minute", "node", "notice"),
        *("object", "pair", "particle", "pixel", "point", "primitive", "ray", "refit", "row", "sample", "second"),
        *("sphere", "step", "stop", "test", "tie", "time", "triangle", "unit", "view", "visit", "warp"),
    )
}
"""Words behind a number as they are behind a lone 1."""

_NEXT = re.compile(rf"\s(?:colliding |scene )?({'|'.join(_ONE)})\b")


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


def filled(sentence: str, **figures: Any) -> str:
    """What `sentence.format` gives of figures by their names, with the word behind a lone 1 in the singular: 1 step,
    12 steps. Fields go by names, as in {n:,}, {n!r} and {found.n}, not by places; the words are listed here."""
    formatter = string.Formatter()
    parts, last = list[str](), ""
    for text, name, form, conversion in formatter.parse(sentence):
        found = _NEXT.match(text) if last == "1" else None
        parts.append(text if found is None else text[: found.start(1)] + _ONE[found[1]] + text[found.end(1) :])
        last = ""
        if name is not None:
            value = formatter.convert_field(formatter.get_field(name, (), figures)[0], conversion)
            last = format(value, (form or "").format(**figures))
        parts.append(last)
    return "".join(parts)
