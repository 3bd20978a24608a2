"""Which rays are measured, as a choice: the picture's, a file's, or a sensor's; where the sensor is; and how that is
spelt, to be typed over."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from raygrove.gpu.ray_sources import FILE, PICTURE, SENSORS, RaySource, SensorOptions, parse_source

RECORD = "record"
MIDDLE, EYE, NODE = "middle", "eye", "node:"


@dataclasses.dataclass(frozen=True)
class SensorPlaces:
    """Where a sensor can be: the camera's place in the file's coordinates, and the names of nodes."""

    eye: tuple[float, float, float] = (0.0, 0.0, 0.0)
    nodes: tuple[str, ...] = ()


class RaysChoice(QWidget):
    """See the module. `wanted` carries a text (gpu/ray_sources.py); the user is asked for more with
    `file_wanted` and `record_wanted`. `is_narrow`: the spelling has a row of its own."""

    wanted = Signal(str)
    file_wanted, record_wanted = Signal(), Signal()

    def __init__(
        self, places: Callable[[], SensorPlaces], parent: QWidget | None = None, *, is_narrow: bool = False
    ) -> None:
        super().__init__(parent)
        self.setObjectName("rays_choice")
        self._places, self._source = places, RaySource()
        self.kind, self.place, self.line = QComboBox(self), QComboBox(self), QLineEdit(self)
        self.kind.setObjectName("rays_choice.kind")
        self.kind.setAccessibleName(self.tr("Rays that are measured"))
        self.kind.setToolTip(self.tr("The rays that races, hot spots and divergence are measured by"))
        names = {
            PICTURE: self.tr("Rays: the picture's"),
            "lidar": self.tr("Rays: a lidar"),
            "dome": self.tr("Rays: a dome"),
            "cameras": self.tr("Rays: depth cameras"),
            FILE: self.tr("Rays: a file…"),
            RECORD: self.tr("Record the picture's…"),
        }
        for value, name in names.items():
            self.kind.addItem(name, value)
        self.kind.activated.connect(lambda at: self._choose(str(self.kind.itemData(at))))
        self.place.setObjectName("rays_choice.place")
        self.place.setAccessibleName(self.tr("Where the sensor is"))
        self.place.setToolTip(self.tr("Where the sensor is; on a node it moves with it"))
        self.place.activated.connect(lambda at: self._put(str(self.place.itemData(at))))
        self.line.setObjectName("rays_choice.line")
        self.line.setAccessibleName(self.tr("The rays as they are spelt"))
        self.line.setToolTip(self.tr("The rays in words: type over them and press Return"))
        self.line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.line.returnPressed.connect(lambda: self.wanted.emit(self.line.text()))
        row = QHBoxLayout()
        for widget in (self.kind, self.place):
            row.addWidget(widget)
        around = (QVBoxLayout if is_narrow else QHBoxLayout)(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.setSpacing(4)
        around.addLayout(row)
        around.addWidget(self.line, 1)
        self.show_text(PICTURE)

    @property
    def is_of_picture(self) -> bool:
        """Whether the picture's rays are shown to be measured."""
        return self._source.kind == PICTURE

    def show_text(self, text: str) -> None:
        """Show what is chosen now."""
        self._source = parse_source(text)
        sensor = self._source.sensor
        self.kind.setCurrentIndex(self.kind.findData(self._source.kind))
        self.line.setText("" if self.is_of_picture else str(self._source))
        self.line.setCursorPosition(0)
        self.line.setVisible(not self.is_of_picture)
        self.place.setVisible(sensor is not None)
        if sensor is not None:
            self._show_places(sensor)

    def _show_places(self, sensor: SensorOptions) -> None:
        self.place.clear()
        self.place.addItem(self.tr("in the middle"), MIDDLE)
        self.place.addItem(self.tr("where the camera is"), EYE)
        names = self._places().nodes
        for name in dict.fromkeys((*names, *((sensor.node,) if sensor.node else ()))):
            self.place.addItem(self.tr("on {node}").format(node=name), NODE + name)
        at = NODE + sensor.node if sensor.node else MIDDLE if sensor.at is None else ""
        if not at:
            self.place.addItem(self.tr("at a place"), "")
        self.place.setCurrentIndex(self.place.findData(at))

    def _choose(self, kind: str) -> None:
        """Another kind; a sensor in the place where the one before is."""
        sensor = self._source.sensor
        self.show_text(str(self._source))  # until it is so
        if kind in SENSORS:
            before = {} if sensor is None else {name: getattr(sensor, name) for name in ("node", "at", "up", "turn")}
            self.wanted.emit(str(RaySource(kind, "", SENSORS[kind](**before))))
        elif kind == FILE:
            self.file_wanted.emit()
        elif kind == RECORD:
            self.record_wanted.emit()
        else:
            self.wanted.emit(kind)

    def _put(self, place: str) -> None:
        """The sensor somewhere else."""
        sensor = self._source.sensor
        if sensor is None or not place:
            return
        x, y, z = (float(f"{part:.4g}") for part in self._places().eye)
        node = place.removeprefix(NODE) if place.startswith(NODE) else ""
        put = dataclasses.replace(sensor, node=node, at=(x, y, z) if place == EYE else None)
        self.show_text(str(self._source))
        self.wanted.emit(str(RaySource(self._source.kind, "", put)))
