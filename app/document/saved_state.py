"""The state inside a picture: text entries named raygrove.*, one per field of `State`, from which an opened picture
restores what it shows.

Settings are TOML and hold what differs from the built-in values; the other fields are JSON, written and checked by the
dataclasses' own types. Beside them stand what nobody restores and everybody wants to know: version, statistics, device.
"""

from __future__ import annotations

import dataclasses
import json
import os
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from raygrove.app.camera.path_options import LONGEST_S, SHORTEST_S
from raygrove.app.document.state import SceneReference, State
from raygrove.app.export.tables import json_text
from raygrove.app.playback import timeline as timelines
from raygrove.app.scene_io.errors import OutsideError, SceneError, display_path
from raygrove.app.scene_io.files import expand
from raygrove.app.scene_io.limits import OWN
from raygrove.app.settings.file import SettingsError, settings_of, to_table
from raygrove.app.settings.older import Older
from raygrove.app.settings.ray_options import file_of
from raygrove.app.settings.settings import Settings, option_groups, set_option
from raygrove.app.settings.tree_options import trees_of
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import FrameStatistics

PREFIX = "raygrove."
VERSION = "1"
LARGEST = 1e30
MOST_COPIES, MOST_PIXELS, MOST_SIDE = 1000, 4096 * 4096, 16_384
MOST: dict[str, float] = {
    "render.samples": 1024,
    "display.still_samples": 1024,
    "display.refine_samples": 1024,
    "demo.triangles": 1_000_000,
    "demo.sphere_pixels": 64.0,
    "hierarchy.grid.density": 50.0,
    "hierarchy.grid.references_per_primitive": 32.0,
    "hierarchy.grid_two_level.density": 5.0,
    "hierarchy.grid_two_level.cell_density": 50.0,
    "hierarchy.grid_two_level.references_per_primitive": 32.0,
    "ray_type.ao.rays": 64,
    "ray_type.diffuse.rays": 64,
    "ray_type.radiosity.points": 200_000,
    "ray_type.radiosity.bounces": 100,
    "ray_type.radiosity.rays": 64,
    "ray_type.radiosity.light_samples": 64,
    "ray_type.whitted.light_samples": 64,
    "ray_type.distributed.light_samples": 64,
}
"""What a picture may ask of time and memory, by setting, where a person's own settings ask for less."""
JSON_FIELDS = tuple(field.name for field in dataclasses.fields(State) if field.name != "settings")


def texts_of(state: State, statistics: FrameStatistics | None = None, device: str = "") -> dict[str, str]:
    """The entries of a picture of `state`."""
    names = (
        tuple(os.path.abspath(name) for name in state.scene.names) if state.scene.kind == "files" else state.scene.names
    )
    state = dataclasses.replace(state, scene=dataclasses.replace(state.scene, names=names))
    texts = {"version": VERSION, "settings": tomli_w.dumps(to_table(_with_checks(state.settings, Settings())))}
    texts |= {name: json.dumps(_encoded(getattr(state, name))) for name in JSON_FIELDS}
    if statistics is not None:
        texts["statistics"] = json_text(statistics)
    if device:
        texts["device"] = device
    return {PREFIX + name: text for name, text in texts.items()}


def at_moment(state: State, moment: Moment) -> State:
    """The state of a picture: its head stands at the instant that was drawn."""
    return dataclasses.replace(state, timeline=dataclasses.replace(state.timeline, time=moment.time, clip=moment.clip))


def state_of(
    texts: Mapping[str, str], path: str, own: Settings | None = None, remarks: list[str] | None = None
) -> State:
    """The state that a picture's entries hold. Fields that are absent are as in a new state; `start`, `device.checks`
    and the limits of `import` are those of `own`. Files that are gone are looked for beside the picture. `remarks` gets
    the sentences about words of older versions. Raises SceneError with a sentence where there is no state or it cannot
    be used."""
    if PREFIX + "version" not in texts:
        why = (
            "no state was saved in it. Pictures that Raygrove saves carry one; other programs leave it out when "
            "they save them again"
        )
        raise SceneError(f"{display_path(path)} shows a picture, but {why}.", path)
    if texts[PREFIX + "version"] != VERSION:
        raise SceneError(
            f"{display_path(path)}: its state was saved by a newer version of Raygrove. Open it with that one.", path
        )
    older = Older()
    try:
        settings = settings_of(texts.get(PREFIX + "settings", ""), Path(path), older=older)
        hints = typing.get_type_hints(State)
        fields = {
            name: _decoded(hints[name], json.loads(texts[PREFIX + name]), name)
            for name in JSON_FIELDS
            if PREFIX + name in texts
        }
        state = State(settings=_with_own(settings, own or Settings()), **fields)
        _check(state)
    except (SettingsError, ValueError, RecursionError) as error:
        reason = _without_path(str(error), path).rstrip(".")
        raise SceneError(
            f"{display_path(path)}: the state in it cannot be used: {reason}. It may be of another version, or "
            "damaged.",
            path,
        ) from error
    state = dataclasses.replace(state, scene=_found(state.scene, path))
    if remarks is not None:
        remarks += _said_of_files(state, path) + _said_of_costs(settings, state.settings, path)
        remarks += [
            f"{display_path(path)}: of its settings, {_without_path(sentence, path)}" for sentence in older.sentences
        ]
    views = tuple(
        dataclasses.replace(view, hierarchy=older.structures.get(view.hierarchy, view.hierarchy))
        for view in state.views
    )
    return dataclasses.replace(state, views=views)


def _without_path(sentence: str, path: str) -> str:
    return sentence.removeprefix(f"{path}: ").removeprefix(f"{path}, ")


def fitted(state: State, scene: Scene) -> State:
    """A restored state on its scene: paused at its instant; a clip that the scene no longer has gives way to the
    first."""
    head = timelines.pause(state.timeline)
    if head.clip >= max(len(scene.clips), 1):
        head = dataclasses.replace(head, clip=0)
    head = timelines.scrub(head, head.time, timelines.span_of(scene, head, state.settings.timeline))
    hidden = tuple(index for index in state.hidden if index < len(scene.objects))
    selection = state.selection.within(len(scene.objects))
    return dataclasses.replace(state, timeline=head, hidden=hidden, selection=selection)


def _with_own(settings: Settings, own: Settings) -> Settings:
    kept = {name: getattr(own.importer, name) for name in OWN}
    settings = dataclasses.replace(settings, importer=dataclasses.replace(settings.importer, **kept), start=own.start)
    return _affordable(_with_checks(settings, own), own)


def _with_checks(settings: Settings, own: Settings) -> Settings:
    """Whether kernels check themselves (--debug) is a matter of the session, not of what a picture shows."""
    return dataclasses.replace(settings, device=dataclasses.replace(settings.device, checks=own.device.checks))


def _affordable(settings: Settings, own: Settings) -> Settings:
    """What a picture may cost who opens it: threads and the memory for key frames are those of this machine; copies of
    a box, and what MOST names, no more than that or a person's own."""
    if _copies(settings) > max(_copies(own), MOST_COPIES):
        copies = {f"copies_{axis}": getattr(own.importer, f"copies_{axis}") for axis in "abc"}
        settings = dataclasses.replace(settings, importer=dataclasses.replace(settings.importer, **copies))
    device = dataclasses.replace(settings.device, threads=own.device.threads, key_memory_mib=own.device.key_memory_mib)
    settings = dataclasses.replace(settings, device=device)
    allowed = _costs(own)
    for key, asked in _costs(settings).items():
        most = max(allowed[key], MOST[key])
        if asked > most:
            settings = set_option(settings, key, most)
    return settings


def _costs(settings: Settings) -> dict[str, float]:
    """What settings say of MOST."""
    groups = {table: options for table, options in option_groups(settings) if options is not None}
    keys = (key.rpartition(".") for key in MOST)
    return {f"{table}.{name}": getattr(groups[table], name) for table, _, name in keys if table in groups}


def _copies(settings: Settings) -> int:
    return settings.importer.copies_a * settings.importer.copies_b * settings.importer.copies_c


def affordable_size(width: int, height: int, own: Settings, path: str, remarks: list[str]) -> tuple[int, int]:
    """The size at which a picture that says that it is `width` x `height` is drawn anew: no more pixels than a person's
    own or MOST_PIXELS, and no side longer than MOST_SIDE, in its proportions; `remarks` gets a sentence where it is
    another."""
    most = max(own.render.width * own.render.height, MOST_PIXELS)
    scale = min(1.0, (most / (width * height)) ** 0.5, MOST_SIDE / width, MOST_SIDE / height)
    if scale == 1.0:
        return width, height
    taken = max(int(width * scale), 1), max(int(height * scale), 1)
    said = f"{display_path(path)} asks for {width:,} x {height:,} pixels; {taken[0]:,} x {taken[1]:,} are taken."
    remarks.append(f"{said} Name a size to have more (--size).")
    return taken


def _said_of_costs(asked: Settings, taken: Settings, path: str) -> list[str]:
    """What the picture asks for and does not get."""
    wanted, given = _costs(asked), _costs(taken)
    copies = "the product of import.copies_a, _b and _c"
    pairs = [*((key, wanted[key], given[key]) for key in wanted), (copies, _copies(asked), _copies(taken))]
    return [
        f"{display_path(path)} asks for {key} = {first:,}; {second:,} are taken. Set it to have more."
        for key, first, second in pairs
        if first != second
    ]


def check_files(state: State, path: str, own: Settings) -> None:
    """`OutsideError` where a picture's state names files outside the picture's folder and the `own` settings do not
    allow that: the rule for what a model names (scene_io/references.py), as anybody may have made the picture."""
    outside = _outside(state, path)
    if not outside or own.importer.allow_outside:
        return
    why = f"is not opened: it shows {_listed(outside)}, outside the picture's folder"
    raise OutsideError(f"{display_path(path)} {why}. Open it all the same if you trust who made the picture.", path)


def _said_of_files(state: State, path: str) -> list[str]:
    """Which files are read that do not lie in the picture's folder: who opens it may not expect them."""
    outside = _outside(state, path)
    return [f"{display_path(path)} shows a scene of another folder: {_listed(outside)} is read."] if outside else []


def _listed(names: list[str]) -> str:
    return display_path(names[0]) + (f" and {len(names) - 1:,} more" if len(names) > 1 else "")


def _outside(state: State, path: str) -> list[str]:
    """The files that a picture's state names, links followed, outside the folder of the picture."""
    folder = os.path.dirname(os.path.realpath(path))
    named = [*(state.scene.names if state.scene.kind == "files" else ()), state.settings.importer.environment]
    named += [*trees_of(state.settings.trees).values(), file_of(state.settings.rays.measured)]
    return [name for name in named if name and not _lies_in(name, folder)]


def _lies_in(name: str, folder: str) -> bool:
    """Whether a file, or all that a pattern stands for, lies in a folder; what is no path or is not there is for its
    reader to refuse."""
    try:
        if os.path.commonpath([os.path.realpath(name), folder]) != folder:
            return False
        return all(os.path.commonpath([os.path.realpath(one), folder]) == folder for one in expand([name]))
    except (SceneError, OSError, ValueError):
        return True


def _found(reference: SceneReference, path: str) -> SceneReference:
    """The scene's files where they were, else beside the picture."""
    if reference.kind != "files":
        return reference
    folder = os.path.dirname(os.path.abspath(path))
    beside = tuple(os.path.join(folder, os.path.basename(name)) for name in reference.names)
    if not any(map(_exists, reference.names)) and any(map(_exists, beside)):
        return dataclasses.replace(reference, names=beside)
    return reference


def _exists(path: str) -> bool:
    try:
        return os.path.lexists(path)
    except (OSError, ValueError):
        return False


def _check(state: State) -> None:
    """What the types do not say."""
    if state.scene.kind not in ("demo", "files") or not state.scene.names:
        raise ValueError("it names no scene")
    if not state.views or not all(0 <= view.camera < len(state.cameras) for view in state.views):
        raise ValueError("a view looks through a camera that is not there")
    if not (state.timeline.time >= 0.0 and state.timeline.clip >= 0 and state.timeline.direction in (-1, 1)):
        raise ValueError("its timeline stands nowhere")
    if len(state.selection.pixel) not in (0, 2) or not all(0.0 <= part <= 1.0 for part in state.selection.pixel):
        raise ValueError("its selected pixel lies in no picture")
    if any(index < 0 for index in state.hidden):
        raise ValueError("it hides an object that cannot be")
    if not all(SHORTEST_S <= bookmark.seconds <= LONGEST_S for bookmark in state.bookmarks):
        raise ValueError("a bookmark takes no time, or too long")
    for camera in (*state.cameras, *(bookmark.camera for bookmark in state.bookmarks)):
        if not (1.0 <= camera.fov <= 170.0 and camera.height > 0.0 and camera.near >= 0.0 and camera.far >= 0.0):
            raise ValueError("a camera sees nothing")


def _encoded(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _encoded(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return [_encoded(one) for one in value] if isinstance(value, tuple) else value


def _decoded(hint: Any, value: Any, place: str) -> Any:
    """`value` as the type that `hint` names, or ValueError with its place."""
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        hints = typing.get_type_hints(typing.cast(type, hint))
        unknown = [name for name in value if name not in hints]
        if unknown:
            raise ValueError(f"{place} has no {unknown[0]!r:.40}")
        return typing.cast(Any, hint)(
            **{name: _decoded(hints[name], one, f"{place}.{name}") for name, one in value.items()}
        )
    if typing.get_origin(hint) is tuple and isinstance(value, list):
        parts = typing.get_args(hint)
        kinds = [parts[0]] * len(value) if len(parts) == 2 and parts[1] is Ellipsis else list(parts)
        if len(kinds) == len(value):
            return tuple(
                _decoded(kind, one, f"{place}.{index}")
                for index, (kind, one) in enumerate(zip(kinds, value, strict=True))
            )
    if hint is float and type(value) in (int, float) and abs(value) <= LARGEST:
        return float(value)
    if hint in (int, bool, str) and type(value) is hint:
        return value
    raise ValueError(f"{place} is {value!r:.60}")
