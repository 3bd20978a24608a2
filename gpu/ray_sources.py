"""Which rays are measured, as one spells it: `picture`, a file FILE.npz, or a sensor, a name with `:option=value` as in
configurations. The command line, files of settings, the window and the library write it so.

    lidar:rows=32:columns=512:node=head
    cameras:cameras=4:width=64:height=48:at=0,1.5,0

Text to a value and back, and no more: the rays are made by gpu/face/workloads.py.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from .configuration import Configuration, ConfigurationError, Part, parse
from .settings import OptionError, checked, fields_of, option, parse_value

KEY = "rays.measured"
"""What errors speak of: the setting."""
PICTURE, FILE, ENDING = "picture", "file", ".npz"
MOST_RAYS = 1 << 24
FAR = 1e18


@dataclasses.dataclass(frozen=True)
class SensorOptions:
    """Where a sensor is, and how far it sees."""

    node: str = option("", "The node of the scene that it hangs on and moves with, by name or number; empty: none.")
    at: tuple[float, float, float] | None = option(
        None,
        "Where it is: in the node's axes, or without a node in the file's coordinates. Not said: at the node, or in "
        "the middle of the scene.",
        minimum=-FAR,
        maximum=FAR,
        unit="scene units",
    )
    up: str = option("y", "Its upward axis: with y it looks along -z, with z along x.", choices=("y", "z"))
    turn: float = option(0.0, "How far it is turned to the left.", minimum=-360.0, maximum=360.0, unit="degrees")
    t_min: float = option(0.0, "Where its rays begin.", minimum=0.0, maximum=FAR, unit="scene units")
    t_max: float = option(FAR, "Where its rays end.", minimum=0.0, maximum=FAR, unit="scene units")

    @property
    def count(self) -> int:
        """How many rays it casts."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class LidarOptions(SensorOptions):
    """A lidar that turns around its upward axis."""

    rows: int = option(32, "Beams above one another.", minimum=1, maximum=4096)
    columns: int = option(512, "Beams around it.", minimum=1, maximum=1 << 16)
    fov: tuple[float, float] = option(
        (-15.0, 15.0), "The lowest and the highest elevation.", minimum=-90.0, maximum=90.0, unit="degrees"
    )

    @property
    def count(self) -> int:
        """How many rays it casts."""
        return self.rows * self.columns


@dataclasses.dataclass(frozen=True)
class DomeOptions(SensorOptions):
    """A lidar that sees all that is above it."""

    rows: int = option(16, "Rings of beams, from the horizon up.", minimum=1, maximum=4096)
    columns: int = option(256, "Beams of a ring.", minimum=1, maximum=1 << 16)

    @property
    def count(self) -> int:
        """How many rays it casts."""
        return self.rows * self.columns


@dataclasses.dataclass(frozen=True)
class CamerasOptions(SensorOptions):
    """Depth cameras in one place that look around, at even angles."""

    cameras: int = option(6, "How many.", minimum=1, maximum=360)
    width: int = option(96, "Width of each picture.", minimum=1, maximum=4096, unit="pixels")
    height: int = option(64, "Height of each picture.", minimum=1, maximum=4096, unit="pixels")
    fov: float = option(60.0, "The vertical angle of each.", minimum=1.0, maximum=179.0, unit="degrees")

    @property
    def count(self) -> int:
        """How many rays they cast."""
        return self.cameras * self.width * self.height


SENSORS: dict[str, type[SensorOptions]] = {"lidar": LidarOptions, "dome": DomeOptions, "cameras": CamerasOptions}
ALLOWED = f"{PICTURE}, a file FILE{ENDING}, or a sensor with :option=value: {', '.join(SENSORS)}"


@dataclasses.dataclass(frozen=True)
class RaySource:
    """What a text says: `kind` is picture, file or a sensor's name. As text it is the shortest spelling that means the
    same."""

    kind: str = PICTURE
    path: str = ""
    sensor: SensorOptions | None = None

    def __str__(self) -> str:
        if self.sensor is None:
            return self.path or self.kind
        given = ((field.name, getattr(self.sensor, field.name), field.default) for field in fields_of(self.sensor))
        options = tuple((name, _text(value)) for name, value, default in given if value != default)
        return str(Part(self.kind, options))


def parse_source(text: str) -> RaySource:
    """What a text says. Raises OptionError.

    >>> source = parse_source("lidar:rows=16:node=head")
    >>> source.kind, source.sensor.count, str(source)
    ('lidar', 8192, 'lidar:node=head:rows=16')
    """
    text = text.strip()
    if text in ("", PICTURE):
        return RaySource()
    begin, colon, _ = text.partition(":")
    is_sensor = bool(colon) and begin in SENSORS  # whose node may be called x.npz
    if text.lower().endswith(ENDING) and not is_sensor:
        return RaySource(FILE, text)
    try:
        spelt = parse(text)
    except ConfigurationError as error:
        raise OptionError(KEY, text, ALLOWED) from error
    name = spelt.builder.name
    if spelt != Configuration(spelt.builder) or name not in SENSORS:
        raise OptionError(KEY, text, ALLOWED)
    types = {field.name: field.type for field in fields_of(SENSORS[name])}
    values: dict[str, object] = {one: parse_value(types.get(one, str), value) for one, value in spelt.builder.options}
    sensor = checked(SENSORS[name], values, f"{name}:")
    fov = getattr(sensor, "fov", None)
    if isinstance(fov, tuple) and fov[0] > fov[1]:
        raise OptionError(f"{name}:fov", dict(spelt.builder.options)["fov"], "the lowest elevation comes first")
    if sensor.t_min >= sensor.t_max:
        raise OptionError(f"{name}:t_max", sensor.t_max, "rays end behind where they begin: t_max is above t_min")
    if sensor.count > MOST_RAYS:
        raise OptionError(KEY, text, f"up to {MOST_RAYS:,} rays, and these are {sensor.count:,}")
    return RaySource(name, "", sensor)


def _text(value: Any) -> str:
    return (
        ",".join(map(_text, value))
        if isinstance(value, tuple)
        else f"{value:.9g}"
        if isinstance(value, float)
        else str(value)
    )
