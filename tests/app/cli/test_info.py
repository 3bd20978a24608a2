"""`info`: facts as lines for a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.app.cli.info import format_facts
from raygrove.app.cli.main import main
from raygrove.app.scene_io.demos.galaxy import make_galaxy
from raygrove.app.scene_io.describe import describe
from raygrove.gpu.gravity import GravityOptions


def test_what_is_empty_has_no_label() -> None:
    material = {"name": "brick", "alpha": 0.5, "box": None, "note": "", "textures": ["", "wall", "", ""], "maps": [""]}
    said = format_facts({"name": "room", "unit": "", "box": (), "materials": [material]})
    assert said == "name           room\n\nmaterials (1)\n  brick: alpha 0.5, textures wall"


def test_a_simulation_is_said_with_the_forces_that_the_settings_choose() -> None:
    scene = make_galaxy(3000, 1)
    said = format_facts(describe(scene)).splitlines()
    assert said[said.index("simulations (1)") + 1] == (
        "  stars: bodies 3,000, forces multipole, order 4, angle 0.7, forces on a gpu barnes_hut, quadrupole, "
        "angle 0.5, softening 0.06, step 0.0208333, steps 576, duration 12"
    )
    other = GravityOptions("barnes_hut", barnes_hut_angle=0.4)
    assert "forces barnes_hut, terms quadrupole, angle 0.4, softening" in format_facts(describe(scene, other))
    assert "forces direct, softening" in format_facts(describe(make_galaxy(300, 1)))


def test_what_a_model_names_outside_is_read_by_a_flag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model").mkdir()
    path = tmp_path / "model" / "a.obj"
    path.write_text("mtllib ../a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n")
    (tmp_path / "a.mtl").write_text("newmtl red\nKd 0.5 0.25 0.125\n")
    assert main(["info", str(path), "--json"]) == 0
    without = capsys.readouterr()
    assert '"setting": "import.allow_outside=true"' in without.out
    assert main(["info", str(path)]) == 0
    assert "(--allow-outside, or --set import.allow_outside=true)" in capsys.readouterr().out
    assert main(["info", str(path), "--json", "--allow-outside"]) == 0
    allowed = capsys.readouterr()
    assert "--allow-outside" not in allowed.out + allowed.err


AC3D = """AC3Db
MATERIAL "grey" rgb 1 1 1 amb 0.2 0.2 0.2 emis 0 0 0 spec 0 0 0 shi 10 trans 0
OBJECT world
kids 1
OBJECT poly
name "one"
numvert 3
0 0 0
1 0 0
0 1 0
numsurf 1
SURF 0x00
mat 0
refs 3
0 0 0
1 1 0
2 0 1
kids 0
"""


def test_rare_formats_are_opened_by_a_flag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.ac"
    path.write_text(AC3D)
    assert main(["info", str(path)]) == 3
    said = capsys.readouterr()
    assert (
        "the format .ac is rare" in said.err
        and "(--all-formats, or --set import.all_formats=true)" in said.err
        and said.out == ""
    )
    assert main(["info", "--all-formats", str(path)]) == 0
    assert "triangles      1" in capsys.readouterr().out
    assert main(["info", "--set", "import.all_formats=true", str(path)]) == 0
