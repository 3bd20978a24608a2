"""The state inside a picture: every field comes back, nothing that is wrong does, and a picture that is opened shows
what it showed."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raygrove.app.document.document import Document
from raygrove.app.document.saved_state import PREFIX, fitted, state_of, texts_of
from raygrove.app.document.state import Bookmark, SceneReference, Selection, State, ViewState
from raygrove.app.export.images import save_png
from raygrove.app.playback.timeline import Timeline
from raygrove.app.scene_io import SceneError, load_picture
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.file import to_table
from raygrove.app.settings.settings import Settings, option_field, option_groups, set_option
from raygrove.gpu.camera import Camera
from raygrove.gpu.settings import OptionField, fields_of
from tests.app.stand_ins import made_statistics

CAMERA = Camera((1.25, -2.0, 3.5), (0.1, 0.2, 0.3), (0.0, 0.0, 1.0), 33.5, True, 7.25, 0.125, 512.0)
STATE = State(
    scene=SceneReference("demo", ("walker",)),
    views=(
        ViewState("left", 1, "lbvh", "none", "bvh2", "auto", "flat"),
        ViewState("right", 0, "brute_force", "none", "auto", "auto", "steps"),
    ),
    cameras=(Camera(), CAMERA),
    bookmarks=(Bookmark("läuft", CAMERA),),
    timeline=Timeline(1.625, False, -1, 0),
    selection=Selection(3, pixel=(0.25, 0.5)),
    hidden=(0, 2),
)


OWN = (
    "import.seconds",
    "import.memory_mib",
    "import.file_mib",
    "import.unpacked_times",
    "import.max_triangles",
    "import.max_particles",
    "import.disk_mib",
    "import.max_key_frames",
    "import.allow_outside",
    "import.sandbox",
    "import.all_formats",
)
"""What protects this machine from files, so that none may raise it. Written out: the program's own list is what is
tested."""


def restored(state: State, **texts: str | None) -> State:
    """`state` through the texts of a picture, some of them exchanged or left out."""
    entries = texts_of(state, made_statistics(), "a device")
    for name, text in texts.items():
        entries.pop(PREFIX + name)
        if text is not None:
            entries[PREFIX + name] = text
    return state_of(entries, "/nowhere/one.png")


def test_every_field_but_settings_comes_back() -> None:
    again = restored(STATE)
    for field in dataclasses.fields(State):
        if field.name != "settings":
            assert getattr(again, field.name) == getattr(STATE, field.name) != field.default, field.name


def every_option() -> list[str]:
    return [f"{table}.{field.name}" for table, options in option_groups(Settings()) for field in fields_of(options)]


def another_value(field: OptionField) -> Any:
    """A value that the option takes and that is not its default."""
    info, default = field.info, field.default
    if info.choices:
        return next((choice for choice in info.choices if choice != default), default)
    if field.type is bool:
        return not default
    if field.type is str:
        known = {
            "contestants": "hploc, lbvh/bvh2@refit",
            "pair": "CA",
            "files": "theirs=/models/theirs.rgtree",
            "edited": "B",
            "measured": "dome:node=head",
        }
        return known.get(field.name, "cpu")
    low = info.minimum if info.minimum is not None else -5
    high = info.maximum if info.maximum is not None else 5
    if field.type in (int, float):
        return field.type(next(value for value in (low, high) if value != default))
    return (
        tuple(0.25 * (one + 1) for one in range(len(default)))
        if low <= 0.25 and high >= 1
        else tuple(high for _ in default)
    )


CAPPED = {"render.samples": 1024, "demo.triangles": 1_000_000, "ray_type.distributed.light_samples": 64}
"""Of what costs much (test_saved_costs.py) those of which another value than the default is the highest."""


@pytest.mark.parametrize("key", every_option())
def test_every_setting_comes_back(key: str, registry_as_before: None) -> None:
    changed = set_option(Settings(), key, another_value(option_field(key)))
    assert to_table(changed) or key == "render.optimiser", key  # of which there is only one
    again = restored(dataclasses.replace(STATE, settings=changed)).settings
    if key.startswith("start.") or key in (*OWN, "device.checks", "device.threads", "device.key_memory_mib"):
        assert to_table(again) == {}, (
            "a picture moves neither the limits that protect from files nor what is opened at the start"
        )
    else:
        expected = set_option(changed, key, CAPPED[key]) if key in CAPPED else changed
        assert to_table(again, everything=True) == to_table(expected, everything=True)


def test_limits_that_protect_this_machine_stay_its_own() -> None:
    """Whatever a picture says of them: this machine's may be tighter or wider."""
    theirs, own = Settings(), Settings()
    for key in OWN:
        field = option_field(key)
        two = (another_value(field), field.default) if field.type is bool else (field.info.maximum, field.info.minimum)
        theirs, own = set_option(theirs, key, two[0]), set_option(own, key, two[1])
    texts = texts_of(dataclasses.replace(STATE, settings=theirs))
    assert all(f"{key.partition('.')[2]} = " in texts[PREFIX + "settings"] for key in OWN), "the picture tries"
    assert state_of(texts, "/nowhere/one.png", own).settings == own


@pytest.mark.parametrize("own_checks", [False, True])
def test_whether_kernels_check_themselves_is_the_sessions(own_checks: bool) -> None:
    """A picture saved under --debug says nothing of it, and none that does is followed."""
    checked, own = (set_option(Settings(), "device.checks", checks) for checks in (True, own_checks))
    texts = texts_of(dataclasses.replace(STATE, settings=checked))
    assert "checks" not in texts[PREFIX + "settings"]
    for said in (texts[PREFIX + "settings"], "[device]\nchecks = true\n"):
        opened = state_of({**texts, PREFIX + "settings": said}, "/nowhere/one.png", own)
        assert opened.settings.device.checks is own_checks


numbers = st.floats(-1e20, 1e20)
vectors = st.tuples(numbers, numbers, numbers)


@given(vectors, vectors, vectors, st.floats(1.0, 170.0), st.booleans(), st.floats(0.0, 1e9), st.floats(0.0, 1e9))
@settings(max_examples=50, deadline=None)
def test_cameras_and_times_come_back_to_the_last_bit(
    eye: Any, look_at: Any, up: Any, fov: float, parallel: bool, near: float, time: float
) -> None:
    camera = Camera(eye, look_at, up, fov, parallel, 3.0, near, 0.0)
    state = State(scene=STATE.scene, cameras=(camera,), timeline=Timeline(time))
    assert restored(state) == state


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"version": None}, "no state was saved"),
        ({"version": "2"}, "newer version"),
        ({"settings": "[render]\nwidth = 0\n"}, "line 2: render.width = 0"),
        ({"settings": "[octopus]\narms = 8\n"}, "octopus"),
        ({"settings": "[[["}, "not TOML"),
        ({"cameras": "[]"}, "a camera that is not there"),
        ({"cameras": "[{"}, "cannot be used"),
        ({"selection": '{"pixel": [0.5]}'}, "its selected pixel lies in no picture"),
        ({"selection": '{"pixel": [0.5, 1.5]}'}, "its selected pixel lies in no picture"),
        ({"cameras": '[{"fov": 1e999}, {}]'}, "cameras.0.fov"),
        ({"cameras": '[{"fov": NaN}, {}]'}, "cameras.0.fov"),
        ({"cameras": '[{"fov": 1%s}, {}]' % ("0" * 400)}, "cameras.0.fov"),
        ({"cameras": '[{"fov": 0}, {}]'}, "sees nothing"),
        ({"cameras": '[{"eye": [1, 2]}, {}]'}, "cameras.0.eye"),
        ({"cameras": '[{"arms": 8}, {}]'}, "'arms'"),
        ({"cameras": "[" * 100_000}, "cannot be used"),
        ({"views": '[{"camera": 2}]'}, "not there"),
        ({"views": '[{"camera": true}]'}, "views.0.camera"),
        ({"timeline": '{"time": -1}'}, "stands nowhere"),
        ({"timeline": '{"direction": 7}'}, "stands nowhere"),
        ({"scene": '{"kind": "none", "names": []}'}, "names no scene"),
        ({"scene": None}, "names no scene"),
    ],
)
def test_what_cannot_be_restored_is_a_sentence(texts: dict[str, str | None], expected: str) -> None:
    with pytest.raises(SceneError, match="one.png") as error:
        restored(STATE, **texts)
    assert expected in str(error.value) and str(error.value).endswith("."), error.value


def test_what_an_older_picture_does_not_say_is_as_in_a_new_state() -> None:
    again = restored(STATE, bookmarks=None, selection=None, settings=None)
    assert (again.bookmarks, again.selection, again.cameras) == ((), Selection(), STATE.cameras)
    assert to_table(again.settings) == {}


def test_scene_files_that_are_gone_are_looked_for_beside_the_picture(tmp_path: Path) -> None:
    there, gone = tmp_path / "there.obj", tmp_path / "gone" / "moved.obj"
    there.write_text("v 0 0 0\n")
    (tmp_path / "moved.obj").write_text("v 0 0 0\n")

    def names(*paths: Path) -> tuple[str, ...]:
        state = dataclasses.replace(STATE, scene=SceneReference("files", tuple(map(str, paths))))
        return state_of(texts_of(state), str(tmp_path / "one.png")).scene.names

    assert names(there) == (str(there),)
    assert names(gone) == (str(tmp_path / "moved.obj"),)
    assert names(tmp_path / "gone" / "nowhere.obj") == (str(tmp_path / "gone" / "nowhere.obj"),)


def test_names_that_are_not_unicode_come_back(tmp_path: Path) -> None:
    state = dataclasses.replace(STATE, scene=SceneReference("files", ("/there/\udcff\udc80.obj", "/there/ü\n.obj")))
    save_png(tmp_path / "one.png", np.zeros((2, 3, 4), np.uint8), texts_of(state))
    texts, width, height = load_picture(str(tmp_path / "one.png"))
    assert (width, height) == (3, 2)
    assert state_of(texts, "one.png").scene == state.scene


def test_a_clip_and_an_instant_that_the_scene_does_not_have(moving_scene: Any) -> None:
    state = dataclasses.replace(STATE, timeline=Timeline(99.0, True, 1, 5))
    assert fitted(state, moving_scene).timeline == Timeline(2.0, False, 1, 0)


@pytest.fixture
def waiting() -> Any:
    """Wait for a document's job, and let it deliver."""

    def wait(document: Document, job: Any) -> None:
        assert job.wait(60)
        while document.jobs:
            document.mailroom.poll()

    return wait


def test_opening_a_picture_restores_what_it_shows(tmp_path: Path, waiting: Any) -> None:
    path = tmp_path / "one.PNG"
    changed = set_option(set_option(Settings(), "demo.triangles", 500), "hierarchy.lbvh.code_bits", "60")
    state = dataclasses.replace(STATE, settings=changed, timeline=Timeline(1.625, True, -1, 0))
    save_png(path, np.zeros((2, 2, 4), np.uint8), texts_of(state))
    document = Document(set_option(Settings(), "import.seconds", 77.0))
    told: list[Any] = []
    document.on_scene.append(told.append)
    waiting(document, document.open_files([str(path)]))
    assert (
        len(told) == 1
        and document.scene is told[0]
        and told[0].triangle_count == make_demo("walker", 500).triangle_count
    )
    now = document.state
    assert now.timeline == Timeline(1.625, False, -1, 0), "paused where it was drawn"
    assert (now.scene, now.cameras, now.views, now.selection) == (
        state.scene,
        state.cameras,
        state.views,
        state.selection,
    )
    assert now.settings.importer.seconds == 77.0 and now.settings.demo.triangles == 500
    assert now.settings.hierarchy_options("lbvh").code_bits == "60" and not document.can_undo


def test_a_picture_that_cannot_be_opened_leaves_the_scene(tmp_path: Path, waiting: Any, moving_scene: Any) -> None:
    path = tmp_path / "one.png"
    document = Document()
    problems: list[Any] = []
    document.on_problem.append(problems.append)
    document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    before = document.state
    save_png(path, np.zeros((2, 2, 4), np.uint8))
    waiting(document, document.open_files([str(path)]))
    lost = dataclasses.replace(STATE, scene=SceneReference("files", (str(tmp_path / "gone.obj"),)))
    save_png(path, np.zeros((2, 2, 4), np.uint8), texts_of(lost))
    waiting(document, document.open_files([str(path)]))
    assert ["no state was saved" in problems[0].sentence, "gone.obj" in problems[1].sentence] == [True, True]
    assert document.scene is moving_scene and document.state == before


def test_statistics_and_device_can_be_read_by_anyone(tmp_path: Path) -> None:
    from PIL import Image

    save_png(tmp_path / "one.png", np.zeros((2, 2, 4), np.uint8), texts_of(STATE, made_statistics(), "H200 (cuda)"))
    with Image.open(tmp_path / "one.png") as image:
        image.load()
        texts = image.text  # type: ignore[attr-defined]
    assert texts["raygrove.device"] == "H200 (cuda)"
    assert json.loads(texts["raygrove.statistics"])["views"][0]["hierarchy"] == "lbvh"


TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.mark.parametrize("form", ["beside", "below", "elsewhere", "link", "pattern", "environment"])
def test_a_picture_opens_what_lies_in_its_folder_and_asks_for_the_rest(form: str, tmp_path: Path, waiting: Any) -> None:
    """The one rule for what is named (review S4, S5): whoever made the picture may have been anybody."""
    folder, away = tmp_path / "pictures", tmp_path / "away"
    for place in (folder / "below", away):
        place.mkdir(parents=True)
        (place / "one.obj").write_text(TRIANGLE)
    (folder / "one.obj").write_text(TRIANGLE)
    (folder / "link.obj").symlink_to(away / "one.obj")
    (away / "sky.png").write_bytes(b"no picture")
    named = {"below": "below/one.obj", "elsewhere": "../away/one.obj", "link": "link.obj", "pattern": "link*.obj"}
    state = State(scene=SceneReference("files", (str(folder / named.get(form, "one.obj")),)))
    if form == "environment":
        changed = set_option(Settings(), "import.environment", str(away / "sky.png"))
        state = dataclasses.replace(state, settings=changed)
    path, document, problems = str(folder / "one.png"), Document(), list[Any]()
    save_png(Path(path), np.zeros((2, 2, 4), np.uint8), texts_of(state))
    document.on_problem.append(problems.append)
    waiting(document, document.open_files([path]))
    if form in ("beside", "below"):
        assert document.scene is not None and document.scene.triangle_count == 1 and not problems
        return
    assert document.scene is None and "outside the picture's folder" in problems[0].sentence
    assert problems[0].exit_code == 3 and problems[0].trust == ("allow_outside", (path,))
    waiting(document, document.open_trusted(*problems[0].trust))
    if form == "environment":  # it is looked at now, and is none
        assert "sky.png cannot be an environment" in problems[1].sentence
        return
    assert document.scene is not None and document.scene.triangle_count == 1 and len(problems) == 1
    assert not document.state.settings.importer.allow_outside, "for this picture alone"
