"""Saved results are found by their device, whichever the processor, and by what they measure."""

from __future__ import annotations

import json
import pathlib

from raygrove.bench.saved import newest, newest_policy, saved


def test_two_cores_of_any_processor_are_one_device(tmp_path: pathlib.Path) -> None:
    names = (
        "epyc-2cores-2026-11-20-goals",
        "xeon-2cores-2026-11-22-goals",
        "xeon-2cores-2026-11-22-b-goals",
        "xeon-12cores-2026-11-23-goals",
        "h200-2026-11-24-goals",
        "xeon-2cores-2026-11-25-light-goals",
    )
    for name in names:
        (tmp_path / f"{name}.json").write_text(json.dumps({"context": {"commit": "abcdef01"}}), encoding="utf-8")
    found = saved("2cores", "goals", tmp_path)
    assert [file.name for file in found] == [names[2], names[1], names[0]]
    first = newest("2cores", "goals", tmp_path)
    assert first is not None and first.place == f"{names[2]} (abcdef0)"
    assert newest("12cores", "goals", tmp_path) is not None and newest("2cores", "light", tmp_path) is None


def test_a_table_of_policies_is_read_from_text(tmp_path: pathlib.Path) -> None:
    for day, ratio in (("20", "1.25"), ("21", "1.02")):
        text = f"commit: abc\ndate: 2026-11-{day}\n\nexplode: {ratio}\n"
        (tmp_path / f"xeon-2cores-2026-11-{day}-policy.txt").write_text(text, encoding="utf-8")
    table = newest_policy("2cores", tmp_path)
    assert table is not None and table.content["ratios"] == {"explode": 1.02}
