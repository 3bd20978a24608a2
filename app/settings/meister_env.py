"""Settings in the form of Meister's thesis of 2014 (appendix C): blocks of `key value` in a file that ends in .env.

    Bvh {
        mortonCodeBits 60
    }

All 21 keys of his table C.1 are known; docs/meister-env.md tells where each goes. What this program has no feature for
is kept in the table [meister] of the settings and said in a sentence, and finds its place as soon as there is one.
Numbers are checked as everywhere.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from raygrove.app.settings.file import SettingsError, read_text, sentence_of
from raygrove.app.settings.meister_patterns import scene_pattern
from raygrove.app.settings.settings import KEPT, Settings, option_field, set_option
from raygrove.gpu.settings import OptionError, parse_value

ENDING = ".env"

KEYS: dict[str, tuple[str, ...]] = {
    "Scene": ("filename", "filefilter", "scale"),
    "Renderer": ("numberOfSamples", "aoRadius", "rayType"),
    "RenderWidget": ("width", "height"),
    "Bvh": ("maxLeafSize", "mortonCodeBits", "mortonCodeSAHBits", "splitMethod"),
    "Camera": ("position", "elevAngle", "viewAngle", "nearPlane", "farPlane", "fieldOfView", "step"),
    "Animation": ("frameRate", "loop"),
}
"""His table C.1."""

CODE_BUILDERS = ("hlbvh_median", "hlbvh_sah", "lbvh")
"""His two builders, and the one that a file without a splitMethod begins with."""

PLACES: dict[str, tuple[str, ...]] = {
    "scale": ("import.scale",),
    "numberOfSamples": ("ray_type.ao.rays", "ray_type.diffuse.rays"),
    "aoRadius": ("ray_type.ao.radius",),
    "width": ("render.width",),
    "height": ("render.height",),
    "maxLeafSize": tuple(f"hierarchy.{name}.max_leaf_size" for name in CODE_BUILDERS),
    "mortonCodeBits": tuple(f"hierarchy.{name}.code_bits" for name in CODE_BUILDERS),
    "mortonCodeSAHBits": ("hierarchy.hlbvh_sah.cluster_bits",),
    "position": ("start.position",),
    "elevAngle": ("start.elevation",),
    "viewAngle": ("start.azimuth",),
    "nearPlane": ("camera.near",),
    "farPlane": ("camera.far",),
    "fieldOfView": ("camera.field_of_view",),
    "step": ("camera.step",),
    "frameRate": ("timeline.fps",),
}
"""The settings that stand for a key: each that exists takes its value."""

UNIFORM: tuple[tuple[str, object], ...] = (
    ("ray_type.ao.directions", "uniform"),
    ("ray_type.ao.falloff", "none"),
    ("ray_type.ao.albedo", 1.0),
    ("ray_type.diffuse.directions", "uniform"),
)
POSITION: tuple[tuple[str, object], ...] = (("start.camera", "position"),)
MEANINGS: dict[str, tuple[tuple[str, object], ...]] = {
    "numberOfSamples": UNIFORM,
    "aoRadius": (("ray_type.ao.radius_unit", "scene"), *UNIFORM),
    "rayType": (("ray_type.smooth.shadows", False), ("ray_type.smooth.model", "phong"), *UNIFORM),
    "position": POSITION,
    "elevAngle": POSITION,
    "viewAngle": POSITION,
}
"""What a key means besides its value: his radius is a length in the scene, his secondary rays leave a surface uniformly
(section 6.2.5), what they show is their share alone, a hit counts wherever it is, and his primary rays are shaded
by Phong's model, without further ones."""

RAY_TYPES = {"primaryRaysFlat": "flat", "primaryRaysSmooth": "smooth", "aoRays": "ao", "diffuseRays": "diffuse"}
SPLIT_METHODS = {"median": "hlbvh_median", "sah": "hlbvh_sah"}
TRUTHS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
MISSING = {
    "mortonCodeBits": "Morton codes have 30 or 60 bits here",
    "mortonCodeSAHBits": "clusters share their first 6, 9, 12, 15 or 18 bits here",
}


@dataclasses.dataclass(frozen=True)
class Entry:
    """One `key value` of a file, and the line it stands on."""

    line: int
    block: str
    key: str
    value: str


@dataclasses.dataclass(frozen=True)
class Environment:
    """What a file says: the settings with it, the sentences about what could not be used, and the keys it names."""

    settings: Settings
    remarks: tuple[str, ...]
    keys: frozenset[str]


def load_environment(path: Path, base: Settings | None = None) -> Environment:
    """`base` (default: the built-in values) with what a file in Meister's form changes. Raises SettingsError with file,
    line and a sentence."""
    entries = parse(read_text(path), path)
    settings, remarks = base or Settings(), []
    for entry in entries:
        try:
            settings, remark = _applied(settings, entry, path)
        except OptionError as error:
            raise SettingsError(
                path, entry.line, entry.key, f"{entry.block}.{entry.key}: {sentence_of(error)}"
            ) from error
        remarks += [f"{path}, line {entry.line}: {remark}"] if remark else []
    keys = frozenset(entry.key for entry in entries)
    if {"filename", "filefilter"} <= keys:
        remarks.append(f"{path}: a filename and a filefilter are given; the filefilter, an animation, is opened.")
    return Environment(settings, tuple(remarks), keys)


def parse(text: str, path: Path) -> list[Entry]:
    """The entries of a text. Raises SettingsError for what is no block, no known key, or said twice."""
    entries: list[Entry] = []
    block, opened = "", 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = re.sub(r"(^|\s)(#|//).*", "", raw).strip()
        header = re.fullmatch(r"(\w+)?\s*\{", line)
        if not line:
            continue
        if line == "}" and block and opened:
            block, opened = "", 0
        elif header is not None and not opened and (header[1] or block):
            block, opened = _known_block(header[1] or block, path, number), number
        elif re.fullmatch(r"\w+", line) and not block:
            block = _known_block(line, path, number)  # its brace is on the next line
        elif block and opened and not re.search(r"[{}]$", line):
            entries.append(_entry(line, block, entries, path, number))
        else:
            raise SettingsError(
                path,
                number,
                "",
                f"{line!r} is not expected here: a file has blocks such as Scene {{, lines of `key value`, and }}.",
            )
    if block:
        raise SettingsError(path, opened or text.count("\n") + 1, block, f"the block {block} has no }}.")
    return entries


def _known_block(name: str, path: Path, line: int) -> str:
    if name not in KEYS:
        raise SettingsError(path, line, name, f"there is no block {name}; the known blocks are {', '.join(KEYS)}.")
    return name


def _entry(line: str, block: str, before: list[Entry], path: Path, number: int) -> Entry:
    key, _, value = line.partition(" ") if " " in line else line.partition("\t")
    value = value.strip()
    if key not in KEYS[block]:
        raise SettingsError(
            path, number, key, f"there is no key {key} in {block}; the known ones are {', '.join(KEYS[block])}."
        )
    if not value:
        raise SettingsError(path, number, key, f"{block}.{key} has no value: write `{key} VALUE`.")
    twice = next((entry.line for entry in before if entry.key == key), 0)
    if twice:
        raise SettingsError(path, number, key, f"{block}.{key} is said twice, first on line {twice}.")
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return Entry(number, block, key, value)


# -- where a key goes ----------------------------------------------------------------------------------------------
def _applied(settings: Settings, entry: Entry, path: Path) -> tuple[Settings, str]:
    """The settings with one entry, and a sentence where it is not used."""
    special = _SPECIAL.get(entry.key)
    if special is not None:
        return special(settings, entry, path)
    for place in PLACES[entry.key]:
        kind = option_field(place).type
        settings = set_option(
            settings, place, _vector(entry.value) if entry.key == "position" else parse_value(kind, entry.value)
        )
    return _without_kept(_with_meaning(settings, entry.key), entry.key), ""


def _with_meaning(settings: Settings, key: str) -> Settings:
    """The settings with what a key that is used means besides its value."""
    for place, value in MEANINGS.get(key, ()):
        settings = set_option(settings, place, value)
    return settings


def _kept(settings: Settings, entry: Entry) -> tuple[Settings, str]:
    settings = set_option(settings, f"{KEPT}.{entry.key}", entry.value)
    return settings, f"{entry.block}.{entry.key} {entry.value} is kept and not used: {MISSING[entry.key]}."


def _without_kept(settings: Settings, key: str) -> Settings:
    """A key that is used now is no longer kept from an earlier file."""
    kept = {name: value for name, value in settings.meister.items() if name != key}
    return settings if len(kept) == len(settings.meister) else dataclasses.replace(settings, meister=kept)


def _scene(settings: Settings, entry: Entry, path: Path) -> tuple[Settings, str]:
    """A file, or a filter of files; both are meant from the .env file's own folder."""
    if entry.key == "filename" and any(char in settings.start.scene for char in "*?[%#"):
        return settings, ""  # the filefilter of the same file came first
    name = os.path.normpath(os.path.join(path.absolute().parent, os.path.expanduser(entry.value)))
    return set_option(settings, "start.scene", name if entry.key == "filename" else scene_pattern(name)), ""


def _chosen(place: str, names: Mapping[str, str]) -> Callable[..., tuple[Settings, str]]:
    """A key whose words stand for builders or ray types."""

    def choose(settings: Settings, entry: Entry, path: Path) -> tuple[Settings, str]:
        if entry.value not in names:
            raise OptionError(place, entry.value, "one of " + ", ".join(names))
        chosen = set_option(settings, place, names[entry.value])
        return _without_kept(_with_meaning(chosen, entry.key), entry.key), ""

    return choose


def _bits(settings: Settings, entry: Entry, path: Path) -> tuple[Settings, str]:
    """A number of bits, of which only some can be built."""
    places = PLACES[entry.key]
    choices = option_field(places[0]).info.choices
    if not re.fullmatch(r"\d{1,2}", entry.value) or not 1 <= int(entry.value) <= 64:
        raise OptionError(places[0], entry.value, f"a whole number from 1 to 64; {', '.join(choices)} can be built")
    if entry.value not in choices:
        return _kept(settings, entry)
    for place in places:
        settings = set_option(settings, place, entry.value)
    return _without_kept(settings, entry.key), ""


def _loop(settings: Settings, entry: Entry, path: Path) -> tuple[Settings, str]:
    truth = TRUTHS.get(entry.value.lower())
    if truth is None:
        raise OptionError("timeline.repeat", entry.value, "true or false")
    return set_option(settings, "timeline.repeat", "loop" if truth else "once"), ""


def _vector(text: str) -> object:
    """Three numbers between commas or blanks, in brackets or not."""
    parts = re.split(r"[\s,;]+", text.strip("()[]{}<> \t"))
    try:
        return [float(part) for part in parts]
    except ValueError:
        return text


_SPECIAL: dict[str, Callable[[Settings, Entry, Path], tuple[Settings, str]]] = {
    "filename": _scene,
    "filefilter": _scene,
    "rayType": _chosen("render.ray_type", RAY_TYPES),
    "splitMethod": _chosen("render.hierarchy", SPLIT_METHODS),
    "mortonCodeBits": _bits,
    "mortonCodeSAHBits": _bits,
    "loop": _loop,
}
