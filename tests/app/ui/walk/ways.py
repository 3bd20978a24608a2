"""The ways through the window that are walked: a new user's, from the start to a heat map of an own model and a video;
the six steps of the tour, and the keys of the guide. Each does what is written, as it is written, and looks whether it
is so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QComboBox, QDialog, QFileDialog, QLineEdit, QPushButton, QSpinBox, QWidget

from raygrove.app.ui.dialogs.export_dialog import ExportDialog
from raygrove.app.ui.panels.frame_bars import FrameBars
from raygrove.gpu.stats import StepCounts
from tests.app.ui.walk.guide_keys import KEYS, try_key, unfold_costs
from tests.app.ui.walk.person import Person, Steps

GUIDE = Path(__file__).resolve().parents[4] / "docs/guide.md"
FRAMES, VIDEO = 4, (160, 120)


def write_model(folder: Path) -> list[Path]:
    """Somebody's own model: a sheet that waves, as numbered OBJ files."""
    side = np.linspace(-1.0, 1.0, 16)
    x, z = (part.ravel() for part in np.meshgrid(side, side))
    corner = (np.arange(15)[:, None] * 16 + np.arange(15)).ravel() + 1
    faces = [(a, a + 16, a + 17, a + 1) for a in corner]
    paths = [folder / f"sheet_{number:03d}.obj" for number in range(FRAMES)]
    for number, path in enumerate(paths):
        y = 0.2 * np.sin(3.0 * x + number) * np.cos(2.0 * z)
        lines = [f"v {a:.5f} {b:.5f} {c:.5f}" for a, b, c in zip(x, y, z, strict=True)]
        path.write_text("\n".join(lines + [f"f {a} {b} {c} {d}" for a, b, c, d in faces]) + "\n")
    return paths


def new_user(person: Person, folder: Path) -> Steps:
    """From the welcome page to a heat map of an own model and a video of it."""
    yield from open_model(person, write_model(folder))
    yield from choose_structure(person)
    yield from see_heat_map(person)
    yield from play(person)
    yield from export_video(person, folder / "sheet.mp4")


def open_model(person: Person, paths: list[Path]) -> Steps:
    """Open a model… on the welcome page, then all of the numbered files that the notice speaks of."""
    window = person.window
    person.begin("open one's own model")
    assert window.welcome.isVisible(), "the first thing is the welcome page"
    person.picture("welcome")
    yield from person.click(person.find(QPushButton, "open"))
    yield from person.until(lambda: person.find(QFileDialog), "the dialog for files")
    dialog = person.find(QFileDialog)
    assert dialog is not None
    line = dialog.findChild(QLineEdit, "fileNameEdit")
    assert line is not None
    yield from person.click(line)
    yield from person.press("Ctrl+A")
    yield from person.write(str(paths[0]))
    yield from person.press("Return")
    yield from person.scene(paths[0].name)
    assert window.windowTitle().startswith(paths[0].name)
    person.begin("open the whole sequence, as the notice offers")
    yield from person.click(person.find(QPushButton, text="Open all as key frames"))
    yield from person.until(lambda: person.document.span.duration > 0.0 and not person.document.jobs, "the sequence")
    yield from person.until(person.shows_state, "its picture")
    assert person.document.state.timeline.is_playing, "what moves plays"
    person.picture("own_model")


def choose_structure(person: Person) -> Steps:
    """Click Structure: arrow keys try, Return keeps; then Esc takes back."""
    person.begin("choose a structure in the row above the picture")
    before = person.document.state.settings.render.hierarchy
    yield from try_structure(person)
    tried = drawn_by(person)
    person.picture("structure")
    yield from leave_sheet(person, "Return")
    assert person.document.state.settings.render.hierarchy == tried != before and person.document.can_undo
    yield from try_structure(person)
    yield from leave_sheet(person, "Esc")
    assert person.document.state.settings.render.hierarchy == tried, "Esc takes back"


def try_structure(person: Person) -> Steps:
    """Another structure by an arrow key, and its picture."""
    chosen = lambda: person.document.state.settings.render.hierarchy  # noqa: E731
    before = chosen()
    yield from person.click(person.window.pipeline.bar.chips["structure"])
    yield from person.until(lambda: person.find(QWidget, "sheet.structure"), "the sheet")
    yield from person.press("Down")
    yield from person.until(lambda: chosen() != before, "another structure by an arrow key")
    yield from person.until(lambda: drawn_by(person) == chosen(), f"a picture by {chosen()}")


def leave_sheet(person: Person, keys: str) -> Steps:
    """By Return or Esc."""
    yield from person.press(keys)
    yield from person.until(lambda: person.find(QWidget, "sheet.structure") is None, "the end of the sheet")


def drawn_by(person: Person) -> str:
    """The structure of the newest picture."""
    frame = person.window.loop.last_frame
    views = frame.statistics.views if frame is not None and frame.statistics is not None else ()
    return views[0].hierarchy if views else ""


def counts_of(person: Person) -> StepCounts | None:
    """What the heat map's panel shows."""
    return person.window.inspectors.heat.shown


def see_heat_map(person: Person) -> Steps:
    """Rays > Traversal steps: the panel comes, and the colours fit what is seen."""
    person.begin("see the heat map")
    yield from person.click(person.window.pipeline.bar.chips["rays"])
    yield from person.until(lambda: person.find(QWidget, "sheet.rays"), "the sheet of rays")
    yield from person.press("/")
    yield from person.write("traversal steps")
    yield from person.press("Return", 2)
    yield from person.until(lambda: person.document.state.settings.render.ray_type == "steps", "traversal steps")
    options = lambda: person.document.state.settings.ray_type_options("steps")  # noqa: E731
    yield from person.until(lambda: counts_of(person) is not None, "the counts of a picture")
    yield from person.until(lambda: options() != type(options())(), "a range that fits")
    yield from person.until(person.shows_state, "the heat map")
    counts = counts_of(person)
    assert counts is not None and person.window.inspectors.heat.isVisible()
    seen = counts.quantile(0.99)
    assert seen / 3 <= options().maximum <= 3 * seen, f"99 % below {seen}, the range ends at {options().maximum}"
    yield from person.rest(0.3)
    person.picture("heat_map")


def play(person: Person) -> Steps:
    """Space pauses and plays, arrow keys step, a drag orbits, the wheel zooms."""
    person.begin("play, step, look round")
    window, timeline = person.window, lambda: person.document.state.timeline
    yield from person.click(window.view)
    yield from person.press("Space")
    yield from person.until(lambda: not timeline().is_playing, "the pause")
    yield from person.press("Home")
    yield from person.press("Right")
    yield from person.until(lambda: 0.0 < timeline().time < 0.1, "the next frame")
    yield from look_round(person)


def look_round(person: Person) -> Steps:
    """Drag in the picture to orbit, turn the wheel to zoom."""
    view, eye = person.window.view, lambda: np.array(person.document.state.camera_of(0).eye)
    middle, before = view.rect().center(), eye()
    aim = np.array(person.document.state.camera_of(0).look_at)
    yield from person.drag(view, middle, middle + QPoint(60, 25))
    yield from person.until(lambda: np.linalg.norm(eye() - before) > 1e-3, "another view by a drag", 10.0)
    turned, distance = eye(), np.linalg.norm(eye() - aim)
    yield from person.wheel(view, 2)
    yield from person.until(lambda: np.linalg.norm(eye() - turned) > 1e-3, "a zoom by the wheel", 10.0)
    assert np.linalg.norm(eye() - aim) < distance, "nearer, not farther"


def export_video(person: Person, path: Path) -> Steps:
    """Ctrl+E, a short video of the animation."""
    person.begin("export a video")
    yield from person.press("Ctrl+E")
    yield from person.until(lambda: person.find(QDialog, "export"), "the dialog")
    dialog = person.find(QDialog, "export")
    assert isinstance(dialog, ExportDialog)
    titles = [dialog.format.itemText(index) for index in range(dialog.format.count())]
    place = next(index for index, title in enumerate(titles) if title.startswith("Video"))
    yield from choose(person, dialog.format, place)
    yield from choose(person, dialog.frames, 1)
    for name, value in (("width", VIDEO[0]), ("height", VIDEO[1]), ("samples", 1)):
        box = dialog.findChild(QSpinBox, name)
        assert box is not None
        yield from person.click(box, QPoint(10, box.height() // 2))
        yield from person.press("Ctrl+A")
        yield from person.write(str(value))
    yield from person.click(dialog.out)
    yield from person.press("Ctrl+A")
    yield from person.write(str(path))
    assert dialog.button.isEnabled(), dialog.note.text()
    person.picture("export")
    yield from person.click(dialog.button)
    yield from person.until(lambda: not person.document.jobs and path.is_file(), "the video")
    import av

    with av.open(str(path)) as video:
        frames = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    assert len(frames) == person.document.span.frame_count and frames[0].shape == (*reversed(VIDEO), 3)
    assert frames[0].std() > 5.0 and any(not np.array_equal(frames[0], one) for one in frames[1:]), "it shows nothing"


def choose(person: Person, box: QComboBox, place: int) -> Steps:
    """An entry of a list, by keys."""
    box.setFocus()
    yield from person.press("Home")
    yield from person.press("Down", place)
    assert box.currentIndex() == place, f"{person.step}: {box.currentText()}"


def tour(person: Person) -> Steps:
    """Help > Take the tour: what each of the six cards says, done."""
    person.begin("take the tour")
    yield from person.menu("Help", "Take the tour")
    card = person.window.tour
    yield from person.until(lambda: card.isVisible(), "the tour")
    for number, (words, act) in enumerate(TOUR):
        text = card.accessibleDescription()
        person.begin(f"tour, step {number + 1}: {card.accessibleName()}")
        assert card.step == number and all(word in text for word in words), f"the card says something else: {text}"
        yield from act(person)
        person.picture(f"tour_{number + 1}")
        yield from person.click(person.find(QPushButton, "tour.next"))
    assert not card.is_under_way and person.window.memory.took_tour()


def tour_look(person: Person) -> Steps:
    yield from person.scene("orbit")
    yield from look_round(person)
    timeline = lambda: person.document.state.timeline  # noqa: E731
    yield from person.click(person.window.view)
    assert timeline().is_playing, "the scene moves"
    yield from person.press("Space")
    yield from person.until(lambda: not timeline().is_playing, "the pause", 10.0)
    before = timeline().time
    yield from person.press("Right")
    yield from person.until(lambda: timeline().time != before, "the next frame", 10.0)
    yield from person.press("Space")


def tour_figures(person: Person) -> Steps:
    bars = person.find(FrameBars)
    assert bars is not None
    yield from person.until(lambda: bars.sample_at(bars.width() - 3.0) is not None, "bars")
    yield from person.click(bars, QPoint(bars.width() - 3, bars.height() // 2))
    yield from person.until(lambda: person.window.session.figures.pinned is not None, "a frame that is held", 10.0)
    yield from person.press("Esc")
    yield from person.until(lambda: person.window.session.figures.pinned is None, "its end", 10.0)
    assert person.window.tour.is_under_way, "Esc let go of the frame, not of the tour"


def tour_refit(person: Person) -> Steps:
    yield from person.scene("explode")
    state = lambda: person.document.state.settings.update.mode  # noqa: E731
    assert state() == "refit" and person.document.state.timeline.is_playing
    yield from person.rest(1.0)
    yield from person.click(person.window.pipeline.bar.chips["update"])
    yield from person.until(lambda: person.find(QWidget, "sheet.update"), "the sheet of updates")
    yield from person.press("/")
    yield from person.write("rebuild every frame")
    yield from person.press("Return")
    yield from person.until(lambda: state() == "rebuild", "Rebuild under Update", 10.0)
    yield from person.press("Return")


def tour_steps(person: Person) -> Steps:
    yield from person.until(lambda: counts_of(person) is not None, "the counts")
    yield from person.until(person.shows_state, "the heat map")
    yield from person.press("Home")  # the ball before it has burst: there is something under the pointer
    view, pick = person.window.view, person.window.inspectors.pick
    is_told = lambda: pick.isVisible() and pick.tree.topLevelItemCount() > 0  # noqa: E731
    for across in (0.5, 0.45, 0.55, 0.48, 0.52):
        yield from person.click(view, QPoint(round(across * view.width()), view.height() // 2), held="Shift")
        yield from person.rest(2.0)
        if is_told():
            break
    yield from person.until(is_told, "the path of nodes", 20.0)


def tour_light(person: Person) -> Steps:
    yield from person.scene("metal")
    yield from person.press("Ctrl+O")
    yield from person.until(lambda: person.find(QFileDialog), "the dialog for files")
    yield from person.press("Esc")
    yield from person.until(lambda: person.find(QFileDialog) is None, "its end")


TOUR: tuple[tuple[tuple[str, ...], Callable[[Person], Steps]], ...] = (
    (("Drag in the picture to orbit", "the wheel to zoom", "press Space to pause", "arrow keys to step"), tour_look),
    (("Click Structure: arrow keys try", "Return keeps it, Esc takes it back"), choose_structure),
    (("Click one of the bars", "press Esc to let go"), tour_figures),
    (("choose Rebuild every frame", "under Update"), tour_refit),
    (("Shift and a click", "nodes"), tour_steps),
    (("Press Ctrl+O",), tour_light),
)


def guide(person: Person) -> Steps:
    """The keys that the guide names, on a scene that moves."""
    text = GUIDE.read_text(encoding="utf-8").replace("\n", " ")
    person.window.open_demo("walker")
    yield from person.scene("walker")
    yield from unfold_costs(person)
    yield from person.click(person.window.view)
    opened = person.document.state.camera_of(0)
    for key in KEYS:
        assert key.words in text, f"the guide does not say any more: {key.words}"
        yield from try_key(person, key, opened)


WAYS: Mapping[str, Callable[[Person, Path], Steps]] = {
    "new_user": new_user,
    "tour": lambda person, folder: tour(person),
    "guide": lambda person, folder: guide(person),
}
