"""Casts a picture's rays at spheres without a structure: Soell's tile-based ray caster in all its arrangements, and a
splatter that takes no tiles.

Every arrangement tests a pixel's own ray, as the camera's ray source makes it, by the very test of the sphere's
records, and keeps the nearest hit, of equally near ones the smallest prim_id: so all give the hits that a structure
gives, bit for bit where the compiler does not fuse.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from ..hierarchy.base import HierarchyError, Primitives, TilesError
from ..scene import Scene
from ..target.base import MOST_ITEMS, Array, Target, Unit, UnitSource
from ..target.kernel_use import KernelUse, use_of
from ..target.structs import pack
from ..trace.primary import CasterCapabilities
from ..trace.trace import CameraRays, HitBuffer, RaySource
from .choosing import CANDIDATES
from .nearest_first import PARTS, splat_in_parts
from .options import ARRANGEMENTS, GlyphOptions
from .things import has_glyphs, things_of
from .tile_lists import Boxes, Constants, TileArrays, TileLists, Tiling, bins_unit, make_input

LOCAL_SIZES = (256, 1024, 2048, 4096, 6144)
"""Pixels of a tile's buffer in shared memory, eight bytes each: the largest is what a block has on every GPU, 48 KiB. A
few sizes, so that a window of another size needs no other unit."""

SPLATTING_WARPS = 8192
"""So many share fewer spheres than they could take at a time, so that no multiprocessor of a GPU is idle. No more draw
one of two parts, whatever the count: each gathers spheres of its part until every lane has one."""

SPLAT_THREADS = 256
"""Of a block of the splatter."""

OWN_BOXES = ("cuda",)
"""Kinds of targets on which the splatter finds the boxes of spheres itself, of those alone that it draws. On a host
boxes.cu writes them all."""

MOST_PIXELS = 65535
"""Pixels of a side: boxes are kept in 16 bits."""

RAY_PIXELS = 1024
"""Pixels of a tile whose rays are kept in shared memory, 20 bytes each: beside a buffer of as many pixels that is 28
KiB."""


def check_scene(scene: Scene, options: GlyphOptions) -> None:
    """Raise TilesError where tiles cannot show a scene by these options."""
    others = f"{scene.triangle_count:,} triangles" if scene.triangle_count else "none"
    if scene.triangle_count or not scene.sphere_count + scene.glyph_count:
        raise TilesError(
            f"Tiles give the first hits of scenes of spheres and glyphs, and this one has {others}. Let the structure "
            "give them (render.primary = structure)."
        )
    if scene.glyph_count and options.sphere_layout == "structs":
        raise TilesError(
            f"Structs have room for spheres alone, and this scene has {scene.glyph_count:,} glyphs. Choose the layout "
            "columns (tiles.sphere_layout)."
        )


class TileCaster:
    """Primary hits of one view's spheres. Keep it from frame to frame: it has the lists' memory. Call `make_room`
    between frames, `cast` in them."""

    capabilities = CasterCapabilities(("CameraRays",), ("closest",), ("sphere", "glyphs"))

    def __init__(self, target: Target, options: GlyphOptions | None = None) -> None:
        self.target, self.options = target, options or GlyphOptions()
        self.drawn_by = self.options
        if self.options.arrangement == "auto":
            self.drawn_by = dataclasses.replace(self.options, **CANDIDATES[target.kind][0])
        self.lists = TileLists(target)
        self.primitives: Primitives | None = None
        self._launched: tuple[Unit, str, int] | None = None
        self._use: tuple[object, KernelUse | None] = (None, None)

    @property
    def use(self) -> KernelUse | None:
        """What the arrangement's kernel, which was launched last, takes of a GPU's multiprocessor; None on a host."""
        if self._launched is not None and self._use[0] != self._launched:
            self._use = (self._launched, use_of(self.target, *self._launched))
        return self._use[1]

    def draw_by(self, options: GlyphOptions) -> bool:
        """Between frames: draw by these options from now on; whether they are others than before."""
        before, self.drawn_by = self.drawn_by, options
        return before != options

    @property
    def arrangement(self) -> str:
        """The one that spheres are drawn by."""
        return self.drawn_by.arrangement

    @property
    def list_order(self) -> str:
        """How tiles know their spheres: scatter, front_to_back, cpu or none."""
        if self.arrangement == "splat":
            return "none"
        by_default = "front_to_back" if self.arrangement == "pixels_by_pixels" else "scatter"
        return by_default if self.drawn_by.lists == "auto" else self.drawn_by.lists

    @property
    def sentence(self) -> str:
        """What draws the spheres, in words."""
        if self.arrangement == "splat":
            return "splat, near ones first" if self.drawn_by.near_first else "splat"
        deep = f" in {self.layer_count} layers" if self.layer_count > 1 else ""
        return f"{self.arrangement}, lists {self.list_order}{deep}, {self.drawn_by.tiles} tiles a side"

    @property
    def has_lists(self) -> bool:
        """Whether tiles have lists of their spheres."""
        return self.list_order != "none"

    @property
    def _has_parts(self) -> bool:
        """Whether spheres are splatted in two passes."""
        return self.arrangement == "splat" and self.drawn_by.near_first

    @property
    def _has_own_boxes(self) -> bool:
        """Whether the splatter needs no boxes of boxes.cu."""
        return self.target.kind in OWN_BOXES and self.drawn_by.sphere_layout == "columns"

    @property
    def layer_count(self) -> int:
        """Tiles in depth."""
        return self.drawn_by.depth_tiles if self.has_lists else 1

    @property
    def is_repeatable(self) -> bool:
        """Whether `cast` only launches, so that it can be captured: lists of the CPU are made in between."""
        return self.list_order != "cpu"

    @property
    def generation(self) -> int:
        """Grows where memory moved: captured launches are to be made anew."""
        return self.lists.generation

    def take(self, primitives: Primitives) -> None:
        """These are the spheres. HierarchyError for anything else."""
        things_of(primitives)
        if has_glyphs(primitives) and self.options.sphere_layout == "structs":
            raise HierarchyError("Structs have room for spheres alone, and this scene has glyphs. Choose columns.")
        self.primitives = primitives

    def make_room(self, primitives: Primitives) -> None:
        """Between frames, before `cast`: take these spheres, and see to the lists' memory."""
        self.take(primitives)
        if self.has_lists and self.list_order != "cpu":
            self.lists.make_room(primitives.count)

    def compile(self, rays: RaySource) -> None:
        """Compile what `cast` launches for a picture of that size; nothing where it is not known yet."""
        if not isinstance(rays, CameraRays) or rays.count == 0:
            return
        for source in self._sources(Tiling.of(self.drawn_by, rays.width, rays.height)).values():
            self.target.unit(source)

    def cast(self, rays: RaySource, kind: str = "closest", scratch: str = "trace") -> HitBuffer:
        """The nearest hits of a picture's rays, in their order. Launches only, where it is repeatable. HierarchyError
        for other rays or kinds of hits, and for pictures that are too large."""
        primitives = self._checked(rays, kind)
        assert isinstance(rays, CameraRays)
        target, pixels = self.target, rays.width * rays.height
        keys = target.scratch("glyphs.keys", max(1, pixels), np.uint64)
        tiling = Tiling.of(self.drawn_by, rays.width, rays.height)
        tile_input = self._tile_input(primitives, rays, keys, tiling)
        resolve = target.unit(self._sources(tiling)["resolve"])
        target.launch(resolve, "clear_keys", pixels, keys=keys, count=pixels)
        if primitives.count > 0:
            self._cast_at(primitives, rays, tiling, tile_input)
        hits = self._hit_buffer(rays, scratch)
        target.launch(
            resolve, "write_hits", rays.padded_count, frame=rays.frame, input=tile_input, ray_count=rays.padded_count,
            **hits.arrays(),
        )  # fmt: skip
        return hits

    def _checked(self, rays: RaySource, kind: str) -> Primitives:
        can = self.capabilities
        if rays.device_type not in can.sources or kind not in can.kinds:
            raise HierarchyError(
                f"Tiles give the closest hits of a camera's rays, not {kind} hits of {rays.device_type}. Take these "
                f"from the structure."
            )
        if isinstance(rays, CameraRays) and max(rays.width, rays.height) > MOST_PIXELS:
            raise HierarchyError(f"Tiles show pictures of at most {MOST_PIXELS} by {MOST_PIXELS} pixels.")
        if self.primitives is None:
            raise HierarchyError("A tile caster was asked for hits before it was given spheres (make_room).")
        return self.primitives

    def _cast_at(self, primitives: Primitives, rays: CameraRays, tiling: Tiling, tile_input: np.ndarray) -> None:
        units = {name: self.target.unit(source) for name, source in self._sources(tiling).items()}
        if self._has_own_boxes and self.arrangement == "splat":
            self._cast_splats(units, rays, primitives.count, tile_input, None)
            return
        as_structs = self.drawn_by.sphere_layout == "structs"
        has_ids = self.list_order == "front_to_back"
        has_order = has_ids or self.layer_count > 1 or self._has_parts
        boxes = self.lists.write_boxes(units["boxes"], rays, primitives, as_structs, has_order, has_ids)
        tile_input = make_input(tile_input, boxes=boxes.boxes, structs=boxes.structs, order_keys=boxes.order_keys)
        if self.arrangement == "splat":
            self._cast_splats(units, rays, primitives.count, tile_input, boxes)
            return
        if self.layer_count > 1:
            tile_input = self.lists.with_layers(units["layers"], rays, tile_input, primitives.count, boxes)
        tile_input = self._with_lists(units, tiling, tile_input, primitives.count, boxes)
        threads = self.drawn_by.block_x * self.drawn_by.block_y
        self._launched = (units["tiles"], "cast_tiles", threads)
        self.target.launch(
            units["tiles"], "cast_tiles", tiling.count * threads, frame=rays.frame, input=tile_input, block=threads,
            blocks=tiling.count,
        )  # fmt: skip
        if self.has_lists and self.list_order != "cpu":
            self._splat(units["splat"], rays, primitives.count, self.lists.is_full, tile_input)

    def _cast_splats(
        self, units: dict[str, Unit], rays: CameraRays, count: int, tile_input: np.ndarray, boxes: Boxes | None
    ) -> None:
        self._launched = (units["splat"], "splat_spheres", SPLAT_THREADS)
        if not self._has_parts:
            self._splat(units["splat"], rays, count, None, tile_input)
            return
        splat = functools.partial(self._splat, units["splat"], rays, count, None)
        splat_in_parts(self.target, units["nearest_first"], rays, tile_input, boxes, splat)

    def _with_lists(
        self, units: dict[str, Unit], tiling: Tiling, tile_input: np.ndarray, count: int, boxes: Boxes
    ) -> np.ndarray:
        if self.list_order == "none":
            return tile_input
        if self.list_order == "cpu":
            return self.lists.lists_by_cpu(tiling, tile_input, count, boxes)
        order = None
        if self.list_order == "front_to_back":
            assert boxes.order_keys is not None and boxes.prim_ids is not None
            order = (boxes.order_keys, boxes.prim_ids)
        return self.lists.lists_of(units["bins"], tiling, tile_input, count, order)

    def _tile_input(self, primitives: Primitives, rays: CameraRays, keys: Array, tiling: Tiling) -> np.ndarray:
        things = things_of(primitives)
        return pack(
            TileArrays(
                **things.arguments, keys=keys, tile_width=tiling.width, tile_height=tiling.height,
                across=tiling.across, down=tiling.down, layer_count=self.layer_count, block_x=self.drawn_by.block_x,
                rows=rays.height,
            )
        )  # fmt: skip

    def _splat(
        self, unit: Unit, rays: CameraRays, count: int, only_if: Array | None, tile_input: np.ndarray, part: str = "all"
    ) -> None:
        lanes = 32 if self.target.kind == "cuda" else 1
        batch = max(1, min(count // SPLATTING_WARPS, lanes))
        warps = min(-(-count // batch), MOST_ITEMS // lanes if part == "all" else SPLATTING_WARPS)
        self.target.launch(
            unit, "splat_spheres", warps * lanes, frame=rays.frame, input=tile_input, only_if=only_if, batch=batch,
            part=PARTS.index(part), block=SPLAT_THREADS,
        )  # fmt: skip

    def _sources(self, tiling: Tiling) -> dict[str, UnitSource]:
        """What is compiled for such tiles."""
        options = self.drawn_by
        boxes = ("PRINTED_BOXES", options.boxes == "printed")
        structs = ("SPHERE_STRUCTS", options.sphere_layout == "structs")
        read_only = ("READ_ONLY", options.spheres_in == "read_only")
        glyphs = ("GLYPHS", has_glyphs(self.primitives))
        plain: Constants = (structs, read_only, ("FAST_MATH", False), glyphs)
        own_boxes = ("OWN_BOXES", self._has_own_boxes)
        access: Constants = (structs, read_only, ("FAST_MATH", options.intrinsics == "fast"), glyphs)
        columns: Constants = (("SPHERE_STRUCTS", False), ("READ_ONLY", False), ("FAST_MATH", False), glyphs)
        found = {
            "splat": UnitSource("gpu/glyphs/splat.cu", constants=(own_boxes, boxes, *access), rays_per_thread=0),
            "resolve": UnitSource("gpu/glyphs/resolve.cu", constants=columns, rays_per_thread=0),
        }
        if self.arrangement != "splat" or not self._has_own_boxes:
            found["boxes"] = UnitSource("gpu/glyphs/boxes.cu", constants=(boxes, structs, glyphs), rays_per_thread=0)
        if self._has_parts:
            found["nearest_first"] = UnitSource("gpu/glyphs/nearest_first.cu", constants=(own_boxes, boxes, *plain))
        if self.has_lists:
            found["bins"] = bins_unit(plain)
        if self.layer_count > 1:
            found["layers"] = UnitSource("gpu/glyphs/layers.cu", constants=plain)
        if self.arrangement != "splat":
            constants = (*self._tile_constants(tiling), boxes, *access)
            found["tiles"] = UnitSource("gpu/glyphs/cast_tiles.cu", constants=constants, rays_per_thread=0)
        return found

    def _tile_constants(self, tiling: Tiling) -> Constants:
        options, pixels = self.drawn_by, tiling.pixels
        rays = RAY_PIXELS if options.ray_setup == "tile" and pixels <= RAY_PIXELS else 0
        # On a host it costs nothing, and pictures of every size have one unit: that which is planned by a small one.
        room = max(pixels, rays) if self.target.kind == "host" else pixels
        local = next((most for most in LOCAL_SIZES if room <= most), 0) if options.local_buffer else 0
        return (
            ("VARIANT", ARRANGEMENTS.index(self.arrangement)),
            ("LISTED", self.has_lists),
            ("FRONT_TO_BACK", self.list_order == "front_to_back"),
            ("BOX_LOOPS", options.box_loops),
            ("LAYERS", self.layer_count),
            ("MOST_THREADS", self._most_threads()),
            ("LOCAL_PIXELS", local),
            ("RAY_PIXELS", rays),
        )

    def _most_threads(self) -> int:
        """Of a block: fewer leave each more registers, which the tests of glyphs need."""
        return 512 if has_glyphs(self.primitives) and self.drawn_by.block_x * self.drawn_by.block_y <= 512 else 1024

    def _hit_buffer(self, rays: CameraRays, scratch: str) -> HitBuffer:
        def array(name: str, dtype: type) -> Array:
            return self.target.scratch(f"{scratch}.{name}", rays.padded_count, dtype)

        return HitBuffer(
            array("t", np.float32), array("prim_id", np.int32), array("u", np.float32), array("v", np.float32), None,
            rays.count,
        )  # fmt: skip
