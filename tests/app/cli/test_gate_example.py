"""The workflow in docs/ that guards a foreign BVH: its shell steps do what they say, on a good tree and a bad one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.waiting import PROCESS_S

ROOT = Path(__file__).resolve().parents[3]
WORKFLOW = ROOT / "docs" / "gate-a-bvh.yml"
NOT_HERE = ("Install",)
"""Steps that need a network."""
JUDGING = ("Prove the tree", "Ask what is wrong with it")
"""Steps that a tree of one case has passed already."""
MODEL = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 0 0\nv 6 0 0\nv 5 1 0\nf 1 2 3\nf 4 5 6\n"
BENCH = """#!{python}
import json, os, sys
import numpy as np
import raygrove as rg
bounds = np.array({bounds}, np.float32)
links = [[1, 2], [0, 0], [0, 0]]
tree = rg.Tree(children=links, first=[0, 0, 1], count=[0, 1, 1], primitives=[0, 1], bounds=bounds)
rg.save_tree(tree, sys.argv[3])
with open(sys.argv[5], "w") as file:
    samples = {{"build_ms": [{cost} + 0.001 * turn for turn in range(8)]}}
    print(json.dumps({{"job": {{"name": "mine"}}, "samples": samples}}), file=file)
"""
"""A benchmark of somebody's, whose tree is a root with two leaves."""
GOOD = "[[0, 0, 0, 6, 1, 0], [0, 0, 0, 1, 1, 0], [5, 0, 0, 6, 1, 0]]"
BAD = "[[0, 0, 0, 6, 1, 0], [0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 0, 0]]"


def steps() -> dict[str, str]:
    """The named steps of the workflow that run in a shell."""
    found = {}
    for name, body in re.findall(r"- name: (.+)\n\s+run: (.+(?:\n {10,}.+)*)", WORKFLOW.read_text()):
        found[name] = textwrap.dedent(body.removeprefix("|\n"))
    return found


def run_steps(folder: Path, bounds: str, cost: float, left_out: tuple[str, ...]) -> dict[str, int]:
    """The exit code of each step, until one fails, as a runner does."""
    (folder / "model.obj").write_text(MODEL)
    (folder / "bench").write_text(BENCH.format(python=sys.executable, bounds=bounds, cost=cost))
    (folder / "baseline.jsonl").write_text(
        json.dumps({"job": {"name": "mine"}, "samples": {"build_ms": [2.0 + 0.001 * turn for turn in range(8)]}}) + "\n"
    )
    (folder / "raygrove").write_text(f'#!/bin/sh\nexec {sys.executable} -P -m raygrove "$@"\n')
    for name in ("bench", "raygrove"):
        (folder / name).chmod(0o755)
    codes = {}
    for name, text in steps().items():
        if name in (*NOT_HERE, *left_out):
            continue
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", text], cwd=folder, capture_output=True, text=True,
            env={**os.environ, "PYTHONSAFEPATH": "1", "PATH": f"{folder}:{os.environ['PATH']}"}, timeout=PROCESS_S,
        )  # fmt: skip
        codes[name] = done.returncode
        if done.returncode:
            print(name, done.stdout, done.stderr)
            break
    return codes


def test_the_workflow_has_the_steps() -> None:
    assert list(steps()) == ["Install", "Measure", "Prove the tree", "Ask what is wrong with it", "Compare"]


@pytest.mark.parametrize(
    ("bounds", "cost", "closed_by", "left_out"),
    [(GOOD, 2.0, None, ()), (BAD, 2.0, "Prove the tree", ()), (GOOD, 3.0, "Compare", JUDGING)],
    ids=["good", "a box that holds nothing", "slower"],
)
def test_the_gate_is_open_for_what_is_good_alone(
    tmp_path: Path, bounds: str, cost: float, closed_by: str | None, left_out: tuple[str, ...]
) -> None:
    codes = run_steps(tmp_path, bounds, cost, left_out)
    assert next((name for name, code in codes.items() if code), None) == closed_by, codes
    if closed_by is None:
        assert "1 same" in (tmp_path / "out" / "report.html").read_text()
