"""The campaign itself, and the files that it has found."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from raygrove.app.scene_io import SceneError
from tests.campaign.mutations import mutant
from tests.campaign.run import FINDINGS, outcome_of, run
from tests.campaign.targets import Target, all_targets, read_model

FOUND = sorted(FINDINGS.iterdir())


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> list[Target]:
    return all_targets(tmp_path_factory.mktemp("seeds"))


def test_every_kind_of_file_begins_with_good_ones(targets: list[Target], tmp_path: Path) -> None:
    for target in targets:
        for name, content in target.beside:
            (tmp_path / name).write_bytes(content)
        path = tmp_path / f"good.{target.ending}"
        path.write_bytes(target.seeds[0])
        assert outcome_of(target, path) == ("value", ""), target.name
    assert len(targets) >= 14


def test_a_mutant_is_the_same_whenever_it_is_made(targets: list[Target]) -> None:
    for target in targets:
        first, second = (mutant(target.seeds[0], target.ending, random.Random("1/x/7")) for _ in range(2))
        assert first == second
        others = {mutant(target.seeds[0], target.ending, random.Random(f"1/x/{number}")) for number in range(20)}
        assert len(others) > 10


def _read(path: Path) -> object:
    data = path.read_bytes()
    if data == b"value":
        return data
    if data == b"sentence":
        raise SceneError("It cannot be read.")
    if data == b"crash":
        raise SceneError("the reader crashed (SIGSEGV); the file is damaged.")
    if data == b"report":
        raise SceneError("It ended. Please report this with the file.")
    raise KeyError("what no person should see")


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        (b"value", "value"), (b"sentence", "sentence"), (b"crash", "crash in the child"), (b"report", "finding"),
        (b"else", "finding"),
    ],
)  # fmt: skip
def test_outcomes_are_told_apart(data: bytes, outcome: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(data)
    assert outcome_of(Target("x", "x", _read, ()), tmp_path / "file")[0] == outcome


def test_findings_are_kept_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = Target("x", "bin", _read, (b"something longer than a word",))
    counts = run([target], 6, 60.0, 3, tmp_path, keep=tmp_path / "kept")
    assert counts["x"]["finding"] == 6 and "KeyError" in capsys.readouterr().out
    kept = sorted((tmp_path / "kept").iterdir())
    assert len(kept) == 6 and kept[0].name == "x-3-0.bin"
    assert run([target], 6, 0.0, 3, tmp_path, keep=tmp_path / "kept")["x"].total() == 0, "no time is none"


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_what_was_found_is_a_sentence_now(path: Path, targets: list[Target]) -> None:
    known = (one for one in targets if path.name.startswith(f"{one.name}-"))
    target = next(known, None) or Target(path.suffix[1:], path.suffix[1:], read_model, ())  # a kind without seeds here
    assert outcome_of(target, path)[0] in ("value", "sentence")
