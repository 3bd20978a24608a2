"""The place of a number in a file's name: frame_%04d.obj, frame_####.obj. Read by what opens sequences and by what
writes them."""

from __future__ import annotations

import re

_PLACE = re.compile(r"%0?(\d{0,2})d|(#+)")


def place_of_number(name: str) -> tuple[str, int, str] | None:
    """What stands before the number, how many digits it has at least (0: as many as it needs, at most 99 where they are
    told), what stands behind it; None where the name has no place for one."""
    found = _PLACE.search(name)
    if found is None:
        return None
    digits = int(found[1] or 0) if found[2] is None else len(found[2])
    return name[: found.start()], digits, name[found.end() :]
