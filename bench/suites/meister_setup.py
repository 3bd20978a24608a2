"""What Meister's evaluation (2014, chapter 7) sets: scenes and what stands in for them, light, rays, sizes of leaves
and ways of building. meister2014.py is the suite."""

from __future__ import annotations

import dataclasses
from typing import Any

from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.registry import structure
from raygrove.gpu.scene import Light
from raygrove.gpu.settings import checked
from raygrove.gpu.shade.ao import AoOptions
from raygrove.gpu.shade.diffuse import DiffuseOptions
from raygrove.gpu.shade.smooth import SmoothOptions

from .scenes import SceneChoice, demo, model

LEAVES = (8, 16, 32)
SIZE = (1024, 768)
RAYS = ("primary", "ao", "diffuse")
"""The thesis' words for kinds of rays."""
LIGHT = Light("directional", (3.0, 2.9, 2.7), direction=(-0.45, -0.85, -0.4))
"""The one light of every scene."""

AO_RADIUS = 1.0
TRIANGLE_TEST = "unit_triangle"
"""Section 6.1.1: each triangle as the map that takes it to the unit triangle (Woop and others 2005)."""

MOST_KEY_FRAMES = 64
"""Of a moving scene: the thesis takes all of them; stand-ins that have more are measured at so many, evenly chosen."""


def secondary_rays() -> tuple[tuple[str, str, Any], ...]:
    """The kinds of rays that go on from primary hits, as the thesis has them."""
    ao = AoOptions(rays=4, directions="uniform", radius=AO_RADIUS, radius_unit="scene", falloff="none")
    return (("ao", "ao", ao), ("diffuse", "diffuse", DiffuseOptions(rays=4, directions="uniform")))


def ray_types() -> tuple[tuple[str, str, Any], ...]:
    """All kinds: primary ones are shaded by Phong's model, without further rays, for the thesis has no shadows."""
    return (("primary", "smooth", SmoothOptions(shadows=False, model="phong")), *secondary_rays())


STILL = (
    SceneChoice("Head", 17_000, model("sequences/horse-gallop/0001.obj"), False, "an organic body of 16,843 triangles"),
    SceneChoice(
        "Mitsuba",
        62_000,
        model("static/stanford-bunny.obj"),
        False,
        "one scanned body of 69,451 triangles instead of a model on a stand",
    ),
    SceneChoice(
        "Sibenik Cathedral",
        75_000,
        model("static/sponza-dabrovic.obj"),
        False,
        "architecture seen from inside, 66,447 triangles",
    ),
    SceneChoice("Rungholt House", 125_000, demo("room", 125_000), False, "a furnished room, the same count"),
    SceneChoice("Lost Empire", 225_000, demo("room", 225_000), False, "a furnished room, the same count"),
    SceneChoice(
        "Crytek Sponza", 262_000, model("crytek-sponza/sponza.obj"), True, "Crytek's model, seen along the hall"
    ),
    SceneChoice("Conference", 331_000, demo("room", 331_000), False, "an interior, the same count"),
    SceneChoice(
        "Armadillo",
        346_000,
        demo("blob", 346_000),
        False,
        "one closed body, the same count (the armadillo at hand has 86,482 triangles)",
    ),
    SceneChoice(
        "Stanford Dragon",
        871_000,
        demo("blob", 871_000),
        False,
        "one closed body, the same count (the dragon at hand has 202,520 triangles)",
    ),
    SceneChoice("Happy Buddha", 1_087_000, demo("blob", 1_087_000), False, "one closed body, the same count"),
    SceneChoice("Turbine Blade", 1_765_000, demo("blob", 1_765_000), False, "one closed body, the same count"),
    SceneChoice(
        "Hairball",
        2_880_000,
        demo("explode", 2_880_000),
        False,
        "a body of loose triangles before it bursts, the same count; hair reaches into far more boxes",
    ),
    SceneChoice("Rungholt", 6_704_000, demo("room", 6_704_000), False, "many flat walls, the same count"),
    SceneChoice("Power Plant", 12_759_000, demo("room", 12_759_000), False, "many flat walls, the same count"),
)

MOVING = (
    SceneChoice(
        "Wood Doll", 5_378, model("animated/CesiumMan.glb"), False, "a figure that walks (skin), 4,672 triangles"
    ),
    SceneChoice("Toasters", 11_141, demo("walker", 11_141), False, "bodies that walk, the same count"),
    SceneChoice("Ben", 78_029, demo("walker", 78_029), False, "a figure that walks, the same count"),
    SceneChoice(
        "Fairy Forest", 174_117, demo("orbit", 174_117), False, "bodies that move among still ones, the same count"
    ),
    SceneChoice("Exploding Dragon", 252_572, demo("explode", 252_572), False, "a body that bursts, the same count"),
)


@dataclasses.dataclass(frozen=True)
class Configuration:
    """A way of building, its options beside the size of leaves, and the published tables that show it (still: two,
    moving: one or none)."""

    title: str
    hierarchy: str
    options: tuple[tuple[str, Any], ...]
    tables: tuple[str, str]
    moving_table: str | None

    def as_published(self) -> Configuration:
        """The same by the thesis' own loop."""
        return dataclasses.replace(self, options=(*self.options, *THESIS_LOOP[self.hierarchy]))

    def settings(self, leaf: int, **others: Any) -> ViewSettings:
        """What a view takes to build so."""
        options: Any = checked(structure(self.hierarchy).Options, {**dict(self.options), "max_leaf_size": leaf})
        return ViewSettings(hierarchy=self.hierarchy, hierarchy_options=options, triangle_test=TRIANGLE_TEST, **others)


THESIS_LOOP: dict[str, tuple[tuple[str, Any], ...]] = {
    "hlbvh_median": (("launches", "levels"),),
    "hlbvh_sah": (("launches", "levels"), ("top_splits", "bins")),
}
"""Options that build as 6.1.1 and 6.1.2 say: a launch a level, clusters binned at every level."""

CONFIGURATIONS = (
    Configuration(
        "spatial median splits, 30-bit Morton codes", "hlbvh_median", (("code_bits", "30"),), ("7.1", "7.2"), "7.8"
    ),
    Configuration(
        "spatial median splits, 60-bit Morton codes", "hlbvh_median", (("code_bits", "60"),), ("7.3", "7.4"), None
    ),
    Configuration(
        "SAH splits, 30-bit Morton codes, 15-bit clusters",
        "hlbvh_sah",
        (("cluster_bits", "15"), ("bins", 32)),
        ("7.5", "7.6"),
        "7.9",
    ),
)
MEDIAN, SAH = CONFIGURATIONS[0], CONFIGURATIONS[2]
