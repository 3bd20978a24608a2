"""The campaign itself, and the files that it has found."""

from __future__ import annotations

import io
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import SceneError
from tests.campaign.mutations import _arrays, _line, _word, mutant
from tests.campaign.run import FINDINGS, outcome_of, run
from tests.campaign.targets import Target, all_targets, read_model
from tests.waiting import PROCESS_S

ROOT = Path(__file__).resolve().parents[2]
FOUND = sorted(FINDINGS.iterdir())


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> list[Target]:
    return all_targets(tmp_path_factory.mktemp("seeds"))


def test_every_kind_of_file_begins_with_good_ones() -> None:
    """In a process of its own, as a campaign runs, which forks its readers."""
    command = [sys.executable, "-m", "tests.campaign", "--good"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PROCESS_S, check=False)
    lines = done.stdout.splitlines()
    bad = [line for line in lines if line.split()[1] != "value"]
    assert done.returncode == 0 and not bad and len(lines) >= 19, done.stdout + done.stderr


def test_a_mutant_is_the_same_whenever_it_is_made(targets: list[Target]) -> None:
    for target in targets:
        first, second = (mutant(target.seeds[0], target.ending, random.Random("1/x/7")) for _ in range(2))
        assert first == second
        others = {mutant(target.seeds[0], target.ending, random.Random(f"1/x/{number}")) for number in range(20)}
        assert len(others) > 10


def test_archives_and_tables_stay_well_written_where_that_is_meant() -> None:
    """What changes arrays, words and lines: archives still open with other arrays, a table has the keys it had."""
    made = io.BytesIO()
    np.savez(made, a=np.arange(6.0).reshape(2, 3), b=np.arange(3))
    found = [_arrays(made.getvalue(), random.Random(number)) for number in range(30)]
    shapes = set()
    for data in found:
        with np.load(io.BytesIO(data)) as archive:
            shapes |= {(name, archive[name].shape, archive[name].dtype.str) for name in archive.files}
    assert len(shapes) > 8 and _arrays(b"no archive", random.Random(1)) == b"no archive"
    words = {_word(bytes(range(16)), random.Random(number)) for number in range(40)}
    assert len(words) > 15 and {len(one) for one in words} == {16}
    lines = _line(b"a = 1\nb = 2\n", random.Random(2))
    assert [line.split(b" = ")[0] for line in lines.split(b"\n")] == [b"a", b"b", b""]


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
