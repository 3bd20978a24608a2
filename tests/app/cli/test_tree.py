"""`raygrove tree`: a tree is written, read again, proved and judged; exit codes and JSON as CI takes them."""

import dataclasses
import json
import pathlib
import tarfile

import numpy as np
import pytest
from PIL import Image

import raygrove as rg
from raygrove.app.cli.main import main
from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.analysis.validation import boxes_of
from raygrove.gpu.errors import UnreadableError
from raygrove.gpu.target.base import NoDeviceError, OutOfMemoryError
from tests.gpu.analysis.test_diagnosis import refitted

SMALL = ["--demo", "orbit", "--set", "demo.triangles=2000", "--device", "cpu", "--quiet"]


@pytest.fixture
def exported(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "orbit.rgtree"
    assert main(["tree", "export", *SMALL, "--hierarchy", "hploc", "--out", str(path)]) == 0
    return path


def test_what_is_exported_is_sound_at_its_instant_alone(
    exported: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["tree", "validate", *SMALL, "--tree", str(exported), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["is_valid"] is True and found["references"] == found["primitives"] > 0
    assert main(["tree", "diagnose", *SMALL, "--tree", str(exported)]) == 0
    assert capsys.readouterr().out.startswith("Nothing is wrong")


def test_a_tree_of_another_instant_is_judged_and_not_taken(
    exported: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program's tree that lags behind is what one asks about; made a file of this instant it is not."""
    capsys.readouterr()
    said = "says that it is of another scene, or of another instant of this one."
    there = ["--tree", str(exported), "--time", "0.7"]
    assert main(["tree", "validate", *SMALL, *there]) == 1
    found = capsys.readouterr()
    assert said in found.err and "primitive" in found.out
    assert main(["tree", "diagnose", *SMALL, *there, "--json"]) == 1
    found = capsys.readouterr()
    assert said in found.err and "stale_pose" in [one["code"] for one in json.loads(found.out)["findings"]]
    assert main(["tree", "diagnose", *SMALL, "--tree", str(exported), "--frames", "0:22"]) == 1
    assert "the tree is of another pose. They fit the pose 21 frames earlier." in capsys.readouterr().out
    assert main(["tree", "import", *SMALL, *there, "--out", str(tmp_path / "new.rgtree")]) == 3
    assert "another scene, or of another instant" in capsys.readouterr().err and not (tmp_path / "new.rgtree").exists()


def test_a_tree_that_was_refitted_alone_is_told_by_one_instant(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its boxes are right at that instant: the clip's beginning, which it fits better, is looked at by itself."""
    path, scene = str(tmp_path / "old.rgtree"), ["--demo", "explode", "--set", "demo.triangles=2000", *SMALL[4:]]
    assert main(["tree", "export", *scene, "--hierarchy", "hploc", "--out", path]) == 0
    tree, clip = rg.load_tree(path), rg.Clip.from_plain(make_demo("explode", 2000))
    rows = {name: getattr(tree, name) for name in ("children", "first", "count", "primitives")}
    assert tree.bounds is not None
    rg.save_tree(rg.Tree(**refitted({**rows, "bounds": tree.bounds}, boxes_of(*clip.at(3.0)))), path)
    capsys.readouterr()
    assert main(["tree", "diagnose", *scene, "--tree", path, "--time", "3", "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert found["code"] == "refit_only" and found["gain"] > 2.0
    assert "The tree fits the pose at 0 s, and was refitted alone since" in found["sentence"]


def test_boxes_of_frames_are_exported_and_proved(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "moving.rgtree"
    words = ["--hierarchy", "hploc", "--frames", "2:5", "--out", str(path)]
    assert main(["tree", "export", *SMALL, *words]) == 0
    tree = rg.load_tree(path)
    assert tree.frame_bounds.shape == (3, len(tree.count), 6)
    assert tree.frame_times.tolist() == pytest.approx([2 / 30, 3 / 30, 4 / 30])
    check = ["tree", "validate", *SMALL, "--tree", str(path), "--frames", "2:3"]
    assert main(check) == 0
    bounds = np.array(tree.frame_bounds)
    bounds[1] = bounds[0]
    rg.save_tree(dataclasses.replace(tree, frame_bounds=bounds), tmp_path / "stale.rgtree")
    capsys.readouterr()
    assert main([*check[:-3], str(tmp_path / "stale.rgtree"), *check[-2:]]) == 1
    assert "In frame 1, at 0.1 s: " in capsys.readouterr().out


def test_a_tree_that_is_not_sound_is_exit_code_1(exported: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = rg.load_tree(exported)
    count = np.array(tree.count)
    count[int(np.flatnonzero(count)[0])] += 1
    columns = {name: np.array(getattr(tree, name)) for name in ("children", "first", "primitives", "bounds")}
    rg.save_tree(rg.Tree(**columns, count=count), exported)
    capsys.readouterr()
    assert main(["tree", "diagnose", *SMALL, "--tree", str(exported), "--json"]) == 1
    assert "duplicate_primitive" in [one["code"] for one in json.loads(capsys.readouterr().out)["findings"]]
    assert main(["tree", "validate", *SMALL, "--tree", str(exported)]) == 1


def test_another_programs_tree_becomes_a_file(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = pathlib.Path(__file__).parents[1] / "scene_io/trees/real_trees.tar.xz"
    with tarfile.open(archive) as files:
        files.extractall(tmp_path, filter="data")
    vertices, triangles = (np.load(tmp_path / "geometry/two.npz")[name] for name in ("vertices", "triangles"))
    np.savez(tmp_path / "mesh.npz", vertices=vertices, triangles=triangles)
    words = [str(tmp_path / "mesh.npz"), "--device", "cpu", "--quiet", "--tree"]
    out = tmp_path / "theirs.rgtree"
    given = str(tmp_path / "embree/two-low.tree.bin")
    assert main(["tree", "import", *words, given, "--out", str(out)]) == 0
    assert rg.load_tree(out).primitives.tolist() == rg.import_tree(given).primitives.tolist()
    wrong = str(tmp_path / "damaged/tinybvh-soup-bvh2--cycle.save.bin")
    capsys.readouterr()
    assert main(["tree", "import", *words, wrong, "--out", str(tmp_path / "no.rgtree")]) == 3
    said = capsys.readouterr().err
    assert "error: tinybvh-soup-bvh2--cycle.save.bin is over 300 triangles, and the mesh has 2" in said, "no rg.NAME"
    assert not (tmp_path / "no.rgtree").exists()


def test_what_is_missing_is_said(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    assert main(["tree", "export", *SMALL]) == 2 and "--out FILE.rgtree" in capsys.readouterr().err
    assert main(["tree", "validate", *SMALL]) == 2 and "--tree FILE" in capsys.readouterr().err
    for more in ((), SMALL):
        assert main(["tree", "validate", "a.rgtree", *more]) == 2
        assert "a.rgtree is a tree: say --tree a.rgtree, and the scene" in capsys.readouterr().err
    assert main(["tree"]) == 2 and "tree export, import, validate or diagnose" in capsys.readouterr().err
    out = str(tmp_path / "a.rgtree")
    assert main(["tree", "export", *SMALL, "--hierarchy", "grid", "--out", out]) == 2
    assert "--hierarchy grid" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NoDeviceError("No GPU is there."), 4),
        (OutOfMemoryError("a tree", 1 << 20, 0), 5),
        (UnreadableError("a.rgtree cannot be read."), 3),
        (rg.Error("An instant is no number."), 2),
    ],
)
def test_what_else_fails_keeps_its_exit_code(
    error: Exception, code: int, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    def fails(settings: object, words: object) -> None:
        raise error

    monkeypatch.setattr("raygrove.app.cli.tree.target_from", fails)
    assert main(["tree", "export", *SMALL, "--out", str(tmp_path / "a.rgtree")]) == code
    assert str(error) in capsys.readouterr().err


def test_a_tree_of_a_file_is_a_structure_of_pictures(
    exported: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], registry_as_before: None
) -> None:
    """Also at another instant than its own: the boxes are computed anew, and the picture is the same."""
    words = ["render", *SMALL, "--size", "64x48", "--samples", "1", "--frames", "9:11", "--ray-type", "ids"]
    given = ("--tree", f"theirs={exported}", "--hierarchy", "theirs@rebuild")
    assert main([*words, *given, "--out", f"{tmp_path}/theirs/"]) == 0
    assert main([*words, "--hierarchy", "hploc", "--out", f"{tmp_path}/ours/"]) == 0
    for name in ("frame_0009.png", "frame_0010.png"):
        theirs, ours = (np.asarray(Image.open(tmp_path / folder / name)) for folder in ("theirs", "ours"))
        assert np.array_equal(theirs, ours) and len(np.unique(ours)) > 2
    capsys.readouterr()
    other = ["render", *SMALL[:2], "--set", "demo.triangles=3000", "--quiet", "--out", f"{tmp_path}/other.png"]
    assert main([*other, *given]) == 3
    assert "orbit.rgtree" in (said := capsys.readouterr().err) and "another scene" in said
