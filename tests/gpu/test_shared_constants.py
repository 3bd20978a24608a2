"""Constants that stand in Python and in a kernel file alike, where a unit is not told them: both say the same."""

from __future__ import annotations

import ast
import importlib
import pathlib
import re
from collections.abc import Iterator

import numpy as np
import pytest

from raygrove.gpu.hierarchy.bvh import pairing
from raygrove.gpu.hierarchy.bvh.builders import hploc, hploc_sah
from raygrove.gpu.target.translation_unit import ROOT, read_source
from tests.gpu.hierarchy import kd_reference, median_reference

BVH = "gpu/hierarchy/bvh/"
FOR_ALL = pathlib.Path(ROOT, "gpu/device")
"""Its headers are every room's, so that any module of gpu may say their constants again."""
OTHER_MEANINGS = {("LEAST_GAIN", "choosing.py"), ("SIDE", "planned_units.py")}
"""Names in a module that are another thing's in gpu/device: a gain of time, the side of a picture."""


def constant(path: str, name: str) -> int:
    """The value of a `constexpr int` that a kernel file writes as a number."""
    found = re.findall(rf"^constexpr int\b[^;]*\b{name} = (\d+)[,;]", read_source(path), re.MULTILINE)
    assert len(found) == 1, f"{path}: {name} is written {len(found)} times"
    return int(found[0])


def numbers_of_kernels(text: str) -> Iterator[tuple[str, float]]:
    """Names and values of the constants that a kernel file writes as numbers or computes from those before."""
    known: dict[str, float] = {}
    for found in re.finditer(r"constexpr\s+(?:int|unsigned|float|int64|uint64)\s+([^;]+);", text):
        for one in re.split(r",(?![^(]*\))", found[1]):
            name, _, value = (part.strip() for part in one.partition("="))
            try:
                known[name] = eval(re.sub(r"(?<=[\d.])(?:f|u(?:ll)?)\b", "", value), {"__builtins__": {}}, known)
            except (SyntaxError, NameError, TypeError, ArithmeticError):
                continue  # of other headers, or of a type
            yield name, known[name]


def numbers_of_module(path: pathlib.Path) -> Iterator[tuple[str, float]]:
    """Names, without a leading underscore, and values of the numbers that a module assigns at its top."""
    dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    values = vars(importlib.import_module(f"raygrove.{dotted}"))
    for statement in ast.parse(path.read_text()).body:
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            for name in ast.walk(target):
                value = values.get(name.id) if isinstance(name, ast.Name) else None
                if isinstance(name, ast.Name) and isinstance(value, int | float) and not isinstance(value, bool):
                    yield name.id.lstrip("_"), value


def said_twice() -> list[tuple[str, pathlib.Path, float, pathlib.Path, float]]:
    """Constants of one name in a kernel file and in a module of its folder, or of a folder above within its family, or,
    for what all kernels include, of any room."""
    found = []
    for folder in sorted({path.parent for path in pathlib.Path(ROOT, "gpu").rglob("*.cu*")}):
        families = pathlib.Path(ROOT, "gpu/hierarchy")
        above = [other for other in folder.parents if families in other.parents or other == families]
        beside = [path for place in (folder, *above) for path in sorted(place.glob("*.py"))]
        modules = sorted(pathlib.Path(ROOT, "gpu").rglob("*.py")) if folder == FOR_ALL else beside
        python = [(name, path, value) for path in modules for name, value in numbers_of_module(path)]
        for path in sorted(folder.glob("*.cu*")):
            for name, value in numbers_of_kernels(path.read_text()):
                found += [(name, path, value, other, said) for other_name, other, said in python if other_name == name]
    return [one for one in found if (one[0], one[3].name) not in OTHER_MEANINGS]


def test_a_name_in_python_and_in_the_kernels_beside_it_means_the_same() -> None:
    found = said_twice()
    assert len(found) > 20
    assert ("ENCODE_STEPS", "srgb.py") in {(name, module.name) for name, _, _, module, _ in found}
    wrong = [
        f"{name}: {kernel} says {a}, {module} says {b}"
        for name, kernel, a, module, b in found
        if a != b and not (isinstance(a, float) and np.float32(a) == np.float32(b))
    ]
    assert not wrong, "\n".join(wrong)


def test_numbers_of_kernels_are_read() -> None:
    text = "constexpr int ONE = 1, TWO = ONE + 1;\nconstexpr float HALF = 0.5f;\nconstexpr int OTHER = sizeof(Tree);"
    assert dict(numbers_of_kernels(text)) == {"ONE": 1, "TWO": 2, "HALF": 0.5}


def test_depths_of_pairing_builders_are_the_sums_of_what_their_kernels_add() -> None:
    """The largest rank of a gap is 31 above the codes, and the last clusters of the root are halved."""
    headroom, halvings = constant(BVH + "pairing.cuh", "HEADROOM"), pairing.HALF.bit_length() - 1
    assert 31 + headroom + halvings == hploc._ABOVE_CODES
    ranks = constant(BVH + "builders/hploc_sah/cut_chunks.cu", "POSITION_RANKS")
    assert ranks + headroom + halvings == hploc_sah._IN_CHUNKS


@pytest.mark.parametrize(
    ("name", "value"), [("CUT_SLACK", median_reference.SLACK), ("POLYGON_SLACK", kd_reference.POLYGON_SLACK)]
)
def test_oracles_in_numpy_have_the_kernels_tolerances(name: str, value: float) -> None:
    """What is cut by planes has the same bounds, bit by bit."""
    found = re.search(rf"\b{name} = ([\d.e-]+)f;", read_source("gpu/device/epsilons.cuh"))
    assert found is not None and np.float32(found[1]) == np.float32(value)
