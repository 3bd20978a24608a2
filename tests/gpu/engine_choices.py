"""What engine_actions.py changes: the values that it tries, and all that a picture depends on."""

from __future__ import annotations

import dataclasses
from typing import Any

from raygrove.gpu.attributes import SphereOptions
from raygrove.gpu.camera import Camera
from raygrove.gpu.hierarchy.primitives import TRIANGLE_TESTS
from raygrove.gpu.scene import Light

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
OPTIONS: dict[str, tuple[float, ...]] = {
    "max_leaf_size": (1, 4, 8),
    "code_bits": (30, 60),
    "max_depth": (3, 12, 30),
    "nodes_per_primitive": (0.3, 1.0),
}
"""Options that several builders have, and values to try where they are legal."""


@dataclasses.dataclass(frozen=True)
class Choice:
    """All that one view's picture and structure depend on."""

    hierarchy: str = "lbvh"
    layout: str = "auto"
    traversal: str = "auto"
    optimiser: str = "none"
    options: Any = None
    mode: str = "rebuild"
    always: bool = False
    triangle_test: str = TRIANGLE_TESTS[0]
    ray_type: str = "flat"
    samples: int = 1
    size: tuple[int, int] = SIZES[0]
    camera: int = 0
    clips: bool = False
    primary: str = "structure"
    rows: int = 0

    def picture(self, samples: int) -> Choice:
        """The same picture of so many samples: a film goes on with those that it has, where fewer are asked for. By
        brute force, or by the same structure where the picture shows it."""
        how = {name: getattr(self, name) for name in OF_THE_TREE} if self.shows_the_tree else {}
        plain = Choice(
            **{"hierarchy": "brute_force", **how},
            triangle_test=self.triangle_test,
            ray_type=self.ray_type,
            samples=samples,
        )
        return dataclasses.replace(plain, size=self.size, camera=self.camera, clips=self.clips)

    @property
    def shows_the_tree(self) -> bool:
        """Whether the picture is one of the structure itself, of which one that is built anew has the same."""
        return self.ray_type == "steps"


OF_THE_TREE = ("hierarchy", "layout", "traversal", "optimiser", "options")


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
