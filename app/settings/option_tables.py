"""What the registries know: which structures and ray types there are, what each can be combined with, and what options
it has.

Nothing here names one of them: a new folder in `gpu/hierarchy` or file in `gpu/shade` appears in the settings file, the
dialog and the command line.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from raygrove.gpu.hierarchy import registry as hierarchy_registry
from raygrove.gpu.hierarchy.base import HierarchyError, StructureChoice
from raygrove.gpu.shade import registry as ray_type_registry
from raygrove.gpu.update import registry as update_registry

DEVICE_NAME = re.compile(r"auto|cpu|cuda(:\d+)?")
DEVICES_ALLOWED = "auto, cpu, cuda, or cuda:N for the N-th GPU"


def builders() -> dict[str, Any]:
    """Every structure's class by name."""
    return dict(hierarchy_registry.structures())


def builder(name: str) -> Any:
    """The class of one structure, None where there is none of that name; the project's own is imported without the
    others."""
    return hierarchy_registry.find(name)


def own_builders() -> dict[str, Any]:
    """Those that are this project's, not another package's."""
    return dict(hierarchy_registry.own_structures())


def plug_in_words() -> list[str]:
    """What the command line is told so that structures of a person's own files are known there, too."""
    return [word for name in hierarchy_registry.named_plug_ins for word in ("--plug-in", name)]


def ray_types() -> dict[str, Any]:
    """Every ray type's class by name."""
    return dict(ray_type_registry.ray_types())


def ray_type(name: str) -> Any:
    """The class of one ray type, None where there is none of that name; imported without the others, mostly."""
    return ray_type_registry.find(name)


def legend(name: str, options: Any) -> Any:
    """The scale of a ray type's colours; None where they mean no number."""
    return ray_type_registry.legend(name, options) if ray_type(name) is not None else None


def scale(label: str, low: float, high: float, colors: str) -> Any:
    """The scale of a colour map by its name, as `legend` gives them."""
    return ray_type_registry.scale(label, low, high, colors)


def update_policies() -> dict[str, Any]:
    """Every update policy by name."""
    return dict(update_registry.policies())


def _known(name: str) -> Any:
    found = builder(name)
    if found is None:
        raise KeyError(name)
    return found


def optimisers() -> dict[str, Any]:
    """Every optimiser's class by name."""
    return dict(hierarchy_registry.optimisers())


def layouts(hierarchy: str = "") -> tuple[str, ...]:
    """The layouts of a structure, or of all of them."""
    kinds = [_known(hierarchy)] if hierarchy else list(builders().values())
    return tuple(dict.fromkeys(layout for kind in kinds for layout in kind.layouts()))


def traversals(hierarchy: str = "", layout: str = "") -> tuple[str, ...]:
    """The traversals of a structure's layout, or of all of them."""
    kinds = [_known(hierarchy)] if hierarchy else list(builders().values())
    pairs = [
        (kind, name) for kind in kinds for name in kind.layouts() if name == layout or not layout or layout == "auto"
    ]
    return tuple(dict.fromkeys(name for kind, of_layout in pairs for name in kind.traversals(of_layout)))


def titles() -> dict[str, str]:
    """What people are shown for layouts and traversals, by their names."""
    return hierarchy_registry.titles()


def predicted_memory(hierarchy: str, target_kind: str, counts: tuple[int, int, int], settings: Any) -> Any:
    """What a structure would take over so many triangles, spheres and glyphs (gpu/hierarchy/predicted.py), in the
    layout and with the optimiser of the settings where it has those; None where it does not take such primitives."""
    kind, render = _known(hierarchy), settings.render
    choice = StructureChoice(
        options=settings.hierarchy_options(hierarchy),
        layout=render.layout if render.layout in kind.layouts() else "auto",
        optimiser=render.optimiser if render.optimiser in kind.optimisers() else "none",
        optimiser_options=settings.optimiser_options(render.optimiser),
        triangle_test=render.triangle_test,
    )
    try:
        return _predicted(hierarchy, target_kind, counts, choice)
    except HierarchyError:
        return None


@functools.lru_cache(maxsize=256)
def _predicted(hierarchy: str, target_kind: str, counts: tuple[int, int, int], choice: StructureChoice) -> Any:
    from raygrove.gpu.hierarchy import predicted  # with the first sheet of structures, not with the program

    return predicted.predicted_memory(hierarchy, target_kind, counts, choice)


def choices(key: str) -> tuple[str, ...]:
    """What a key of `render` can be, where the registries decide; () for other keys."""
    if key == "render.hierarchy":
        return tuple(sorted(builders()))
    if key == "render.ray_type":
        return tuple(sorted(ray_types()))
    if key == "render.layout":
        return ("auto", *layouts())
    if key == "render.traversal":
        return ("auto", *traversals())
    if key == "render.optimiser":
        return ("none", *sorted(optimisers()))
    return ()


def names_of(group: str) -> tuple[str, ...]:
    """The names there are in a group of tables."""
    return tuple(_GROUPS[group]())


def options_types(group: str) -> dict[str, type | None]:
    """The options' dataclass of each name there is in a group of tables: what `options_type` says, asked once for
    all."""
    return {name: getattr(kind, "Options", None) for name, kind in _GROUPS[group]().items()}


def options_type(group: str, name: str) -> type | None:
    """The options' dataclass of one structure (group hierarchy), optimiser or ray type (group ray_type); None where
    there is no such thing."""
    return getattr(_FINDERS[group](name), "Options", None)


_GROUPS: dict[str, Callable[[], dict[str, Any]]] = {
    "hierarchy": builders,
    "optimiser": optimisers,
    "ray_type": ray_types,
}
_FINDERS: dict[str, Callable[[str], Any]] = {
    "hierarchy": builder,
    "optimiser": lambda name: None if name == "none" else optimisers().get(name),
    "ray_type": ray_type,
}
