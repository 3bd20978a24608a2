"""A row of the stats panel: plain values."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Row:
    """One line: a key that stays, a name, a value with its unit, and the key of the row it belongs under."""

    key: str
    name: str
    value: str
    parent: str = ""
    tip: str = ""
