"""What users run is optimised further than what the tests compile (tests/conftest.py), and computes the same.

Without contraction each operation is rounded by itself, whatever the compiler does with it, so trees, hits and pictures
are equal byte by byte. With it, as users have it, a compiler chooses what is fused, so hits are the oracle's.
"""

from __future__ import annotations

from typing import Any

import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.hierarchy.registry import structures, telling_layouts
from raygrove.gpu.settings import fields_of
from raygrove.gpu.shade.registry import ray_type, ray_types
from raygrove.testing import make_target
from raygrove.testing.contract import all_bytes, assert_hits, scene_and_hits
from raygrove.testing.scenes import make, rays, trace
from tests.conftest import HOST_FLAGS
from tests.gpu.engine_scenes import SCENES
from tests.gpu.shade.pictures import picture

USUAL = {("lbvh", "bvh8"), ("sah_events", "kd8"), ("ao", "megakernel")}
"""What has little code in common; all others are asked for by -m full."""


def over(choices: list[tuple[str, str]]) -> pytest.MarkDecorator:
    cases = [
        pytest.param(*choice, marks=[] if choice in USUAL else pytest.mark.full, id="-".join(filter(None, choice)))
        for choice in choices
    ]
    return pytest.mark.parametrize(("name", "form"), cases)


over_structures = over([(name, layout) for name in structures() for layout in telling_layouts(name)])


def strategies(name: str) -> tuple[str, ...]:
    return next(
        (field.info.choices[1:] for field in fields_of(ray_type(name).Options) if field.name == "strategy"), ("",)
    )


def built_and_traced(name: str, layout: str) -> list[bytes]:
    """A tree after a build and after a refit, and the hits through it, by packs as wide as the processor has them."""
    scene, _ = scene_and_hits("soup")
    found: list[bytes] = []
    with make_target("host", contraction=False) as target:
        hierarchy = make(target, name, layout)
        hierarchy.build(scene.upload(target))
        for kind in ("closest", "any"):
            found += [column.tobytes() for column in vars(trace(hierarchy, *rays(), kind)).values()]
        found += all_bytes(hierarchy)
        if hierarchy.capabilities.refit:
            hierarchy.refit(scene.upload(target, later=True))
            found += all_bytes(hierarchy)
    return found


def drawn(name: str, strategy: str) -> list[bytes]:
    options: Any = ray_type(name).Options(strategy=strategy) if strategy else None
    with make_target("host", contraction=False) as target:
        return [picture(target, SCENES["short"](), Camera(eye=(0.0, 0.5, 4.0)), (43, 21), name, options).tobytes()]


@over_structures
def test_trees_and_hits_are_the_tests_bit_by_bit(name: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYGROVE_HOST_FLAGS", HOST_FLAGS)
    tested = built_and_traced(name, form)
    monkeypatch.delenv("RAYGROVE_HOST_FLAGS")
    assert built_and_traced(name, form) == tested


@over([(name, strategy) for name in ray_types() for strategy in strategies(name)])
def test_pictures_are_the_tests_bit_by_bit(name: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYGROVE_HOST_FLAGS", HOST_FLAGS)
    tested = drawn(name, form)
    monkeypatch.delenv("RAYGROVE_HOST_FLAGS")
    assert drawn(name, form) == tested


@over_structures
def test_hits_are_the_oracles(name: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAYGROVE_HOST_FLAGS")
    scene, expected = scene_and_hits("soup")
    with make_target("host") as target:
        hierarchy = make(target, name, form)
        hierarchy.build(scene.upload(target))
        assert_hits(hierarchy, expected)
