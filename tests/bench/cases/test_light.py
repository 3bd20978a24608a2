"""The script that measures ambient occlusion and diffuse rays: it runs, counts each kind by itself, and says what was
promised."""

from __future__ import annotations

import json
import pathlib

from raygrove.bench.cases import light, main


def test_every_kind_is_measured_on_every_structure(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "light"
    small = [
        "--device",
        "cpu",
        "--size",
        "48x32",
        "--triangles",
        "2000",
        "--orbit",
        "2000",
        "--structures",
        "lbvh,brute_force",
        "--repeat",
        "2",
    ]
    assert main(["light", *small, "--out", str(out)]) == 0
    found = json.loads(out.with_suffix(".json").read_text())
    assert [(row["hierarchy"], row["rays"]) for row in found["results"]] == [
        (name, what) for name in ("lbvh", "brute_force") for what, _, _ in light.KINDS
    ]
    assert all(
        row["mrays_per_s"] > 0.0 and row["count"] % 4 == 0 and len(row["samples"]) == 2 for row in found["results"]
    )
    rates = {(row["hierarchy"], row["rays"]): row["mrays_per_s"] for row in found["results"]}
    assert rates["lbvh", "ao 5 %"] > rates["brute_force", "ao 5 %"], "a tree is of use"
    assert min(found["first_picture"]["ms"]) > 0.0 and "goal 60 on 2 cores" in out.with_suffix(".txt").read_text()
