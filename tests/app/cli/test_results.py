"""`results` and `compare` as they are typed."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.cli import main as command_line
from raygrove.app.cli.arguments import parse
from raygrove.app.cli.main import main
from raygrove.bench.store.folder import Store

JOB: dict[str, Any] = {"measure": "trace", "scene": "walker", "configuration": "lbvh/bvh4", "size": [16, 12],
                       "device": "cpu", "demo.triangles": 120, "repeat": 6, "sources": "aaaa1111"}  # fmt: skip


def store_of(folder: Path, cost: float, **job: Any) -> str:
    store = Store.made(folder)
    for configuration, times in (("lbvh/bvh4", 1.0), ("hploc", 0.8)):
        rounds = {"trace_ms": [cost * times * (1.0 + 0.002 * turn) for turn in range(8)]}
        store.put({"job": {**JOB, "configuration": configuration, **job}, "status": "done", "noise": [],
                   "rows": [{"scene": "walker", "ray_type": "primary", "rounds": rounds, "hits": 5}]})  # fmt: skip
    return str(folder)


def test_results_are_a_table_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = store_of(tmp_path / "store", 2.0)
    assert main(["results", place]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0].split() == ["scene", "configuration", "ray_type", "device", "trace_ms", "status", "sha"]
    assert [line.split()[1] for line in lines[1:]] == ["hploc", "lbvh/bvh4"] and "2 rows of 2 results." in printed.err
    for ending in ("csv", "md", "tex", "html", "json", "jsonl"):
        assert main(["results", place, "--where", "configuration=hp*", "--out", str(tmp_path / f"t.{ending}")]) == 0
        assert "hploc" in (text := (tmp_path / f"t.{ending}").read_text()) and "bvh4" not in text
    capsys.readouterr()
    columns = "configuration,trace_ms,trace_ms_high"
    assert main(["results", place, "--columns", columns, "--sort", "trace_ms", "--out", str(tmp_path / "t.csv")]) == 0
    rows = list(csv.DictReader((tmp_path / "t.csv").open()))
    assert [row["configuration"] for row in rows] == ["hploc", "lbvh/bvh4"] and list(rows[0]) == columns.split(",")
    capsys.readouterr()
    assert main(["results", place, "--json"]) == 0
    assert [row["demo.triangles"] for row in json.loads(capsys.readouterr().out)["results"]] == [120, 120]


def test_results_of_somebody_else_tell_a_terminal_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Review S2: a store, like a model, may come from anywhere."""
    evil = "walker\x1b]0;title\x07\u202e\x9b2J"
    job = {"scene": evil, "rays\x1b[2J": evil}
    a, b = (store_of(tmp_path / name, cost, **job) for name, cost in (("a", 2.0), ("b", 3.0)))
    assert main(["results", a, "--columns", "scene,rays\x1b[2J"]) == 0
    assert main(["compare", a, b]) == 1
    out, err = capsys.readouterr()
    assert not [letter for letter in out + err if not letter.isprintable() and letter != "\n"]
    assert r"walker\x1b]0;title\x07\u202e\x9b2J" in out and r"rays\x1b[2J" in out


def test_a_result_opens_in_the_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = store_of(tmp_path / "store", 2.0)
    sha = next(one["sha"] for one in Store(place).records() if one["job"]["configuration"] == "lbvh/bvh4")
    opened: list[list[str]] = []

    def open_window(words: list[str]) -> int:
        opened.append(words)
        return 0

    monkeypatch.setattr(command_line, "main", open_window)
    assert main(["results", place, "--open", sha[:10]]) == 0
    (words,) = opened
    assert words[:2] == ["view", "--demo=walker"] and "--hierarchy=lbvh/bvh4" in words
    assert words[words.index("--set") + 1] == "demo.triangles=120" and parse(words, "1").command == "view"


@pytest.mark.parametrize(("cost", "code", "verdict"), [(2.0, 0, "same"), (2.4, 1, "slower"), (1.5, 0, "faster")])
def test_a_gate_is_an_exit_code(
    tmp_path: Path, cost: float, code: int, verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    baseline, now = tmp_path / "baseline.jsonl", store_of(tmp_path / "now", cost, sources="bbbb2222")
    assert main(["results", store_of(tmp_path / "old", 2.0), "--out", str(baseline), "--quiet"]) == 0
    capsys.readouterr()
    report = tmp_path / "report.html"
    assert main(["compare", str(baseline), now, "--out", str(report)]) == code
    printed = capsys.readouterr()
    assert printed.out.count(verdict) == 2 and f"2 {verdict}" in printed.err
    assert verdict in report.read_text() and "Content-Security-Policy" in report.read_text()
    assert main(["compare", str(baseline), now, "--threshold", "50%", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["fails"] is False and told["threshold"] == 0.5 and len(told["rows"]) == 2


def test_two_versions_in_one_store_are_compared_by_their_sources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = store_of(tmp_path / "store", 2.0)
    store_of(tmp_path / "store", 3.0, sources="bbbb2222")
    assert main(["compare", place, place]) == 1
    assert "several versions of the sources" in capsys.readouterr().err
    assert main(["compare", f"{place}@aaaa", f"{place}@bbbb"]) == 1
    assert "2 slower" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["results"], "name a store of results"),
        (["results", "none"], "there is no such folder"),
        (["results", "store", "--where", "lbvh"], "picks nothing"),
        (["results", "store", "--columns", "speed"], "--columns speed: results have"),
        (["results", "store", "--out", "t.docx"], "name a file that ends in"),
        (["results", "store", "--open", "zz"], "0 results have a hash that begins so"),
        (["results", "none.jsonl"], "none.jsonl"),
        (["compare", "store"], "name two stores"),
        (["compare", "store", "bad.jsonl"], "bad.jsonl, line 1: it is no JSON"),
        (["compare", "store", "store", "--threshold", "-1"], "from 0 to 1000 percent"),
    ],
)
def test_what_cannot_be_looked_at_is_a_sentence(
    words: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store_of(tmp_path / "store", 1.0)
    Path("bad.jsonl").write_text("no\n")
    is_unreadable = "none" in " ".join(words) or "bad.jsonl" in words
    assert main(words) == (3 if is_unreadable else 2)
    assert sentence in (said := capsys.readouterr().err) and "Traceback" not in said
