"""A folder is an option: what is found, and what is said of a folder that breaks its promise."""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Iterator

import pytest

from raygrove.gpu.hierarchy import registry
from raygrove.gpu.hierarchy.base import Hierarchy, HierarchyError
from raygrove.gpu.hierarchy.brute_force import BruteForce
from raygrove.gpu.hierarchy.primitives import KINDS
from raygrove.gpu.settings import OptionError, fields_of
from raygrove.gpu.target.translation_unit import read_source


def package(name: str, **content: object) -> types.ModuleType:
    made = types.ModuleType(f"raygrove.gpu.hierarchy.bvh.builders.{name}")
    for key, value in content.items():
        if isinstance(value, type):
            value.__module__ = made.__name__
        setattr(made, key, value)
    return made


def structure(name: str) -> type[Hierarchy]:
    return type("Made", (BruteForce,), {"name": name})


def test_who_asks_for_one_structure_after_the_other_reads_the_folders_once(monkeypatch: pytest.MonkeyPatch) -> None:
    names, looks, look = list(registry.own_structures()), [], registry._found_folders

    def counted() -> Iterator[tuple[str, str]]:
        looks.append(1)
        return look()

    monkeypatch.setattr(registry, "_found_folders", counted)
    registry._folders.cache_clear()
    registry._own.cache_clear()
    assert [registry.structure(name).name for name in names] == names
    assert len(looks) == 1


def test_the_folders_are_the_structures() -> None:
    found = registry.structures()
    assert {"lbvh", "brute_force"} <= set(found)
    assert all(registry.structure(name) is found[name] and found[name].name == name for name in found)
    assert {"bvh2", "bvh4", "bvh8", "cwbvh"} <= set(registry.layouts()["lbvh"]) == set(registry.telling_layouts("lbvh"))
    assert all(
        registry.telling_layouts(name) == ("bvh4", "bvh2")
        for name in found
        if found[name].family == "bvh" and name != "lbvh"
    )
    assert registry.traversals()["bvh2"] == ("bvh2_stack", "bvh2_packet")


def test_every_structure_can_be_shown_and_set() -> None:
    for found in registry.structures().values():
        assert found.title and found.family and dataclasses.is_dataclass(found.Options)
        assert all(field.info.sentence.endswith(".") for field in fields_of(found.Options))
        for kind in ("host", "cuda"):
            assert found.default_layout(kind) in found.layouts()
        assert all(found.traversals(layout) for layout in found.layouts())


def test_a_kinds_record_is_as_long_as_its_header_says() -> None:
    length = re.compile(r"RECORD_FLOAT4S = (\d+|(\w+)::RECORD_FLOAT4S);")
    by_records = {kind.records_type: kind for kind in KINDS.values()}
    for kind in KINDS.values():
        found = length.search(read_source(kind.header))
        if found and found[2]:  # as long as another kind's
            found = length.search(read_source(by_records[found[2]].header))
        assert found and 4 * int(found[1]) == kind.record_floats
        assert f"struct {kind.view_type} " in read_source(
            kind.header
        ) and f"struct {kind.records_type} " in read_source(kind.header)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(OptionError, match="brute_force, .*lbvh"):
        registry.structure("octree_of_dreams")


def test_one_is_found_alone_as_it_is_among_all() -> None:
    known = registry.structures()
    assert {name: registry.find(name) for name in known} == known
    assert registry.find("octree_of_dreams") is None


def test_two_of_one_name_are_refused() -> None:
    twice = [("a", package("a", Made=structure("a"))), ("a", package("a_again", Made=structure("a")))]
    with pytest.raises(HierarchyError, match="Two structures are called a"):
        registry.collect(twice)


def test_a_name_that_is_not_the_folders_is_refused() -> None:
    with pytest.raises(HierarchyError, match="'b'.*'a'"):
        registry.collect([("a", package("a", Made=structure("b")))])


def test_a_folder_without_a_structure_is_refused() -> None:
    with pytest.raises(HierarchyError, match="builders.a must define one structure.*defines 0"):
        registry.collect([("a", package("a", Other=BruteForceLike))])
    with pytest.raises(HierarchyError, match="defines 2"):
        registry.collect([("a", package("a", One=structure("a"), Two=structure("a")))])


class BruteForceLike:
    """No Hierarchy."""
