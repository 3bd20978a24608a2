"""What engine_actions.py changes: the values that it tries, and all that a picture depends on."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np

from raygrove.gpu.attributes import SphereOptions
from raygrove.gpu.camera import Camera
from raygrove.gpu.clip import ClipOptions
from raygrove.gpu.glyphs.options import GlyphOptions
from raygrove.gpu.hierarchy.primitives import TRIANGLE_TESTS
from raygrove.gpu.scene import Environment, Light
from raygrove.gpu.settings import OptionError, fields_of
from raygrove.gpu.shade.radiosity import RadiosityOptions

TIMES = (0.0, 0.25, 0.5, 1.0, 1.3, 1.9, 2.0)
SIZES = ((64, 48), (33, 17), (100, 80))
CAMERAS = (
    Camera(eye=(0, 0, 4)),
    Camera(eye=(3, 1, 2), look_at=(0, 0, 0)),
    Camera(eye=(0, 0, 6), orthographic=True, height=4),
)
LIGHTS = (
    (Light("point", (30.0, 28.0, 25.0), position=(1.0, 3.0, 2.0)),),
    (
        Light("directional", (1.0, 1.0, 0.9), direction=(1.0, -1.0, -0.5)),
        Light("sphere", (20.0, 9.0, 9.0), position=(-2.0, 1.0, 2.0), node=1),
    ),
    (),
)
SPHERES = (
    SphereOptions(),
    SphereOptions(color_by="force", size_by="force.x"),
    SphereOptions(select_by="position.x", select_from=0.0),
    SphereOptions(color_by="radius", select_by="force.y", select_to=0.3, others="dimmed"),
)
FRAMES = (1, 2, 4, 7)
CLIPS = (
    ClipOptions(),
    ClipOptions(on=True),
    ClipOptions(on=True, axis="y", position=0.4, flip=True),
    ClipOptions(on=True, axis="normal", normal=(1.0, 2.0, -0.5), position=0.6),
)


def _sky(*sun: int) -> Environment:
    """Brighter above, with a sun at that pixel."""
    pixels = np.linspace(1.0, 0.1, 16)[:, None, None] * np.ones((16, 32, 3))
    pixels[sun] = 40.0
    return Environment("sky", pixels.astype(np.float32))


ENVIRONMENTS: tuple[Environment | None, ...] = (None, _sky(3, 5), _sky(9, 20))

OPTIONS: dict[str, tuple[Any, ...]] = {
    "max_leaf_size": (1, 4, 8),
    "code_bits": ("30", "60"),
    "max_depth": (3, 12, 30),
    "nodes_per_primitive": (0.3, 1.0),
    "leaf_primitives": (1, 16),
    "density": (0.5, 8.0),
    "traversal_cost": (0.5, 3.0),
    "small_node_size": (8, 128),
    "empty_factor": (0.8, 1.0),
    "extra_references": (0.0, 1.0),
    "treelet_levels": (1, 3),
    "radius": (2, 12),
    "passes": (1, 4),
    "rounds": (2, 8),
    "level": (2, 4),
}
"""Options that are numbers, of structures and optimisers, and values to try where they are legal."""

RAY_OPTIONS: dict[str, tuple[Any, ...]] = {
    "exposure": (-1.0, 1.0),
    "background_above": ((0.0, 0.0, 0.0), (0.9, 0.6, 0.3)),
    "environment": (0.0, 2.5),
    "environment_turn": (0.0, 90.0),
    "ambient": ((0.3, 0.3, 0.3), 0.4),
    "headlight": (0.0, 2.0),
    "color": ((0.2, 0.9, 0.4),),
    "rays": (1, 6),
    "radius": (0.02, 0.5),
    "light_samples": (1, 3),
    "threshold": (0.0, 0.2),
    "aperture": (0.0, 0.01),
    "depth": (0, 2, 6),
    "bounces": (1, 2, 5),
    "roulette_from": (1, 5),
    "clamp": (0.0, 2.0),
    "layers": (1, 3, 20),
    "opacity": (0.2, 1.0),
    "points": (64, 500),
    "order": (1, 3),
    "maximum": (0.5, 20, 200.0),
}
"""The same of ray types; all that are choices or switches are tried, too."""

TILES: dict[str, tuple[Any, ...]] = {
    "tiles": (4, 32),
    "depth_tiles": (1, 8),
    "block_x": (8, 32),
    "block_y": (1, 4),
}
UNTRIED = ("filtered", "shutter", "intrinsics", "boxes")
"""Options by which a picture depends on those before it, by which two views of one frame may show other instants than
they would alone, and by which it may differ from the structure's."""


def other_values(options: Any, numbers: dict[str, tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Each single change to `options`, a dataclass of options, that is legal: all choices, switches, and numbers of
    that table."""
    found = []
    for field in fields_of(options):
        values: tuple[Any, ...] = numbers.get(field.name, ())
        if field.info.choices:
            values = field.info.choices
        elif field.type is bool:
            values = (False, True)
        for value in values if field.name not in UNTRIED else ():
            with contextlib.suppress(OptionError):
                found.append({field.name: field.checked(value)})
    return found


@dataclasses.dataclass(frozen=True)
class Choice:
    """All that one view's picture and structure depend on."""

    hierarchy: str = "lbvh"
    layout: str = "auto"
    traversal: str = "auto"
    optimiser: str = "none"
    options: Any = None
    optimiser_options: Any = None
    mode: str = "rebuild"
    always: bool = False
    triangle_test: str = TRIANGLE_TESTS[0]
    ray_type: str = "flat"
    ray_type_options: Any = None
    samples: int = 1
    seed: int = 0
    size: tuple[int, int] = SIZES[0]
    camera: int = 0
    clip: int = 0
    primary: str = "structure"
    tiles: GlyphOptions = GlyphOptions()
    rows: int = 0

    def picture(self, samples: int) -> Choice:
        """The same picture of so many samples: a film goes on with those that it has, where fewer are asked for. By
        brute force, or by the same structure where the picture shows it."""
        how = {name: getattr(self, name) for name in OF_THE_TREE} if self.shows_the_tree else {}
        plain = Choice(
            **{"hierarchy": "brute_force", **how},
            triangle_test=self.triangle_test,
            ray_type=self.ray_type,
            ray_type_options=self.ray_type_options,
            samples=samples,
            seed=self.seed,
        )
        return plain.seen_as(self)

    def seen_as(self, other: Choice) -> Choice:
        """The same through the camera of another, in its size and cut as that is."""
        return dataclasses.replace(self, size=other.size, camera=other.camera, clip=other.clip)

    @property
    def drawn_options(self) -> Any:
        """Of the ray type. Radiosity makes all its bounces at once: a film that begins anew, as another camera or
        structure shows the scene, goes on with the light that there is, and so has more bounces than a fresh one."""
        if self.ray_type != "radiosity":
            return self.ray_type_options
        return dataclasses.replace(self.ray_type_options or RadiosityOptions(), bounces_per_frame=1000)

    @property
    def shows_the_tree(self) -> bool:
        """Whether the picture is one of the structure itself, of which one that is built anew has the same."""
        return self.ray_type == "steps"


OF_THE_TREE = ("hierarchy", "layout", "traversal", "optimiser", "options", "optimiser_options")


@dataclasses.dataclass(frozen=True)
class Common:
    """What all views share."""

    scene: str = "long"
    hidden: tuple[int, ...] = ()
    time: float = 0.0
    clip: int = 0
    colours: int = 0
    lights: int = -1
    spheres: int = 0
    environment: int = 0
