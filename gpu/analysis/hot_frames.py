"""Hot spots of pictures: the rays of a view's last frame, counted as its ray type casts them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from ..animate.animate import Surface
from ..engine import Engine
from ..hierarchy.base import Hierarchy
from ..hierarchy.traversed_nodes import event_space
from ..scene import Scene
from ..target.base import Target
from ..trace.trace import COUNTING_REGISTERS, TRACE_BLOCK, BufferRays, Tracer, pixel_order, rays_of_picture
from ..view import View
from .divergence import HEIGHT, WIDTH, Divergence, divergence_of_rays
from .frame_counter import FrameCounter, WantedRays
from .frame_rays import ALL, PRIMARY, CastRays, cast_rays
from .hot_findings import HotFinding, findings_of
from .hot_spots import HotSpots, Owners
from .hot_words import GIVEN
from .node_counts import NodeCounter, Slots
from .ray_log import ON_PRIMITIVE
from .tree_levels import built_beside, spelling


def hot_spots_of(
    engine: Engine, view: View, rays: str = ALL, kind: str = "both", given: BufferRays | None = None
) -> HotSpots:
    """Of the picture that a view shows, its first sample. `rays`: all, primary, shadow, occlusion, bounce 1, bounce 2
    ...; `kind`: closest, any or both. Of `given` rays in the picture's place closest hits are looked for, unless any
    are. Waits; not in a frame. Error where the picture has no such rays."""
    return hot_spots_counted(engine, view, FrameCounter(engine, view, rays, kind), given)


def hot_spots_counted(engine: Engine, view: View, counter: FrameCounter, given: BufferRays | None = None) -> HotSpots:
    """The same by a counter of the view's that is kept from picture to picture."""
    counter.count(given)
    return spots_read(engine, view, counter)


def spots_read(engine: Engine, view: View, counter: FrameCounter) -> HotSpots:
    """What a counter of the view's counted last, on the host. Waits."""
    slot = engine.drawn_slot(view)
    assert slot.context is not None, "it was drawn"
    table, counts = counter.read()
    owners, costs = owners_of(engine.target, engine.scene, slot.context.surface), view.settings.statistics
    weights = costs.traversal_cost, costs.intersection_cost
    return HotSpots(table, counts, *counter.counted, owners, *weights, spelling(counter.hierarchy))


def with_findings(engine: Engine, view: View, found: HotSpots, given: BufferRays | None = None) -> HotSpots:
    """Hot spots of a view's last picture, or of given rays, with what they mean: all that may matter, of which
    `is_told` says what does. Waits; not in a frame."""
    divergence, history = divergence_of(engine, view, given), engine.drawn_slot(view).history
    worn = history.cost_ratio if history.has_base else None
    findings = findings_of(found, corners_of(engine, view), divergence, history.age, worn)
    return dataclasses.replace(found, findings=findings)


def measured_remedy(
    engine: Engine, view: View, found: HotSpots, finding: HotFinding, given: BufferRays | None = None
) -> HotFinding:
    """A finding about a view's last picture, or given rays, with what its remedy gains, counted: it is built over the
    same triangles, and the same rays are traced through it; as it was where there is nothing to build. Waits; not in a
    frame."""
    if not finding.configuration:
        return finding
    slot, target = engine.drawn_slot(view), engine.target
    assert slot.context is not None, "it was drawn"
    with built_beside(target, finding.configuration, slot.context.surface.primitives) as hierarchy:
        if finding.code == "long_warps":
            rays = given or slot.film.first_rays()
            before = float(divergence_of(engine, view, given).longest)
            after = float(divergence_of_rays(target, hierarchy, rays).longest)
        else:
            counter = FrameCounter(engine, view, found.rays, found.kind, hierarchy)
            before, after = found.total_cost, hot_spots_counted(engine, view, counter, given).total_cost
    return dataclasses.replace(finding, gain=before / max(after, 1e-300))


def corners_of(engine: Engine, view: View) -> np.ndarray | None:
    """(T, 3, 3) float32: the triangles of a view's last picture; None where there are others beside them. Waits."""
    context = engine.drawn_slot(view).context
    if context is None or engine.scene.primitive_count != engine.scene.triangle_count:
        return None
    surface, target = context.surface, engine.target
    return np.asarray(target.download(surface.positions)[target.download(surface.triangles)])


def divergence_of(engine: Engine, view: View, given: BufferRays | None = None) -> Divergence:
    """For whom the primary rays of a view's last picture wait, or given ones, 32 at a time. Waits; not in a frame."""
    slot = engine.drawn_slot(view)
    slot.bring_up_to_date()
    if given is not None:
        return divergence_of_rays(engine.target, slot.hierarchy, given, "closest", GIVEN)
    rays = slot.film.first_rays()
    tiles = (-(-slot.film.width // WIDTH), -(-slot.film.height // HEIGHT))
    return divergence_of_rays(engine.target, slot.hierarchy, rays, "closest", PRIMARY, tiles)


def paid_of(
    engine: Engine, view: View, found: HotSpots, nodes: Sequence[int] = (), primitives: Sequence[int] = ()
) -> np.ndarray:
    """(height, width) int32: what the rays of each pixel of a view's last picture, of those that were counted, paid in
    `nodes` (rows of the table) and for `primitives`: nodes entered and primitives tested. Waits; not in a frame."""
    slot, target = engine.drawn_slot(view), engine.target
    slots, kinds = Slots(found.table), WantedRays(found.rays, found.kind)
    chosen, tested = np.zeros(len(found.table), np.uint8), np.zeros(max(1, engine.scene.primitive_count), np.uint8)
    chosen[list(nodes)], tested[list(primitives)] = 1, 1
    of_nodes, of_primitives = target.upload(slots.by_slot(chosen), "analysis"), target.upload(tested, "analysis")
    width, height = slot.film.width, slot.film.height
    paid = target.zeros(rays_of_picture(width, height), np.int32, "analysis")

    def hear(tracer: Tracer, cast: CastRays) -> None:
        if not kinds.take(cast.name, cast.kind):
            return
        aliases = (("OnPrimitive", ON_PRIMITIVE[cast.kind]),)
        path, count = "gpu/analysis/paid_rays.cu", cast.source.padded_count
        unit, given = tracer.unit(path, cast.source, aliases, registers=COUNTING_REGISTERS, width=1)
        target.launch(
            unit,
            "count_paid",
            count,
            input=given,
            ray_count=count,
            nodes=of_nodes,
            primitives=of_primitives,
            node_space=slots.node_space,
            pixels=cast.pixels,
            paid=paid,
            block=TRACE_BLOCK,
        )

    cast_rays(slot, hear)
    x, y = pixel_order(width, height)
    inside = (x < width) & (y < height)
    image = np.zeros((height, width), np.int32)
    image[y[inside], x[inside]] = target.download(paid)[inside]
    return image


def nodes_of_pixel(engine: Engine, view: View, x: float, y: float) -> np.ndarray:
    """The rows of the table that the primary ray through pixel (x, y) entered. Waits; not in a frame."""
    slot = engine.drawn_slot(view)
    tracer = slot.tracer()
    counter = NodeCounter(engine.target, event_space(slot.hierarchy), engine.scene.primitive_count)
    counter.count(tracer, slot.ray_through(x, y), "closest")
    return np.flatnonzero(counter.read(slot.hierarchy.nodes()).nodes["visits"])


def hot_spots_of_rays(
    target: Target, hierarchy: Hierarchy, rays: BufferRays, kind: str = "closest", owners: Owners | None = None
) -> HotSpots:
    """Of rays in a buffer, through a structure as it is. Waits."""
    table, primitives = hierarchy.nodes(), hierarchy.last_built()
    highest = int(table.references.max(initial=-1)) + 1
    counter = NodeCounter(target, event_space(hierarchy), max(primitives.count, highest))
    counter.count(Tracer(target, hierarchy.traversal()), rays, kind)
    return HotSpots(table, counter.read(table), GIVEN, kind, owners)


def owners_of(target: Target, scene: Scene, surface: Surface) -> Owners:
    """Whose the primitives of a scene are, hidden ones too."""
    count = scene.primitive_count
    materials = np.full(max(1, count), -1, np.int32)
    known = target.download(surface.material_ids)[:count]
    materials[: len(known)] = known
    return Owners(objects_of(surface, max(1, count)), materials, *names_of(scene))


def objects_of(surface: Surface, count: int) -> np.ndarray:
    """(count,) int32: whose each primitive is, -1 of nobody."""
    objects = np.full(count, -1, np.int32)
    for number, placed in enumerate(surface.objects):
        objects[placed.first : placed.first + placed.count] = number
    return objects


def names_of(scene: Scene) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the objects and the materials of a scene are called."""
    objects = tuple(
        scene.nodes[thing.node].name or scene.name_of(number) or f"Object {number + 1}"
        for number, thing in enumerate(scene.objects)
    )
    return objects, tuple(one.name or f"Material {number + 1}" for number, one in enumerate(scene.materials))
