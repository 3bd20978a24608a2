"""SQL over results: the same answers from a packed file as from the results, never an old one, and nothing but them."""

from __future__ import annotations

import json
import os
import pathlib
import statistics
import sys
from typing import Any

import pytest

from raygrove.app.cli.main import main
from raygrove.bench.store.folder import Store
from raygrove.bench.store.packed import NAME, QueryError, pack, query

MEDIANS = "SELECT configuration, count(*) AS rows, median(trace_ms) AS m FROM results GROUP BY ALL ORDER BY m"


@pytest.fixture
def store(tmp_path: pathlib.Path) -> Store:
    pytest.importorskip("duckdb")
    made = Store.made(tmp_path / "it's a store")
    for seed in range(6):
        for configuration, cost in (("lbvh", 2.0), ("hploc", 1.0)):
            _put(made, cost + 0.1 * seed, configuration=configuration, seed=seed)
    return made


def _put(store: Store, cost: float, **job: Any) -> None:
    rounds = {"trace_ms": [cost] * 6}
    what = {"measure": "trace", "scene": "walker", "size": [16, 12], "demo.triangles": 120, **job}
    store.put({"job": what, "status": "done", "rows": [{"scene": "walker", "ray_type": "primary", "rounds": rounds}]})


@pytest.mark.parametrize("is_packed", [False, True])
def test_medians_by_sql_are_those_of_the_samples(store: Store, is_packed: bool) -> None:
    if is_packed:
        assert pack(store, []) == (store.folder / NAME, 12)
    found = query(str(store.folder), MEDIANS, [])
    assert found.is_packed is is_packed and found.columns == ("configuration", "rows", "m")
    half = statistics.median([0.1 * seed for seed in range(6)])
    assert [(row["configuration"], row["rows"]) for row in found.rows] == [("hploc", 6), ("lbvh", 6)]
    assert [row["m"] for row in found.rows] == pytest.approx([1.0 + half, 2.0 + half])
    plain = query(str(store.folder), 'SELECT DISTINCT size, "demo.triangles" FROM results', []).rows
    assert plain == [{"size": [16, 12], "demo.triangles": 120}]


def test_what_came_after_packing_is_in_the_answer(store: Store) -> None:
    pack(store, [])
    _put(store, 9.0, configuration="ploc", seed=0)
    found = query(str(store.folder), "SELECT max(trace_ms) AS most FROM results", [])
    assert found.rows == [{"most": 9.0}] and not found.is_packed
    pack(store, [])
    assert query(str(store.folder), "SELECT max(trace_ms) AS most FROM results", []).is_packed
    store.forget(next(one["sha"] for one in store.records() if one["job"]["configuration"] == "ploc"))
    assert query(str(store.folder), "SELECT max(trace_ms) AS most FROM results", []).rows == [{"most": 2.5}]


@pytest.mark.parametrize("is_packed", [False, True])
def test_sql_reads_results_alone(store: Store, tmp_path: pathlib.Path, is_packed: bool) -> None:
    if is_packed:
        pack(store, [])
    (other := tmp_path / "other.csv").write_text("a\n1\n")
    for sql, said in (
        (f"SELECT * FROM read_csv('{other}')", "disabled"),
        (f"SELECT * FROM '{other}'", "disabled"),
        (f"COPY results TO '{tmp_path / 'out.csv'}'", "not one SELECT"),
        ("SET enable_external_access = true", "not one SELECT"),
        ("SELECT 1; SELECT 2", "not one SELECT"),
        ("SELECT speed FROM results", "speed"),
        ("SELEC", "syntax"),
    ):
        with pytest.raises(QueryError, match=said):
            query(str(store.folder), sql, [])
    assert not (tmp_path / "out.csv").exists()


def test_a_damaged_pack_is_a_sentence(store: Store) -> None:
    (store.folder / NAME).write_bytes(b"PAR1 and no more")
    with pytest.raises(QueryError, match="is damaged"):
        query(str(store.folder), MEDIANS, [])
    pack(store, [])
    assert query(str(store.folder), MEDIANS, []).is_packed


def test_packing_and_asking_as_typed(store: Store, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(store.folder)
    assert main(["store", "pack", place]) == 0 and "12 rows" in capsys.readouterr().err
    assert main(["results", place, "--sql", MEDIANS]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[0].split() == ["configuration", "rows", "m"] and "one by one" not in printed.err
    assert main(["results", place, "--sql", MEDIANS, "--json", "--out", str(tmp_path / "t.tex")]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["configuration"] == "hploc"
    assert "hploc & 6" in (tmp_path / "t.tex").read_text()
    assert main(["results", place, "--sql", MEDIANS, "--where", "scene=walker"]) == 2
    capsys.readouterr()
    assert main(["results", place, "--sql", "SELECT sha,\n  speed\nFROM results"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert "LINE" not in said[0] and said[-2].endswith("  speed") and said[-1].index("^") == said[-2].index("speed")
    assert main(["store", "pack", str(tmp_path)]) != 0 and "no store of results" in capsys.readouterr().err
    assert main(["store", "pack"]) == 2


def test_nothing_to_pack_and_no_duckdb_are_sentences(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = Store.made(tmp_path / "empty")
    if "duckdb" in sys.modules:
        with pytest.raises(QueryError, match="holds no results"):
            pack(empty, [])
        assert query(os.fspath(empty.folder), "SELECT count(*) AS n FROM results", []).rows == [{"n": 0}]
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(QueryError, match=r"raygrove\[query\]"):
        pack(empty, [])
    with pytest.raises(QueryError, match=r"raygrove\[query\]"):
        query(os.fspath(empty.folder), "SELECT count(*) FROM results", [])
