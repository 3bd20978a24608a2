"""Hot spots picture after picture: what counts them is kept, and their lines are those of a count for each picture."""

from __future__ import annotations

import contextlib
import dataclasses

import pytest

from raygrove.app.document.state import State, replaced
from raygrove.app.frames.live_hot_spots import LiveList
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.camera import fit
from raygrove.gpu.scene import Moment, Scene


@pytest.fixture(scope="module")
def walker() -> Scene:
    return make_demo("walker", 400)


def state_of(scene: Scene, rays: str = "picture") -> State:
    settings = Settings()
    for key, value in (("render.device", "cpu"), ("display.adapt_resolution", False), ("rays.measured", rays)):
        settings = set_option(settings, key, value)
    return replaced(State(settings=settings), "cameras", (fit(scene.lower, scene.upper),))


def costs_of(settings: Settings, intersection: float) -> Settings:
    return set_option(settings, "statistics.intersection_cost", intersection)


def test_each_picture_is_counted_by_what_is_kept(walker: Scene) -> None:
    """Visits as a count for the picture alone has them; nothing is made anew between pictures."""
    with contextlib.closing(FrameMaker()) as maker:
        assert maker.live_hot_spots("all", "both", "node") is None, "there is no picture yet"
        slots, shares, counters = [HostSlot(40, 30)], set(), set()
        for number in range(4):
            maker.draw(walker, state_of(walker), Moment(0.2 * number), slots, is_moving=True)
            live = maker.live_hot_spots("all", "both", "object")
            alone = maker.hot_spots("all", "both")
            assert isinstance(live, LiveList) and not isinstance(alone, str) and alone is not None and live.ms > 0.0
            assert (live.list.visits, live.list.tests) == (alone.visits.sum(), alone.tests.sum())
            assert [(one.name, one.visits, one.tests) for one in live.list.spots] == [
                (one.name, one.visits, one.tests) for one in alone.top(200, "object")
            ]
            shares.add(live.list.visits)
            assert maker._live is not None and maker._live._kept is not None
            counters.add(id(maker._live._kept[1]))
        assert len(shares) > 1 and len(counters) == 1, "the walker walks, and one counter follows him"
        assert isinstance(maker.live_hot_spots("primary", "closest", "node"), LiveList)
        assert id(maker._live._kept[1]) not in counters
        costly = dataclasses.replace(state_of(walker), settings=costs_of(state_of(walker).settings, 100.0))
        maker.draw(walker, costly, Moment(0.6), slots, is_moving=True)
        live, alone = maker.live_hot_spots("all", "both", "object"), maker.hot_spots("all", "both")
        assert isinstance(live, LiveList) and not isinstance(alone, str) and alone is not None
        found = [one.share for one in live.list.spots]
        expected = [one.share for one in alone.top(200, "object")]
        assert found == pytest.approx(expected), "costs are those of the settings"
        answer = maker.live_hot_spots("bounce 4", "both", "node")
        assert isinstance(answer, str) and "bounce 4" in answer
        maker.end_live()
        assert maker._live is None


def test_rays_that_are_measured_are_counted_in_the_pictures_place(walker: Scene) -> None:
    with contextlib.closing(FrameMaker()) as maker:
        maker.draw(walker, state_of(walker, "dome:rows=4:columns=32"), Moment(0.3), [HostSlot(40, 30)], is_moving=True)
        live = maker.live_hot_spots("all", "both", "depth")
        assert isinstance(live, LiveList) and live.list.ray_count == 128 and live.list.rays == "given"


def test_it_is_given_back_with_the_engine(walker: Scene) -> None:
    with contextlib.closing(FrameMaker()) as maker:
        maker.draw(walker, state_of(walker), Moment(), [HostSlot(16, 12)], is_moving=True)
        assert isinstance(maker.live_hot_spots("all", "both", "node"), LiveList)
        maker.close_engine()
        assert maker._live is None and maker.live_hot_spots("all", "both", "node") is None
