"""Spheres cast at tiles, for the sanitizers: each arrangement once, with lists that fit and lists that do not."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.glyph_shapes import GLYPH_SHAPES, Glyphs
from raygrove.gpu.glyphs.caster import TileCaster
from raygrove.gpu.glyphs.options import ARRANGEMENTS, GlyphOptions
from raygrove.gpu.hierarchy.primitives import glyph_primitives, sphere_primitives
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Material, Moment, Object, Scene, Spheres
from raygrove.gpu.shade.whitted import WhittedOptions
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import VIEW_FRAME, CameraRays, see_through

STRATEGIES = ("megakernel", "wavefront")
COUNT, SIZE = 400, (70, 50)
MORE: dict[str, dict[str, Any]] = {
    "spheres_by_pixels": {"depth_tiles": 3, "ray_setup": "tile"},
    "spheres_by_spheres": {"depth_tiles": 4, "sphere_layout": "structs", "intrinsics": "fast"},
    "spheres_by_box_pixels": {"lists": "cpu", "spheres_in": "read_only"},
}


def draw_primary_tiles(target: Target, strategies: Iterable[str] = STRATEGIES) -> None:
    """A frame by recursive ray tracing from the tiles' hits, by each strategy, of spheres and with glyphs. Only
    launches."""
    centres = np.random.default_rng(1).uniform(-1, 1, (20, 3)).astype(np.float32)
    scene = Scene(
        "spheres",
        spheres=(Spheres("spheres", centres, np.full(20, 0.3, np.float32)),),
        objects=(Object(0, spheres=0),),
        materials=(Material(),),
    )
    boxes = Glyphs("boxes", "box", centres, np.full((20, 3), 0.1, np.float32))
    both = dataclasses.replace(scene, glyphs=(boxes,), objects=(*scene.objects, Object(0, glyphs=0)))
    for strategy in strategies:
        shown = both if strategy == "wavefront" else scene
        options = WhittedOptions(strategy=strategy, depth=1)
        settings = ViewSettings("lbvh", ray_type="whitted", primary="tiles", ray_type_options=options)
        view = View(settings, Camera(eye=(0.0, 0.0, 4.0)), ArrayPixels(target, 43, 21))
        with Engine(target, shown) as engine:
            engine.render_frame(Moment(0.0, 0, 0), [view])


def run_glyphs(target: Target) -> None:
    """A picture by each arrangement, some of them with tiles in depth and what else there is to choose. The first tiles
    are so small that their lists have no room, the next ones fit."""
    random = np.random.default_rng(4)
    spheres = sphere_primitives(
        target.upload(random.uniform(-1, 1, (COUNT, 3)).astype(np.float32), "test"),
        target.upload(random.uniform(0.0, 0.1, COUNT).astype(np.float32), "test"),
    )
    turns = np.tile([0.0, 0.0, 0.0, 1.0], (COUNT, 1))
    rows = np.concatenate(
        [random.uniform(-1, 1, (COUNT, 3)), np.zeros((COUNT, 1)), turns, np.full((COUNT, 3), 0.05)],
        axis=1,
    )
    marks = -2.0 - np.arange(COUNT)[:, None] % len(GLYPH_SHAPES)
    things = glyph_primitives(
        spheres, target.upload(np.concatenate([rows, marks], axis=1).astype(np.float32), "test"), COUNT
    )
    frame = np.zeros((), VIEW_FRAME)
    see_through(frame, Camera(eye=(0.0, 0.0, 2.0)), *SIZE)
    rays = CameraRays(target.upload(frame.reshape(1).view(np.uint8), "test"), *SIZE)
    for arrangement in ARRANGEMENTS:
        lists = "front_to_back" if arrangement in ("pixels_by_pixels", "spheres_by_spheres") else "auto"
        for tiles in (50, 4) if arrangement == "pixels_by_pixels" else (4,):
            options = GlyphOptions(
                **{"arrangement": arrangement, "lists": lists, "tiles": tiles, **MORE.get(arrangement, {})}
            )
            has_structs = options.sphere_layout == "structs"
            caster = TileCaster(target, options)
            caster.make_room(spheres if has_structs or tiles == 50 else things)
            hits = caster.cast(rays)
            assert (target.download(hits.prim_id) >= 0).any()
