"""What lies under the pixel that was picked: the primitive, where it was hit, its material and object, and the nodes from the root to its leaf."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHeaderView, QLabel, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from app.frame_maker import Picked
from app.gestures import Gestures
from app.node_path import PathNode
from app.ui.panel_bar import PanelBar, Table
from gpu.scene import Scene

PATH_COLUMNS = ("depth", "node", "kind", "references", "share", "lower", "upper")


class PickPanel(QWidget):
    """See the module. `path_shown` carries the nodes whose boxes are to be seen in the picture, `mode_changed` whether every click picks."""

    path_shown = Signal(object)
    mode_changed = Signal(bool)

    def __init__(self, gestures: Gestures, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pick")
        self._gestures = gestures
        gestures.on_change.append(lambda: None if self.rows else self.clear())
        self.rows: list[tuple[str, str]] = []
        self.path: tuple[PathNode, ...] = ()
        self.hint = QLabel(self._how(), self)
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
        self.bar = PanelBar("pick", self.table, self.text, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 6, 6, 6)
        for widget in (self.hint, self.mode, self.tree, self.bar):
            column.addWidget(widget)

    def show_picked(self, picked: Picked | None, scene: Scene | None) -> None:
        """Show an answer, unless the figures are frozen."""
        if self.bar.is_frozen:
            return
        if picked is None or picked.hit is None or scene is None:
            self.clear(self.tr("Nothing was hit there.") if picked is not None else self.tr("There is no picture yet."))
            return
        self.path = picked.path
        self.rows = hit_rows(picked, scene)
        self.hint.setText(self.tr("Choose a node to see its box alone."))
        self._fill_tree()
        self.path_shown.emit(self.path)

    def clear(self, sentence: str = "") -> None:
        """Show nothing, and say why."""
        self.rows, self.path = [], ()
        self.hint.setText(sentence or self._how())
        self.tree.clear()
        self.path_shown.emit(())

    def _how(self) -> str:
        """How to pick."""
        way = next(iter(self._gestures.ways("mouse.pick")), "")
        return self.tr("{way} picks what lies under the pointer.").format(way=way) if way else self.tr("No way to pick is set: see Edit > Keys.")

    def table(self) -> Table:
        """The nodes of the path."""
        return PATH_COLUMNS, [
            {
                "depth": node.depth, "node": node.node_id, "kind": "leaf" if node.is_leaf else "inner", "references": node.reference_count,
                "share": node.share, "lower": " ".join(f"{x:g}" for x in node.lower), "upper": " ".join(f"{x:g}" for x in node.upper),
            }
            for node in self.path
        ]  # fmt: skip

    def text(self) -> str:
        """What is shown, as text."""
        width = max((len(name) for name, _ in self.rows), default=0)
        return "\n".join([*(f"{name:<{width}}  {value}" for name, value in self.rows), *(_line(node) for node in self.path)]) + "\n"

    def _fill_tree(self) -> None:
        self.tree.clear()
        for name, value in self.rows:
            self.tree.addTopLevelItem(QTreeWidgetItem([name, value]))
        above = QTreeWidgetItem([self.tr("Path"), self.tr("{count} nodes").format(count=len(self.path))])
        self.tree.addTopLevelItem(above)
        for index, node in enumerate(self.path):
            item = QTreeWidgetItem([f"{node.depth}", _line(node)])
            item.setData(0, Qt.ItemDataRole.UserRole, index)
            item.setToolTip(1, _tip(node))
            above.addChild(item)
        above.setExpanded(True)

    def _choose(self, item: QTreeWidgetItem | None) -> None:
        """A node of the path: its box alone; anything else: all of them."""
        index: Any = item.data(0, Qt.ItemDataRole.UserRole) if item is not None else None
        self.path_shown.emit(self.path if index is None else (self.path[index],))


def hit_rows(picked: Picked, scene: Scene) -> list[tuple[str, str]]:
    """Names and values of a hit, in the file's coordinates."""
    hit = picked.hit
    assert hit is not None
    x, y, z = np.add(hit.position, scene.origin).tolist()
    material, node, mesh = scene.materials[hit.material], scene.nodes[hit.node], scene.meshes[hit.mesh]
    return [
        ("Primitive", f"{hit.prim_id:,}"),
        ("Distance", f"{hit.t:.6g}"),
        ("Point", f"{x:.6g}, {y:.6g}, {z:.6g}"),
        ("u, v", f"{hit.u:.4f}, {hit.v:.4f}"),
        ("Material", _named(hit.material, material.name)),
        ("Object", f"{hit.object_id} of {len(scene.objects)}"),
        ("Mesh", _named(hit.mesh, mesh.name)),
        ("Node of the scene", _named(hit.node, node.name)),
    ]


def _named(number: int, name: str) -> str:
    return f"{number} ({name})" if name else str(number)


def _line(node: PathNode) -> str:
    share = f"{node.share:.0%}".replace("%", " %")
    return f"leaf {node.node_id}, {node.reference_count} primitives, {share}" if node.is_leaf else f"node {node.node_id}, {share}"


def _tip(node: PathNode) -> str:
    corners = (", ".join(f"{x:.6g}" for x in corner) for corner in (node.lower, node.upper))
    return f"{node.share:.1%} of the surface of the node above; from {next(corners)} to {next(corners)}"
