"""`race` and `advise` as they are typed."""

from __future__ import annotations

import argparse
import csv
import html
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.app.cli import main as commands
from raygrove.app.cli import race_survey, values
from raygrove.app.cli.arguments import parse
from raygrove.app.cli.main import main
from raygrove.app.cli.race_file import taken_from
from raygrove.gpu.analysis.survey import Survey
from raygrove.gpu.face.named_trees import note_of

SMALL = ["--device", "cpu", "--size", "24x16", "--set", "demo.triangles=400"]


def race(*words: str) -> int:
    return main(["race", "--demo", "walker", *SMALL, "--frames", "0:2", "--repeat", "6", *words])


def test_a_race_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert race("--contestants", "lbvh@refit,brute_force", "--json", "--out", f"{out}/") == 0
    printed = capsys.readouterr()
    told = json.loads(printed.out)
    assert [one["configuration"] for one in told["contestants"]] == ["lbvh@refit", "brute_force"]
    assert told["against"] == "B" and told["mismatches"] == 0 and told["frames"] == [0, 1] and told["size"] == [24, 16]
    assert told["contestants"][0]["refits"] == 12 and told["contestants"][1]["rebuilds"] == 12
    assert json.loads((out / "race.json").read_text()) == told
    assert len(list(csv.DictReader((out / "race.csv").open()))) == 2
    assert "Content-Security-Policy" in (out / "race.html").read_text()
    assert {path.name for path in out.iterdir()} >= {"costs.pdf", "costs.svg", "frames.pdf", "race.tex"}
    assert f"Wrote {out}/race.html." in printed.err


def test_contestants_have_what_the_settings_say_and_they_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    said = ("render.triangle_test=watertight", "render.layout=bvh2", "update.mode=refit")
    words = [word for one in said for word in ("--set", one)]
    assert race("--contestants", "lbvh,hploc/bvh4@rebuild", "--json", *words) == 0
    told = json.loads(capsys.readouterr().out)["contestants"]
    assert told[0]["configuration"] == "lbvh/bvh2/auto:triangle_test=watertight@refit"
    assert (told[0]["layout"], told[0]["refits"], told[0]["rebuilds"]) == ("bvh2", 12, 0)
    assert told[1]["configuration"] == "hploc/bvh4/auto:triangle_test=watertight@rebuild"
    assert race("--correlate", "--contestants", "lbvh,hploc,sbvh,binned_sah", "--json", *words[:4]) == 0
    found = json.loads(capsys.readouterr().out)["contestants"]
    assert all(one["configuration"].endswith("/bvh2/auto:triangle_test=watertight") for one in found)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "name who takes part: --contestants"),
        (("--contestants", "lbvh," * 8 + "lbvh"), "9 are too many; up to 8"),
        (("--contestants", "lbvh", "--repeat", "5"), "takes 6 passes or more"),
        (("--contestants", "lbhv"), "did you mean lbvh"),
        (("--contestants", "lbvh:leaf=oops"), "--contestants lbvh:leaf=oops"),
        (("--contestants", "lbvh,embree:quality=best"), "one of low, medium, high, dynamic, robust yes or no"),
        (
            ("--correlate", "--contestants", "warp:builder=sah"),
            "Warp takes part in races by rg.race and on the command",
        ),
        (("--contestants", "median_sah@refit"), "cannot be refitted"),
        (("--contestants", "lbvh", "--out", "race.docx"), "written as .json, .csv, .tex, .html"),
        (("--contestants", "lbvh,,hploc"), "are no configurations"),
    ],
)
def test_what_cannot_be_raced_is_a_sentence(
    words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert race(*words) in (1, 2)
    assert sentence in capsys.readouterr().err


def test_who_waits_is_told_how_far_it_is(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["advise", "--demo", "walker", *SMALL, "--frames", "0:4", "--hierarchy", "lbvh", "--beside", "none"]
    monkeypatch.setattr(commands, "PATIENCE_S", 1e9)
    assert race("--contestants", "lbvh") == 0 == main(words)
    assert "Pass" not in (said := capsys.readouterr().err) and "measuring" not in said
    monkeypatch.setattr(commands, "PATIENCE_S", 0.0)
    assert race("--contestants", "lbvh") == 0 == main(words)
    said = capsys.readouterr().err
    assert "Pass 1 of 6." in said and "Comparing hits." in said
    assert re.search(r"^\d+ %: measuring lbvh\.$", said, re.MULTILINE)
    assert race("--contestants", "lbvh", "--quiet") == 0
    assert "Pass" not in capsys.readouterr().err


def test_commas_within_quotes_belong_to_values() -> None:
    assert values.configurations('a:x="1,2"/b, c@refit') == ('a:x="1,2"/b', "c@refit")
    assert values.configurations(r'a:x="\",",b') == (r'a:x="\","', "b")
    for text in ("", ",", "a,,b", 'a:x="1,2'):
        with pytest.raises(argparse.ArgumentTypeError):
            values.configurations(text)


def test_a_file_says_what_is_not_typed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "race.toml"
    file.write_text(
        'demo = "walker"\ncontestants = ["lbvh", "hploc@refit"]\nframes = "1:3"\nsize = "16x8"\nrepeat = 6\nseed = 3\n'
    )
    assert main(["race", str(file), "--device", "cpu", "--size", "8x8", "--set", "demo.triangles=400", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["scene"] == "walker" and told["frames"] == [1, 2] and told["size"] == [8, 8] and told["repeat"] == 6
    assert [one["configuration"] for one in told["contestants"]] == ["lbvh", "hploc@refit"]


def test_an_instant_that_is_typed_is_stronger_than_the_frames_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "race.toml"
    file.write_text('demo = "walker"\ncontestants = ["lbvh"]\nframes = "1:3"\nfov = 40\n')
    names = parse(["race", str(file), "--time", "0.5", "--orthographic", "2"], "0")
    taken_from(names)
    assert names.time == 0.5 and names.frames is None and names.fov is None and names.orthographic == 2.0
    names = parse(["race", str(file)], "0")
    taken_from(names)
    assert names.frames == (1, 3) and names.fov == 40.0 and names.demo == "walker" and names.files == []


def test_a_file_names_models_of_its_own_folder_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside, outside = tmp_path / "races" / "tri.obj", tmp_path / "tri.obj"
    inside.parent.mkdir()
    for model in (inside, outside):
        model.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    file = inside.parent / "race.toml"

    def raced(name: str, *words: str) -> int:
        file.write_text(f'files = ["{name}"]\ncontestants = ["lbvh"]\nrepeat = 6\nsize = "8x8"\n')
        return main(["race", str(file), "--device", "cpu", "--json", *words])

    assert raced("tri.obj") == 0
    assert raced("../tri.obj") == 2
    assert "outside this file's folder (--allow-outside allows it)" in capsys.readouterr().err
    assert raced("../tri.obj", "--allow-outside") == 0
    assert raced("nothing.obj") == 2 and "which is not there" in capsys.readouterr().err


def test_trees_of_files_take_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = tmp_path / "theirs.rgtree"
    assert (
        main(["tree", "export", "--demo", "walker", *SMALL[:2], *SMALL[4:], "--hierarchy", "ploc", "--out", str(tree)])
        == 0
    )
    capsys.readouterr()
    typed = ("--contestants", "brute_force,theirs@refit", "--json")
    assert race(*typed, "--tree", f"theirs={tree}") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["mismatches"] == 0 and told["contestants"][1]["configuration"] == "theirs@refit"
    file = tmp_path / "race.toml"
    file.write_text(
        'contestants = ["brute_force", "theirs@refit"]\nframes = "0:2"\nrepeat = 6\ntrees.theirs = "theirs.rgtree"\n'
    )
    assert main(["race", str(file), "--demo", "walker", *SMALL]) == 0
    assert "theirs@refit" in capsys.readouterr().out
    assert race(*typed, "--tree", f"lbvh={tree}") == 2 and "a builder called lbvh already" in capsys.readouterr().err
    assert race(*typed, "--tree", str(tree)) == 2 and "is not NAME=FILE" in capsys.readouterr().err
    file.write_text('contestants = ["theirs"]\ntrees.theirs = "../theirs.rgtree"\n')
    assert main(["race", str(file), "--demo", "walker", *SMALL]) == 2
    assert "trees names ../theirs.rgtree" in capsys.readouterr().err


def test_wrong_boxes_of_a_file_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bounds = np.array([[0, 0, 0, 9, 9, 9], [1, 1, 1, 0, 0, 0], [0, 0, 0, 9, 9, 9]], np.float32)
    path, out = tmp_path / "theirs.rgtree", tmp_path / "out"
    count = 400 // 2
    tree = rg.Tree(children=[[1, 2], [0, 0], [0, 0]], first=[0, 0, count], count=[0, count, count],
                   primitives=np.arange(400), bounds=bounds)  # fmt: skip
    rg.save_tree(tree, path)
    typed = ("--contestants", "brute_force,theirs@refit", "--tree", f"theirs={path}")
    assert race(*typed, "--json", "--out", f"{out}/") == 0
    note = json.loads(capsys.readouterr().out)["contestants"][1]["note"]
    assert "Node 1" in note and note.endswith("Boxes are computed anew.")
    for file in ("race.json", "race.csv", "race.tex"):
        assert "Boxes are computed anew" in (out / file).read_text(), file
    assert f"B theirs@refit: {html.escape(note)}" in (out / "race.html").read_text()
    assert race(*typed) == 0 and f"B theirs@refit: {note}" in capsys.readouterr().out
    assert note_of("theirs") == "", "it ends with the race"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("trees = 3", "trees is a table of files by names"),
        ("contestants = 3", "contestants is a list of texts"),
        ("oops = 1", "there is no 'oops' in a race"),
        ('size = "big"', "is not a size"),
        ("size = true", "size is a text or a number"),
        ('time = 1\nframes = "0:2"', "a race has frames or time, not both"),
        ("rays = 3", 'rays is a text, as rays = "rays.npz"'),
        ("demo = ", "is no TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_a_sentence(
    text: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "race.toml").write_text(text)
    assert main(["race", str(tmp_path / "race.toml")]) == 2
    assert sentence in capsys.readouterr().err


def test_values_of_a_file_are_named_by_its_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a file says is not told by flags that nobody typed; what is typed is."""
    file = tmp_path / "race.toml"
    for text, sentence in (
        ('contestants = ["oops"]', "contestants oops: "),
        ('contestants = ["lbvh"]\nrepeat = 3', "say repeat 6"),
        ('contestants = ["lbvh"]\nray_type = "oops"', "ray_type oops: "),
        ('contestants = ["oops"]\ntrees.theirs = "race.toml"', "trees: "),
    ):
        file.write_text(text)
        assert main(["race", str(file), "--demo", "walker", *SMALL]) == 2
        told = capsys.readouterr().err
        assert told.startswith(f"error: {file}: ") and sentence in told and "--" not in told
    file.write_text('contestants = ["lbvh"]\nrepeat = 7')
    assert main(["race", str(file), "--demo", "walker", *SMALL, "--contestants", "oops"]) == 2
    assert capsys.readouterr().err.startswith("error: --contestants oops: ")


def test_more_structures_than_a_race_holds_are_correlated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, nine = tmp_path / "all.csv", "lbvh,lbvh/bvh2,lbvh/bvh8,lbvh/cwbvh,hploc,hploc/bvh2,hploc/bvh8,hploc/cwbvh,grid"
    found: list[Survey] = []
    measure = race_survey.survey

    def surveyed(*given: Any, **how: Any) -> Survey:
        found.append(measure(*given, **how))
        return found[0]

    monkeypatch.setattr(race_survey, "survey", surveyed)
    assert race("--correlate", "--contestants", nine, "--out", str(out)) == 0
    printed = capsys.readouterr().out
    assert re.search(
        r"SAH cost: rank correlation [+-]\d\.\d\d with rays per second, of 8 structures, as far by chance in \d",
        printed,
    )
    assert printed == f"{found[0]}\n"
    assert {row["configuration"] for row in csv.DictReader(out.open())} == {*nine.split(",")}
    monkeypatch.setattr(race_survey, "survey", lambda *given, **how: found[0])
    assert race("--correlate", "--json") == 0
    assert capsys.readouterr().out == found[0].to_json()


def test_rays_of_a_sensor_are_correlated(capsys: pytest.CaptureFixture[str]) -> None:
    texts = "lbvh,lbvh/bvh2,hploc,hploc/bvh2"
    assert race("--correlate", "--contestants", texts, "--rays", "dome:rows=4:columns=32:node=head", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rays_said"] == "128 rays of dome:node=head:rows=4:columns=32" and found["mismatches"] == 0
    assert {one["configuration"] for one in found["contestants"]} == {*texts.split(",")}
    assert all(one["longest_warp"] >= one["mean_warp"] > 0 for one in found["contestants"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--rays", "dome:node=wheel"), "there is no node called 'wheel'"),
        (("--out", "all.tex"), "with --correlate it is written as .json, .csv, .html"),
        (("--contestants", "lbhv"), "did you mean lbvh"),
    ],
)
def test_what_cannot_be_correlated_is_a_sentence(
    words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert race("--correlate", *words) in (1, 2)
    assert sentence in capsys.readouterr().err


def test_advice_is_a_table_a_sentence_and_a_file_of_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "advice.toml"
    words = ["--demo", "walker", *SMALL, "--frames", "0:6", "--hierarchy", "lbvh/bvh2"]
    words += ["--set", "hierarchy.lbvh.code_bits=60"]
    assert main(["advise", *words, "--out", str(out), "--beside", "lbvh/bvh4"]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[0].split() == ["policy", "ms", "regret", "rebuilds"]
    assert "the best schedule" in printed and " ms per frame instead of " in printed
    assert re.search(r"From [\d,]+ rays per frame on, rebuilding|more rays do not make rebuilds pay", printed)
    beside = (
        r"By the best schedule of each:\n  lbvh:code_bits=60/bvh4 takes [\d.]+ ms per frame instead of [\d.]+, \d+ % "
    )
    assert re.search(beside + "(less|more)[;,]", printed)
    mode = tomllib.loads(out.read_text())["update"]["mode"]
    assert out.read_text().startswith("# lbvh:code_bits=60/bvh2, 6 frames, 384 rays: ")
    assert main(["view", "--settings", str(out), "--print-settings"]) == 0
    assert f'mode = "{mode}"' in capsys.readouterr().out or mode == "rebuild"
    assert main(["advise", *words, "--json", "--exact", "--beside", "none"]) == 0
    assert json.loads(capsys.readouterr().out)["interpolation_error"] is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--frames", "0:1"], "advice is for 2 to 1000 frames, and these are 1"),
        (["--hierarchy", "median_sah"], "cannot be refitted"),
        (["--beside", "nothing_such"], "--beside: configuration 'nothing_such': there is no builder"),
        (["--out", "advice.csv"], "advice is written as .json, or as .toml"),
    ],
)
def test_what_cannot_be_advised_is_a_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [] if "--frames" in words else ["--frames", "0:3"]
    assert main(["advise", "--demo", "walker", *SMALL, *given, *words]) in (1, 2)
    assert sentence in capsys.readouterr().err


def test_rays_of_a_file_are_raced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(4)
    np.savez(tmp_path / "rays.npz", origins=random.normal(size=(50, 3)) * 3.0, directions=random.normal(size=(50, 3)))
    assert race("--contestants", "lbvh@refit,brute_force", "--rays", str(tmp_path / "rays.npz"), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["size"] == [50, 1] and told["mismatches"] == 0 and told["contestants"][0]["rays"] == 50
    words = ["--demo", "walker", *SMALL, "--frames", "0:3", "--hierarchy", "lbvh", "--rays", str(tmp_path / "rays.npz")]
    assert main(["advise", *words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rays"] == told["measured_rays"] == 50 and told["frames"] == 3
    file = tmp_path / "race.toml"
    file.write_text('contestants = ["lbvh", "hploc"]\nframes = "0:1"\nrepeat = 6\nrays = "rays.npz"\n')
    assert main(["race", str(file), "--demo", "walker", *SMALL, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["size"] == [50, 1]
    file.write_text(
        'contestants = ["lbvh", "hploc"]\nframes = "0:1"\nrepeat = 6\nrays = "dome:rows=2:columns=8:node=head"\n'
    )
    assert main(["race", str(file), "--demo", "walker", *SMALL, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["size"] == [16, 1]
    file.write_text('contestants = ["lbvh"]\nrays = "none.npz"\n')
    assert main(["race", str(file), "--demo", "walker", *SMALL]) == 2
    assert "rays names none.npz, which is not there" in capsys.readouterr().err


def test_a_page_names_a_file_whose_name_is_no_utf_8(tmp_path: Path) -> None:
    path, page = tmp_path / "be\udcffams.npz", tmp_path / "race.html"
    with path.open("wb") as file:
        np.savez(file, origins=np.zeros((2, 3)), directions=np.ones((2, 3)))
    assert race("--contestants", "lbvh,brute_force", "--rays", str(path), "--out", str(page)) == 0
    assert r"rays of be\xffams.npz" in page.read_text(encoding="utf-8")


def test_hidden_objects_are_left_out_of_races_over_rays(capsys: pytest.CaptureFixture[str]) -> None:
    """Without the ground, `scene`, fewer of a sensor's rays hit, and all contestants agree; Embree is given all of the
    scene, and says so."""
    rays = ("--rays", "lidar:rows=8:columns=32:fov=-60,20:node=head:at=0,0.8,0")
    hits = []
    for words in ((), ("--hide", "scene")):
        assert race("--contestants", "lbvh@refit,brute_force", *rays, *words, "--json") == 0
        told = json.loads(capsys.readouterr().out)
        assert told["mismatches"] == 0 and told["size"] == [256, 1]
        hits.append(told["contestants"][1]["proof"]["hits"])
    assert hits[1] < hits[0] and hits[0] > 0
    assert race("--contestants", "embree", "--rays", "dome", "--hide", "scene") in (1, 2)
    assert "Embree is given the whole scene here" in capsys.readouterr().err
