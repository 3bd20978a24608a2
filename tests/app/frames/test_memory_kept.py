"""What a picture needs of a target's memory does not depend on what was shown before it: scenes, structures and ray
types leave nothing behind."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

import pytest

from raygrove.app.document.state import State
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.engine import Engine
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target, TargetError
from tests.app.frames.whole_pictures import whole_picture

SMALL, LARGE = make_demo("walker", 400), make_demo("orbit", 8_000)
HEAVY = {"render.hierarchy": "sah_events", "render.ray_type": "path", "ray_type.path.strategy": "wavefront"}
LIGHT = {"render.hierarchy": "lbvh", "render.ray_type": "flat"}


@pytest.fixture(params=["host", pytest.param("cuda", marks=pytest.mark.cuda)])
def kind(request: pytest.FixtureRequest) -> str:
    """A target that is there."""
    try:
        choose(request.param).close()
    except (TargetError, OSError) as error:
        pytest.skip(f"no {request.param} target: {error}")
    return str(request.param)


@pytest.fixture
def maker() -> Iterator[FrameMaker]:
    with contextlib.closing(FrameMaker()) as made:
        yield made


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """Memory goes with what held it, at once, and not some time when the garbage collector runs."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def memory(maker: FrameMaker, kind: str, scene: Scene, choice: dict[str, str]) -> tuple[dict[str, int], int]:
    """Bytes by tag once the frames of a choice repeat, and those that nobody has."""
    settings = Settings()
    for name, value in {"render.device": "cpu" if kind == "host" else kind, **choice}.items():
        settings = set_option(settings, name, value)
    state, slot = State(settings=set_option(settings, "display.adapt_resolution", False)), HostSlot(160, 120)
    for number in range(8):
        whole_picture(maker, scene, state, Moment(number / 16), (slot,), is_moving=True)
    statistics = maker.flush()
    assert statistics is not None
    return statistics.bytes, statistics.idle_bytes


@pytest.mark.parametrize(
    "before",
    [(LARGE, HEAVY), (SMALL, HEAVY), (LARGE, LIGHT)],
    ids=["another scene", "another structure", "a larger scene"],
)
def test_a_picture_needs_what_it_needs_alone(
    kind: str, maker: FrameMaker, before: tuple[Scene, dict[str, str]]
) -> None:
    alone, _ = memory(maker, kind, SMALL, LIGHT)
    most, _ = memory(maker, kind, *before)
    assert sum(most.values()) > 2 * sum(alone.values())
    found, _ = memory(maker, kind, SMALL, LIGHT)
    assert sum(found.values()) <= 1.02 * sum(alone.values()), (found, alone)


def test_of_another_scene_nothing_is_held_back_either(kind: str, maker: FrameMaker) -> None:
    _, alone = memory(maker, kind, SMALL, LIGHT)
    memory(maker, kind, LARGE, HEAVY)
    _, idle = memory(maker, kind, SMALL, LIGHT)
    assert idle <= alone + (1 << 20)


def test_a_scene_has_gone_when_the_next_one_is_made(kind: str) -> None:
    found: list[dict[str, int]] = []

    def make_engine(target: Target, scene: Scene) -> Engine:
        found.append(target.memory())
        return Engine(target, scene)

    with contextlib.closing(FrameMaker(make_engine=make_engine)) as maker:
        memory(maker, kind, LARGE, HEAVY)
        memory(maker, kind, SMALL, LIGHT)
        memory(maker, kind, LARGE, LIGHT)
    assert found == [{}, {}, {}], (
        "or a large scene's memory is needed beside the next one's, and held in reserve for ever"
    )
