"""What the window asks of `bench suite` and reads of its answers, against the command itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.app.cli.arguments import parse
from raygrove.app.cli.main import main
from raygrove.app.document.suite_runs import Asked, Progress, list_words, progress_of, suites_of, tables_of
from raygrove.bench.suites import scene_names, suites, takes_own


def test_the_list_has_all_suites_and_says_what_is_at_hand(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "static"
    folder.mkdir()
    (folder / "stanford-bunny.obj.xz").touch()
    assert main(list_words(str(tmp_path))) == 0
    found = {suite.name: suite for suite in suites_of(capsys.readouterr().out)}
    assert set(found) == set(suites())
    for name, suite in found.items():
        assert suite.takes_own == takes_own(name) and suite.about.endswith(".")
        assert tuple(dict.fromkeys(scene.name for scene in suite.scenes)) == scene_names(name)
    there = {scene.name: scene.is_there for scene in found["meister2014"].scenes}
    assert there["Mitsuba"] and there["Toasters"] and not there["Crytek Sponza"], "packed, built in, absent"
    assert main(["bench", "suite", "--list"]) == 0
    assert "no: name it by --data" in capsys.readouterr().out


def test_words_mean_what_was_asked() -> None:
    asked = Asked(
        "chang2012",
        Path("out/chang2012"),
        files=("a model.glb",),
        demo="walker",
        structures="lbvh@refit, hploc/bvh4",
        data="models",
        size=(64, 48),
        repeat=3,
        device="cpu",
    )
    names = parse(asked.words(), "0")
    assert names.files == ["chang2012", "a model.glb"] and names.demo == "walker" and names.size == (64, 48)
    assert names.scenes == ("none",) and names.structures == ("lbvh@refit", "hploc/bvh4") and names.repeat == 3
    assert (names.data, names.device, names.progress, names.out) == ("models", "cpu", "json", "out/chang2012")
    few = parse(Asked("chang2012", Path("x"), scenes=("SR1", "FF")).words(), "0")
    assert few.scenes == ("SR1", "FF") and few.size is None and few.structures is None


@pytest.mark.parametrize("line", ["Wrote it.", "{}", "[1]", '{"scene": 1}', "nan", '"scene"'])
def test_other_lines_are_no_progress(line: str) -> None:
    assert progress_of(line) is None


def test_progress_counts_scenes_that_are_done() -> None:
    told = progress_of('{"scene": "Head", "number": 3, "of": 4, "rows": 0, "rows_of": null}')
    assert told == Progress("Head", 3, 4, 0, None) and told.share == 0.5 and told.sentence == "Head, scene 3 of 4"


def test_progress_moves_within_a_scene() -> None:
    told = progress_of('{"scene": "Head", "number": 3, "of": 4, "rows": 3, "rows_of": 12}')
    assert told is not None and told.share == (2 + 0.25) / 4
    assert told.sentence == "Head, scene 3 of 4, row 3 of 12"
    assert Progress("Head", 4, 4, 1, None).share is None, "rows, and nobody knows of how many"
    assert Progress("Head", 4, 4, 1, None).sentence == "Head, scene 4 of 4, 1 row measured"
    assert Progress("Head", 4, 4, 30, 20).share == 1.0, "more than the scene before had"
    assert Progress("Head", 4, 4, 30, 20).sentence.endswith("30 rows measured")


def test_what_is_no_report_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(KeyError):
        tables_of(tmp_path / "other.json")
