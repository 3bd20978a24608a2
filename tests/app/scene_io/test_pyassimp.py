"""pyassimp beside this program's own view of Assimp: whoever has it installed learns here when a release reads what we
read. docs/decisions/assimp-binding.md says why it is not the binding now."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.app.scene_io import binding_check, writers
from tests.app.scene_io.binding_check import differences, ours, own_models, theirs
from tests.data import data_file

ASK = """
import importlib.metadata, importlib.util
print(importlib.metadata.version('pyassimp'), importlib.util.find_spec('distutils') is not None)
"""
NULL, DISTUTILS = "NULL pointer access", "No module named 'distutils'"
MADE_OF_IT = {
    "animated/Fox.glb": NULL, "animated/CesiumMan.glb": NULL, "animated/AnimatedMorphSphere.glb": "",
    "animated/CesiumMilkTruck.glb": "/clips/0/nodes/nodes[2]/rotation", "skinned.glb": NULL,
    "turning.glb": "/clips/0/nodes/arm/rotation",
}  # fmt: skip
"""What pyassimp 5.2.5 makes of each model with libassimp 6.0.5: how its first difference begins or ends; empty where it
agrees."""


def python_with_pyassimp() -> tuple[str, str, bool]:
    """A Python that has pyassimp, its version, and whether that Python has distutils, too; skips the test where there
    is none."""
    python = os.environ.get("RAYGROVE_PYASSIMP") or sys.executable
    said = subprocess.run([python, "-c", ASK], capture_output=True, text=True, check=False)
    if said.returncode:
        pytest.skip("pyassimp is not installed (neither here nor in the Python that RAYGROVE_PYASSIMP names)")
    version, has_distutils = said.stdout.split()
    return python, version, has_distutils == "True"


def model(name: str, folder: Path) -> Path:
    """One of MADE_OF_IT as a file."""
    made = {path.name: path for path in own_models(folder)}
    return made.get(name) or data_file(name)


@pytest.mark.parametrize("name", MADE_OF_IT)
def test_what_pyassimp_makes_of_a_model(name: str, tmp_path: Path) -> None:
    python, version, has_distutils = python_with_pyassimp()
    library, reading = theirs(model(name, tmp_path), python)
    found = differences(ours(model(name, tmp_path)), reading)
    print(f"{name}: pyassimp {version}, libassimp {library or '?'}: {found or 'agrees'}")
    if version != "5.2.5":
        pytest.skip(f"what pyassimp {version} makes of it is not known beforehand: {found[:2] or 'it agrees'}")
    expected = MADE_OF_IT[name] if has_distutils else DISTUTILS
    assert bool(found) == bool(expected) and (
        not found or found[0].startswith(expected) or found[0].endswith(expected)
    ), found


def test_a_release_that_passes_becomes_the_binding(tmp_path: Path) -> None:
    python, version, _ = python_with_pyassimp()
    paths = own_models(tmp_path)
    for name in MADE_OF_IT:
        try:
            paths += [data_file(name)] if "/" in name else []
        except pytest.skip.Exception as absent:
            print(absent)
    outcomes = {path.name: differences(ours(path), theirs(path, python)[1]) for path in paths}
    assert any(outcomes.values()), (
        f"pyassimp {version} reads {', '.join(outcomes)} as this program does. It can become the binding: "
        f"docs/decisions/assimp-binding.md says how."
    )


# -- the comparison itself, which needs no pyassimp -------------------------------------------------------------------
@pytest.fixture
def reading(tmp_path: Path) -> dict[str, Any]:
    """The skinned strip and the turning arm as one reading."""
    skinned, turning = (ours(path) for path in own_models(tmp_path))
    return {
        "nodes": skinned["nodes"],
        "meshes": skinned["meshes"] + turning["meshes"],
        "clips": skinned["clips"] + turning["clips"],
    }


def as_json(reading: dict[str, Any]) -> Any:
    return json.loads(json.dumps(reading, default=np.ndarray.tolist))


def test_a_reading_agrees_with_itself_and_holds_everything(reading: dict[str, Any]) -> None:
    assert differences(reading, as_json(reading)) == []
    strip, lift, wave = reading["meshes"][0], reading["clips"][0], reading["clips"][1]
    assert set(strip["bones"]) == {"low", "high"} and len(strip["targets"]) == 1 and len(strip["positions"]) == 6
    assert [len(rows) for rows in lift["morphs"].values()] == [2]
    assert len(wave["nodes"]["arm"]["rotation"]) == 3 and np.allclose(
        wave["nodes"]["arm"]["rotation"][:, 1:], writers.TURN[:, [3, 0, 1, 2]]
    )


FAULTS = {
    "a vertex": lambda it: it["meshes"][0]["positions"][2].__setitem__(1, 5.0),
    "a corner": lambda it: it["meshes"][0]["triangles"][0].__setitem__(0, 4),
    "a lost bone": lambda it: it["meshes"][0]["bones"].pop("high"),
    "a weight": lambda it: it["meshes"][0]["bones"]["high"]["weights"][0].__setitem__(1, 0.7),
    "a bind": lambda it: it["meshes"][0]["bones"]["high"]["offset"][1].__setitem__(3, 0.0),
    "a target": lambda it: it["meshes"][0]["targets"][0][0].__setitem__(1, 3.0),
    "a lost target": lambda it: it["meshes"][0]["targets"].clear(),
    "a morph key": lambda it: next(iter(it["clips"][0]["morphs"].values()))[1].__setitem__(2, 0.3),
    "a lost mesh": lambda it: it["meshes"].pop(),
    "a rotation": lambda it: it["clips"][1]["nodes"]["arm"]["rotation"][1].__setitem__(1, 0.1),
    "not a number": lambda it: it["clips"][1]["nodes"]["arm"]["rotation"][1].__setitem__(0, float("nan")),
    "a lost key": lambda it: it["clips"][1]["nodes"]["hand"]["translation"].pop(),
    "a node": lambda it: it["nodes"]["high"][1].__setitem__(3, 2.0),
    "the rate": lambda it: it["clips"][0].__setitem__("rate", 25.0),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_kind_of_fault_is_a_difference(reading: dict[str, Any], fault: str) -> None:
    other = as_json(copy.deepcopy(reading))
    FAULTS[fault](other)
    assert len(differences(reading, other)) == 1


def test_a_process_that_dies_is_a_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binding_check, "READER", "import sys; sys.exit('no pyassimp today')")
    library, reading = theirs(own_models(tmp_path)[0])
    assert library == "" and differences(ours(own_models(tmp_path)[0]), reading) == ["no pyassimp today"]
