"""Files and modules that a person names to have their builders."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from raygrove.gpu.hierarchy import plug_ins, registry
from raygrove.gpu.hierarchy.plug_in_files import PlugInError, take_files

FUNCTION = """
import numpy as np
import raygrove as rg

{before}

@rg.builder("{name}")
def build(bounds):
    return rg.Tree(children=[[0, 0]], first=[0], count=[len(bounds)], primitives=np.arange(len(bounds)))
"""


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before, modules = set(registry.structures()), set(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(registry, "named_plug_ins", [])
    yield
    for name in set(registry.structures()) - before:
        registry.unregister(name)
    for module in set(sys.modules) - modules:
        del sys.modules[module]


def test_a_file_and_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").write_text("SIZE = 4\n")
    path = tmp_path / "own_file.py"
    path.write_text(FUNCTION.format(name="of_file", before="import beside_it"))
    take_files([str(path)])
    assert registry.structure("of_file").__module__ == "own_file" and registry.named_plug_ins == [str(path)]
    take_files([str(path)])  # once more does nothing


def test_a_module_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_package").mkdir()
    (tmp_path / "own_package" / "__init__.py").write_text("")
    (tmp_path / "own_package" / "trees.py").write_text(FUNCTION.format(name="of_module", before=""))
    monkeypatch.syspath_prepend(tmp_path)
    take_files(["own_package.trees"])
    assert "of_module" in registry.structures() and registry.named_plug_ins == ["own_package.trees"]


def test_a_name_that_a_module_has_already(tmp_path: Path) -> None:
    path = tmp_path / "json.py"
    path.write_text(FUNCTION.format(name="of_json", before=""))
    take_files([str(path)])
    assert registry.structure("of_json").__module__ == "plug_in_json" and hasattr(sys.modules["json"], "loads")


def test_a_structure_that_is_a_class(tmp_path: Path) -> None:
    path = tmp_path / "own_class.py"
    path.write_text(
        "from raygrove.gpu.hierarchy.bvh.builders.lbvh import Lbvh\n\n\nclass Again(Lbvh):\n    name = 'again'\n"
    )
    take_files([str(path)])
    assert registry.structure("again").family == "bvh"


@pytest.mark.parametrize(
    "text, sentence",
    [
        (None, "there is no such file"),
        ("import nowhere_at_all", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("x = = 1", "SyntaxError"),
        ("raise SystemError('no luck.')", "SystemError: no luck."),
        ("x = 1", "registers no builder: put @raygrove.builder"),
        (FUNCTION.format(name="lbvh", before=""), ": There is a structure called lbvh already"),
    ],
)
def test_a_file_that_gives_none_is_named(tmp_path: Path, text: str | None, sentence: str) -> None:
    path = tmp_path / "faulty_file.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(PlugInError, match=f"--plug-in .*faulty_file.py.*{sentence}"):
        take_files([str(path)])
    assert registry.named_plug_ins == [] and "faulty_file" not in sys.modules or text == "x = 1"


def test_a_pipe_makes_nobody_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(PlugInError, match=r"pipe\.py: it is not a file\.$"):
        take_files([str(tmp_path / "pipe.py")])


def test_an_entry_point_that_leads_to_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As docs/plug-ins.md says; the names of others stay theirs."""
    from importlib.metadata import EntryPoint

    (tmp_path / "own_points.py").write_text(FUNCTION.format(name="of_point", before=""))
    monkeypatch.syspath_prepend(tmp_path)
    points = [EntryPoint("of_point", "own_points", plug_ins.GROUP)]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points)
    registry._installed.cache_clear()
    try:
        assert registry.structures()["of_point"].__module__ == "own_points"
        assert registry.structure("of_point").family == "bvh"
        path = tmp_path / "another.py"
        path.write_text(FUNCTION.format(name="of_point", before=""))
        registry.unregister("of_point")
        with pytest.raises(PlugInError, match="There is a structure called of_point already, of own_points"):
            take_files([str(path)])
    finally:
        registry._installed.cache_clear()
