"""The sheet of the structure: builders by how their trees come about, with what each costs here; optimiser, layout,
traversal and triangle test as rows. What the scene, the device or the update cannot have is greyed with the reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from raygrove.app.document.document import Document
from raygrove.app.help import texts
from raygrove.app.settings import option_tables, titles
from raygrove.app.settings.settings import Settings
from raygrove.app.ui.pipeline.faces import memory, milliseconds
from raygrove.app.ui.pipeline.measured import Measured
from raygrove.app.ui.pipeline.offers import Group, Offer, Row, SheetContent
from raygrove.app.ui.session import choices
from raygrove.app.ui.session.notices import Way
from raygrove.app.ui.session.session import Session

FAMILIES = {
    "linear": ("Linear", "linear"),
    "top_down": ("Top-down", "top_down"),
    "bottom_up": ("Bottom-up", "bottom_up"),
    "insertion": ("Insertion", "tree"),
    "two_level": ("Two-level", "two_level"),
    "bvh": ("Other trees of boxes", "structure"),
    "kdtree": ("Kd-tree", "kd_tree"),
    "grid": ("Grid", "grid"),
    "octree": ("Octree", "octree"),
    "brute_force": ("None", "none"),
}
"""Title and icon of each group: a family, or within it how trees come about."""


def structure_sheet(session: Session, measured: Measured, target_kind: Callable[[], str], options: Way) -> SheetContent:
    """See the module; `target_kind` is host or cuda, where pictures are drawn now."""
    offered, document = session.choices, session.document

    def traversals() -> list[choices.Choice]:
        """Those of the layout alone, which an automatic one is the best of the device for."""
        render = document.state.settings.render
        kind = option_tables.builder(render.hierarchy)
        layout = kind.default_layout(target_kind()) if render.layout == "auto" else render.layout
        fitting = ("auto", render.traversal, *kind.traversals(layout))
        return [choice for choice in offered.traversals() if choice[0] in fitting]

    def peak(name: str, counts: tuple[int, int, int]) -> str:
        """The memory that building it takes at most, or where that depends on the scene at least."""
        if not any(counts):
            return ""
        found = option_tables.predicted_memory(name, target_kind(), counts, document.state.settings)
        if found is None:
            return ""
        text = _tr("{memory} or more") if found.is_least else _tr("{memory} peak")
        return text.format(memory=memory(found.peak))

    def groups() -> list[Group]:
        found: dict[str, list[Offer]] = {}
        counts = counts_of(document)
        for name, kind in option_tables.builders().items():
            found.setdefault(kind.construction or kind.family, []).append(
                Offer(
                    name,
                    titles.title("hierarchy", name),
                    texts.sentence_of(kind),
                    refusal(session, kind, target_kind()),
                    (peak(name, counts), *_here(measured.milliseconds("structure", name, document.state.settings))),
                )
            )
        order = [*(name for name in FAMILIES if name in found), *(name for name in found if name not in FAMILIES)]
        return [Group(*_family(name), tuple(found[name])) for name in order]

    rows = (
        ("optimiser", _tr("Optimiser"), offered.optimisers, offered.choose("render.optimiser")),
        ("layout", _tr("Layout"), offered.layouts, offered.choose_layout),
        ("traversal", _tr("Traversal"), traversals, offered.choose("render.traversal")),
        ("triangle_test", _tr("Triangle test"), offered.triangle_tests, offered.choose("render.triangle_test")),
    )
    return SheetContent(
        "structure",
        _tr("Structure"),
        groups,
        lambda: document.state.settings.render.hierarchy,
        offered.choose_hierarchy,
        tuple(
            Row(name, title, _short(f"render.{name}", offers), offered.current(f"render.{name}"), choose)
            for name, title, offers, choose in rows
        ),
        (options,),
    )


def refusal(session: Session, kind: Any, target_kind: str) -> str:
    """Why a structure cannot be chosen for this scene, on this device, as it is updated; "" where it can."""
    can, scene, document = kind.capabilities, session.document.scene, session.document
    if target_kind not in can.targets:
        return _tr("Not on this device.")
    missing = [] if scene is None else [name for name in _kinds(scene) if name not in can.primitive_kinds]
    if missing:
        return _tr("It holds no {kind}, which this scene has.").format(kind=_plural(missing[0]))
    most = getattr(kind, "most_primitives", {}).get(target_kind)
    if most is not None and scene is not None and scene.primitive_count > most:
        return _tr("It takes at most {most} primitives here; this scene has {count}.").format(
            most=f"{most:,}", count=f"{scene.primitive_count:,}"
        )
    policy = option_tables.update_policies().get(document.state.settings.update.mode)
    if policy is not None and policy.refits and policy.is_fixed and not can.refit:
        return _tr("It cannot be refitted: choose another update first.")
    return ""


def as_offers(key: str, found: Sequence[choices.Choice], refused: str) -> list[Offer]:
    """Choices of the menus as members of a row, their titles short; what cannot be chosen says `refused`."""
    return [
        Offer(value, titles.short_title(key, value) if title == titles.title(key, value) else title, tip,
              "" if is_free else refused or tip)
        for value, title, tip, is_free in found
    ]  # fmt: skip


def _short(key: str, offers: Callable[[], list[choices.Choice]]) -> Callable[[], list[Offer]]:
    refused = _tr("Trees of this structure cannot be improved by it.") if key == "render.optimiser" else ""
    return lambda: as_offers(key, offers(), refused)


def _here(spent: float | None) -> tuple[str, ...]:
    return () if spent is None else (_tr("{time} here").format(time=milliseconds(spent)),)


def foresee(target_kind: str, counts: tuple[int, int, int], settings: Settings) -> None:
    """Find out what memory each structure would take, which is kept (option_tables.predicted_memory)."""
    for name in option_tables.builders() if any(counts) else ():
        option_tables.predicted_memory(name, target_kind, counts, settings)


def counts_of(document: Document) -> tuple[int, int, int]:
    """How many triangles, spheres and glyphs of the scene are in its structure: hidden objects are in none."""
    counts, scene = [0, 0, 0], document.scene
    for index, thing in enumerate(scene.objects if scene is not None else ()):
        if scene is not None and index not in document.state.hidden:
            counts[0 if thing.mesh >= 0 else 1 if thing.spheres >= 0 else 2] += scene.count_of(index)
    return counts[0], counts[1], counts[2]


def _kinds(scene: Any) -> list[str]:
    """The kinds of primitives by which a scene is built."""
    if scene.glyph_count:
        return ["glyphs"]
    if scene.sphere_count:
        return ["mixed" if scene.triangle_count else "sphere"]
    return ["triangle"]


def _plural(kind: str) -> str:
    return {"mixed": _tr("spheres beside triangles"), "glyphs": _tr("glyphs")}.get(kind, f"{kind}s")


def _family(name: str) -> tuple[str, str]:
    title, icon = FAMILIES.get(name, (titles.words(name), "structure"))
    return _tr(title), icon


def _tr(text: str) -> str:
    return QCoreApplication.translate("Pipeline", text)
