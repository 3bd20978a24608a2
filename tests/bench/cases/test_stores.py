"""What large stores and USD cost is measured on what is said, kept, and a bar that is missed is the exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raygrove.bench.cases import main, stores

FEW = ["--jobs", "6", "--results", "154", "--points", "400", "--repeat", "1"]


@pytest.mark.parametrize("kind", stores.BARS)
def test_a_small_one_is_measured(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip({"usd": "pxr", "query": "duckdb"}.get(kind, "json"), reason="this extra is not installed here")
    monkeypatch.setitem(stores.BARS, kind, 1000.0)
    assert main(["stores", "--only", kind, *FEW, "--out", str(tmp_path / "kept")]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "reached" in line]
    assert any(number in line for number in ("6 finished jobs", "154 results", "400 points"))
    kept = json.loads((tmp_path / "kept.json").read_text())
    (row,) = kept["results"]
    assert (row["what"], row["count"]) == (kind, {"skip": 6, "query": 154, "usd": 400}[kind])
    assert row["figure"] == row["samples"][0]["cpu"] > 0.0 and row["clock"] == row["samples"][0]["clock"] > 0.0
    assert kept["context"]["device"] and line in (tmp_path / "kept.txt").read_text()
    monkeypatch.setitem(stores.BARS, kind, 0.0)
    assert main(["stores", "--only", kind, *FEW]) == 1 and "MISSED" in capsys.readouterr().out
