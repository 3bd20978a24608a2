"""The objects of a scene by name: which of them are meant, and which are left out of the picture."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

from raygrove.gpu.scene import Scene


class ObjectsError(ValueError):
    """A name that no object has; the message is a sentence."""


def names_of(scene: Scene) -> tuple[str, ...]:
    """A name for every object, each another: its node's, else its mesh's; further ones of a name are numbered."""
    names: list[str] = []
    seen: dict[str, int] = {}
    for number, thing in enumerate(scene.objects, 1):
        name = scene.nodes[thing.node].name or scene.name_of(number - 1) or f"Object {number}"
        if any(one.node == thing.node for one in scene.objects[max(number - 2, 0) : number + 1] if one is not thing):
            name = scene.name_of(number - 1) or name  # a node with several meshes: they tell its parts apart
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(names)


def matching(scene: Scene, text: str) -> frozenset[int]:
    """The objects that a text names: names, patterns as vase_*, or numbers from 0, separated by semicolons. Capitals do
    not matter. Raises ObjectsError where a part of it names none."""
    names = [name.lower() for name in names_of(scene)]
    found: set[int] = set()
    for part in (one.strip() for one in text.split(";")):
        wanted = part.lower()
        matches = {index for index, name in enumerate(names) if name == wanted or fnmatch.fnmatchcase(name, wanted)}
        if not matches and wanted.isdecimal() and int(wanted) < len(names):
            matches = {int(wanted)}
        if part and not matches:
            raise ObjectsError(f"{scene.name} has no object {part!r}; {_known(scene)}")
        found |= matches
    return frozenset(found)


def hidden_of(scene: Scene, hide: str = "", isolate: str = "") -> tuple[int, ...]:
    """What is left out where `isolate` names what alone is seen, and `hide` what is not. Raises ObjectsError."""
    hidden = set(range(len(scene.objects))) - matching(scene, isolate) if isolate.strip() else set()
    return in_order(hidden | matching(scene, hide))


def in_order(objects: Iterable[int]) -> tuple[int, ...]:
    """Objects as the state keeps them."""
    return tuple(sorted(set(objects)))


def materials_of(scene: Scene, index: int) -> tuple[str, ...]:
    """The names of an object's materials."""
    thing = scene.objects[index]
    if thing.mesh >= 0:
        used = sorted(set(scene.meshes[thing.mesh].material_ids.tolist()))
    else:
        used = [scene.group_of(thing).material_id]
    return tuple(
        scene.materials[number].name or f"Material {number}" for number in used if 0 <= number < len(scene.materials)
    )


def _known(scene: Scene) -> str:
    names = names_of(scene)
    shown = ", ".join(names[:8]) or "none"
    return f"its objects are {shown}{f' and {len(names) - 8} more' if len(names) > 8 else ''}."
