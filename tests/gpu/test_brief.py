"""Numbers for people."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from raygrove.gpu.brief import brief, filled, least_percent, percent

ROOT = Path(__file__).resolve().parents[2]
COUNTED = re.compile(r"\{[^{}]+\}\s(?:([a-z]+s)|[a-z]+ ([a-z]+s))\b")
NOT_PLURAL = {"costs", "is", "ms", "s", "takes", "us"}
"""What ends in s behind a figure or a name, and is no number of things."""


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (4.567, 3, "4.57"),
        (1072.4, 3, "1,072"),
        (999.6, 3, "1,000"),
        (283.0, 2, "283"),
        (99.7, 2, "100"),
        (8.04, 2, "8"),
        (0.0000204, 2, "0.00002"),
        (-0.00000123, 2, "-0.0000012"),
        (1e12, 3, "1,000,000,000,000"),
        (0.0, 2, "0"),
    ],
)
def test_no_number_is_told_by_an_exponent(value: float, digits: int, text: str) -> None:
    assert brief(value, digits) == text


def test_what_is_no_number_is_said_so() -> None:
    assert brief(float("nan")) == "nan" and brief(float("inf")) == "inf"


def test_shares_are_spelt_alike() -> None:
    assert (percent(0.124), percent(0.0), percent(0.1234, 1), percent(1.5)) == ("12 %", "0 %", "12.3 %", "150 %")
    assert (least_percent(0.000042), least_percent(0.25)) == ("0.0042 %", "25 %")


def test_a_lone_one_counts_one_thing() -> None:
    """Not what a number ends in, nor what a name says."""
    assert filled("{steps:,} steps", steps=1) == "1 step" and filled("{steps:,} steps", steps=1001) == "1,001 steps"
    assert filled("{n} of {all} frames", n=0, all=1) == "0 of 1 frame" and filled("{n} boxes", n="1") == "1 box"
    assert filled("{rate} frames/s, {s:.1f} seconds", rate="1", s=1.0) == "1 frame/s, 1.0 seconds"
    assert filled("Recorded {count:,} rays: {path}.", count=1, path="1 rays.npz") == "Recorded 1 ray: 1 rays.npz."
    assert filled("{count:,} have no value.", count=1) == "1 has no value."
    assert filled("{n} colliding pairs of {m} primitives", n=1, m=2) == "1 colliding pair of 2 primitives"


def test_every_field_that_format_takes_by_name_is_filled() -> None:
    said = "{name!r:>5}, {day.year} days, {rows[0]:{width}d} rows, {{braces}} {day:%Y}"
    figures = {"name": "a", "day": date(1, 2, 3), "rows": [12], "width": 4}
    assert filled(said, **figures) == said.format(**figures)
    assert filled("{day.month:,} steps, {rows[0]!s} rows", day=date(1, 1, 1), rows=[1]) == "1 step, 1 row"


def test_every_word_behind_a_number_has_its_singular() -> None:
    """In all texts of functions that fill one, and in the units behind number boxes."""
    phrases = [one for folder in ("app", "gpu") for path in (ROOT / folder).rglob("*.py") for one in _counted(path)]
    assert {"triangles", "colliding pairs", "scene units"} <= set(phrases)
    assert [one for one in phrases if filled(f"{{n}} {one}", n=1) == f"1 {one}"] == []


def test_a_new_word_behind_a_number_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "from brief import filled\ndef said(tr):\n    text = tr('{n:,} edges, {m} new edges of {one} less, {ms} ms')\n"
        "    return filled(text, n=1)\nsize = option(unit='litres')\nother = '{n} words'\n"
    )
    assert sorted(_counted(tmp_path / "a.py")) == ["edges", "litres", "new edges"]


def _counted(path: Path) -> Iterator[str]:
    """The plurals behind figures in a source: `edges`, and with an adjective `new edges`."""
    source = path.read_text()
    if "filled" not in source and "unit=" not in source:
        return
    for one in ast.walk(ast.parse(source)):
        if isinstance(one, ast.keyword) and one.arg == "unit":
            texts = [f"{{number}} {_text_of(one.value)}"]
        elif isinstance(one, ast.FunctionDef) and any(map(_fills, ast.walk(one))):
            texts = [text for text in map(_text_of, ast.walk(one)) if text]
        else:
            continue
        for found in (found for text in texts for found in COUNTED.finditer(text)):
            plural = found[1] or found[2]
            if plural not in NOT_PLURAL and not plural.endswith("ss"):
                yield found[0].partition("} ")[2]


def _fills(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "filled"


def _text_of(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
