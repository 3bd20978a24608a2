"""What `import raygrove` gives: quickly, each name once, and typed."""

from __future__ import annotations

import ast
import pathlib
import subprocess
import sys

import pytest

import raygrove
from raygrove.version import VERSION
from tests.waiting import PROCESS_S

PROGRAM = """
import sys, raygrove
print(any(name in sys.modules for name in ("numpy", "subprocess", "raygrove.gpu", "raygrove.app")))
from raygrove import *
print(build.__module__, sorted(raygrove.__all__) == raygrove.__all__)
"""


def test_it_is_imported_quickly_and_loads_the_rest_on_demand() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=PROCESS_S, check=True
    )
    assert done.stdout.split() == ["False", "raygrove.gpu.face.building", "True"]


FIRST_TRACE = """
import sys
import raygrove as rg
with rg.build([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], "hploc", device="cpu") as tree:
    print(tree.trace([0.2, 0.2, 1.0], [0.0, 0.0, -1.0]).prim_id.tolist())
print(*sys.modules)
"""
NOT_FOR_A_TRACE = (
    "engine inspector view_slot scene shade animate nbody glyphs painters analysis query.query hierarchy.kdtree "
    "hierarchy.octree hierarchy.grid hierarchy.bvh.builders.sbvh hierarchy.bvh.own face.stepping face.ray_files"
)


def test_a_first_trace_imports_no_more_than_it_needs() -> None:
    """Half of what it cost was such imports: of the laboratory, of frames, and of every other structure."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_TRACE], capture_output=True, text=True, timeout=PROCESS_S, check=True
    )
    hit, modules = done.stdout.splitlines()
    assert hit == "[0]" and "raygrove.gpu.hierarchy.bvh.builders.hploc" in modules.split()
    for room in NOT_FOR_A_TRACE.split():
        assert f"raygrove.gpu.{room}" not in modules.split(), room
    for library in ("importlib.metadata", "logging", "numpy.ma", "cupy"):
        assert library not in modules.split(), library


def test_every_name_is_there_and_documented() -> None:
    assert raygrove.__version__ == VERSION and set(raygrove.__all__) <= set(dir(raygrove))
    for name in {*raygrove.__all__, "open"} - {"__version__"}:
        assert getattr(raygrove, name).__doc__ and name in (raygrove.__doc__ or ""), name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = raygrove.nothing


def test_type_checkers_see_what_is_loaded() -> None:
    tree = ast.parse(pathlib.Path(raygrove.__file__ or "").read_text(encoding="utf-8"))
    named = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("raygrove.gpu.", "raygrove.app."))
        for alias in node.names
    }
    assert named == raygrove._HOME_OF and set(named) == set(raygrove.__all__) - {"__version__"} | {"open"}


@pytest.mark.parametrize(("call", "missing"), [("NotebookViewer", "PIL"), ("show", "platformdirs")])
def test_what_needs_more_than_numpy_says_what_is_missing(call: str, missing: str) -> None:
    program = f"""
import sys
sys.modules[{missing!r}] = None
import raygrove as rg
try:
    rg.{call}(([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]))
except rg.Error as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PROCESS_S, check=True
    )
    assert f"he library {missing} is missing" in done.stdout, done.stdout
