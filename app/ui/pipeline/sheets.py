"""What the sheets of the other chips offer: scenes, motions, updates, rays, and how pictures come into the window."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from raygrove.app.help import texts
from raygrove.app.scene_io.demos import ALL_DEMOS
from raygrove.app.settings import option_tables, titles
from raygrove.app.settings.settings import Settings
from raygrove.app.ui.pipeline.faces import milliseconds, nanoseconds
from raygrove.app.ui.pipeline.measured import Measured
from raygrove.app.ui.pipeline.offers import Group, Offer, Row, SheetContent
from raygrove.app.ui.pipeline.structure_sheet import as_offers
from raygrove.app.ui.session import recent_files
from raygrove.app.ui.session.notices import Way
from raygrove.app.ui.session.session import Session
from raygrove.gpu.brief import percent

QUESTIONS = (
    ("Refit or rebuild?", ("explode", "cloth")),
    ("A character", ("walker",)),
    ("Many moving objects", ("orbit",)),
    ("Light", ("metal", "glass", "room", "radiosity_room")),
    ("Pure ray speed", ("blob",)),
    ("Particles", ("spheres", "mixed", "galaxy", "molecule", "ball_and_stick")),
)
"""Built-in scenes under the question that each answers."""

FILE, DEMO = "file:", "demo:"
CLIP, MOTION = "clip:", "motion:"


def scene_sheet(session: Session, open_demo: Callable[[str], object], open_files: Callable[[list[str]], object],
                ask: Way) -> SheetContent:  # fmt: skip
    """Built-in scenes and the files opened last. Opening takes its time, so nothing is tried."""
    document = session.document

    def groups() -> list[Group]:
        infos = {info.name: info for info in ALL_DEMOS}
        placed = {name for _, names in QUESTIONS for name in names}
        rest = tuple(name for name in infos if name not in placed)
        found = [
            Group(_tr(title), "scene", tuple(
                Offer(DEMO + name, infos[name].title, infos[name].sentence,
                      notes=(f"{infos[name].triangles:,}", infos[name].counted))
                for name in names if name in infos
            ))
            for title, names in (*QUESTIONS, ("Others", rest)) if any(name in infos for name in names)
        ]  # fmt: skip
        recent = tuple(Offer(FILE + entry, recent_files.title_of(entry, with_folder=False),
                             os.path.dirname(recent_files.files_of(entry)[0]))
                       for entry in session.memory.recent())  # fmt: skip
        return [*([Group(_tr("Recent files"), "scene", recent)] if recent else []), *found]

    def current() -> str:
        scene = document.state.scene
        if not scene.names:
            return ""
        return {"demo": DEMO + scene.names[0], "files": FILE + recent_files.entry_of(scene.names)}.get(scene.kind, "")

    def choose(value: str) -> None:
        if value.startswith(DEMO):
            open_demo(value.removeprefix(DEMO))
        else:
            open_files([value.removeprefix(FILE)])

    return SheetContent("scene", _tr("Scene"), groups, current, choose, ways=(ask,), is_tried=False)


def motion_sheet(session: Session) -> SheetContent:
    """The scene's clips, the motions that a still model can be given, and how the time runs."""
    document, offered = session.document, session.choices

    def groups() -> list[Group]:
        scene = document.scene
        clips = tuple(
            Offer(f"{CLIP}{index}", clip.name or _tr("Clip {number}").format(number=index + 1),
                  _tr("{seconds} s, of the file").format(seconds=f"{clip.duration:.2f}"))
            for index, clip in enumerate(scene.clips if scene is not None else ())
        )  # fmt: skip
        free = [choice[3] for choice in offered.motions()]
        moving = _tr("This model moves by itself.")
        motions = tuple(
            Offer(MOTION + name, _tr("As it is") if name == "none" else title, tip, "" if is_free else moving)
            for name, title, tip, is_free in offered.motions()
        )
        given = [Group(_tr("Given to a still model"), "motion", motions)] if any(free) or not clips else []
        return [*([Group(_tr("Clips of the scene"), "motion", clips)] if clips else []), *given]

    def current() -> str:
        settings, scene = document.state.settings, document.scene
        if settings.motion.name != "none" or scene is None or not scene.clips:
            return MOTION + settings.motion.name
        return f"{CLIP}{document.state.timeline.clip}"

    def choose(value: str) -> None:
        if value.startswith(MOTION):
            document.change("settings.motion.name", value.removeprefix(MOTION))
        else:
            head = document.state.timeline
            document.move_head(dataclasses.replace(head, clip=int(value.removeprefix(CLIP)), time=0.0))

    rows = (
        _setting(session, "timeline.repeat", _tr("At the end")),
        _setting(session, "timeline.step", _tr("Time steps")),
        _numbers(session, "timeline.speed", _tr("Speed"), (0.25, 0.5, 1.0, 2.0), lambda value: f"{value:g} x"),
    )
    return SheetContent("motion", _tr("Motion"), groups, current, choose, rows)


def update_sheet(session: Session, measured: Measured) -> SheetContent:
    """The update policies."""
    offered = session.choices

    def now() -> Settings:
        return session.document.state.settings

    def groups() -> list[Group]:
        offers = tuple(
            Offer(name, title, tip, "" if is_free else tip, _here(measured.milliseconds("update", name, now())))
            for name, title, tip, is_free in offered.updates()
        )
        return [Group(_tr("What is done when things have moved"), "rebuild", offers)]

    return SheetContent("update", _tr("Update"), groups, offered.current("update.mode"), offered.choose("update.mode"))


def rays_sheet(session: Session, measured: Measured, options: Way) -> SheetContent:
    """Ray types: those of light, and those that show what rays do or meet."""

    def groups() -> list[Group]:
        found: dict[bool, list[Offer]] = {False: [], True: []}
        for name, kind in sorted(option_tables.ray_types().items()):
            found[kind.is_debug_view].append(
                Offer(
                    name,
                    titles.title("ray_type", name),
                    texts.sentence_of(kind),
                    notes=_a_pixel(measured.milliseconds("rays", name, session.document.state.settings)),
                )
            )
        return [
            Group(_tr("Light transport"), "rays", tuple(found[False])),
            Group(_tr("Debug views"), "heat_map", tuple(found[True])),
        ]

    rows = (
        _numbers(session, "render.samples", _tr("Samples per pixel"), (1, 4, 16, 64, 256)),
        _setting(session, "render.primary", _tr("First hits"), session.choices.primaries),
    )
    choices = session.choices
    current, choose = choices.current("render.ray_type"), choices.choose("render.ray_type")
    return SheetContent("rays", _tr("Rays"), groups, current, choose, rows, (options,))


def display_sheet(session: Session, options: Way) -> SheetContent:
    """How large pictures are drawn, how bright, and how smooth."""

    def picture(name: str) -> str:
        return f"ray_type.{session.document.state.settings.render.ray_type}.{name}"

    rows = [
        _numbers(session, "display.minimum_scale", _tr("Drawn size, at least"), (0.25, 0.5, 0.71, 1.0), percent),
        _switch(session, "display.adapt_resolution", _tr("Fewer pixels in motion")),
        _numbers(session, "render.samples", _tr("Samples in motion"), (1, 4, 16, 64)),
        _numbers(session, "display.still_samples", _tr("Samples at rest"), (1, 4, 16, 64, 256)),
        _numbers(session, lambda: picture("exposure"), _tr("Exposure"), (-2.0, -1.0, 0.0, 1.0, 2.0),
                 lambda value: f"{value:+g}" if value else "0"),
        _setting(session, lambda: picture("tone"), _tr("Tone")),
        _setting(session, "display.view", _tr("Shown by")),
        _setting(session, "render.device", _tr("Device"), session.choices.devices),
    ]  # fmt: skip
    return SheetContent("display", _tr("Display"), rows=tuple(rows), ways=(options,))


# -- rows of settings -------------------------------------------------------------------------------------------------
Key = str | Callable[[], str]


def _setting(
    session: Session, key: Key, title: str, offers: Callable[[], Sequence[tuple[str, str, str, bool]]] | None = None
) -> Row:
    """A setting with named values; one that the ray type lacks has none to choose."""

    def found() -> list[Offer]:
        name = _named(key)
        if not _has(session, name):
            return [_lacking()]
        return as_offers(name, list((offers or (lambda: session.choices.of_option(name)))()), "")

    return Row(f"row.{_row_name(key)}", title, found, lambda: str(_value(session, _named(key))),
               lambda value: session.document.change(f"settings.{_named(key)}", value))  # fmt: skip


def _numbers(
    session: Session, key: Key, title: str, values: Sequence[float], text: Callable[[float], str] = lambda v: f"{v:,g}"
) -> Row:
    """A setting with some of its numbers; the present one is among them."""

    def found() -> list[Offer]:
        if not _has(session, _named(key)):
            return [_lacking()]
        present = _value(session, _named(key))
        return [Offer(str(value), text(value)) for value in sorted({*values, present})]

    def choose(value: str) -> None:
        kind = type(_value(session, _named(key)))
        session.document.change(f"settings.{_named(key)}", kind(value))

    return Row(f"row.{_row_name(key)}", title, found, lambda: str(_value(session, _named(key))), choose)


def _switch(session: Session, key: str, title: str) -> Row:
    offers = [Offer("True", _tr("On")), Offer("False", _tr("Off"))]
    return Row(f"row.{key}", title, lambda: offers, lambda: str(_value(session, key)),
               lambda value: session.document.change(f"settings.{key}", value == "True"))  # fmt: skip


def _lacking() -> Offer:
    return Offer("", _tr("not for this ray type"), refusal=_tr("This ray type shows numbers, not light."))


def _named(key: Key) -> str:
    return key if isinstance(key, str) else key()


def _row_name(key: Key) -> str:
    return _named(key).rpartition(".")[2] if callable(key) else key


def _has(session: Session, key: str) -> bool:
    return _value(session, key) is not None


def _value(session: Session, key: str) -> Any:
    """What a dotted key says now; None where there is no such option."""
    group, _, rest = key.partition(".")
    settings = session.document.state.settings
    if group == "ray_type":
        name, _, rest = rest.partition(".")
        return getattr(settings.ray_type_options(name), rest, None)
    return getattr(getattr(settings, group), rest, None)


def _here(spent: float | None) -> tuple[str, ...]:
    return () if spent is None else ("", _tr("{time} here").format(time=milliseconds(spent)))


def _a_pixel(spent: float | None) -> tuple[str, ...]:
    """Pictures of ray types are seldom of one size: a pixel's share can be compared."""
    return () if spent is None else ("", _tr("{time} per pixel here").format(time=nanoseconds(spent)))


def _tr(text: str) -> str:
    return QCoreApplication.translate("Pipeline", text)
