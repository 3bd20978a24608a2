"""The keys that the guide names: what it says of each, and what must have become of it. Each begins where the one
before has left off, so that a key that switches stands here twice."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from raygrove.app.document.state import State
from raygrove.app.playback.timeline import Span
from raygrove.gpu.camera import Camera
from tests.app.ui.walk.person import Person, Steps

FLIGHT_S = 0.3


@dataclass(frozen=True)
class Seen:
    """What a person sees of the program, as far as keys change it."""

    state: State
    span: Span
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    aspect: float
    is_full_screen: bool
    is_welcome: bool
    has_boxes: bool
    dialog: str
    sheet: str
    focus: str
    hint: str
    opened: Camera

    @property
    def camera(self) -> Camera:
        """Of the picture."""
        return self.state.camera_of(0)

    @property
    def time(self) -> float:
        """Where the playing head stands."""
        return self.state.timeline.time

    @property
    def sight(self) -> np.ndarray:
        """From what is looked at to the eye."""
        return np.subtract(self.camera.eye, self.camera.look_at)


def seen_by(person: Person, opened: Camera) -> Seen:
    """As it is now; `opened` is the camera that the scene began with."""
    window, scene, focus = person.window, person.document.scene, QApplication.focusWidget()
    assert scene is not None
    dialog, sheet = person.find(QDialog), window.pipeline.sheet
    return Seen(
        person.document.state,
        person.document.span,
        tuple(scene.lower),
        tuple(scene.upper),
        window.view.width() / window.view.height(),
        window.isFullScreen(),
        window.welcome.isVisible(),
        window.inspectors.boxes.isVisible(),
        type(dialog).__name__ if dialog is not None else "",
        sheet.objectName() if sheet is not None and sheet.isVisible() else "",
        focus.objectName() if focus is not None else "",
        window.inspectors.hint.text,
        opened,
    )


Must = Callable[[Seen, Seen], object]


@dataclass(frozen=True)
class Key:
    """Keys by their names; of those that are `held` down for a moment the first is pressed first. `words` stand in the
    guide. What `must` be so is asked of what was seen before and of what is seen now."""

    keys: str
    words: str
    must: Must
    is_held: bool = False
    ahead: Callable[[Person], Steps] | None = None


# -- the animation ----------------------------------------------------------------------------------------------------
def plays(is_playing: bool) -> Must:
    return lambda before, after: after.state.timeline.is_playing == is_playing


def steps(frames: int) -> Must:
    def must(before: Seen, after: Seen) -> bool:
        moved = (after.time - before.time) * after.span.fps
        return not after.state.timeline.is_playing and abs(moved - frames) < 1e-3

    return must


def goes_to_key(by: int) -> Must:
    """To the key frame next to the head."""

    def must(before: Seen, after: Seen) -> bool:
        passed = [key for key in after.span.key_times if (key - before.time) * by > 1e-6]
        return bool(passed) and after.time == (min if by > 0 else max)(passed)

    return must


def speeds(factor: float) -> Must:
    def must(before: Seen, after: Seen) -> bool:
        return math.isclose(after.state.settings.timeline.speed, factor * before.state.settings.timeline.speed)

    return must


def turns_round(before: Seen, after: Seen) -> bool:
    return after.state.timeline.direction == -before.state.timeline.direction


# -- the camera -------------------------------------------------------------------------------------------------------
def flies(right: float, up: float, forward: float, speed: str = "1") -> Must:
    """Eye and what is looked at move alike, in that direction, and the speed is said."""

    def must(before: Seen, after: Seen) -> bool:
        across, _, ahead = before.camera.basis()
        wanted = right * across + up * np.asarray(before.camera.up) + forward * ahead
        moved = np.subtract(after.camera.eye, before.camera.eye)
        if not 0.999 * np.linalg.norm(moved) <= moved @ wanted or not np.any(moved):
            return False
        return np.allclose(after.sight, before.sight) and f"Flying speed {speed} " in after.hint

    return must


def looks_nearer(before: Seen, after: Seen) -> bool:
    """At a point that was in the middle (a pixel beside it at most), from nearer."""
    turn = unit(np.subtract(after.camera.look_at, before.camera.eye)) @ before.camera.basis()[2]
    return bool(turn > math.cos(math.radians(0.3)) and np.linalg.norm(after.sight) < 0.9 * np.linalg.norm(before.sight))


def sees_all(before: Seen, after: Seen) -> bool:
    """Every corner of the scene, from the same side, not small in the picture."""
    corners = np.array([*itertools.product(*zip(after.lower, after.upper, strict=True))]) - after.camera.eye
    across, over, ahead = (corners @ axis for axis in after.camera.basis())
    high = math.tan(math.radians(after.camera.fov) / 2.0)
    reach = np.maximum(np.abs(across / ahead) / (high * after.aspect), np.abs(over / ahead) / high)
    turned = np.linalg.norm(np.cross(unit(before.sight), unit(after.sight)))
    return bool((ahead > 0.0).all() and 0.3 < reach.max() <= 1.0 + 1e-6 and turned < 1e-6)


def unit(vector: np.ndarray) -> np.ndarray:
    length: float = np.linalg.norm(vector)  # type: ignore[assignment]
    return vector / length


def looks_from(*side: float) -> Must:
    return lambda before, after: np.allclose(unit(after.sight), unit(np.array(side)), atol=1e-6)


def is_orthographic(is_so: bool) -> Must:
    return lambda before, after: after.camera.orthographic == is_so


def stands_as_bookmark(index: int) -> Must:
    def must(before: Seen, after: Seen) -> bool:
        kept = after.state.bookmarks[index].camera
        return before.camera != after.camera and np.allclose([after.camera.eye], [kept.eye], atol=1e-3)

    return must


def has_bookmark(before: Seen, after: Seen) -> bool:
    kept = after.state.bookmarks
    return len(kept) == len(before.state.bookmarks) + 1 and kept[-1].camera == before.camera


def is_as_opened(before: Seen, after: Seen) -> bool:
    return before.camera != after.camera == after.opened


# -- what is shown ----------------------------------------------------------------------------------------------------
def hides_selected(before: Seen, after: Seen) -> bool:
    return after.state.hidden == (before.state.selection.object,)


def hides_others(before: Seen, after: Seen) -> bool:
    hidden, chosen = after.state.hidden, before.state.selection.object
    return len(hidden) > 1 and chosen not in hidden


def hides_nothing(before: Seen, after: Seen) -> bool:
    return bool(before.state.hidden) and not after.state.hidden


def cuts(is_so: bool) -> Must:
    return lambda before, after: after.state.settings.clip.on == is_so


def shows_boxes(before: Seen, after: Seen) -> bool:
    return after.state.settings.boxes.show and after.has_boxes


def hides_boxes(before: Seen, after: Seen) -> bool:
    return not after.state.settings.boxes.show


def toggles_line(before: Seen, after: Seen) -> bool:
    return after.state.settings.display.heads_up != before.state.settings.display.heads_up


def is_in(workspace: str) -> Must:
    return lambda before, after: after.state.settings.window.workspace == workspace


def fills_screen(is_so: bool) -> Must:
    return lambda before, after: after.is_full_screen == is_so


def opens(dialog: str) -> Must:
    return lambda before, after: after.dialog == dialog


def focuses_chip(before: Seen, after: Seen) -> bool:
    """Another than before."""
    return after.focus.startswith("pipeline.") and after.focus != before.focus


def has_sheet(before: Seen, after: Seen) -> bool:
    return bool(after.sheet)


def has_no_sheet(before: Seen, after: Seen) -> bool:
    return bool(before.sheet) and not after.sheet


def is_welcome(before: Seen, after: Seen) -> bool:
    return after.is_welcome


# -- what is done before ----------------------------------------------------------------------------------------------
def point_at_picture(person: Person) -> Steps:
    """At its middle."""
    person.hands.move(person.window.view, person.window.view.rect().center())
    yield from person.rest(0.1)


def select_object(person: Person) -> Steps:
    """A click in the picture selects."""
    yield from person.click(person.window.view)
    yield from person.until(lambda: person.document.state.selection.object >= 0, "the selected object", 15.0)


def leave_scene(person: Person) -> Steps:
    """Beyond the scene there is nothing in view, and the line over the picture says what helps."""
    yield from person.hold("Shift+W", 2.0)
    yield from person.until(lambda: "Nothing in view: Shift+F" in person.window.inspectors.hint.text, "the hint", 15.0)


FRAMES_WORDS, FLY_WORDS = "`Left` and `Right` step a frame", "`W` `A` `S` `D` `Q` `E` | fly"
PACE_WORDS, SIDE_WORDS = (
    "`Shift` ten times as fast, `Ctrl` a tenth",
    "`1` `3` `7` `9`, `5` | from the front, right, top",
)
ENDS_WORDS, SPEED_WORDS = "`Home` and `End` go to the ends", "`[` and `]` change the speed"
AIM_WORDS = "`F`, `Shift+F`, `R` | focus on what is under the pointer, fit the scene, reset"
OBJECT_WORDS = "A click in the picture selects, `Ctrl+H` hides, `I` isolates, `Shift+H` shows all again"
PATH_WORDS = "`Ctrl+B` adds the view as a bookmark, `Alt+1` goes back to it, and `P` flies through all of them"
SHEET_WORDS = "or `F4`, arrow keys and `Return`, opens its sheet"
KEYS = (
    Key("Space", "`Space` plays and pauses", plays(False)),
    Key("Space", "", plays(True)),
    Key("Space", "", plays(False)),
    Key("Home", ENDS_WORDS, lambda before, after: after.time == 0.0),
    Key("Right", FRAMES_WORDS, steps(1)),
    Key("Right", "", steps(1)),
    Key("Left", FRAMES_WORDS, steps(-1)),
    Key("Shift+Right", "`Shift+Left` and `Shift+Right` a key frame", goes_to_key(1)),
    Key("Shift+Right", "", goes_to_key(1)),
    Key("Shift+Left", "", goes_to_key(-1)),
    Key("End", ENDS_WORDS, lambda before, after: 0.0 < after.time == after.span.duration),
    Key("]", SPEED_WORDS, speeds(2.0)),
    Key("[", SPEED_WORDS, speeds(0.5)),
    Key("[", "", speeds(0.5)),
    Key("Ctrl+Z", "All of that can be undone (`Ctrl+Z`)", speeds(2.0)),
    Key("Shift+Space", "`Shift+Space` the direction", turns_round),
    Key("Shift+Space", "", turns_round),
    Key("F", AIM_WORDS, looks_nearer, ahead=point_at_picture),
    Key("W", FLY_WORDS, flies(0.0, 0.0, 1.0), True),
    Key("S", FLY_WORDS, flies(0.0, 0.0, -1.0), True),
    Key("A", FLY_WORDS, flies(-1.0, 0.0, 0.0), True),
    Key("D", FLY_WORDS, flies(1.0, 0.0, 0.0), True),
    Key("Q", FLY_WORDS, flies(0.0, -1.0, 0.0), True),
    Key("E", FLY_WORDS, flies(0.0, 1.0, 0.0), True),
    Key("Shift+D", PACE_WORDS, flies(1.0, 0.0, 0.0, "10"), True),
    Key("A+Ctrl", PACE_WORDS, flies(-1.0, 0.0, 0.0, "0.1"), True),
    Key("Shift+F", AIM_WORDS, sees_all, ahead=leave_scene),
    Key("1", SIDE_WORDS, looks_from(0.0, 0.0, 1.0)),
    Key("Ctrl+B", PATH_WORDS, has_bookmark),
    Key("3", SIDE_WORDS, looks_from(1.0, 0.0, 0.0)),
    Key("7", SIDE_WORDS, looks_from(0.0, 1.0, 0.0)),
    Key("9", "a corner; orthographic view", looks_from(1.0, 1.0, 1.0)),
    Key("Ctrl+B", "", has_bookmark),
    Key("Alt+1", PATH_WORDS, stands_as_bookmark(0)),
    Key("P", PATH_WORDS, stands_as_bookmark(1)),
    Key("5", "a corner; orthographic view", is_orthographic(True)),
    Key("R", AIM_WORDS, is_as_opened),
    Key("Ctrl+H", OBJECT_WORDS, hides_selected, ahead=select_object),
    Key("Shift+H", OBJECT_WORDS, hides_nothing),
    Key("I", OBJECT_WORDS, hides_others, ahead=select_object),
    Key("Shift+H", "`Shift+H` shows what was hidden", hides_nothing),
    Key("C", "`C` cuts it open", cuts(True)),
    Key("C", "`C` turns the clipping plane off", cuts(False)),
    Key("X", "`X` draws the boxes of the structure's nodes", shows_boxes),
    Key("X", "", hides_boxes),
    Key("Z", "`Z` shows or hides the line over the picture", toggles_line),
    Key("Z", "", toggles_line),
    Key("F4", SHEET_WORDS, focuses_chip),
    Key("Right", "", focuses_chip),
    Key("Return", SHEET_WORDS, has_sheet),
    Key("Esc", "`Return` keeps, `Esc` takes all", has_no_sheet),
    Key("Ctrl+F7", "`Ctrl+F7`, or **Race**", is_in("race")),
    Key("Ctrl+F8", "**Inspect** (`Ctrl+F8`)", is_in("inspect")),
    Key("Ctrl+F6", "**Explore** (`Ctrl+F6`)", is_in("explore")),
    Key("F11", "", fills_screen(True)),
    Key("F11", "", fills_screen(False)),
    Key("Ctrl+O", "**File > Open** (`Ctrl+O`)", opens("QFileDialog")),
    Key("F12", "`F12` saves the picture that you see", opens("QFileDialog")),
    Key("Ctrl+E", "**File > Export** (`Ctrl+E`)", opens("ExportDialog")),
    Key("Shift+F1", "`Shift+F1` explains the present structure", opens("HelpDialog")),
    Key("Ctrl+Shift+P", "`Ctrl+Shift+P` finds every command", opens("Palette")),
    Key("F1", "`F1` shows all keys", opens("CheatSheet")),
    Key("Ctrl+K", "`Ctrl+K` changes them", opens("KeysDialog")),
    Key("Ctrl+,", "`Ctrl+,` has every setting", opens("SettingsDialog")),
    Key("Ctrl+Home", "the welcome page (`Ctrl+Home`)", is_welcome),
)
"""See the module."""


def try_key(person: Person, key: Key, opened: Camera) -> Steps:
    """Press it, and see that what is written comes of it."""
    person.begin(f"guide: {key.keys}")
    if key.ahead is not None:
        yield from key.ahead(person)
    before = seen_by(person, opened)
    yield from (person.hold(key.keys, FLIGHT_S) if key.is_held else person.press(key.keys))
    yield from person.until(lambda: key.must(before, seen_by(person, opened)), "what the guide says of this key", 20.0)
    if seen_by(person, opened).dialog:
        yield from person.press("Esc")
        yield from person.until(lambda: person.find(QDialog) is None, "the end of the dialog", 15.0)


def unfold_costs(person: Person) -> Steps:
    """Cost, at the right of the timeline: all of the chart each time, with its axis and what belongs to it."""
    person.begin("guide: Cost")
    panel, button = person.window.inspectors.cost, person.window.timeline_bar.cost
    for time in ("first", "second", "third"):
        if panel.isVisible():
            yield from person.click(button)
            yield from person.until(lambda: not panel.isVisible(), "the end of the chart", 10.0)
        yield from person.click(button)
        yield from person.until(lambda: is_whole(panel), f"the whole chart, for the {time} time", 5.0)


def is_whole(widget: QWidget) -> bool:
    """Whether nothing that it lies in cuts a part of it off."""
    above = widget.parentWidget()
    while above is not None and not above.isWindow():
        if not above.rect().contains(QRect(widget.mapTo(above, QPoint()), widget.size())):
            return False
        above = above.parentWidget()
    return widget.isVisible()
