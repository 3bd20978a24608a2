"""Every structure in one run: which scenes are taken, what a row holds, and that what cannot be measured is said."""

from __future__ import annotations

import pathlib

import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.bench.cases import main
from raygrove.bench.cases.structures import SCENES, SIZES, as_it_is, built_in, choices_of, measure_structures
from raygrove.gpu.camera import Camera
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.hierarchy.registry import optimisers, structures
from raygrove.gpu.target.base import Target


def test_a_slow_structure_gets_the_smallest_scene_and_a_graph_beside_its_builds(target: Target) -> None:
    said: list[str] = []
    rows, failed = measure_structures(target, built_in(target), choices_of(("hploc",), False), 0.0, 1, said.append)
    assert (
        failed == []
        and len(said) == len(SCENES)
        and all(scene in words for scene, words in zip(SCENES, said, strict=True))
    )
    assert [row.scene for row in rows if row.build_ms is not None and row.samples["graph_ms"][0] > 0.0] == list(SCENES)
    kinds = [(scene, kind) for scene in SCENES for kind in ("primary", "diffuse")]
    assert [(row.scene, row.ray_type) for row in rows if row.trace_ms is not None and row.hits] == kinds
    smallest = {scene: make_demo(scene, SIZES[target.kind][0]).triangle_count for scene in SCENES}
    assert all(row.hierarchy == "hploc" and row.triangles == smallest[row.scene] for row in rows)


def test_what_cannot_be_measured_is_said(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> bool:
        raise HierarchyError("It does not fit.")

    monkeypatch.setattr(structures()["hploc"], "emit", refuse)
    rows, failed = measure_structures(
        target, built_in(target), choices_of(("hploc",), False), 0.0, 1, lambda words: None
    )
    assert (
        rows == []
        and len(failed) == len(SCENES)
        and all("hploc" in words and "It does not fit." in words for words in failed)
    )


def test_models_are_measured_as_they_are_from_where_one_stands(target: Target) -> None:
    scene = make_demo("room", 500)
    subjects = [as_it_is(scene), as_it_is(scene, Camera(eye=(0.0, 50.0, 0.0), look_at=(0.0, 60.0, 0.1)))]
    rows, failed = measure_structures(target, subjects, choices_of(("hploc",), False), 60.0, 1, lambda words: None)
    assert failed == []
    assert all(row.triangles == scene.triangle_count for row in rows)
    assert [row.hits > 0 for row in rows if row.build_ms is not None] == [True, False], "the second camera looks away"


def test_every_layout_is_a_choice() -> None:
    choices = choices_of(("hploc", "median_sah", "lbvh"), True)
    expected = [(name, layout) for name in ("hploc", "median_sah", "lbvh") for layout in structures()[name].layouts()]
    assert [(choice.hierarchy, choice.layout) for choice in choices if choice.optimiser == "none"] == expected
    assert {choice.optimiser for choice in choices[len(expected) :]} == set(optimisers())
    assert {choice.layout for choice in choices_of(("hploc",), False)} == {"auto"}


def test_a_model_that_takes_too_long_is_left_out_and_said(target: Target) -> None:
    rows, failed = measure_structures(
        target, [as_it_is(make_demo("blob", 500))], choices_of(("hploc",), False), 0.0, 1, lambda words: None
    )
    assert rows == [] and len(failed) == 1 and "hploc" in failed[0] and "blob" in failed[0]


def test_the_script_measures_files(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "corner.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\n")
    arguments = [
        "--device",
        "cpu",
        "--hierarchy",
        "object_median",
        "--repeat",
        "1",
        "--eye",
        "2,2,2",
        "--look-at",
        "0,0,0",
        "--out",
        str(tmp_path / "kept"),
    ]
    assert main(["structures", str(tmp_path / "corner.obj"), *arguments]) == 0
    assert "corner" in capsys.readouterr().out and "corner" in (tmp_path / "kept.txt").read_text()
    assert main(["structures", str(tmp_path / "absent.obj"), *arguments]) == 3
    assert "absent.obj" in capsys.readouterr().err
