"""The command line's flags that are settings. Plain words: who only asks for help need not wait for the options."""

from __future__ import annotations

from raygrove.gpu.configuration import ConfigurationError, is_plain, parse

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
    "rays": "rays.measured",
    "samples": "render.samples",
    "fps": "timeline.fps",
    "allow_outside": "import.allow_outside",
    "all_formats": "import.all_formats",
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


def ways_of(setting: str) -> str:
    """How the command line sets what a remark or an error names, KEY=VALUE: "--allow-outside, or --set ..."."""
    flag = KEY_FLAGS.get(setting.partition("=")[0], "")
    return f"{flag}, or --set {setting}" if flag and setting.endswith("=true") else f"--set {setting}"


def configuration_keys(text: str) -> tuple[tuple[str, str], ...]:
    """What --hierarchy says, as keys of settings and their texts: a structure's name alone, or a whole configuration
    (gpu/configuration.py), of which what is not said stays as it is set. Raises ConfigurationError."""
    if is_plain(text):
        return (("render.hierarchy", text),)
    found: list[tuple[str, str]] = []
    for kind, part in parse(text).parts():
        key, table = _CONFIGURED[kind], _TABLES[kind].format(name=part.name)
        found.append((key, part.name))
        if part.options and not table:
            raise ConfigurationError(f"the layout {part.name} has no options", text, "leave them out")
        if kind == "traversal" and any(option != "triangle_test" for option, _ in part.options):
            raise ConfigurationError(f"a traversal has no option {part.options[0][0]}", text, "it has triangle_test")
        found += [(f"{table}.{option}", value) for option, value in part.options]
    return tuple(found)


_CONFIGURED = {
    "builder": "render.hierarchy",
    "optimiser": "render.optimiser",
    "layout": "render.layout",
    "traversal": "render.traversal",
    "policy": "update.mode",
}
_TABLES = {
    "builder": "hierarchy.{name}",
    "optimiser": "optimiser.{name}",
    "layout": "",
    "traversal": "render",
    "policy": "update",
}
"""Where the options of each part are settings. Of [render] a traversal has triangle_test."""
