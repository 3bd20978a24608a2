"""What lies under the pixel that was picked: the primitive, where it was hit, its material and object, the nodes from
the root to its leaf, the cells beside that, and what is near."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHeaderView, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from raygrove.app.camera.gestures import Gestures
from raygrove.app.frames.cell_neighbours import CONTACTS, Neighbours
from raygrove.app.frames.node_path import PathNode
from raygrove.app.ui.panels.attribute_curves import AttributeCurves, PickedSphere, value_text
from raygrove.app.ui.panels.near_controls import NearControls
from raygrove.app.ui.plain_text import Label, tip
from raygrove.app.ui.widgets.panel_bar import PanelBar, Table
from raygrove.gpu.brief import filled, percent
from raygrove.gpu.region import Region, RegionContents
from raygrove.gpu.scene import Scene
from raygrove.gpu.stats import Near, Surroundings

if TYPE_CHECKING:
    from raygrove.app.frames.questions import Picked
    from raygrove.gpu.engine import Hit

PATH_COLUMNS = ("depth", "node", "row", "kind", "references", "share", "lower", "upper")


@dataclasses.dataclass(frozen=True)
class Boxes:
    """What is seen in the picture where a line is chosen: nodes of the path, and cells by how they meet the picked
    one."""

    path: tuple[PathNode, ...]
    cells: Mapping[str, tuple[PathNode, ...]] = dataclasses.field(default_factory=dict)


class PickPanel(QWidget):
    """See the module. `path_shown` carries the nodes whose boxes are to be seen in the picture, `cells_shown` those
    beside the picked cell by how they meet it (CONTACTS), `mode_changed` whether every click picks, `jumped` the
    seconds that were clicked in a curve. `near_wanted` asks what is near: the hit and how many; `near_shown` carries
    the answer, for the picture. `region_wanted` carries the region to be counted in."""

    path_shown = Signal(object)
    cells_shown = Signal(object)
    near_wanted = Signal(object, int)
    near_shown = Signal(object)
    region_wanted = Signal(object)
    mode_changed = Signal(bool)
    jumped = Signal(float)

    def __init__(self, gestures: Gestures, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pick")
        self._gestures = gestures
        gestures.on_change.append(lambda: None if self.rows else self.clear())
        self.rows: list[tuple[str, str]] = []
        self.path: tuple[PathNode, ...] = ()
        self.neighbours: Neighbours | None = None
        self._nearest: QTreeWidgetItem | None = None
        self.hit: Hit | None = None
        self.found: Surroundings | None = None
        self.near = NearControls(self)
        self.near.changed.connect(self._ask_near)
        self.near.region_changed.connect(self._want_region)
        self._centre: tuple[float, float, float] | None = None
        self._centred_on: Hit | None = None
        self.hint = Label(self._how(), self)
        self.hint.setWordWrap(True)
        self.mode = QCheckBox(self.tr("Every click picks"), self)
        self.mode.setObjectName("picks_always")
        self.mode.toggled.connect(self.mode_changed)
        self.tree = QTreeWidget(self)
        self.tree.setObjectName("picked")
        self.tree.setColumnCount(2)
        self.tree.setHeaderHidden(True)
        self.tree.setIndentation(12)
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.tree.currentItemChanged.connect(lambda item, before: self._choose(item))
        self.curves = AttributeCurves(self)
        self.curves.chosen.connect(self.jumped)
        self.bar = PanelBar("pick", self.table, self.text, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 6, 6, 6)
        for widget in (self.hint, self.mode, self.tree, self.near, self.curves, self.bar):
            column.addWidget(widget)

    def show_picked(self, picked: Picked | None, scene: Scene | None, color_by: str = "") -> None:
        """Show an answer, unless the figures are frozen; a sphere's curve of `color_by`, where nothing else is
        chosen."""
        if self.bar.is_frozen:
            return
        if picked is None or picked.hit is None or scene is None:
            none = self.tr(
                "There is no picture by rays yet. Where OpenGL draws spheres, choose Structure > Spheres drawn by > "
                "Rays."
            )
            self.clear(self.tr("Nothing was hit there.") if picked is not None else none)
            return
        self.path, self.neighbours = picked.path, picked.neighbours
        self.rows, self.hit, self.found = hit_rows(picked, scene), picked.hit, None
        self.hint.setText(self.tr("Choose a node, cell or group to see its boxes alone."))
        self._fill_tree()
        hit = picked.hit
        if hit.spheres >= 0:
            own = str(hit.file_id) if hit.file_id >= 0 else str(hit.sphere)
            title = " ".join([scene.spheres[hit.spheres].name, own]).strip()
            self.curves.show_sphere(scene, PickedSphere(hit.spheres, hit.sphere, title), color_by)
        else:
            self.curves.clear()
        self._choose(None)
        self._ask_near()

    def show_near(self, hit: Hit, found: Surroundings | str | None) -> None:
        """Show what is near a hit, unless another one is shown by now."""
        if hit is not self.hit or self.bar.is_frozen:
            return
        self.found = found if isinstance(found, Surroundings) else None
        self.near.show_found(found)
        self._fill_near()
        self.near_shown.emit(self.found)
        if self._centred_on is not hit:
            self._centre, self._centred_on = hit.position if self.found is None else self.found.centre, hit
            self._want_region()

    def take_scene(self, scene: Scene | None) -> None:
        """Another scene is open: the slider goes up to its size, whether or not something is picked first."""
        if scene is not None:
            self.near.take_diagonal(float(np.linalg.norm(np.subtract(scene.upper, scene.lower))))

    def drag_region(self, centre: tuple[float, float, float], size: float) -> None:
        """Choose a region in the picture: from its centre so far."""
        self._centre = centre
        self.region_wanted.emit(dataclasses.replace(self.near.region_at(centre), size=size))

    def show_region(self, region: Region) -> None:
        """Show which region is counted in. Where there is none any more, its size stays for the next."""
        if region.is_there:
            self._centre = region.centre
            self.near.show_region(region)
        else:
            self.near.show_contents(None)

    def show_contents(self, contents: RegionContents | str | None) -> None:
        """Show what lies in it in the newest picture, unless the figures are frozen; or why nobody knows."""
        if not self.bar.is_frozen:
            self.near.show_contents(contents)

    def show_time(self, seconds: float) -> None:
        """The playing head has moved."""
        self.curves.show_time(seconds)

    def clear(self, sentence: str = "") -> None:
        """Show nothing, and say why."""
        self.rows, self.path, self.hit, self.found, self.neighbours = [], (), None, None, None
        self._centre = self._centred_on = None
        self.near.show_found(None)
        self.hint.setText(sentence or self._how())
        self._nearest = None
        self.tree.clear()
        self.curves.clear()
        self._choose(None)
        self.near_shown.emit(None)
        self.region_wanted.emit(Region())

    def _ask_near(self) -> None:
        if self.hit is not None:
            self.near_wanted.emit(self.hit, self.near.count.value())

    def _want_region(self) -> None:
        if self._centre is not None:
            self.region_wanted.emit(self.near.region_at(self._centre))

    def _fill_near(self) -> None:
        """The neighbours, below the path."""
        if self._nearest is not None:
            self.tree.takeTopLevelItem(self.tree.indexOfTopLevelItem(self._nearest))
            self._nearest = None
        if self.found is None:
            return
        count = filled(self.tr("{count} primitives"), count=len(self.found.nearest))
        above = self._nearest = QTreeWidgetItem([self.tr("Nearest"), count])
        self.tree.addTopLevelItem(above)
        for place, near in enumerate(self.found.nearest):
            above.addChild(QTreeWidgetItem([f"{place + 1}", _near_line(near)]))
        above.setExpanded(True)

    def _how(self) -> str:
        """How to pick."""
        pick, drag = (next(iter(self._gestures.ways(name)), "") for name in ("mouse.pick", "mouse.region"))
        if not pick:
            return self.tr("No way to pick is set: see Edit > Keys.")
        how = self.tr("{pick} picks what lies under the pointer.").format(pick=pick)
        return how + (self.tr(" {drag} selects a region around it.").format(drag=drag) if drag else "")

    def table(self) -> Table:
        """The nodes of the path, then the cells beside the last of them, their kind how they meet it."""
        kinds = [("leaf" if node.is_leaf else "inner", node) for node in self.path]
        if self.neighbours is not None:
            kinds += [(contact, node) for contact in CONTACTS for node in self.neighbours.of(contact)]
        return PATH_COLUMNS, [
            {
                "depth": node.depth, "node": node.told, "row": node.node_id, "kind": kind,
                "references": node.reference_count,
                "share": node.share, "lower": " ".join(f"{x:g}" for x in node.lower),
                "upper": " ".join(f"{x:g}" for x in node.upper),
            }
            for kind, node in kinds
        ]  # fmt: skip

    def text(self) -> str:
        """What is shown, as text."""
        width = max((len(name) for name, _ in self.rows), default=0)
        return (
            "\n".join(
                [
                    *(f"{name:<{width}}  {value}" for name, value in self.rows),
                    *filter(None, [self.near.contents.text()]),
                    *(_near_line(near) for near in (self.found.nearest if self.found is not None else ())),
                    *(_line(node) for node in self.path),
                    *self._neighbour_lines(),
                ]
            )
            + "\n"
        )

    def _neighbour_lines(self) -> list[str]:
        found = self.neighbours
        return [] if found is None else [f"{at}: {_line(node)}" for at in CONTACTS for node in found.of(at)]

    def _fill_tree(self) -> None:
        self._nearest = None
        self.tree.clear()
        for name, value in self.rows:
            self.tree.addTopLevelItem(QTreeWidgetItem([name, value]))
        above = QTreeWidgetItem([self.tr("Path"), filled(self.tr("{count} nodes"), count=len(self.path))])
        self.tree.addTopLevelItem(above)
        for node in self.path:
            above.addChild(_node_item(node, Boxes((node,))))
        above.setExpanded(True)
        if self.neighbours is not None:
            above = self._neighbour_item(self.neighbours)
            self.tree.addTopLevelItem(above)
            above.setExpanded(True)

    def _neighbour_item(self, found: Neighbours) -> QTreeWidgetItem:
        """The cells beside the leaf, in groups; those of a group may be too many to list."""
        titles = (self.tr("Across faces"), self.tr("Along edges"), self.tr("At corners"))
        cell, groups = self.path[-1:], {contact: found.of(contact) for contact in CONTACTS}
        above = _item(self.tr("Neighbours"), filled(self.tr("{count} cells"), count=sum(found.counts)))
        above.setData(0, Qt.ItemDataRole.UserRole, Boxes(cell, groups))
        for title, count, (contact, nodes) in zip(titles, found.counts, groups.items(), strict=True):
            few = self.tr("{count} cells, the {few} nearest of them here").format(count=f"{count:,}", few=len(nodes))
            group = _item(title, few if len(nodes) < count else filled(self.tr("{count} cells"), count=count))
            group.setData(0, Qt.ItemDataRole.UserRole, Boxes(cell, {contact: nodes}))
            for node in nodes:
                group.addChild(_node_item(node, Boxes((), {contact: (node,)})))
            above.addChild(group)
        return above

    def _choose(self, item: QTreeWidgetItem | None) -> None:
        """A node of the path, cells beside its leaf: their boxes alone; anything else: the whole path."""
        boxes: Any = item.data(0, Qt.ItemDataRole.UserRole) if item is not None else None
        shown = boxes if boxes is not None else Boxes(self.path)
        self.path_shown.emit(shown.path)
        self.cells_shown.emit(shown.cells)


def hit_rows(picked: Picked, scene: Scene) -> list[tuple[str, str]]:
    """Names and values of a hit, in the file's coordinates."""
    hit = picked.hit
    assert hit is not None
    x, y, z = np.add(hit.position, scene.origin).tolist()
    material, node = scene.materials[hit.material], scene.nodes[hit.node]
    return [
        ("Primitive", f"{hit.prim_id:,}"),
        ("Distance", f"{hit.t:.6g}"),
        ("Point", f"{x:.6g}, {y:.6g}, {z:.6g}"),
        ("u, v", f"{hit.u:.4f}, {hit.v:.4f}"),
        ("Material", _named(hit.material, material.name)),
        ("Object", f"{hit.object_id} of {len(scene.objects)}"),
        *_what_is_placed(hit, scene),
        ("Node of the scene", _named(hit.node, node.name)),
    ]


def _what_is_placed(hit: Hit, scene: Scene) -> list[tuple[str, str]]:
    """The mesh; or the spheres or glyphs, which of them it is, and its attributes at that instant."""
    if hit.mesh >= 0:
        return [("Mesh", _named(hit.mesh, scene.meshes[hit.mesh].name))]
    if hit.glyphs >= 0:
        glyphs = scene.glyphs[hit.glyphs]
        known = [] if hit.file_id < 0 else [("Id in the file", f"{hit.file_id}")]
        place = (glyphs.shape.capitalize(), f"{hit.sphere:,} of {len(glyphs.centres):,}")
        return [("Glyphs", _named(hit.glyphs, glyphs.name)), place, *known]
    group = scene.spheres[hit.spheres]
    own = [] if hit.file_id < 0 else [("Id in the file", f"{hit.file_id}")]
    return [
        ("Spheres", _named(hit.spheres, group.name)),
        ("Sphere", f"{hit.sphere:,} of {len(group.centres):,}"),
        *own,
        ("Radius", f"{hit.radius:.6g}"),
        *((one.name, value_text(one.values, one.unit)) for one in hit.attributes),
    ]


def _item(title: str, value: str) -> QTreeWidgetItem:
    return QTreeWidgetItem([title, value])


def _node_item(node: PathNode, boxes: Boxes) -> QTreeWidgetItem:
    item = _item(f"{node.depth}", _line(node))
    item.setData(0, Qt.ItemDataRole.UserRole, boxes)
    item.setToolTip(1, tip(_tip(node)))
    return item


def _named(number: int, name: str) -> str:
    return f"{number} ({name})" if name else str(number)


def _line(node: PathNode) -> str:
    share, held = percent(node.share), filled("{count} primitives", count=node.reference_count)
    return f"leaf {_told(node)}, {held}, {share}" if node.is_leaf else f"node {_told(node)}, {share}"


def _told(node: PathNode) -> str:
    """What the traversal, and so the panels Ray and Tree, call it."""
    told = node.told
    return "(joined with the one above)" if told is None else f"{told}" if told >= 0 else f"~{~told}"


def _near_line(near: Near) -> str:
    return f"primitive {near.prim_id:,} at {near.distance:.6g}"


def _tip(node: PathNode) -> str:
    corners = (", ".join(f"{x:.6g}" for x in corner) for corner in (node.lower, node.upper))
    place = f"from {next(corners)} to {next(corners)}; row {node.node_id} of the table of nodes (Boxes > Cell)"
    return f"{percent(node.share, 1)} of the surface of the node above; {place}"
