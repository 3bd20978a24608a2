"""Results as flat rows, filters, and tables in files."""

from __future__ import annotations

import csv
import io
import json
import pathlib
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from raygrove.bench.store.folder import Store
from raygrove.bench.store.reading import read_results
from raygrove.bench.store.tables import columns_of, filter_of, flat_rows, written
from raygrove.gpu.errors import Error

EVIL = '<script>alert("1")</script> | 50% & more\\'
RECORDS: list[dict[str, Any]] = [
    {"job": {"scene": "walker", "configuration": "lbvh", "size": [4, 2], "is_on": True}, "sha": "ab", "status": "done",
     "noise": ["loud", "late"], "context": {"device": "H200"},
     "rows": [{"ray_type": "primary", "sah_cost": 7.5, "rounds": {"trace_ms": [1.0, 2.0, 3.0, 4.0, 5.0, 60.0]}},
              {"ray_type": "diffuse", "rounds": {"trace_ms": [9.0]}}]},
    {"job": {"scene": "sha256:1", "configuration": EVIL}, "status": "failed", "sentence": "It cannot."},
]  # fmt: skip


def test_a_row_has_the_job_the_medians_and_where_from() -> None:
    rows = list(flat_rows(RECORDS))
    assert [row.get("ray_type") for row in rows] == ["primary", "diffuse", None]
    first = rows[0]
    assert (first["trace_ms"], first["trace_ms_low"], first["trace_ms_high"]) == (3.5, 1.0, 60.0)
    assert first["noise"] == "loud; late" and first["machine"] == "H200" and first["sah_cost"] == 7.5
    assert rows[1]["trace_ms"] == 9.0 and "trace_ms_low" not in rows[1]
    assert rows[2]["sentence"] == "It cannot." and columns_of(rows, ("scene", "frame", "noise")) == ["scene", "noise"]


@pytest.mark.parametrize(
    ("text", "count"),
    [("configuration=lbvh", 2), ("configuration=l*", 2), ("configuration!=lbvh", 1), ("trace_ms<4", 1),
     ("trace_ms>=3.5", 2), ("trace_ms>3.5", 1), ("sah_cost<=7.5", 1), ("status=failed", 1), ("is_on=true", 2),
     ("nothing=", 3), ("nothing!=x", 3)],
)  # fmt: skip
def test_filters_pick_rows(text: str, count: int) -> None:
    assert sum(filter_of(text).takes(row) for row in flat_rows(RECORDS)) == count


@pytest.mark.parametrize("text", ["", "lbvh", "=lbvh", "trace_ms<fast"])
def test_what_picks_nothing_is_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"picks nothing|is no number"):
        filter_of(text)


class Page(HTMLParser):
    """What a page holds: tags, and the text of cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []
        self.policy = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        assert not {"src", "href", "onclick"} & set(named)
        self.policy = named.get("content") or "" if named.get("http-equiv") else self.policy
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "td" and self.cells:
            self.cells[-1] += data


def test_files_hold_the_rows_whatever_stands_in_them() -> None:
    rows = list(flat_rows(RECORDS))
    columns = ["configuration", "trace_ms", "noise"]
    read = list(csv.DictReader(io.StringIO(written(".csv", "T", rows, columns, {}))))
    assert [row["configuration"] for row in read] == ["lbvh", "lbvh", EVIL] and read[0]["trace_ms"] == "3.5"
    lines = written(".md", "T", rows, columns, {}).splitlines()
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in lines) and len(lines) == 5
    latex = written(".tex", "T", rows, columns, {"From": "a\nb"}, "All is well.")
    assert latex.count(r"\\" + "\n") == 4 and r"50\% \& more\textbackslash{}" in latex and "From: a b." in latex
    page = Page()
    page.feed(text := written(".html", "A < B", rows, columns, {"From": "there"}, "All is well & good."))
    assert "script" not in page.tags and EVIL in page.cells and "3.5" in [cell.strip() for cell in page.cells]
    assert page.policy.startswith("default-src 'none'") and "A &lt; B" in text and "well &amp; good" in text


def test_a_page_shows_figures_before_hashes_which_are_short() -> None:
    """A phone shows the first columns."""
    rows = [{"scene": "walker", "sha": "ab" * 32, "status": "done", "trace_ms": 1.5}]
    text = written(".html", "T", rows, ["scene", "status", "sha", "trace_ms"], {})
    assert re.findall(r"<th[^>]*>(\w+)", text) == ["scene", "trace_ms", "status", "sha"]
    assert re.findall(r"(?:ab){2,}", text) == ["ab" * 6]
    assert "ab" * 32 in written(".csv", "T", rows, ["sha"], {})


def test_results_are_read_from_lines_and_from_stores(tmp_path: pathlib.Path) -> None:
    store = Store.made(tmp_path / "store")
    for number in range(3):
        store.put({"job": {"number": number}, "status": "done"})
    there = list(read_results(str(tmp_path / "store")))
    file = tmp_path / "kept.jsonl"
    file.write_text("\n".join(json.dumps(one) for one in there) + "\n\n")
    assert list(read_results(str(file))) == there and len(there) == 3


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"job": 1}', '{"job": {}, "samples": {"a": 1}}', '{"job": {}, "rows": [1]}',
             '{"job": {}, "rows": [{"rounds": {"a": ["1"]}}]}', '{"job": {}, "samples": {"a": [true]}}', "[" * 100_000]
)  # fmt: skip
def test_lines_that_are_no_results_are_named(tmp_path: pathlib.Path, line: str) -> None:
    (tmp_path / "bad.jsonl").write_text('{"job": {}}\n' + line)
    with pytest.raises(Error, match="line 2"):
        list(read_results(str(tmp_path / "bad.jsonl")))
