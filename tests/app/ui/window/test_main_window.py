"""The window as a person uses it: actions change the state, pictures follow, nothing that comes late breaks it."""

from __future__ import annotations

import dataclasses
import re
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from raygrove.app.document.jobs import Job
from raygrove.app.document.state import SceneReference
from raygrove.app.export.legend import number_text
from raygrove.app.problems.problem import Problem
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.scene import Scene
from tests.app.stand_ins import PaintedMaker, failing_pictures, gradient


def pixels_of(image: QImage) -> np.ndarray:
    """(height, width, 3) of an image."""
    copy = image.convertToFormat(QImage.Format.Format_RGBX8888)
    return np.frombuffer(copy.constBits(), np.uint8).reshape(copy.height(), copy.width(), 4)[..., :3].copy()


def test_a_picture_arrives_unflipped_and_unmixed(scene_window: MainWindow, qtbot: Any) -> None:
    view = scene_window.view
    image = view.picture()
    assert np.array_equal(pixels_of(image), gradient(image.width(), image.height())[..., :3])
    scene_window.document.change("settings.display.heads_up", False)  # it lies over the picture
    grabbed = pixels_of(view.grab().toImage())
    assert np.abs(grabbed.astype(int) - gradient(grabbed.shape[1], grabbed.shape[0])[..., :3]).max() <= 2


def test_every_action_has_a_name_a_text_and_a_key_of_its_own(window: MainWindow) -> None:
    actions = window.commands.all()
    assert len({action.objectName() for action in actions}) == len(actions) and all(action.text() for action in actions)
    keys = [key.toString() for action in actions for key in action.shortcuts()]
    assert len(set(keys)) == len(keys)
    by_name = {action.objectName(): {key.toString() for key in action.shortcuts()} for action in actions}
    for name, key in {
        "file.open": "Ctrl+O", "edit.undo": "Ctrl+Z", "edit.redo": "Ctrl+Shift+Z", "camera.focus": "F",
        "camera.reset": "R",
        "camera.next_up_axis": "U", "camera.front": "1", "camera.right": "3", "camera.top": "7", "camera.corner": "9",
        "camera.back": "Ctrl+1",
        "camera.left": "Ctrl+3", "camera.bottom": "Ctrl+7", "camera.orthographic": "5", "camera.bookmark": "Ctrl+B",
        "animation.play": "Space", "animation.step": "Right", "animation.first": "Home", "help.cheat_sheet": "F1",
        "view.full_screen": "F11",
    }.items():  # fmt: skip
        assert key in by_name[name], name


def test_no_key_is_also_that_of_a_menu(window: MainWindow) -> None:
    """Alt and a letter opens a menu: an action with the same key would do nothing at all."""
    letters = [re.findall(r"&(\w)", menu.text())[0].upper() for menu in window.menuBar().actions()]
    assert len(letters) == 10 and len(set(letters)) == 10
    keys = {key.toString() for action in window.commands.all() for key in action.shortcuts()}
    assert not keys & {f"Alt+{letter}" for letter in letters}


def test_play_begins_also_just_after_the_camera_has_moved(scene_window: MainWindow, qtbot: Any) -> None:
    document, loop = scene_window.document, scene_window.loop
    loop.camera_moved()
    document.change("cameras.0.fov", 50.0)
    qtbot.waitUntil(lambda: loop.last_frame is not None and loop.last_frame.request.state == document.state)
    qtbot.wait(20)
    # its picture is there, and the camera still counts as moving: the first frame would be the same picture
    loop.camera_moved()
    scene_window.commands.actions["animation.play"].trigger()
    qtbot.waitUntil(lambda: document.state.timeline.time > 0.1)


def test_play_and_undo_by_actions(scene_window: MainWindow, qtbot: Any, painted: type[PaintedMaker]) -> None:
    actions, document = scene_window.commands.actions, scene_window.document
    actions["animation.play"].trigger()
    qtbot.waitUntil(lambda: len({moment.time for _, moment, _ in painted.drawn}) > 5)
    actions["animation.play"].trigger()
    assert not document.state.timeline.is_playing and any(is_moving for _, _, is_moving in painted.drawn)
    before = document.state.cameras[0]
    actions["camera.top"].trigger()
    assert document.state.cameras[0] != before and actions["edit.undo"].isEnabled()
    actions["camera.orthographic"].trigger()
    assert document.state.cameras[0].orthographic and actions["camera.orthographic"].isChecked()
    actions["edit.undo"].trigger()
    actions["edit.undo"].trigger()
    assert document.state.cameras[0] == before
    actions["edit.redo"].trigger()
    assert document.state.cameras[0] != before


def test_menus_offer_what_the_registries_know_and_choose_it(scene_window: MainWindow) -> None:
    document, menus = scene_window.document, scene_window.commands.menus
    for name, key, value in (
        ("structure.hierarchy", "hierarchy", "brute_force"), ("structure.hierarchy", "hierarchy", "lbvh"),
        ("structure.layout", "layout", "bvh2"),
        ("render.ray_type", "ray_type", "flat"), ("render.samples", "samples", "16"),
        ("render.device", "device", "cpu"),
    ):  # fmt: skip
        menus[name].refresh()
        menus[name].trigger(value)
        assert str(getattr(document.state.settings.render, key)) == value
    menus["structure.update"].refresh()
    menus["structure.update"].trigger("refit")
    assert document.state.settings.update.mode == "refit"
    menus["structure.update"].refresh()
    assert [action.data() for action in menus["structure.update"].actions() if action.isChecked()] == ["refit"]


def test_the_triangle_test_and_the_trees_quality_are_chosen_from_the_menu(scene_window: MainWindow) -> None:
    document, actions = scene_window.document, scene_window.commands.actions
    for name in ("watertight", "unit_triangle", "moeller_trumbore"):
        actions[f"structure.triangle_test.{name}"].trigger()
        assert document.state.settings.render.triangle_test == name
    for is_on in (True, False):
        actions["structure.quality"].trigger()
        assert document.state.settings.statistics.quality is is_on and actions["structure.quality"].isChecked() is is_on
    document.undo()
    assert actions["structure.quality"].isChecked(), "the mark follows undo"


@pytest.mark.parametrize("hierarchy", ["lbvh", "median_sah"])
def test_every_choice_of_the_structure_menu_says_what_it_is(scene_window: MainWindow, hierarchy: str) -> None:
    choices = scene_window.session.choices
    choices.choose_hierarchy(hierarchy)
    offers = [
        *choices.hierarchies(),
        *choices.optimisers(),
        *choices.traversals(),
        *choices.updates(),
        *choices.triangle_tests(),
    ]
    offers += choices.layouts() if hierarchy == "lbvh" else []  # a kd-tree has one
    assert [(value, tip) for value, _, tip, _ in offers if not tip.endswith(".") or ".cu" in tip] == []
    assert len({tip for _, _, tip, _ in choices.traversals()}) == len(choices.traversals())


def test_another_structure_takes_back_a_layout_it_does_not_have_in_one_step(scene_window: MainWindow) -> None:
    document = scene_window.document
    document.change("settings.render.layout", "bvh4")
    scene_window.session.choices.choose_hierarchy("brute_force")
    assert (document.state.settings.render.hierarchy, document.state.settings.render.layout) == ("brute_force", "auto")
    document.undo()
    assert (document.state.settings.render.hierarchy, document.state.settings.render.layout) == ("lbvh", "bvh4")


@pytest.mark.parametrize(
    ("value", "text"), [(17.50273, "17.5"), (0.0032342, "0.003234"), (12_345.0, "12345"), (96.0, "96"), (0.0, "0")]
)
def test_numbers_of_a_legend_stand_apart(value: float, text: str) -> None:
    assert number_text(value) == text


def test_dropped_files_are_opened(window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened: list[list[str]] = []
    monkeypatch.setattr(window.document, "open_files", opened.append)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / name)) for name in ("f10.obj", "f2.obj")])
    copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPointF(50, 50).toPoint(), copy, data, Qt.MouseButton.LeftButton, none)
    QApplication.sendEvent(window, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(window, QDropEvent(QPointF(50, 50), copy, data, Qt.MouseButton.LeftButton, none))
    assert opened == [[str(tmp_path / "f2.obj"), str(tmp_path / "f10.obj")]]


def test_a_file_that_cannot_be_read_is_a_sentence_and_the_scene_stays(
    scene_window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    path = tmp_path / "broken.obj"
    path.write_text("this is no model\n")
    scene = scene_window.document.scene
    scene_window.open_files([str(path)])
    qtbot.waitUntil(lambda: bool(scene_window.toasts.messages()))
    (banner,) = scene_window.toasts.messages()
    assert banner.kind == "error" and "broken.obj" in banner.sentence
    assert scene_window.document.scene is scene and scene_window.stack.currentWidget() is scene_window.view


def test_a_problem_of_the_render_thread_is_one_banner(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with failing_pictures(RuntimeError("the kernel went wrong"), scene_window, qtbot, monkeypatch):
        scene_window.document.change("cameras.0.fov", 50.0)
        qtbot.wait(50)
        assert (
            len(scene_window.toasts.messages()) == 1
            and "the kernel went wrong" in scene_window.toasts.messages()[0].sentence
        )
    scene_window.document.change("settings.render.ray_type", "smooth")
    qtbot.waitUntil(lambda: not scene_window.toasts.messages())


def test_a_scene_that_cannot_be_drawn_leaves_no_picture_of_the_one_before(
    scene_window: MainWindow, moving_scene: Scene, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure of the same scene keeps its last picture; that of another one would be taken for it."""
    window = scene_window
    with failing_pictures(RuntimeError("no such thing"), window, qtbot, monkeypatch):
        assert window.view.picture() is not None
        window.document.set_scene(SceneReference("demo", ("other",)), dataclasses.replace(moving_scene, name="other"))
        qtbot.waitUntil(lambda: window.view.picture() is None)
        qtbot.waitUntil(lambda: bool(window.toasts.messages()))
        assert "no such thing" in window.toasts.messages()[0].sentence
    window.document.change("settings.render.ray_type", "smooth")
    qtbot.waitUntil(lambda: window.view.picture() is not None)


def test_a_file_that_cannot_be_read_is_still_named_when_pictures_go_on(scene_window: MainWindow, qtbot: Any) -> None:
    scene_window.messages.show_problem(Problem("The scene cannot be opened", "a.obj is empty."))
    before = len(PaintedMaker.drawn)
    scene_window.document.change("cameras.0.fov", 40.0)
    qtbot.waitUntil(lambda: len(PaintedMaker.drawn) > before + 1)
    qtbot.wait(50)
    assert [banner.sentence for banner in scene_window.toasts.messages()] == [
        "The scene cannot be opened. a.obj is empty."
    ]


def test_the_window_can_be_closed_while_a_scene_loads(window: MainWindow, qtbot: Any) -> None:
    started, may_end = threading.Event(), threading.Event()

    def work(job: Job) -> None:
        started.set()
        while not may_end.wait(0.01):
            job.report(0.5)

    job = window.document.start_job(
        "Opening something large", work, lambda job: pytest.fail("a cancelled job was delivered")
    )
    assert started.wait(60)
    qtbot.waitUntil(lambda: window.running.strip.isVisible())
    assert window.close()
    may_end.set()
    assert job.wait(60) and job.is_cancelled
    qtbot.wait(50)
    assert window.document.mailroom.poll() <= 2, "its last report and its end, at most"


def test_cancel_ends_a_job(window: MainWindow, qtbot: Any) -> None:
    def work(job: Job) -> None:
        while True:
            job.report(0.1)

    job = window.document.start_job("Counting", work, lambda job: None)
    qtbot.waitUntil(lambda: window.running.strip.isVisible())
    window.running.strip.cancelled.emit()
    qtbot.waitUntil(lambda: job.is_done)
    qtbot.waitUntil(lambda: not window.running.strip.isVisible())


def test_the_view_can_be_exchanged_at_run_time(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from raygrove.app.ui.picture.painter_view import PainterView

    class Other(PainterView):
        kind = "gl"

    old = scene_window.view
    monkeypatch.setattr(scene_window.place, "_make_view", lambda choice: Other())
    scene_window.document.change("settings.display.view", "gl")
    qtbot.waitUntil(lambda: scene_window.view is not old)
    qtbot.waitUntil(lambda: scene_window.view.picture() is not None)
    QTest.keyClick(scene_window.view, Qt.Key.Key_F)
    assert (
        scene_window.stack.currentWidget() is scene_window.view
        and scene_window.place.legend.parent() is scene_window.view
    )


def test_gl_that_is_not_there_is_said_and_painted(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from raygrove.app.ui.window.application import make_view

    monkeypatch.setattr(scene_window.place, "_make_view", make_view)
    scene_window.document.change("settings.display.view", "gl")
    qtbot.waitUntil(lambda: bool(scene_window.toasts.messages()))
    assert scene_window.view.kind == "painter" and "no OpenGL here" in scene_window.toasts.messages()[0].sentence
    scene_window.document.change("settings.display.view", "painter")
    qtbot.waitUntil(lambda: not scene_window.toasts.messages())


def test_a_resized_window_gets_pictures_of_its_size(scene_window: MainWindow, qtbot: Any) -> None:
    scene_window.resize(scene_window.width() + 120, scene_window.height() + 90)
    qtbot.waitUntil(
        lambda: (
            (scene_window.view.picture().width(), scene_window.view.picture().height())
            == scene_window.view.device_size()
        )
    )


def test_recent_files_and_docks_are_remembered(window: MainWindow, tmp_path: Path, moving_scene: Scene) -> None:
    from raygrove.app.ui.session.memory import Memory

    path = tmp_path / "ein Würfel.obj"
    path.write_text("")
    window.document.set_scene(SceneReference("files", (str(path),)), moving_scene)
    assert Memory().recent() == [str(path)]
    window.docks[0].hide()
    window.workspaces.save()
    window.docks[0].show()
    window.workspaces.begin()
    assert not window.docks[0].isVisibleTo(window)
    window.reset_layout()
    assert window.docks[0].isVisibleTo(window)
    path.unlink()
    assert Memory().recent() == []


def test_problems_and_remarks_are_told_apart(window: MainWindow) -> None:
    window.messages.show_problem(Problem("The file cannot be read", "a.obj: it is empty.", "details"))
    assert [banner.kind for banner in window.toasts.messages()] == ["error"]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal from Python 3.12 on")
def test_no_reference_to_none_is_lost_by_updates(window: MainWindow) -> None:
    window.view.update()
    before = sys.getrefcount(None)
    for _ in range(1000):
        window.view.update()
    assert sys.getrefcount(None) > before - 500


def test_a_still_model_is_given_a_motion_from_the_menu(window: MainWindow, qtbot: Any) -> None:
    document, menu = window.document, window.commands.menus["animation.motion"]
    document.change("settings.demo.triangles", 500)
    window.open_demo("blob")
    qtbot.waitUntil(lambda: document.scene is not None)
    menu.refresh()
    assert menu.values() == ["none", "turntable", "explode", "wobble"]
    menu.trigger("explode")
    qtbot.waitUntil(
        lambda: document.state.timeline.is_playing and document.scene is not None and document.scene.duration() == 6.0
    )
    assert window.timeline_bar.isEnabled()
    window.open_demo("walker")
    qtbot.waitUntil(lambda: document.scene is not None and document.scene.name == "walker")
    document.change("settings.motion.name", "none")
    menu.refresh()
    assert [action.isEnabled() for action in menu.actions()] == [True, False, False, False]


def test_at_first_only_the_figures_and_the_timeline_stand_beside_the_picture(
    scene_window: MainWindow,
) -> None:
    assert [dock.objectName() for dock in scene_window.docks if dock.isVisible()] == ["dock.stats", "dock.timeline"]


def test_two_pictures_after_a_long_build_are_no_high_frame_rate(
    scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr("raygrove.app.ui.session.frame_loop.time.perf_counter", lambda: clock[0])
    loop, shown = scene_window.loop, scene_window.loop.last_frame
    assert shown is not None

    def arrive(*times: float, is_moving: bool = True) -> float:
        for clock[0] in times:
            loop._take_frame(
                dataclasses.replace(shown, request=dataclasses.replace(shown.request, is_moving=is_moving))
            )
        return loop.fps()

    arrive(90.0, is_moving=False)
    assert arrive(95.0, 98.95, 99.0) == pytest.approx(2 / 4.0, rel=0.01), "two in 4 s, of which 3.95 were a build"
    assert arrive(*(99.0 + k / 20 for k in range(1, 41))) == pytest.approx(20.0, rel=0.01)
    assert arrive(200.0, is_moving=False) == 1.0 and arrive(200.05, 200.1) <= 3.0, "a pause is no slow picture"
    assert arrive(*(201.0 + k / 600 for k in range(600))) == pytest.approx(600.0, rel=0.01)
