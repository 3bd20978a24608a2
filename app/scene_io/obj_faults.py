"""Where an OBJ file is wrong. Assimp says what it refuses but not the line, and of lines that it does not know
nothing; this reads the text again, for faults only after Assimp has refused it."""

from __future__ import annotations

import codecs
import re

from .number_rows import is_number, numbers_of, shown, whole
from .text_blocks import Text, blocks, line_of

KINDS = {b"v": "vertex", b"vt": "texture coordinate", b"vn": "normal"}
CORNER = ("vertex", "texture coordinate", "normal")
_KEYWORDS = (
    rb"v[tnp]?|f|fo|l|p|o|g|s|mg|usemtl|mtllib|usemap|maplib|cstype|deg|bmat|step|curv2?|surf|parm|trim|hole|scrv|sp|"
    rb"end|con|[cs]tech|bevel|[cd]_interp|lod|shadow_obj|trace_obj|call|csh|bsp|bzp|cdc|cdp|res"
)
_STRANGE = re.compile(rb"\n(?![vf][ tn])[ \t]*(?!(?:" + _KEYWORDS + rb")(?:[ \t\r\n]|$))([^\s#][^\r\n]*)")
"""A line that begins with no word of the format's; those of vertices and faces, nearly all, are passed over first."""
NUMBERS = re.compile(rb"\n([ \t]*v[nt]?[ \t]+([^\r\n#]*))")
"""A line of a point, a normal or a place in a texture without its comment, and the numbers of it."""


def strange_lines(text: bytes) -> tuple[int, str]:
    """How many lines libassimp reads over as it does not know their first word, and the first one with its number;
    0 and "" where there is none, or where lines go on in the next one."""
    text = text.removeprefix(codecs.BOM_UTF8)
    if b"\\\n" in text or b"\\\r\n" in text:
        return 0, ""
    found = list(_STRANGE.finditer(b"\n" + text))
    if not found:
        return 0, ""
    line = text.count(b"\n", 0, max(found[0].start(1) - 1, 0)) + 1
    return len(found), f"line {line:,}, {shown(found[0][1])}"


def number_fault(text: Text) -> str:
    """The first number of a point, a normal or a place in a texture that is none, with its line; "" where there is
    none, or where lines go on in the next one. libassimp takes 1.2 for 1.2.3 and 0 for 0x10."""
    for begin, block in blocks(text):
        if b"\\\n" in block or b"\\\r\n" in block:
            return ""
        lines = b"\n" + block
        if numbers_of(b" ".join([numbers for _, numbers in NUMBERS.findall(lines)])) is None:
            for row in NUMBERS.finditer(lines):
                if bad := next((word for word in row[2].split() if not is_number(word)), b""):
                    return f"line {line_of(text, begin + row.start()):,}, {shown(row[1])}: {shown(bad)} is not a number"
    return ""


def fault_of(text: bytes) -> str:
    """The first line that no reader can take, with its number and the reason; "" where there is none."""
    lines = [line.split(b"#", 1)[0].split() for line in text.splitlines()]
    totals = {kind: sum(1 for words in lines if words and words[0] == word) for word, kind in KINDS.items()}
    so_far = dict.fromkeys(totals, 0)
    for number, words in enumerate(lines, 1):
        if not words:
            continue
        why = ""
        if words[0] in KINDS:
            so_far[KINDS[words[0]]] += 1
            why = next((f"{shown(word)} is not a number" for word in words[1:] if not is_number(word)), "")
            if words[0] != b"vt" and len(words) < 4 and not why:
                why = f"a {KINDS[words[0]]} has 3 numbers, and {len(words) - 1} are there"
        elif words[0] == b"f":
            why = next(filter(None, (_corner_fault(word, totals, so_far) for word in words[1:])), "")
        if why:
            return f"line {number}, {shown(b' '.join(words))}: {why}"
    if not any(words and words[0] == b"f" for words in lines):
        if not totals["vertex"]:
            return "no line of it begins with v or f, as those of an OBJ do"
        return f"it has {totals['vertex']:,} vertices and no face, which is a line that begins with f"
    return ""


def _corner_fault(corner: bytes, totals: dict[str, int], so_far: dict[str, int]) -> str:
    """Why a face's corner, as in 7/3/7, names nothing."""
    for kind, word in zip(CORNER, corner.split(b"/"), strict=False):
        if not word:
            continue
        try:
            index = whole(word)
        except ValueError:
            return f"{shown(word)} is not a whole number"
        if index == 0:
            return f"there is no {kind} 0, they count from 1"
        if index > totals[kind] or -index > so_far[kind]:
            known = totals[kind] if index > 0 else so_far[kind]
            return f"there is no {kind} {index}, only {known:,} {'are there' if index > 0 else 'stand above'}"
    return ""
