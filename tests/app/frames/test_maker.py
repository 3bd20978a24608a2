"""Target, engine and pace are kept from frame to frame and made anew when the choice changes."""

from __future__ import annotations

import contextlib
import gc
import weakref
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from raygrove.app.document.state import State, replaced
from raygrove.app.frames.exporting import smooth_samples
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.app.frames.views import view_settings
from raygrove.app.settings.settings import set_option
from raygrove.gpu.engine import View
from raygrove.gpu.gravity import GravityOptions
from raygrove.gpu.region import Region, RegionContents
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import FrameStatistics
from raygrove.gpu.target.base import NoDeviceError
from raygrove.gpu.target.stopping import Abandoned
from tests.app.frames.whole_pictures import whole_picture

from .fake_engine import Clock, FakeEngine, Makers


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Pictures take the time that they are said to take, whatever else the machine does."""
    made = Clock()
    monkeypatch.setattr("raygrove.app.frames.maker.time", made)
    return made


@pytest.fixture
def makers() -> Makers:
    return Makers()


def test_target_and_engine_are_kept(makers: Makers) -> None:
    ids = [makers.draw(time=t).frame_id for t in (0.0, 0.1, 0.2)]
    assert ids == [1, 2, 3]
    assert (len(makers.targets), len(makers.engines)) == (1, 1)
    assert makers.busy[0].startswith("Preparing the auto target") and makers.busy[-1] == ""


def test_phases_are_sampled_unless_every_frame_is_to_time_them(makers: Makers) -> None:
    makers.draw()
    assert makers.engines[0].samples_phases is True
    makers.maker.times_every_frame = True
    makers.draw(time=0.1)
    assert makers.engines[0].samples_phases is False
    makers.maker.close_engine()
    makers.draw(time=0.2)
    assert makers.engines[1].samples_phases is False, "another scene's engine is told, too"


def test_arrangements_are_tried_by_kernels_that_stay(makers: Makers) -> None:
    makers.draw()
    assert makers.engines[0].tries_arrangements is True
    makers.targets[0].quick = SimpleNamespace(sources=("a unit",))
    makers.draw(time=0.1)
    assert makers.engines[0].tries_arrangements is False
    makers.targets[0].quick.sources = ()
    makers.draw(time=0.2)
    assert makers.engines[0].tries_arrangements is True


def test_other_forces_of_a_simulation_reach_the_engine_that_runs(makers: Makers) -> None:
    makers.draw()
    makers.busy.clear()
    makers.draw(replaced(State(), "settings.gravity.forces", "barnes_hut"))
    (engine,) = makers.engines
    assert engine.gravity_options == GravityOptions("barnes_hut")
    assert makers.busy == ["Preparing forces ...", ""]


def test_what_is_prepared_is_said_by_its_name_and_once(makers: Makers) -> None:
    makers.draw()
    makers.busy.clear()
    makers.draw(time=0.5)
    assert makers.busy == []
    chosen = replaced(State(), "settings.render.hierarchy", "ploc")
    for state in (chosen, chosen, replaced(chosen, "settings.render.ray_type", "steps")):
        makers.draw(state)
    assert makers.busy == ["Preparing PLOC ...", "", "Preparing Traversal steps ...", ""]
    makers.maker.close_engine()
    makers.draw(chosen)
    assert makers.engines[0].is_closed and len(makers.engines) == 2 and not makers.targets[0].is_closed


def test_what_is_not_wanted_any_more_is_heard_by_the_target(makers: Makers) -> None:
    makers.draw()

    def abandon() -> None:
        raise Abandoned

    makers.maker.check = abandon
    with pytest.raises(Abandoned):
        makers.targets[0].check()  # type: ignore[attr-defined]


def test_another_target_or_scene_makes_them_anew(makers: Makers) -> None:
    makers.draw()
    makers.draw(replaced(State(), "settings.device.threads", 1))
    assert makers.targets[0].is_closed and makers.engines[0].is_closed and len(makers.targets) == 2
    makers.draw(replaced(State(), "settings.device.threads", 1), scene=Scene("another"))
    assert len(makers.targets) == 2 and len(makers.engines) == 3 and makers.engines[1].is_closed
    makers.maker.close()
    assert makers.targets[1].is_closed and makers.engines[2].is_closed


def test_another_scene_gives_back_what_the_heap_holds_on_to(makers: Makers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each change, when all is given back, and never for a picture of the same scene."""
    given: list[int] = []
    monkeypatch.setattr("raygrove.app.frames.maker.give_memory_back", lambda: given.append(1))
    scenes = [Scene("one"), Scene("two")]
    for scene in (scenes[0], scenes[0], scenes[1], scenes[1], scenes[0]):
        makers.draw(scene=scene)
    assert len(given) == 2
    makers.maker.close()
    assert len(given) == 3


def test_nothing_of_a_maker_that_is_closed_holds_its_scene(makers: Makers) -> None:
    """The rays that it measures did."""
    scene = Scene("one")
    is_there = weakref.ref(scene)
    makers.draw(scene=scene)
    makers.maker.close()
    makers.engines.clear()
    del scene
    gc.collect()
    assert is_there() is None


def test_a_device_that_is_not_there_is_an_error_and_the_next_choice_works(makers: Makers) -> None:
    with pytest.raises(NoDeviceError):
        makers.draw(replaced(State(), "settings.render.device", "cuda"))
    assert makers.busy[-1] == ""
    assert makers.draw().target_name == "auto"


def test_what_the_engine_is_asked_follows_the_state(makers: Makers) -> None:
    state = replaced(replaced(State(), "settings.render.ray_type", "steps"), "views.0.hierarchy", "brute_force")
    state = replaced(replaced(state, "settings.render.samples", 8), "settings.display.still_samples", 4)
    makers.draw(state)
    settings = makers.engines[0].views[0].settings
    assert (settings.ray_type, settings.hierarchy, settings.samples) == ("steps", "brute_force", 8)
    makers.draw(state, moving=True)
    assert makers.engines[0].views[0].settings.samples == 1


def test_samples_are_counted_for_as_long_as_nothing_changes(makers: Makers) -> None:
    state = replaced(replaced(State(), "settings.render.samples", 3), "settings.display.still_samples", 1)
    assert [makers.draw(state).samples for _ in range(5)] == [1, 2, 3, 3, 3]
    assert makers.draw(state, time=1.0).samples == 1
    assert makers.draw(replaced(state, "cameras.0.fov", 30.0), time=1.0).samples == 1
    always = replaced(state, "settings.update.always", True)
    assert [makers.draw(always).samples for _ in range(3)] == [1, 1, 1]


def test_resolution_follows_the_pace_only_while_something_moves() -> None:
    makers = Makers(full_ms=200.0)
    sizes = []
    for index in range(10):
        makers.draw(time=index / 10, moving=True)
        sizes.append(makers.slot.drawn)
    assert sizes[0] == (400, 320)
    assert sizes[-1] == (200, 160) and 200.0 / 4 + 1.5 > 50.0, "no smaller, although that is too slow"
    coarse = replaced(State(), "settings.display.minimum_scale", 0.125)
    for index in range(10, 20):
        makers.draw(coarse, time=index / 10, moving=True)
    assert 200.0 * makers.slot.drawn[0] * makers.slot.drawn[1] / 128000.0 + 1.5 < 50.0
    makers.draw(time=1.0)
    assert makers.slot.drawn == (400, 320)
    makers.draw(replaced(State(), "settings.display.adapt_resolution", False), time=1.1, moving=True)
    assert makers.slot.drawn == (400, 320)


def test_what_the_first_picture_of_a_choice_needs_is_told_apart(clock: Clock) -> None:
    makers = Makers()

    def slow_engine(target: Any, scene: Scene) -> FakeEngine:
        clock.now += 0.05
        return Makers.engine(makers, target, scene)

    makers.maker._make_engine = slow_engine
    state = replaced(State(), "settings.display.adapt_resolution", False)
    first = makers.draw(state)
    assert first.preparing_ms == pytest.approx(50.0, abs=0.1)
    engine = makers.engines[0]
    plain = engine.render_frame

    def compiles(moment: Moment, views: Sequence[View]) -> FrameStatistics:
        engine.target.compile_ms += 300.0
        return plain(moment, views)

    engine.render_frame = compiles  # type: ignore[method-assign]
    assert makers.draw(state, time=0.1).preparing_ms == pytest.approx(300.0, abs=0.1)
    engine.render_frame = plain  # type: ignore[method-assign]
    assert makers.draw(state, time=0.2).preparing_ms < 0.1


def test_what_a_whole_picture_would_take_is_what_its_pixels_say() -> None:
    makers = Makers(full_ms=80_000.0)
    outcomes = [makers.draw(time=0.0) for _ in range(6)]
    assert makers.slot.drawn[0] < 400 and outcomes[-1].whole_ms == pytest.approx(80_001.5, rel=0.05)
    quick = Makers(full_ms=100.0)
    assert [quick.draw(time=0.0).whole_ms for _ in range(3)][-1] == pytest.approx(101.5, rel=0.05)


def test_a_choice_that_is_slow_beyond_measure_never_draws_at_full_size(monkeypatch: pytest.MonkeyPatch) -> None:
    makers = Makers(full_ms=80_000.0)
    makers.draw_rows()
    monkeypatch.setattr("raygrove.app.frames.maker.time", makers.engines[0])
    for index in range(3):
        makers.draw(time=index / 10, moving=index > 0)
    sizes, rows = makers.engines[0].sizes, makers.engines[0].rows
    assert sizes[0][0] * sizes[0][1] <= 1250, "tiny pictures go before the first"
    assert set(sizes[2:]) == {(100, 80)} and sum(rows[2:]) == 3 * 80, "half would take 20 s"
    assert rows[-20:] == [8] * 20, "two that move, some rows at a time"
    makers.draw(replaced(State(), "settings.display.adapt_resolution", False))
    assert makers.engines[0].sizes[-1] == (400, 320), "who wants it whole can have it"


def test_a_picture_that_rests_becomes_smooth_and_one_that_moves_does_not_pay_for_it(makers: Makers) -> None:
    drawn = [makers.draw(moving=index < 3, time=min(index, 3) / 10) for index in range(20)]
    assert [one.samples for one in drawn] == [1, 1, 1, *range(1, 17), 16] and {
        one.samples_wanted for one in drawn[:3]
    } == {1}
    assert makers.draw(replaced(State(), "settings.display.still_samples", 1)).samples_wanted == 1
    assert makers.draw(replaced(State(), "settings.render.samples", 64)).samples_wanted == 64


def test_a_picture_that_rests_is_refined_until_its_noise_is_small_enough(makers: Makers) -> None:
    makers.draw()
    engine, state = makers.engines[0], replaced(State(), "settings.display.noise_limit", 0.02)
    engine.left_noise = 0.03
    drawn = [makers.draw(state) for _ in range(40)]
    assert [one.samples for one in drawn] == list(range(1, 41)) and drawn[-1].noise == 0.03
    assert drawn[15].samples_wanted == drawn[-1].samples_wanted == 1024 > drawn[10].samples_wanted == 16
    engine.left_noise = 0.019
    last, again = makers.draw(state), makers.draw(state)
    assert (last.samples, last.samples_wanted) == (again.samples, again.samples_wanted) == (41, 41)
    asked = engine.asked_for_noise
    assert makers.draw(state, moving=True).noise is None and engine.asked_for_noise == asked


@pytest.mark.parametrize("noise", [None, 0.5])
def test_refining_ends_with_the_most_samples_and_written_pictures_have_theirs(
    makers: Makers, noise: float | None
) -> None:
    state = replaced(replaced(State(), "settings.display.refine_samples", 24), "settings.display.still_samples", 4)
    makers.draw(state, moving=True, time=0.5)
    makers.engines[0].left_noise = noise
    drawn = [makers.draw(state) for _ in range(30)]
    assert [one.samples for one in drawn] == [*range(1, 25), *[24] * 6] and drawn[-1].samples_wanted == 24
    few = replaced(state, "settings.display.refine_samples", 1)
    assert [makers.draw(few).samples for _ in range(6)] == [1, 2, 3, 4, 4, 4]
    assert smooth_samples(few.settings) == 4


def test_paths_are_filtered_in_the_window_until_there_are_enough_samples(makers: Makers) -> None:
    state = replaced(State(), "settings.render.ray_type", "path")

    def shown(state: State) -> tuple[bool, int]:
        makers.draw(state)
        options: Any = makers.engines[0].views[0].settings.ray_type_options
        return options.filtered, options.filter_samples

    assert shown(state) == (True, 64)
    assert shown(replaced(state, "settings.display.filter_samples", 0)) == (False, 0)
    own = set_option(state.settings, "ray_type.path.filtered", True)
    assert shown(replaced(state, "settings", own)) == (True, 0), "who asked for the filter has it to the end"
    assert not view_settings(state).ray_type_options.filtered, "written pictures are what their samples show"


def test_the_first_picture_of_a_choice_borrows_its_tree_and_no_other(makers: Makers) -> None:
    def borrows(state: State, **more: Any) -> bool:
        makers.draw_rows(state, **more)
        return makers.engines[0].views[0].borrows

    makers.full_ms = 300.0
    state, other = State(), replaced(State(), "settings.render.hierarchy", "ploc")
    for chosen in (state, other):
        found = [borrows(chosen) for _ in range(20)]
        first = found.index(False)
        assert 1 < first < 19, "a slow picture comes some rows at a time, and all of them show one tree"
        assert not any(found[first:])
    assert not borrows(replaced(state, "settings.update.always", True))
    assert not borrows(replaced(other, "settings.display.refine_samples", 1)), "no frame would follow that is timed"


def test_what_is_hidden_and_selected_is_handed_on(makers: Makers) -> None:
    hidden = replaced(State(), "hidden", (2, 5))
    assert [makers.draw(state).samples for state in (State(), hidden, hidden)] == [1, 1, 2]
    assert makers.engines[0].hidden == (2, 5) and makers.engines[0].outlined == []
    makers.draw(replaced(hidden, "selection.object", 4))
    assert makers.engines[0].outlined == [4] and makers.engines[0].regions == []
    region = Region("box", (1.0, 2.0, 3.0), 0.5)
    outcome = makers.draw(replaced(hidden, "selection.region", region))
    assert outcome.contents == RegionContents(region, count=7) and makers.engines[0].regions == [region]
    assert makers.draw(hidden).contents is None and makers.engines[0].regions == [region]


def test_an_ordinary_choice_is_drawn_whole_from_the_first_picture() -> None:
    makers = Makers(full_ms=30.0)
    drawn = []
    for index in range(3):
        makers.draw(time=index / 10)
        drawn.append(makers.slot.drawn)
    assert drawn == [(400, 320)] * 3
    engine, other = makers.engines[0], replaced(State(), "settings.render.layout", "bvh2")
    assert engine.sizes == [(400, 320)] * 3 and engine.rows == [320] * 3, "nothing tiny before it, and no rows alone"
    makers.draw(other, time=0.5)
    assert engine.rows == [320] * 4 and not engine.left_sizes


def test_what_building_cost_is_told_of_the_structure_that_is_shown(moving_scene: Scene) -> None:
    """The first picture of a choice shows a tree of which nothing was timed, and tells nothing of another structure's;
    the second sample builds it anew, and tells what that cost, with its steps."""
    slot = HostSlot(32, 24)
    with contextlib.closing(FrameMaker()) as maker:
        for name in ("lbvh", "sweep_sah"):
            state = replaced(replaced(State(), "settings.render.device", "cpu"), "settings.render.hierarchy", name)
            first = whole_picture(maker, moving_scene, state, Moment(0.5), [slot])
            assert first.statistics is not None and first.statistics.views[0].update == "nothing"
            assert first.last_update is None
            outcome = whole_picture(maker, moving_scene, state, Moment(0.5), [slot])
            assert outcome.last_update is not None and outcome.last_update.has_updated
            built = outcome.last_update.views[0]
            assert (built.hierarchy, built.update) == (name, "rebuild")
            assert built.build_ms > 0.0 and [step for step in built.phases_ms if step.startswith("build.")]
        moved = whole_picture(maker, moving_scene, state, Moment(1.5), [slot], is_moving=True)
        assert moved.last_update is not None and moved.last_update.time in (0.5, 1.5)


def test_what_only_seemed_slow_is_drawn_whole_after_all() -> None:
    """So slow a picture is not drawn again and again for smooth edges; once it is fast, it is."""
    makers = Makers(full_ms=20_000.0)
    first = makers.draw()
    assert (first.samples, first.samples_wanted) == (0, 1) and makers.slot.drawn != (400, 320), "a finer one comes"
    makers.draw(time=0.1, moving=True)
    makers.engines[0].full_ms = 30.0
    coarse = makers.draw(time=0.1)
    assert makers.slot.drawn != (400, 320) and coarse.samples < coarse.samples_wanted, "there is more to draw"
    whole = makers.draw(time=0.1)
    assert makers.slot.drawn == (400, 320) and (first.samples_wanted, whole.samples_wanted) == (1, 16)


def test_a_slow_picture_that_is_shown_again_stays_as_it_is() -> None:
    makers = Makers(full_ms=80_000.0)
    while (outcome := makers.draw()).samples < outcome.samples_wanted:
        pass
    size = makers.slot.drawn
    assert size[0] < 400, "a row of tiles of the whole one cannot be waited for"
    makers.engines[0].has_rays = False
    assert makers.draw().samples == 1 and makers.slot.drawn == size


def test_a_busy_machine_is_no_slow_choice() -> None:
    makers = Makers(full_ms=30.0)
    makers.hiccup_ms = 8.0
    makers.draw()
    assert makers.slot.drawn == (400, 320)


def test_a_picture_that_was_shown_again_tells_nothing_of_the_pace() -> None:
    makers = Makers(full_ms=200.0)
    for index in range(4):
        makers.draw(time=index / 10, moving=True)
    drawn = makers.slot.drawn
    makers.engines[0].has_rays = False
    for _ in range(12):
        makers.draw(time=0.3, moving=True)
    assert makers.slot.drawn == drawn
