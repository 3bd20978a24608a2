"""The settings: every option of the program in one frozen value, made of groups whose fields are
`gpu.settings.option`s.

The groups' names are the tables of the settings file and the first word of `--set`: `render.hierarchy`, `update.mode`.
Options of one structure or ray type are kept in tables of their own, `hierarchy.lbvh.morton_bits`, which the registries
describe.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Container, Iterator, Mapping
from typing import Any

from raygrove.app.camera.moves import CameraOptions
from raygrove.app.camera.path_options import PathOptions
from raygrove.app.edits.scene_edits import EDITED, KEY
from raygrove.app.playback.timeline import TimelineOptions
from raygrove.app.scene_io.demos import DemoOptions
from raygrove.app.scene_io.limits import ImportLimits
from raygrove.app.scene_io.motions import MotionOptions
from raygrove.app.settings import option_tables
from raygrove.app.settings.box_options import BoxOptions, PeriodicBoxOptions
from raygrove.app.settings.collision_options import CollisionOptions
from raygrove.app.settings.hot_options import HotOptions
from raygrove.app.settings.race_options import CHECKS as RACE_CHECKS
from raygrove.app.settings.race_options import RaceOptions
from raygrove.app.settings.ray_options import CHECKS as RAY_CHECKS
from raygrove.app.settings.ray_options import RayOptions
from raygrove.app.settings.start_options import StartOptions
from raygrove.app.settings.tree_options import CHECKS as TREE_CHECKS
from raygrove.app.settings.tree_options import TreeOptions
from raygrove.app.settings.workspaces import FIRST, WORKSPACES
from raygrove.gpu.attributes import SphereOptions
from raygrove.gpu.clip import ClipOptions
from raygrove.gpu.contours import ContourOptions
from raygrove.gpu.display.sphere_look import WAYS
from raygrove.gpu.glyphs.options import PRIMARY, GlyphOptions, TileMarkOptions
from raygrove.gpu.gravity import GravityOptions
from raygrove.gpu.hierarchy.base import StatisticsOptions
from raygrove.gpu.settings import OptionError, OptionField, fields_of, option, parse_value
from raygrove.gpu.target.base import TargetOptions
from raygrove.gpu.update.options import UpdateOptions

SIZE_LIMIT = 16384
CHECKS = RACE_CHECKS | RAY_CHECKS | TREE_CHECKS


@dataclasses.dataclass(frozen=True)
class RenderOptions:
    """What is drawn, and with what."""

    device: str = option("auto", "Where pictures are rendered: auto, cpu, cuda, or cuda:N for the N-th GPU.")
    hierarchy: str = option("lbvh", "The structure's builder.")
    optimiser: str = option("none", "What improves the tree after it is built.")
    layout: str = option("auto", "How nodes lie in memory; auto takes the best layout for the device and the ray type.")
    traversal: str = option("auto", "How rays traverse the layout; auto: best for the device and the scene.")
    triangle_test: str = option(
        "moeller_trumbore",
        "How rays and triangles are intersected: watertight never lets a ray pass between neighbours, "
        "unit_triangle stores a transformation of 48 bytes for each triangle.",
        choices=("moeller_trumbore", "watertight", "unit_triangle"),
    )
    ray_type: str = option("smooth", "What the rays show.")
    primary: str = option(
        "structure",
        "What finds the first hits of the camera's rays: the structure, or tiles of the picture with lists of spheres "
        "and glyphs, for scenes without triangles; the table [tiles] has their options.",
        choices=PRIMARY,
    )
    samples: int = option(
        1, "Samples per pixel; more make smooth edges and take as many times longer.", minimum=1, maximum=65536
    )
    width: int = option(
        1024, "Width of pictures that are written to files.", minimum=1, maximum=SIZE_LIMIT, unit="pixels"
    )
    height: int = option(
        768, "Height of pictures that are written to files.", minimum=1, maximum=SIZE_LIMIT, unit="pixels"
    )
    seed: int = option(0, "Seed of everything random in the picture.", minimum=0, maximum=2**31 - 1)
    legend: bool = option(
        True, "Where colours mean numbers, draw their scale into pictures and video that are written, too."
    )
    palette: int = option(
        0,
        "Most colours of PNG pictures that are exported or saved from the window, chosen for each picture: fewer make "
        "smaller files. 0 keeps all colours. Video and EXR have no palette and refuse it.",
        minimum=0,
        maximum=256,
    )


@dataclasses.dataclass(frozen=True)
class DisplayOptions:
    """How pictures come into the window."""

    view: str = option(
        "auto",
        "GL through the graphics card, or painted by Qt; auto takes GL where it is in hardware.",
        choices=("auto", "gl", "painter"),
    )
    adapt_resolution: bool = option(
        True, "Draw fewer pixels while the camera moves or the animation plays, to stay fluent."
    )
    minimum_scale: float = option(
        0.5,
        "Of each side of the window: no picture is drawn smaller, frames get slower instead, unless one takes longer "
        "than 5 s.",
        minimum=0.125,
        maximum=1.0,
    )
    minimum_fps: float = option(
        20.0, "Frames per second to stay above while something moves.", minimum=1.0, maximum=240.0, unit="frames/s"
    )
    still_samples: int = option(
        16, (
            "Samples per pixel of exported pictures, and of still ones at least, where render.samples is smaller; 1 "
            "leaves edges jagged."
        ),
        minimum=1, maximum=65536,
    )  # fmt: skip
    refine_samples: int = option(
        1024, "Samples per pixel that a still picture in the window is given at most, where its noise asks for them.",
        minimum=1, maximum=65536,
    )  # fmt: skip
    filter_samples: int = option(
        64,
        "The window filters path tracing until a picture has so many samples per pixel (on a GPU, which nothing stops, "
        "where one takes at most 50 ms); pictures that are written are not filtered. 0 shows the noise.",
        minimum=0,
        maximum=65536,
    )
    noise_limit: float = option(
        0.01,
        "A still picture in the window is refined until the standard error of 95 % of it is smaller, as a part of the "
        "range from black to white; 0 goes on to display.refine_samples.",
        minimum=0.0,
        maximum=1.0,
    )
    spheres: str = option(
        "rays",
        "What draws a scene of spheres in the window: rays; or OpenGL, to compare, in flat shading: full_screen, whose "
        "fragment shader tests every pixel against all spheres, or impostors, a box of pixels for each sphere.",
        choices=("rays", *WAYS),
    )
    heads_up: bool = option(
        True,
        "Frames per second, a frame's time and the structure in a line over the picture; saved pictures have none.",
    )
    swap_interval: int = option(
        1, "Screen refreshes a frame waits for; 0 draws as fast as it can.", minimum=0, maximum=4
    )


@dataclasses.dataclass(frozen=True)
class WindowOptions:
    """How the window looks, and what it does by itself."""

    theme: str = option(
        "system",
        "Light, dark, or as the desktop has it; dark where the desktop says nothing.",
        choices=("system", "light", "dark"),
    )
    workspace: str = option(FIRST, "Which panels stand around the picture, for which work.", choices=tuple(WORKSPACES))
    presenter: bool = option(False, "Everything in the window 1.5 times as large, to be read from the last row.")
    watch: bool = option(
        False, "Read the scene again whenever one of its files is written; the camera and the playing head stay."
    )
    compile_ahead: bool = option(
        True,
        "While the window rests, compile what may be chosen next: usual ray types and structures, one unit at a time, "
        "by a compiler of the lowest priority that ends with the next choice; and load it, with what is there of all "
        "other structures. On the CPU device alone.",
    )


@dataclasses.dataclass(frozen=True)
class Settings:
    """Everything that can be chosen. `hierarchy`, `optimiser`, `ray_type`, `material` and `light` hold a table of
    options a name, but only where something was changed; `meister` keeps what a file in Meister's form says that
    nothing here stands for yet."""

    render: RenderOptions = RenderOptions()
    update: UpdateOptions = UpdateOptions()
    device: TargetOptions = TargetOptions()
    display: DisplayOptions = DisplayOptions()
    window: WindowOptions = WindowOptions()
    race: RaceOptions = RaceOptions()
    rays: RayOptions = RayOptions()
    hot_spots: HotOptions = HotOptions()
    timeline: TimelineOptions = TimelineOptions()
    camera: CameraOptions = CameraOptions()
    start: StartOptions = StartOptions()
    trees: TreeOptions = TreeOptions()
    boxes: BoxOptions = BoxOptions()
    periodic_box: PeriodicBoxOptions = PeriodicBoxOptions()
    collisions: CollisionOptions = CollisionOptions()
    clip: ClipOptions = ClipOptions()
    contours: ContourOptions = ContourOptions()
    tiles: GlyphOptions = GlyphOptions()
    tile_marks: TileMarkOptions = TileMarkOptions()
    spheres: SphereOptions = SphereOptions()
    gravity: GravityOptions = GravityOptions()
    path: PathOptions = PathOptions()
    demo: DemoOptions = DemoOptions()
    importer: ImportLimits = ImportLimits()
    motion: MotionOptions = MotionOptions()
    statistics: StatisticsOptions = StatisticsOptions()
    hierarchy: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    optimiser: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    ray_type: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    material: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    light: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    meister: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def hierarchy_options(self, name: str) -> Any:
        """The options of a structure: what was changed, else its defaults."""
        return _table_entry(self, "hierarchy", name)

    def optimiser_options(self, name: str) -> Any:
        """The options of an optimiser: what was changed, else its defaults; None for none."""
        return _table_entry(self, "optimiser", name)

    def ray_type_options(self, name: str) -> Any:
        """The options of a ray type: what was changed, else its defaults."""
        return _table_entry(self, "ray_type", name)


TABLES = ("hierarchy", "optimiser", "ray_type", *EDITED)
"""The groups that hold one table of options a name; materials' and lights' names are the scene's."""

FIELDS = {"import" if field.name == "importer" else field.name: field.name for field in dataclasses.fields(Settings)}
"""The field of each group; `import` is a word of Python."""

KEPT = "meister"
"""The group of values that are kept and not used."""

KEPT_NAMES = ("aoRadius", "rayType", "mortonCodeBits", "mortonCodeSAHBits", "splitMethod")
"""What can be kept there: the keys of `app.meister_env` whose feature may not exist yet."""

GROUPS = tuple(group for group in FIELDS if group not in (*TABLES, KEPT))
"""The groups that hold options themselves."""


def _table_entry(settings: Settings, group: str, name: str) -> Any:
    entry = getattr(settings, group).get(name)
    if entry is None:
        kind = _named_type(group, name)
        entry = kind() if kind is not None else None
    return entry


def _named_type(group: str, name: str) -> type | None:
    """The options' dataclass of a table with a name; None where there is no such thing. Scenes come and go: any name
    may be one of theirs."""
    if group in EDITED:
        return EDITED[group] if KEY.fullmatch(name) else None
    return option_tables.options_type(group, name)


def edit_groups(settings: Settings) -> Iterator[tuple[str, Any]]:
    """The tables of what was changed of scenes, with their dotted names: ("material.glass", MaterialOptions),
    ("light.lamp", ...)."""
    for group in EDITED:
        for name, options in getattr(settings, group).items():
            yield f"{group}.{name}", options


def option_groups(settings: Settings, of: Container[str] | None = None) -> Iterator[tuple[str, Any]]:
    """Every table of the settings, or of the groups `of`, with its dotted name, the registries' ones too: ("render",
    RenderOptions), ("hierarchy.lbvh", ...)."""
    for group in GROUPS:
        if of is None or group in of:
            yield group, getattr(settings, FIELDS[group])
    for group in ("hierarchy", "optimiser", "ray_type"):
        if of is None or group in of:
            held = getattr(settings, group)
            for name, kind in option_tables.options_types(group).items():
                entry = held.get(name)
                yield f"{group}.{name}", kind() if entry is None and kind is not None else entry


def changed_groups(before: Settings, after: Settings) -> set[str]:
    """The groups that are other values in one of them than in the other; equal ones may be among them."""
    return {group for group, field in FIELDS.items() if getattr(before, field) is not getattr(after, field)}


def option_field(key: str) -> OptionField:
    """The option a dotted key names, its choices filled in from the registries. Raises OptionError for a key nobody
    knows."""
    table, _, name = key.rpartition(".")
    fields = {field.name: field for field in fields_of(_options_type(table, key))}
    if name not in fields:
        raise OptionError(key, "", f"the known names in [{table}] are " + (", ".join(fields) or "none"))
    field = fields[name]
    found = option_tables.choices(key)
    return dataclasses.replace(field, info=dataclasses.replace(field.info, choices=found)) if found else field


def set_option(settings: Settings, key: str, value: object) -> Settings:
    """The settings with one option changed, by its dotted key. Raises OptionError with the key and what is allowed."""
    if key.startswith(f"{KEPT}."):
        return _with_kept(settings, key, value)
    checked = option_field(key).checked(value, key)
    if key == "render.device" and not option_tables.DEVICE_NAME.fullmatch(checked):
        raise OptionError(key, value, "it is one of " + option_tables.DEVICES_ALLOWED)
    if key in CHECKS:
        checked = CHECKS[key](checked)
    group, _, rest = key.partition(".")
    if group not in TABLES:
        return _with_group(settings, group, dataclasses.replace(getattr(settings, FIELDS[group]), **{rest: checked}))
    name, _, rest = rest.partition(".")
    entry = dataclasses.replace(_table_entry(settings, group, name), **{rest: checked})
    return _with_group(settings, group, {**getattr(settings, group), name: entry})


def _with_kept(settings: Settings, key: str, value: object) -> Settings:
    name = key.removeprefix(f"{KEPT}.")
    if name not in KEPT_NAMES:
        raise OptionError(key, value, f"the known names in [{KEPT}] are " + ", ".join(KEPT_NAMES))
    if not isinstance(value, str):
        raise OptionError(key, value, "a text")
    return _with_group(settings, KEPT, {**settings.meister, name: value})


def _with_group(settings: Settings, group: str, value: Any) -> Settings:
    return dataclasses.replace(settings, **{FIELDS[group]: value})


def set_text(settings: Settings, key: str, text: str) -> Settings:
    """The settings with one option changed to what a text says, as typed on a command line. Raises OptionError."""
    return set_option(settings, key, parse_value(option_field(key).type, text))


@functools.cache
def _group_types() -> dict[str, type]:
    """The dataclass of each group's options."""
    hints = typing.get_type_hints(Settings)
    return {group: hints[FIELDS[group]] for group in GROUPS}


def _options_type(table: str, key: str) -> type:
    """The dataclass of a table's options; raises OptionError with the tables there are."""
    group, _, name = table.partition(".")
    if group in GROUPS and not name:
        return _group_types()[group]
    if group in TABLES:
        kind = _named_type(group, name)
        if kind is not None:
            return kind
        known = (
            option_tables.names_of(group)
            if group not in EDITED
            else (f"NAME, of letters, digits, _ and -, not {name!r}",)
        )
        raise OptionError(
            key, "", f"the known tables in [{group}] are " + ", ".join(f"{group}.{one}" for one in sorted(known))
        )
    raise OptionError(key, "", "the known tables are " + ", ".join([*GROUPS, *(f"{one}.NAME" for one in TABLES)]))
