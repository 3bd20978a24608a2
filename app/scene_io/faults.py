"""Where a file is wrong, in the words of its format: looked for only after libassimp has refused it."""

from __future__ import annotations

import re

from .file_kinds import head_fault, ply_fault, xml_fault
from .gltf_faults import gltf_fault
from .index_damage import fault_of as index_fault
from .obj_faults import fault_of as obj_fault

MOST_BYTES = 64 << 20
"""A larger file is not gone through once more for a sentence."""

MEANT = (
    (r'Mesh "?(.*?)"? has no faces', r"no face of its \1 names points that are there"),
    (
        r"Invalid data index \((\d+)/(\d+)\) in primitive",
        r"a list <p> names the entry \1 of a source, and there are \2, counted from 0",
    ),
    (
        r"Expected different index count in <p>",
        "a list <p> has more or fewer numbers than its element's count asks for",
    ),
    (r"Not enough data for accessor", "an <accessor> counts more entries than its array holds"),
    (r"FBX-Parser unexpected end of file", "its text, or one of its records, ends in the middle: it may be cut short"),
    (r"Collada: File came out empty", "it holds no scene, or nothing in its scene that can be drawn"),
)
"""Words of libassimp's that name no fault, and what they mean."""


def meaning_of(words: str) -> str:
    """What libassimp's words mean where they do not say it; "" for others."""
    for known, meant in MEANT:
        if found := re.search(known, words):
            return found.expand(meant)
    return ""


def place_of_fault(data: bytes, extension: str) -> str:
    """The first fault, with its place and the reason; "" where none is found."""
    if len(data) > MOST_BYTES:
        return ""
    if extension == "obj":
        return obj_fault(data)
    if extension == "ply":
        return ply_fault(data)
    if extension in ("gltf", "glb", "vrm"):
        return gltf_fault(data)
    return head_fault(data, extension) or xml_fault(data, extension) or index_fault(data, extension)
