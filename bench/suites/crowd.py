"""One scene made of two, as published scenes often were: a still place with bodies that move in it (a church and
runners), a body in the midst of others that move."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.bench.ray_scenes import SUBJECTS
from raygrove.gpu.scene import Channel, Clip, Light, Material, Node, Object, Scene

RUNNER_TRIANGLES = 78_029
"""Of one body: as many as the published runner's (the Utah animation repository's Ben)."""

HALLS = {
    **{"Sibenik Cathedral": "dabrovic-sponza", "Dabrovic Sponza": "dabrovic-sponza"},
    "Crytek Sponza": "crytek-sponza",
}
"""Scenes of suites that are seen from inside, and what bench/ray_scenes.py calls them."""

HEIGHT = 0.2
"""Of a body, as a share of the place's height."""


ASIDE = 0.1
"""How far from the middle of a hall the eye stands, as a share of the hall's width."""


def with_runners(place: Scene, runner: Scene, count: int) -> Scene:
    """`place` with `count` copies of what moves in `runner`, side by side along the longer of its sides; objects of the
    runner's that nothing moves (a floor) stay away. All move by the runner's first clip, each a little behind the one
    before."""
    made, clip = place, runner.clips[0]
    moved = _moved_nodes(runner, clip)
    size = [high - low for low, high in zip(place.lower, place.upper, strict=True)]
    scale = HEIGHT * size[1] / max(1e-9, runner.upper[1] - runner.lower[1])
    along = 0 if size[0] >= size[2] else 2
    channels: list[Channel] = []
    for index in range(count):
        at = [(low + high) / 2 for low, high in zip(place.lower, place.upper, strict=True)]
        at[1] = place.lower[1] - scale * runner.lower[1] + 0.01 * size[1]
        at[along] += size[along] * 0.5 * ((index + 0.5) / count - 0.5)
        first = len(made.nodes)
        made = _joined(
            made, runner, moved, Node(f"runner {index + 1}", translation=(at[0], at[1], at[2]), scale=(scale,) * 3)
        )
        channels += [dataclasses.replace(channel, node=channel.node + first + 1) for channel in clip.channels]
    made = dataclasses.replace(
        made,
        name=f"{place.name} with {count} of {runner.name}",
        clips=(Clip(clip.name, clip.duration, tuple(channels)),),
    )
    return made if made.eye is not None else _seen_along(made, along)


def with_body(place: Scene, body: Scene, knot: str = "knot") -> Scene:
    """`place` with `body` where the object of its mesh `knot` is, as large as that, of its material, moved as it is.
    Raises ValueError where there is no such object."""
    replaced = next((one for one in place.objects if one.mesh >= 0 and place.meshes[one.mesh].name == knot), None)
    if replaced is None:
        raise ValueError(f"{place.name} has no object of the mesh {knot!r}.")
    positions = place.meshes[replaced.mesh].positions
    lower, upper = np.min(positions, axis=0), np.max(positions, axis=0)
    extent = np.subtract(body.upper, body.lower)
    scale = float(np.max(upper - lower) / max(1e-9, float(np.max(extent))))
    at = (lower + upper) / 2 - scale * (np.add(body.upper, body.lower) / 2)
    root = Node(body.name, replaced.node, translation=(float(at[0]), float(at[1]), float(at[2])), scale=(scale,) * 3)
    kept = dataclasses.replace(place, objects=tuple(one for one in place.objects if one is not replaced))
    made = _joined(kept, body, frozenset(range(len(body.nodes))), root)
    material = int(place.meshes[replaced.mesh].material_ids[0])
    first = len(place.meshes)
    own = (
        dataclasses.replace(mesh, material_ids=np.full_like(mesh.material_ids, material))
        for mesh in made.meshes[first:]
    )
    return dataclasses.replace(made, name=f"{place.name} about {body.name}", meshes=(*made.meshes[:first], *own))


def seen_within(hall: Scene, name: str) -> Scene:
    """A hall of bench/ray_scenes.py by its view from inside; without one it would be framed from outside, which shows
    walls. One that has a view of its own keeps it."""
    if hall.eye is not None:
        return hall
    views = next(one.views for one in SUBJECTS if one.name == name)
    camera = next(view.camera for view in views if view.name == "inside")
    return dataclasses.replace(hall, eye=camera.eye, look_at=camera.look_at)


def _seen_along(hall: Scene, axis: int) -> Scene:
    """A hall that has no view of its own: seen from within, from near one end to the other, by a lamp in its middle.
    The eye stands aside of the line on which runners stand one behind the other, so that each is seen. What stands
    in the way is not asked: whoever adds a hall looks at its picture."""
    size = [high - low for low, high in zip(hall.lower, hall.upper, strict=True)]
    middle = [(low + high) / 2 for low, high in zip(hall.lower, hall.upper, strict=True)]
    eye, towards, across = list(middle), list(middle), 2 - axis
    eye[axis], eye[1] = middle[axis] - 0.4 * size[axis], hall.lower[1] + 0.2 * size[1]
    eye[across] += ASIDE * size[across]
    towards[axis], towards[1] = middle[axis] + 0.3 * size[axis], hall.lower[1] + 0.15 * size[1]
    strength = 0.15 * size[axis] ** 2
    lamp = Light("point", (strength,) * 3, (middle[0], hall.lower[1] + 0.8 * size[1], middle[2]), name="lamp")
    return dataclasses.replace(
        hall, eye=(eye[0], eye[1], eye[2]), look_at=(towards[0], towards[1], towards[2]), lights=(lamp,)
    )


def _moved_nodes(scene: Scene, clip: Clip) -> frozenset[int]:
    """Nodes that the clip moves, and those below them."""
    moved = {channel.node for channel in clip.channels}
    for index, node in enumerate(scene.nodes):  # parents come first
        if node.parent in moved:
            moved.add(index)
    return frozenset(moved)


def _joined(place: Scene, other: Scene, moved: frozenset[int], root: Node) -> Scene:
    """`place` with `root` and, below it, the other's nodes and the objects at those of `moved`."""
    nodes, meshes, materials, textures = len(place.nodes), len(place.meshes), len(place.materials), len(place.textures)
    taken = [thing for thing in other.objects if thing.node in moved and thing.mesh >= 0]
    below = [
        dataclasses.replace(node, parent=nodes + 1 + node.parent if node.parent >= 0 else nodes) for node in other.nodes
    ]
    return dataclasses.replace(
        place,
        nodes=(*place.nodes, root, *below),
        meshes=(
            *place.meshes,
            *(dataclasses.replace(mesh, material_ids=mesh.material_ids + materials) for mesh in other.meshes),
        ),
        objects=(
            *(thing for thing in place.objects if thing.mesh >= 0),
            *(Object(thing.node + nodes + 1, thing.mesh + meshes) for thing in taken),
            *(thing for thing in place.objects if thing.mesh < 0),
        ),
        materials=(*place.materials, *(_with_textures_from(material, textures) for material in other.materials)),
        textures=(*place.textures, *other.textures),
        lights=place.lights or other.lights,
    )


def _with_textures_from(material: Material, first: int) -> Material:
    """A material whose textures have moved behind `first` others."""
    names = [field.name for field in dataclasses.fields(material) if field.name.endswith("_texture")]
    return dataclasses.replace(
        material, **{name: getattr(material, name) + first for name in names if getattr(material, name) >= 0}
    )
