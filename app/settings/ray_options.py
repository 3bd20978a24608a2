"""Which rays the laboratory measures: the picture's, or others (gpu/ray_sources.py has the spelling)."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from raygrove.gpu.ray_sources import FILE, KEY, PICTURE, parse_source
from raygrove.gpu.settings import OptionError, option

MEASURED = KEY


@dataclasses.dataclass(frozen=True)
class RayOptions:
    """What rays are measured in races, advice, hot spots and divergence (docs/race.md)."""

    measured: str = option(
        "picture",
        "The rays that are measured: the picture's; those of a file, FILE.npz, from the settings file's own folder; or "
        "a sensor's, lidar, dome or cameras, with :option=value, as lidar:rows=32:columns=512:node=head.",
    )
    show: bool = option(True, "Draw some of them over the picture, where they are not the picture's.")


def measures_others(options: RayOptions) -> bool:
    """Whether other rays than the picture's are measured."""
    return options.measured != PICTURE


def are_shown(options: RayOptions) -> bool:
    """Whether some of the rays are drawn over the picture."""
    return options.show and measures_others(options)


def hangs_on_node(options: RayOptions) -> bool:
    """Whether they are those of a sensor that hangs on a node of the scene."""
    try:
        sensor = parse_source(options.measured).sensor
    except OptionError:
        return False
    return sensor is not None and bool(sensor.node)


def from_folder(text: str, folder: Path | str) -> str:
    """The same with a file as it is called from anywhere; what names none, or is no such text, stays."""
    path = file_of(text)
    return os.path.normpath(os.path.join(folder, path)) if path else text


def file_of(text: str) -> str:
    """The file that a text names; empty for none."""
    try:
        source = parse_source(text)
    except OptionError:
        return ""
    return source.path if source.kind == FILE else ""


def checked_rays(text: str) -> str:
    """The rays as settings keep them, in their shortest spelling. Raises OptionError."""
    return str(parse_source(text))


CHECKS = {MEASURED: checked_rays}
"""What the types of options do not say, by their keys."""
