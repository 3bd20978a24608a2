"""What a race is written as: tables, plots, and a page that loads nothing."""

from __future__ import annotations

import base64
import csv
import dataclasses
import io
import re
import xml.etree.ElementTree as ET
import zlib
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from PIL import Image

import raygrove as rg
from raygrove.app.ui.colors import DARK as WINDOW_DARK
from raygrove.app.ui.colors import LIGHT as WINDOW_LIGHT
from raygrove.gpu.analysis.drawing import DARK, LIGHT, Drawing, Line, Rectangle, Words, apart
from raygrove.gpu.analysis.hit_proof import HitProof
from raygrove.gpu.analysis.race import LETTERS, Race, judged
from raygrove.gpu.analysis.race_files import ENDINGS, contents, folder_of
from raygrove.gpu.analysis.race_page import MARK, png_of
from raygrove.gpu.analysis.race_plots import plots
from tests.gpu.analysis.test_race import known

EVIL = '<script>alert("x")</script> & 100 % _of_ \\it'


def race(**changes: Any) -> Race:
    some = [known("A", 3.3, 4.8, sah_cost=9.0), known("B", 3.0, 6.0, sah_cost=12.0),
            known("C", 1.0, 40.0, sah_cost=30.0, proof=HitProof(100, 50, 2, 3))]  # fmt: skip
    some = [dataclasses.replace(one, frame_ms=(one.ms.median, one.ms.median + 1.0)) for one in some]
    some[1] = dataclasses.replace(some[1], configuration=EVIL)
    random = np.random.default_rng(1)
    pictures = {one.letter: random.integers(0, 256, (6, 8, 4), dtype=np.uint8) for one in some}
    wrong = {one.letter: np.zeros((6, 8), bool) for one in some}
    wrong["C"][2, 3] = True
    made = Race(EVIL, 12, (4, 5), (8, 6), "smooth", 7, "a device", "cpu", "A", judged(some), pictures, wrong)
    return dataclasses.replace(made, **changes)


class Page(HTMLParser):
    """Tags, what they name, and texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_has_a_policy_loads_nothing_and_runs_nothing() -> None:
    text = contents(race(), ".html", "raygrove race --demo 'x y' <b>").decode()
    page = Page(text)
    assert page.open == []
    policy = next(named["content"] for tag, named in page.tags if named.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    assert text.index("Content-Security-Policy") < text.index("<style") < text.index("<body")
    assert {tag for tag, _ in page.tags}.isdisjoint(
        {"script", "link", "iframe", "object", "embed", "a", "form", "base"}
    )
    for tag, named in page.tags:
        assert not any(name.startswith("on") for name in named)
        assert all(named[name].startswith("data:image/png;base64,") for name in ("src", "href") if name in named), tag
    assert "url(" not in text and EVIL in "".join(page.texts) and "<b>" in "".join(page.texts)
    assert "prefers-color-scheme: dark" in text and 'name="viewport"' in text


def test_the_page_shows_pictures_and_marks_what_differs() -> None:
    made = race()
    sources = [named["src"] for tag, named in Page(contents(made, ".html").decode()).tags if tag == "img"]
    shown = [np.asarray(Image.open(io.BytesIO(base64.b64decode(str(one).partition(",")[2])))) for one in sources]
    assert len(shown) == 3 and np.array_equal(shown[0], made.pictures["A"][..., :3])
    assert tuple(shown[2][2, 3]) == MARK[:3]
    assert np.array_equal(np.delete(shown[2].reshape(-1, 3), 19, 0),
                          np.delete(made.pictures["C"][..., :3].reshape(-1, 3), 19, 0))  # fmt: skip
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(png_of(made.pictures["B"])))), made.pictures["B"][..., :3])


def test_csv_has_a_row_each_and_its_intervals() -> None:
    rows = list(csv.DictReader(io.StringIO(contents(race(), ".csv").decode())))
    assert [row["letter"] for row in rows] == ["A", "B", "C"] and rows[1]["configuration"] == EVIL
    assert float(rows[0]["ms_low"]) == pytest.approx(8.0) and float(rows[0]["ms"]) == pytest.approx(8.1)
    assert (rows[2]["mismatches"], rows[2]["ties"], rows[0]["depth"]) == ("3", "2", "")


def test_latex_escapes_names_and_has_the_rules_of_booktabs() -> None:
    text = contents(race(), ".tex").decode()
    assert text.index(r"\toprule") < text.index(r"\midrule") < text.index(r"\bottomrule")
    assert r"alert(" in text and r"\& 100 \% \_of\_ \textbackslash{}it" in text
    rows = text[text.index(r"\midrule") : text.index(r"\bottomrule")].splitlines()[1:]
    assert len(rows) == 3 and all(len(re.split(r"(?<!\\)&", row)) == 7 and row.endswith(r"\\") for row in rows)
    assert text.splitlines()[-1].startswith("%")


def test_plots_are_svg_and_pdf_of_the_same() -> None:
    for plot in plots(race()).values():
        root = ET.fromstring(plot.svg())
        lines = [one for one in root.iter() if one.tag.endswith("polyline")]
        assert len(lines) == sum(isinstance(one, Line) for one in plot.things) > 2
        pdf = plot.pdf()
        places = re.findall(rb"^(\d{10}) 00000 n ", pdf, re.M)
        assert all(pdf[int(place) :].startswith(b"%d 0 obj" % number) for number, place in enumerate(places, 1))
        assert int(re.findall(rb"startxref\n(\d+)", pdf)[0]) == pdf.index(b"xref\n0 ")
        stream = zlib.decompress(pdf[pdf.index(b"stream\n") + 7 : pdf.index(b"\nendstream")])
        assert stream.count(b" Tj ") == sum(isinstance(one, Words) for one in plot.things)
        assert stream.count(b" S") >= len(lines)
    assert list(plots(race(frames=(4,)))) == ["costs"]


def test_bars_are_as_long_as_what_they_stand_for() -> None:
    plot = plots(race())["costs"]
    bars = [one for one in plot.things if isinstance(one, Rectangle) and one.height == 12.0]
    by_row = [sum(one.width for one in bars[3 * row : 3 * row + 3]) for row in range(3)]
    costs = [one.ms.median for one in race().ranking]
    assert np.allclose(np.divide(by_row, by_row[0]), np.divide(costs, costs[0]))
    assert bars[0].width / by_row[0] == pytest.approx(3.3 / 8.1)


def test_letters_at_the_ends_of_lines_are_apart() -> None:
    assert apart([50.0, 51.0, 10.0], 11.0, 100.0) == [40.0, 51.0, 10.0]
    assert apart([99.0, 99.0, 99.0], 11.0, 95.0) == [95.0, 84.0, 73.0]
    ends = [thing for thing in plots(race())["frames"].things if isinstance(thing, Words) and thing.text in LETTERS]
    heights = sorted(end.y for end in ends)
    assert len(ends) == len(race().contestants) and min(np.diff(heights)) >= 11.0


def test_colours_are_the_windows() -> None:
    for ours, window in ((LIGHT, WINDOW_LIGHT), (DARK, WINDOW_DARK)):
        assert {name: ours[name] for name in ("build", "trace", "shade")} == {
            name: window.phases[name] for name in ("build", "trace", "shade")
        }
        assert (ours["text"], ours["secondary"]) == (window.text, window.secondary)


def test_words_of_a_pdf_are_escaped() -> None:
    made = Drawing(10.0, 10.0, "t", [Words(0.0, 5.0, "a(b)\\c µ →")]).pdf()
    stream = zlib.decompress(made[made.index(b"stream\n") + 7 : made.index(b"\nendstream")])
    assert b"(a\\(b\\)\\\\c \xb5 ?) Tj" in stream


def test_a_folder_has_all_of_it_and_other_endings_are_refused() -> None:
    files = folder_of(race())
    assert set(files) == {"race.json", "race.csv", "race.tex", "race.html", "costs.svg", "costs.pdf", "frames.svg",
                          "frames.pdf"}  # fmt: skip
    assert all(contents(race(), ending) for ending in ENDINGS)
    with pytest.raises(rg.Error, match="not written as .xls"):
        contents(race(), ".xls")
