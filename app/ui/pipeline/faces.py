"""What the chips of the row say: the present choice by the name that people use, and what it costs. Plain values from
the document and the figures; texts are translated in the context "Pipeline"."""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import QCoreApplication

from raygrove.app.document.document import Document
from raygrove.app.frames.frame_history import FrameFigures
from raygrove.app.scene_io.demos import ALL_DEMOS
from raygrove.app.scene_io.motions import moves
from raygrove.app.settings import option_tables, titles
from raygrove.app.ui.pipeline.measured import decided
from raygrove.gpu.brief import filled

NAMES = ("scene", "motion", "structure", "update", "rays", "display")
"""The chips, in the order of a frame."""

PHASES_OF = {
    "scene": (),
    "motion": ("animate",),
    "structure": ("build", "optimise"),
    "update": ("refit",),
    "rays": ("trace", "shade"),
    "display": ("display",),
}
"""The phases of a frame that each chip's choice decides."""

UPDATES = {
    "rebuild": "Rebuild",
    "refit": "Refit",
    "auto": "Adaptive",
    "every_n": "Every n-th",
    "cost_ratio": "Cost ratio",
    "ratio_optimiser": "Refit ratio",
    "refit_rotations": "Rotations",
}
"""Update policies in a word; what they are called where there is more room is longer."""

DASH = "–"


@dataclasses.dataclass(frozen=True)
class Face:
    """What a chip says: its label, the present choice, and below it what that costs. `letter` is that of the contestant
    of a race whose choice it is."""

    label: str
    choice: str
    cost: str
    letter: str = ""


def labels() -> dict[str, str]:
    """What each chip is called."""
    return {
        "scene": _tr("Scene"),
        "motion": _tr("Motion"),
        "structure": _tr("Structure"),
        "update": _tr("Update"),
        "rays": _tr("Rays"),
        "display": _tr("Display"),
    }


def faces(document: Document, figures: FrameFigures | None) -> dict[str, Face]:
    """The face of each chip, whose costs are those that are told now: none where they are of another choice, while what
    was chosen is compiled."""

    def of(kind: str) -> FrameFigures | None:
        drawn = figures.sample.frame.request.state.settings if figures is not None else document.state.settings
        return figures if decided(kind, drawn) == decided(kind, document.state.settings) else None

    parts = {
        "scene": (scene_title(document), _counted(document)),
        "motion": (motion_title(document), _moving(document, figures)),
        "structure": (structure_title(document, figures), _structure_cost(of("structure"))),
        "update": (update_title(document), _update_cost(of("update"))),
        "rays": (rays_title(document), _spent(of("rays"), "trace", "shade")),
        "display": (display_title(figures), _spent(figures, "display")),
    }
    letter = document.state.settings.race.edited
    found = {name: Face(label, *parts[name]) for name, label in labels().items()}
    for name in ("structure", "update") if letter else ():
        label = _tr("{label} of {letter}").format(label=found[name].label, letter=letter)
        found[name] = dataclasses.replace(found[name], label=label, letter=letter)
    return found


def milliseconds(value: float) -> str:
    """Milliseconds, short: "0.08 ms", "4.1 ms", "120 ms"."""
    digits = 2 if value < 0.995 else 1 if value < 99.95 else 0
    return f"{value:,.{digits}f}\u202fms"


def nanoseconds(value: float) -> str:
    """Milliseconds, short, in nanoseconds: "0.42 ns", "31.0 ns", "1,250 ns"."""
    return milliseconds(value * 1e6).replace("ms", "ns")


def memory(count: float) -> str:
    """Bytes, short: "0.4 KiB", "5.3 MiB", "120 MiB", "1.4 GiB"."""
    power, unit = (30, "GiB") if count >= 2**30 else (20, "MiB") if count >= 2**20 else (10, "KiB")
    value = count / 2**power
    return f"{value:,.{1 if value < 99.95 else 0}f}\u202f{unit}"


# -- the choices by their names ---------------------------------------------------------------------------------------
def scene_title(document: Document) -> str:
    """The open scene."""
    reference = document.state.scene
    if reference.kind == "none":
        return reference.title or _tr("Open a scene")
    known = {info.name: info.title for info in ALL_DEMOS} if reference.kind == "demo" else {}
    return known.get(reference.names[0], reference.title)


def motion_title(document: Document) -> str:
    """What moves the scene: its own clip, a motion that it was given, or nothing."""
    scene, state = document.scene, document.state
    if scene is None:
        return DASH
    given = state.settings.motion.name
    if given != "none":
        return given.capitalize()
    if not moves(scene):
        return _tr("Still")
    if len(scene.clips) > 1:
        name = scene.clips[state.timeline.clip].name
        return name or _tr("Clip {number}").format(number=state.timeline.clip + 1)
    return _tr("As in the file") if state.scene.kind == "files" else _tr("Its own")


def structure_title(document: Document, figures: FrameFigures | None) -> str:
    """Builder, optimiser and layout; an automatic layout by the one that was taken, once a frame has said so."""
    render = document.state.settings.render
    kind = option_tables.builder(render.hierarchy)
    title = titles.short_title("hierarchy", render.hierarchy)
    if render.optimiser != "none":
        title = f"{title} + {titles.short_title('optimiser', render.optimiser).lower()}"
    layout, view = render.layout, figures.sample.view if figures is not None else None
    if layout == "auto" and view is not None and view.hierarchy == render.hierarchy:
        layout = view.layout
    has_several = kind is not None and len(kind.layouts()) > 1
    return f"{title} / {titles.brief_layout(layout)}" if has_several and layout != "auto" else title


def update_title(document: Document) -> str:
    """The update policy."""
    return update_word(document.state.settings.update.mode)


def update_word(mode: str) -> str:
    """An update policy in a word."""
    return _tr(UPDATES[mode] if mode in UPDATES else titles.short_title("update", mode))


def rays_title(document: Document) -> str:
    """The ray type."""
    return titles.short_title("ray_type", document.state.settings.render.ray_type)


def display_title(figures: FrameFigures | None) -> str:
    """The size of the picture that is drawn."""
    return "{} x {}".format(*figures.sample.frame.drawn) if figures is not None else DASH


# -- what they cost ---------------------------------------------------------------------------------------------------
def _counted(document: Document) -> str:
    scene = document.scene
    if scene is None:
        return ""
    kinds = (
        (scene.triangle_count, _tr("{count} triangles")),
        (scene.sphere_count, _tr("{count} spheres")),
        (scene.glyph_count, _tr("{count} glyphs")),
    )
    return ", ".join(filled(text, count=f"{count:,}") for count, text in kinds if count)


def _moving(document: Document, figures: FrameFigures | None) -> str:
    is_still = document.scene is None or document.span.duration <= 0.0
    return DASH if is_still else _spent(figures, "animate")


def _spent(figures: FrameFigures | None, *names: str) -> str:
    return milliseconds(figures.ms(*names)) if figures is not None else DASH


def _structure_cost(figures: FrameFigures | None) -> str:
    view = figures.sample.view if figures is not None else None
    if figures is None or view is None:
        return DASH
    room, last = memory(view.structure.bytes), figures.sample.frame.last_update
    if figures.is_there("update.rebuild"):  # a GPU does not time every frame: it may be none of those that built
        return f"{_spent(figures, 'update.rebuild')}   {room}"
    built = last.views[0] if last is not None and last.views else None
    if built is None or built.update != "rebuild" or (built.hierarchy, built.layout) != (view.hierarchy, view.layout):
        return room
    return f"{milliseconds(built.build_ms)}   {room}"  # of the last build: the update's chip says reused


def _update_cost(figures: FrameFigures | None) -> str:
    if figures is None or not figures.updates:
        return DASH
    refits, builds = figures.updates.get("refit", 0), figures.updates.get("rebuild", 0)
    if not refits:
        return _tr("rebuilt") if builds else _tr("reused")
    is_timed = figures.is_there("update.refit")
    cost = _tr("{time} a refit").format(time=_spent(figures, "update.refit")) if is_timed else _tr("refitted")
    if not builds:
        return cost
    return _tr("{cost}, {builds} of {all} rebuilt").format(cost=cost, builds=builds, all=refits + builds)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Pipeline", text)
