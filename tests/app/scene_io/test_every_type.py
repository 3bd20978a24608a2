"""Each type of file that is read has its bad cases: what is no such file is a sentence, whichever ending it has."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest

from raygrove.app.scene_io import ImportLimits, SceneError, exchange, load
from raygrove.app.scene_io.files import COMMON, USD_ENDINGS
from raygrove.app.scene_io.particles.formats import BY_ENDING, LAID_OUT, SHARED
from raygrove.app.scene_io.trees.formats import ENDINGS, READERS
from raygrove.app.scene_io.trees.read import read_tree
from tests.app.scene_io.particles import files

NOISE = random.Random(11).randbytes(4096)
DAMAGE = {"nothing": b"", "zeros": bytes(512), "letters": b"Dear reader, this is no model.\n" * 9, "noise": NOISE}
LIMITS = ImportLimits(seconds=60.0, memory_mib=1024, max_particles=100_000)
OWN = sorted(ending for ending, form in BY_ENDING.items() if not form.package and ending not in SHARED)
OF_LIBRARIES = sorted({*USD_ENDINGS, *COMMON, *(ending for ending, form in BY_ENDING.items() if form.package)})
MODULES = {"chemfiles": "chemfiles", "gsd": "gsd.hoomd", "laspy": "laspy"}


def is_sentence(error: SceneError, name: str) -> bool:
    said = str(error).rstrip()
    return name in said and said.endswith((".", ")")) and "Traceback" not in said and len(said) < 900


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ending", OWN)
def test_what_is_no_file_of_particles_is_a_sentence(ending: str, tmp_path: Path) -> None:
    """Read in this process by readers of this program's own; numbers without a header may be any."""
    refused = []
    for name, data in DAMAGE.items():
        path = tmp_path / f"bad.{ending}"
        path.write_bytes(data)
        try:
            exchange.check(files.read(path, LIMITS))
        except SceneError as error:
            assert is_sentence(error, f"bad.{ending}"), str(error)
            refused.append(name)
    assert refused == list(DAMAGE) or (ending in LAID_OUT and refused)


@pytest.mark.parametrize("ending", OF_LIBRARIES)
def test_what_is_no_file_of_a_library_is_a_sentence(ending: str, tmp_path: Path) -> None:
    """In the importing child, which such files may end; where a library is not installed the sentence names it."""
    path = tmp_path / f"bad.{ending}"
    path.write_bytes(NOISE)
    with pytest.raises(SceneError) as caught:
        load([path], LIMITS)
    assert is_sentence(caught.value, f"bad.{ending}"), str(caught.value)
    package = BY_ENDING[ending].package if ending in BY_ENDING else ""
    if package and importlib.util.find_spec(MODULES[package].partition(".")[0]) is None:
        assert package in str(caught.value)


@pytest.mark.parametrize("name", READERS)
def test_what_is_no_tree_is_a_sentence(name: str, tmp_path: Path) -> None:
    """Nodes without a header may be any bytes; what they say is proved before it is used."""
    ending = next((one for one, form in ENDINGS.items() if form == name), ".bin")
    refused = []
    for kind, data in DAMAGE.items():
        path = tmp_path / f"bad{ending}"
        path.write_bytes(data)
        try:
            read_tree(str(path), name, LIMITS)
        except SceneError as error:
            assert is_sentence(error, f"bad{ending}"), str(error)
            refused.append(kind)
    assert {"nothing", "noise"} <= {*refused}, refused
