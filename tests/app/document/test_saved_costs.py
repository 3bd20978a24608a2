"""What a picture's state may cost who opens it, and what is said of that."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from raygrove.app.document.saved_state import affordable_size, state_of, texts_of
from raygrove.app.document.state import SceneReference, State
from raygrove.app.settings.file import to_table
from raygrove.app.settings.settings import Settings, option_field, set_option
from tests.app.document.test_saved_state import STATE

COSTS: dict[str, float] = {
    "render.samples": 1024,
    "display.still_samples": 1024,
    "display.refine_samples": 1024,
    "demo.triangles": 1_000_000,
    "demo.sphere_pixels": 64.0,
    "hierarchy.grid.density": 50.0,
    "hierarchy.grid.references_per_primitive": 32.0,
    "hierarchy.grid_two_level.density": 5.0,
    "hierarchy.grid_two_level.cell_density": 50.0,
    "hierarchy.grid_two_level.references_per_primitive": 32.0,
    "ray_type.ao.rays": 64,
    "ray_type.diffuse.rays": 64,
    "ray_type.radiosity.points": 200_000,
    "ray_type.radiosity.bounces": 100,
    "ray_type.radiosity.rays": 64,
    "ray_type.radiosity.light_samples": 64,
    "ray_type.whitted.light_samples": 64,
    "ray_type.distributed.light_samples": 64,
}
"""What becomes of settings that cost much, where a picture sets them as high as they go."""


def test_a_picture_says_what_it_reads_and_costs_no_more_than_it_may(tmp_path: Path) -> None:
    """Someone else's picture may name any file, and ask for hours (review S5)."""
    state = State(scene=SceneReference("files", ("/models/secret.obj",)))
    state = dataclasses.replace(state, settings=set_option(state.settings, "render.samples", 60_000))
    state = dataclasses.replace(state, settings=set_option(state.settings, "device.threads", 200))
    state = dataclasses.replace(state, settings=set_option(state.settings, "import.environment", "/models/sky.hdr"))
    remarks: list[str] = []
    path = str(tmp_path / "one.png")
    read = state_of(texts_of(state), path, Settings(), remarks)
    said = " ".join(remarks)
    assert read.settings.render.samples == 1024 and "asks for render.samples = 60,000; 1,024 are taken" in said
    assert read.settings.device.threads == Settings().device.threads
    assert "/models/secret.obj and 1 more is read" in said
    many = state.settings
    for axis, count in zip("abc", (10, 10, 11), strict=True):
        many = set_option(many, f"import.copies_{axis}", count)
    remarks.clear()
    copied = state_of(texts_of(dataclasses.replace(state, settings=many)), path, Settings(), remarks)
    assert copied.settings.importer.copies_a == 1
    assert "the product of import.copies_a, _b and _c = 1,100; 1 are taken" in " ".join(remarks)
    few = set_option(many, "import.copies_c", 10)
    assert state_of(texts_of(dataclasses.replace(state, settings=few)), path).settings.importer.copies_b == 10
    own = set_option(Settings(), "render.samples", 5000)
    assert state_of(texts_of(state), path, own).settings.render.samples == 5000
    beside = State(scene=SceneReference("files", (str(tmp_path / "model.obj"),)))
    remarks.clear()
    state_of(texts_of(beside), path, Settings(), remarks)
    assert remarks == []


@pytest.mark.parametrize("key", COSTS)
def test_what_costs_much_is_capped_and_said(key: str) -> None:
    """A picture of one sample may ask for 65,536 of exported ones, or for 1,024 rays in each of them."""
    highest = option_field(key).info.maximum
    settings = set_option(Settings(), key, highest)
    assert highest is not None and highest > COSTS[key]
    texts, remarks = texts_of(dataclasses.replace(STATE, settings=settings)), list[str]()
    read = state_of(texts, "/pictures/one.png", Settings(), remarks).settings
    capped = set_option(Settings(), key, COSTS[key])
    assert to_table(read, everything=True) == to_table(capped, everything=True)
    assert [f"asks for {key} = {highest:,}; {COSTS[key]:,} are taken" in one for one in remarks] == [True]
    kept = state_of(texts, "/pictures/one.png", settings).settings
    assert to_table(kept, everything=True) == to_table(settings, everything=True), "a person's own may be higher"


@pytest.mark.parametrize(
    ("size", "taken"),
    [
        ((3840, 2160), (3840, 2160)),
        ((16384, 16384), (4096, 4096)),
        ((2_000_000_000, 1), (16384, 1)),
        ((9000, 3000), None),
    ],
)
def test_a_picture_of_very_many_pixels_is_drawn_smaller(size: tuple[int, int], taken: tuple[int, int] | None) -> None:
    """A PNG of 1.8 kB that says it is 16,384 pixels each way took 10 GB and minutes."""
    remarks: list[str] = []
    width, height = affordable_size(*size, Settings(), "/pictures/one.png", remarks)
    assert taken is None or (width, height) == taken
    assert (
        width * height <= 4096 * 4096
        and abs(width / height - size[0] / size[1]) <= 0.001 * size[0] / size[1]
        or height == 1
    )
    is_whole = (width, height) == size
    assert len(remarks) == (not is_whole) and (is_whole or f"asks for {size[0]:,} x {size[1]:,} pixels" in remarks[0])
    own = set_option(set_option(Settings(), "render.width", 16000), "render.height", 9000)
    assert is_whole or size[0] > 16384 or affordable_size(*size, own, "one.png", []) > (width, height)
