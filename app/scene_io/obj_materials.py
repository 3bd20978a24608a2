"""What libassimp leaves out of an OBJ's materials without a word. Where no library has a material that the OBJ uses, it
makes a plain one with that name; pictures of what a material reflects it skips."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from raygrove.gpu.scene import Remark

from .text_blocks import Text, text_of

USED = re.compile(rb"\nusemtl[ \t]+([^\r\n]*)")
MADE = re.compile(rb"^[ \t]*newmtl[ \t]+([^\r\n]*)", re.MULTILINE)
REFLECTED = re.compile(rb"^[ \t]*(?:map_)?refl[ \t]", re.MULTILINE | re.IGNORECASE)
REFLECTIONS = "Pictures of what materials reflect (refl) are not drawn."
SHOWN, LONGEST = 3, 60
"""So many are named, by so many letters at most."""


def remarks_of(text: Text, libraries: Sequence[str]) -> list[Remark]:
    """Both, of an OBJ whose libraries were opened."""
    unknown = unknown_materials(text, _texts(libraries))
    reflections = sum(1 for library in _texts(libraries) for _ in REFLECTED.finditer(library))
    said = [Remark(len(unknown), said_of(unknown))] if unknown else []
    return [*said, Remark(reflections, REFLECTIONS)] if reflections else said


def unknown_materials(text: Text, libraries: Iterable[Text]) -> list[str]:
    """The names that `usemtl` has and none of the libraries' texts, in the order of their first use."""
    first = re.match(rb"usemtl[ \t]+([^\r\n]*)", text[:4096])
    used = dict.fromkeys([first[1].strip()] if first else [])
    used |= dict.fromkeys(one[1].strip() for one in USED.finditer(text))
    if not used:
        return []
    for library in libraries:
        for one in MADE.finditer(library):
            used.pop(one[1].strip(), None)
    return [name.decode("utf-8", "replace") for name in used if name]


def _texts(paths: Iterable[str]) -> Iterator[Text]:
    """One file after the other, each as long as it is looked at."""
    for path in paths:
        with text_of(path) as text:
            yield text


def said_of(names: list[str]) -> str:
    """What is told of them."""
    listed = ", ".join(name[:LONGEST] for name in names[:SHOWN])
    listed += f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return f"Materials that no library of the model has are drawn plain: {listed}. Export it with its materials."
