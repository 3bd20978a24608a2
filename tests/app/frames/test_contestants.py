"""The race in the window as views of one state."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.app.cli import view
from raygrove.app.cli.arguments import parse
from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.frames.contestants import as_drawn, is_raced
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.app.frames.race_hits import MARK, StepDifference, colored, outlined
from raygrove.app.frames.views import view_settings
from raygrove.app.settings.chosen_configuration import as_set, spelling_of, with_configuration, with_set_options
from raygrove.app.settings.settings import Settings, set_option, set_text
from raygrove.gpu.camera import fit
from raygrove.gpu.face.configured import configured
from raygrove.gpu.scene import Moment, Scene

CHOSEN = (
    ("hierarchy.binned_sah.bins", "16"),
    ("render.hierarchy", "binned_sah"),
    ("render.optimiser", "rotations"),
    ("render.layout", "bvh4"),
    ("render.triangle_test", "watertight"),
    ("update.mode", "every_n"),
    ("update.n", "5"),
)


def racing(contestants: str, **options: str) -> State:
    settings = set_option(Settings(), "race.contestants", contestants)
    for key, value in options.items():
        settings = set_text(settings, key.replace("__", "."), value)
    return State(settings=set_option(settings, "window.workspace", "race"))


def test_outside_the_workspace_nothing_is_another_view() -> None:
    state = State()
    assert as_drawn(state) is state and not is_raced(state)
    inspect = State(settings=set_option(Settings(), "window.workspace", "inspect"))
    assert as_drawn(inspect) is inspect


def test_contestants_are_views_of_one_camera_that_are_updated_always() -> None:
    drawn = as_drawn(racing("lbvh@refit, binned_sah:bins=8/bvh2@every_n:n=3", render__ray_type="ao"))
    assert is_raced(drawn) and [one.name for one in drawn.views] == ["A", "B"] and as_drawn(drawn) is drawn
    first, second = (view_settings(drawn, place, samples=9) for place in range(2))
    assert (first.hierarchy, first.update.mode, second.layout, second.update.n) == ("lbvh", "refit", "bvh2", 3)
    assert second.hierarchy_options.bins == 8 and first.update.always and second.update.always
    assert first.ray_type == second.ray_type == "ao" and first.samples == second.samples == 1
    assert dataclasses.replace(racing("lbvh", race__split="0.2"), settings=drawn.settings).settings == drawn.settings


def test_how_pictures_stand_draws_none_anew() -> None:
    one, other = (as_drawn(racing("lbvh, hploc", race__mode=mode, race__split="0.3")) for mode in ("grid", "split"))
    assert one == other


def test_the_pipelines_choice_is_spelt_so_that_it_means_the_same() -> None:
    settings = Settings()
    assert spelling_of(settings) == "lbvh@rebuild"
    for key, value in CHOSEN:
        settings = set_text(settings, key, value)
    text = spelling_of(settings)
    assert text == "binned_sah:bins=16+rotations/bvh4/auto:triangle_test=watertight@every_n:n=5"
    back = with_configuration(set_option(Settings(), "update.always", True), text)
    assert spelling_of(back) == text and back.update.always
    made, shown = configured(text), view_settings(State(settings=settings))
    assert made.name == shown.hierarchy and made.update == shown.update
    assert made.choice == shown.structure_choice


def test_what_is_measured_beside_a_choice_has_the_options_that_were_set() -> None:
    settings = Settings()
    for key, value in CHOSEN:
        settings = set_text(settings, key, value)
    tests = ":triangle_test=watertight"
    assert with_set_options(settings, "binned_sah/bvh2") == f"binned_sah:bins=16/bvh2/auto{tests}"
    assert with_set_options(settings, "binned_sah:bins=4") == f"binned_sah:bins=4/auto/auto{tests}"
    assert with_set_options(settings, "hploc@every_n") == f"hploc/auto/auto{tests}@every_n:n=5"
    assert with_set_options(settings, "hploc@every_n:n=2") == f"hploc/auto/auto{tests}@every_n:n=2"
    assert with_set_options(settings, "hploc@refit") == f"hploc/auto/auto{tests}@refit"
    assert with_set_options(settings, "lbvh+rotations") == f"lbvh+rotations/auto/auto{tests}"
    assert with_set_options(Settings(), "lbvh/bvh4@auto") == "lbvh/bvh4@auto"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("binned_sah", "binned_sah:bins=16+rotations/bvh4/auto:triangle_test=watertight@every_n:n=5"),
        ("hploc", "hploc+rotations/bvh4/auto:triangle_test=watertight@every_n:n=5"),
        ("lbvh+none/bvh2@rebuild", "lbvh+none/bvh2/auto:triangle_test=watertight@rebuild"),
        ("hploc/cwbvh@auto", "hploc+rotations/cwbvh/auto:triangle_test=watertight@auto"),
        ("sbvh", "sbvh+rotations/bvh4/auto:triangle_test=watertight"),
        ("brute_force", "brute_force/auto/auto:triangle_test=watertight@every_n:n=5"),
        ("theirs", "theirs"),
    ],
)  # fmt: skip
def test_what_a_contestant_does_not_say_the_settings_say_where_it_has_that(text: str, whole: str) -> None:
    settings = Settings()
    for key, value in CHOSEN:
        settings = set_text(settings, key, value)
    assert as_set(settings, text) == whole
    assert as_set(Settings(), text) == text, "what nobody set is not said"
    if text != "theirs":
        assert configured(whole).text == whole


def test_a_race_that_nobody_chose_has_the_options_that_were_set() -> None:
    """Once the workspace is entered it stays as it is, whatever the row above the pictures shows."""
    document = Document(set_option(Settings(), "render.triangle_test", "watertight"))
    document.change("settings.window.workspace", "race")
    test, race = "/auto/auto:triangle_test=watertight", lambda: document.state.settings.race.contestants
    assert race() == f"lbvh{test}@refit, hploc{test}@auto"
    assert view_settings(as_drawn(document.state), 1).triangle_test == "watertight"
    document.change("settings.race.edited", "A")
    document.change("settings.render.layout", "bvh2")
    assert race() == f"lbvh/bvh2/auto:triangle_test=watertight@refit, hploc{test}@auto"
    own = Document(set_option(document.state.settings, "window.workspace", "explore"))
    own.change("settings.race.contestants", "lbvh, sbvh")
    own.change("settings.window.workspace", "race")
    assert own.state.settings.race.contestants == "lbvh, sbvh", "what somebody chose says what it is"


def test_the_window_is_started_with_contestants_as_the_command_races_them() -> None:
    words = ["--set", "render.triangle_test=watertight", "--set", "update.mode=refit"]
    given = set_option(set_option(Settings(), "render.triangle_test", "watertight"), "update.mode", "refit")
    names = parse(["view", "--contestants", "lbvh@auto,hploc/bvh2", *words], "1")
    made = view._with_race(names, given)
    test = "auto:triangle_test=watertight"
    assert made.race.contestants == f"lbvh/auto/{test}@auto, hploc/bvh2/{test}@refit"
    assert made.window.workspace == "race"
    alone = view._with_race(parse(["view"], "1"), set_option(given, "window.workspace", "race"))
    assert alone.race.contestants == f"lbvh/auto/{test}@refit, hploc/auto/{test}@auto"
    assert view._with_race(parse(["view"], "1"), given) is given


def test_a_real_race_draws_equal_hits_and_subtracts_steps(moving_scene: Scene) -> None:
    """Against brute force, which all are compared with; steps of a tree less those of testing all."""
    state = racing("lbvh@refit, brute_force", display__adapt_resolution="false", render__device="cpu")
    state = dataclasses.replace(state, cameras=(fit(moving_scene.lower, moving_scene.upper, aspect=4 / 3),))
    maker, slots = FrameMaker(), [HostSlot(24, 18), HostSlot(24, 18)]
    try:
        found = [maker.draw(moving_scene, state, Moment(0.1 * k), slots, True).statistics for k in range(5)]
        assert found[0] is None and found[-1] is not None
        assert [one.hierarchy for one in found[-1].views] == ["lbvh", "brute_force"]
        assert found[-1].views[0].update == "refit" and found[-1].views[0].width == 24
        np.testing.assert_array_equal(slots[0].pixels, slots[1].pixels)
        compared, difference = maker.hits_compared(), maker.step_difference(0, 1)
        assert compared is not None and difference is not None and len(compared.steps) == len(compared.proofs)
        assert sum(compared.steps[0]) - sum(compared.steps[1]) == pytest.approx(difference.steps.mean())
        assert compared is not None and difference is not None and compared.against == 1
        assert [one.mismatches for one in compared.proofs] == [0, 0] and compared.proofs[0].rays == 24 * 18
        assert compared.proofs[0].hits == compared.proofs[1].hits > 20
        back = maker.step_difference(1, 0)
        assert back is not None
        np.testing.assert_array_equal(difference.steps, -back.steps)
        assert maker.step_difference(1, 1) is None and not difference.mask.any()
        rest = [maker.draw(moving_scene, state, Moment(0.6), slots, False) for _ in range(2)]
        assert rest[0].samples_wanted > rest[1].samples == 2, "at rest it goes on until enough is measured"
    finally:
        maker.close()


def test_colours_of_a_difference_are_symmetric_and_mismatches_are_outlined() -> None:
    steps = np.zeros((6, 8), np.int64)
    steps[0, 0], steps[0, 7] = -4, 4
    mask = np.zeros((6, 8), bool)
    mask[4, 4] = True
    picture = colored(StepDifference(steps, mask))
    assert picture[0, 0, :3].tolist() == [0x21, 0x66, 0xAC] and picture[0, 7, :3].tolist() == [0xB3, 0x58, 0x06]
    assert picture[2, 2, :3].tolist() == [0xF7, 0xF7, 0xF7] and (picture[..., 3] == 255).all()
    marked = {(y, x) for y, x in np.argwhere((picture[..., :3] == MARK).all(axis=-1)).tolist()}
    assert marked == {(y, x) for y in (3, 4, 5) for x in (3, 4, 5)} - {(4, 4)}
    corner = np.zeros((6, 8), bool)
    corner[0, 0] = True
    assert (outlined(picture, corner)[5, 7] == picture[5, 7]).all(), "nothing is marked at the other side"
    assert StepDifference(steps, mask).total == 0 and StepDifference(steps * 0, mask).most == 1


@pytest.mark.parametrize("text", ["lbvh@nothing", "kitchen", "", "a,,b", "lbvh,lbvh,lbvh,lbvh,lbvh"])
def test_what_cannot_be_raced_is_no_setting(text: str) -> None:
    from raygrove.gpu.settings import OptionError

    with pytest.raises(OptionError):
        set_option(Settings(), "race.contestants", text)
