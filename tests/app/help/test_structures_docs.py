"""docs/structures.md says what the folders hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from raygrove.app.help import structures_docs
from raygrove.app.settings import option_tables
from raygrove.bench.suites.published import published


def test_the_page_is_up_to_date() -> None:
    assert structures_docs.PATH.read_text(encoding="utf-8") == structures_docs.text(), (
        "run python -m raygrove.app.help.structures_docs"
    )


def test_every_structure_and_optimiser_has_a_section_with_its_paper() -> None:
    text = structures_docs.text()
    for name in [*option_tables.builders(), *(name for name in option_tables.optimisers() if name != "none")]:
        section = text.partition(f"\n## `{name}`: ")[2].partition("\n## `")[0]
        assert section, name
        assert all(f"**{word}.**" in section for word in ("Idea", "Paper", "Cost", "Limits")), name


def test_every_layout_has_a_section_with_its_paper_and_its_traversals() -> None:
    text = structures_docs.text()
    for name in option_tables.layouts("lbvh"):
        section = text.partition(f"\n## `{name}`: layout of the family bvh")[2].partition("\n## `")[0]
        assert section, name
        assert all(f"**{word}.**" in section for word in ("Idea", "Paper", "Cost", "Limits")), name
        for way in option_tables.traversals("lbvh", name):
            assert re.search(rf"- `--traversal {way}`: [A-Z].+\.", section), way


def test_the_thesis_has_one_title() -> None:
    """Meister's, wherever it is cited by its title: in the structures' papers and in the published tables."""
    cited = re.findall(r"Meister, ([^()]+) \(2014\)", structures_docs.text() + published("meister2014")["source"])
    assert len(cited) > 10
    assert set(cited) == {"Methods for Fast Construction of Bounding Volume Hierarchies"}


def test_figures_are_those_of_the_newest_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structures_docs, "RESULTS", tmp_path)
    row = {
        "hierarchy": "lbvh",
        "options": {"hierarchy.hploc.top": "sah"},
        "optimiser": "none",
        "ray_type": "primary",
        "samples": {"graph_ms": [9.0]},
        "scene": "blob",
        "triangles": 1000,
        "refit_ms": None,
        "sah_cost": 50.25,
        "depth": 9,
        "bytes": 153_000,
        "layout": "bvh2",
    }
    traced = {**row, "build_ms": None, "mrays_per_s": 2840.0}
    for day, ms in (("01", 1.5), ("02", 12.25)):
        kept = {
            "context": {"device": "A GPU", "commit": "abc", "date": f"2026-01-{day}T00:00"},
            "results": [{**row, "build_ms": ms}, traced, {**row, "hierarchy": "hploc", "build_ms": ms}],
            "not_measured": ["x: y."],
        }
        (tmp_path / f"gpu-2026-01-{day}-structures.json").write_text(json.dumps(kept))
    text = structures_docs.text()
    assert "| `lbvh` | blob | 1,000 | 9.000 | - | 50.2 | 9 | 2,840 | - | 153 | bvh2 |" in text
    assert "| `hploc_sah` | blob | 1,000 | 9.000 |" in text, "what was measured as hploc with top = sah"
    assert "1.500" not in text
    assert "Not measured: x: y." in text


def test_the_newest_run_of_each_device_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its time: the second run of a day has a letter that sorts before the first one's name."""
    monkeypatch.setattr(structures_docs, "RESULTS", tmp_path)
    dates = {
        "h200-2026-11-21": "2026-11-21T00:33",
        "h200-2026-11-21-b": "2026-11-21T19:00",
        "h200-2026-11-20": "2026-11-20T23:00",
        "epyc-2026-11-19": "x",
    }
    for name, date in dates.items():
        (tmp_path / f"{name}-structures.json").write_text(json.dumps({"context": {"date": date}}))
    assert [path.name for path in structures_docs.saved_results()] == [
        "epyc-2026-11-19-structures.json",
        "h200-2026-11-21-b-structures.json",
    ]
