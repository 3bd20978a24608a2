"""Plots as lines, rectangles and words, written as SVG and as PDF: nothing but text, and the same bytes every time."""

from __future__ import annotations

import dataclasses
import html
import zlib
from collections.abc import Mapping, Sequence

from .plain_letters import plain_letters

LIGHT: Mapping[str, str] = {
    "text": "#16191D",
    "secondary": "#4E5862",
    "grid": "#D5DBE2",
    "build": "#CC7A10",
    "trace": "#0753A5",
    "shade": "#0E8A66",
}
DARK: Mapping[str, str] = {
    "text": "#E9ECEF",
    "secondary": "#AEB6C0",
    "grid": "#3A424C",
    "build": "#F0A020",
    "trace": "#4383D2",
    "shade": "#35BB8F",
}
"""The window's colours of phases, on white and on dark."""

ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}
DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 2), (8, 3, 2, 3), (12, 3), (1, 3), (6, 2, 2, 2, 2, 2), (3, 6))
"""Lines are told apart by these, in the order of the contestants, since colours are the phases'."""
FONT = "Helvetica, Arial, sans-serif"
NARROW, WIDE = "ijlft.,:;'|![]()/ I", "mwMW%@"


@dataclasses.dataclass(frozen=True)
class Rectangle:
    """A filled one; the corner is its upper left."""

    x: float
    y: float
    width: float
    height: float
    color: str


@dataclasses.dataclass(frozen=True)
class Line:
    """Through points (x, y)."""

    points: tuple[tuple[float, float], ...]
    color: str
    width: float = 1.0
    dashes: tuple[float, ...] = ()


@dataclasses.dataclass(frozen=True)
class Words:
    """A text that begins, has its middle or ends at x, on the line y."""

    x: float
    y: float
    text: str
    color: str = "text"
    anchor: str = "start"
    size: float = 11.0


@dataclasses.dataclass
class Drawing:
    """In points from the upper left corner; colours are names of LIGHT."""

    width: float
    height: float
    title: str
    things: list[Rectangle | Line | Words] = dataclasses.field(default_factory=list)

    def svg(self, *, is_inline: bool = False) -> str:
        """As SVG: a file of its own in light colours, or a part of a page that has a colour for each name as its
        class."""
        size = f'viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}" height="{self.height:g}"'
        style = "" if is_inline else f"<style>{style_of(LIGHT)}</style>"
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}">'
        lines = [head, f"<title>{html.escape(self.title)}</title>{style}", *map(_svg, self.things), "</svg>"]
        return plain_letters("\n".join(lines))  # XML has no controls

    def pdf(self) -> bytes:
        """As a PDF of one page of the drawing's size."""
        stream = zlib.compress("\n".join(_pdf(thing, self.height) for thing in self.things).encode("cp1252", "replace"))
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {self.width:g} {self.height:g}] /Contents 4 0 R"
        bodies = [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            f"{page} /Resources << /Font << /F 5 0 R >> >> >>".encode(),
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(stream) + stream + b"\nendstream",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        ]
        made, places = b"%PDF-1.4\n", []
        for number, body in enumerate(bodies, 1):
            places.append(len(made))
            made += b"%d 0 obj\n" % number + body + b"\nendobj\n"
        table = b"".join(b"%010d 00000 n \n" % place for place in places)
        count = len(bodies) + 1
        end = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (count, len(made))
        return made + b"xref\n0 %d\n0000000000 65535 f \n" % count + table + end


def style_of(colors: Mapping[str, str]) -> str:
    """Rules that give each name its colour."""
    return "".join(f".{name}{{fill:{color}}}.l-{name}{{fill:none;stroke:{color}}}" for name, color in colors.items())


def width_of(text: str, size: float) -> float:
    """About how wide a text is in Helvetica."""
    return size * sum(0.28 if one in NARROW else 0.85 if one in WIDE else 0.67 if one.isupper() else 0.556
                      for one in text)  # fmt: skip


def apart(places: Sequence[float], least: float, lowest: float) -> list[float]:
    """Heights of words, moved so that each is `least` or more from the others and none is below `lowest`: those at the
    bottom stay where they can."""
    moved, limit = list(places), lowest
    for place in sorted(range(len(places)), key=lambda one: -places[one]):
        moved[place] = min(places[place], limit)
        limit = moved[place] - least
    return moved


def _svg(thing: Rectangle | Line | Words) -> str:
    if isinstance(thing, Rectangle):
        box = f'x="{thing.x:.2f}" y="{thing.y:.2f}" width="{thing.width:.2f}" height="{thing.height:.2f}"'
        return f'<rect class="{thing.color}" {box}/>'
    if isinstance(thing, Line):
        points = " ".join(f"{x:.2f},{y:.2f}" for x, y in thing.points)
        dashes = f' stroke-dasharray="{_numbers(thing.dashes)}"' if thing.dashes else ""
        return f'<polyline class="l-{thing.color}" stroke-width="{thing.width:g}"{dashes} points="{points}"/>'
    at = f'x="{thing.x:.2f}" y="{thing.y:.2f}" font-size="{thing.size:g}" text-anchor="{thing.anchor}"'
    return f'<text class="{thing.color}" {at}>{html.escape(thing.text)}</text>'


def _pdf(thing: Rectangle | Line | Words, height: float) -> str:
    red, green, blue = (int(LIGHT[thing.color][place : place + 2], 16) / 255.0 for place in (1, 3, 5))
    color = f"{red:.3f} {green:.3f} {blue:.3f}"
    if isinstance(thing, Rectangle):
        below = height - thing.y - thing.height
        return f"{color} rg {thing.x:.2f} {below:.2f} {thing.width:.2f} {thing.height:.2f} re f"
    if isinstance(thing, Line):
        (x, y), *rest = thing.points
        path = " ".join([f"{x:.2f} {height - y:.2f} m", *(f"{x:.2f} {height - y:.2f} l" for x, y in rest)])
        return f"{color} RG {thing.width:g} w [{_numbers(thing.dashes)}] 0 d {path} S"
    x = thing.x - ANCHORS[thing.anchor] * width_of(thing.text, thing.size)
    said = thing.text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").replace("\n", " ")
    return f"{color} rg BT /F {thing.size:g} Tf {x:.2f} {height - thing.y:.2f} Td ({said}) Tj ET"


def _numbers(values: Sequence[float]) -> str:
    return " ".join(f"{value:g}" for value in values)
