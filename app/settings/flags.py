"""The command line's flags that are settings. Plain words: who only asks for help need not wait for the options."""

from __future__ import annotations

OPTION_KEYS = {
    "device": "render.device",
    "threads": "device.threads",
    "hierarchy": "render.hierarchy",
    "optimiser": "render.optimiser",
    "layout": "render.layout",
    "traversal": "render.traversal",
    "primary": "render.primary",
    "update": "update.mode",
    "ray_type": "render.ray_type",
    "samples": "render.samples",
    "fps": "timeline.fps",
    "hide": "start.hide",
    "isolate": "start.isolate",
    "color_by": "spheres.color_by",
    "size_by": "spheres.size_by",
}
"""Flags that are settings: the flag's name and the setting's key."""

OLD_FLAGS = {"target": "render.target"}
"""Flags of older versions, which are still read."""


def flag_of(name: str) -> str:
    """A flag as it is typed: `ray_type` is --ray-type."""
    return "--" + name.replace("_", "-")


KEY_FLAGS = {key: flag_of(name) for name, key in OPTION_KEYS.items()}
"""The flag of a setting, by the setting's key."""
