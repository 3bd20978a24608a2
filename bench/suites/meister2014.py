"""The evaluation of Meister's thesis (2014, chapter 7): three ways of building, three sizes of leaves, fourteen still
scenes and five moving ones.

Tables 7.1 to 7.9 row by row and column by column, figures 7.4 to 7.11 as plots, those of moving scenes at even instants
instead of a scene's keys. Triangle counts of the published scenes are those that the auxiliary memory of table 7.2
gives at 52 bytes per triangle, which is right for Crytek Sponza's 262 thousand, and those of the Utah animation
repository for the moving ones. Nodes are inner nodes and leaves; MB are 10^6 bytes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.registry import structure
from raygrove.gpu.scene import Light, Scene
from raygrove.gpu.settings import checked
from raygrove.gpu.shade.ao import AoOptions
from raygrove.gpu.shade.diffuse import DiffuseOptions
from raygrove.gpu.shade.smooth import SmoothOptions

from .job import SuiteJob
from .measure import costs_over, moments_of, moving, still
from .published import published_row, published_source
from .report import MEAN_NOTE, MEDIAN_NOTE, Plot, SuiteReport, SuiteTable
from .scenes import SceneChoice, demo, model

LEAVES = (8, 16, 32)
SIZE = (1024, 768)
RAYS = ("primary", "ao", "diffuse")
"""The thesis' words for kinds of rays."""
LIGHT = Light("directional", (3.0, 2.9, 2.7), direction=(-0.45, -0.85, -0.4))
"""The one light of every scene."""

AO_RADIUS = 1.0
BUILD_NOTE = (
    "Kernels: the phases of a build that is replayed as one graph, by the target's clock. Overall: the wall time "
    "of a build that the host launches "
    "kernel by kernel, until the target has finished."
)
COST_NOTE = (
    "Cost: the thesis' equation 4.5 with k_T = k_I = 1 here. The thesis does not print its constants: costs "
    "compare within a row and between rows of "
    "one source, not a published row with the one below it."
)
OVERALL_NOTE = (
    "Six of the published overall times (Crytek Sponza, Conference, Armadillo, Stanford Dragon, Happy Buddha, "
    "Turbine Blade) and two of the kernels' "
    "(Turbine Blade, Power Plant) differ from those of table 7.5 for the same builds; both are as printed. Ours "
    "are the same measurement in both."
)
SECONDARY_NOTE = (
    "Four rays of each kind from a primary hit, in uniform directions, ambient-occlusion rays of length 1, as in "
    "the thesis. A length of 1 is in the "
    "units of each scene; the list of scenes says how much of a stand-in that is. MRays/s count these rays over "
    "their own time. Rays are tested "
    "against triangles by Moeller and Trumbore's test here, by unit triangles in the thesis."
)
FRAME_NOTE = (
    "Frames with everything: animation, construction, rays and shading by one directional light, without shadows. "
    "Construction and cost are means "
    "over the frames."
)
MEMORY_NOTE = (
    "MB: of ours what the tree's nodes and triangles fill, by its counts: 101 bytes an inner node (64 that rays "
    "read, 37 of the tree that it is "
    "built and refitted in; leaves have none of their own) and 52 a triangle. The published figures are 64 bytes "
    "a node, leaves among them, and 68 "
    "a triangle, by least squares over the tables. Reserved: what ours holds for the largest tree over so many "
    "triangles, so that a frame never "
    "allocates, whatever the leaves. Auxiliary MB: scratch memory of a build, with leaves of 8."
)
NODE_BYTES = {"bvh2": 101, "bvh2_soa": 101}
"""Bytes per inner node by layout: 64, and 32 + 4 + 1 of the canonical tree (gpu/hierarchy/bvh/tree.py). Wide layouts
have nodes of their own."""
TRIANGLE_BYTES = 52
"""A record of 48 bytes and the triangle's number."""


def used_mb(row: dict[str, Any]) -> float | None:
    """What a tree fills of what is reserved for it, by its counts; None where the layout's nodes are not the tree's."""
    node = NODE_BYTES.get(row["layout"])
    inner = row.get("inner_count", (row["node_count"] - 1) // 2)
    return (
        None if node is None else (node * inner + TRIANGLE_BYTES * row.get("reference_count", row["triangles"])) / 1e6
    )


def secondary_rays() -> tuple[tuple[str, str, Any], ...]:
    """The kinds of rays that go on from primary hits, as the thesis has them."""
    ao = AoOptions(rays=4, directions="uniform", radius=AO_RADIUS, radius_unit="scene", falloff="none")
    return (("ao", "ao", ao), ("diffuse", "diffuse", DiffuseOptions(rays=4, directions="uniform")))


def ray_types() -> tuple[tuple[str, str, Any], ...]:
    """All kinds: primary ones are shaded without further rays, for the thesis has no shadows."""
    return (("primary", "smooth", SmoothOptions(shadows=False)), *secondary_rays())


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
    SceneChoice("Crytek Sponza", 262_000, model("crytek-sponza/sponza.obj"), True, "Crytek's model"),
    SceneChoice("Conference", 331_000, demo("room", 331_000), False, "an interior, the same count"),
    SceneChoice("Armadillo", 346_000, demo("blob", 346_000), False, "one closed body, the same count"),
    SceneChoice("Stanford Dragon", 871_000, demo("blob", 871_000), False, "one closed body, the same count"),
    SceneChoice("Happy Buddha", 1_087_000, demo("blob", 1_087_000), False, "one closed body, the same count"),
    SceneChoice("Turbine Blade", 1_765_000, demo("blob", 1_765_000), False, "one closed body, the same count"),
    SceneChoice(
        "Hairball",
        2_880_000,
        demo("explode", 2_880_000),
        False,
        "loose triangles in each other's boxes, the same count",
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

    def settings(self, leaf: int, **others: Any) -> ViewSettings:
        """What a view takes to build so."""
        options: Any = checked(structure(self.hierarchy).Options, {**dict(self.options), "max_leaf_size": leaf})
        return ViewSettings(hierarchy=self.hierarchy, hierarchy_options=options, **others)


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
FIGURES = ("7.4", "7.5", "7.6")
PHASES = {
    "sort": "sort",
    "clusters": "clusters",
    "sah_splits": "sah_splits",
    "median_splits": "median_splits",
    "refit": "nodes",
}
"""The phases of table 7.7, and what the builder calls them after `build.`; all others are "other"."""


def run(job: SuiteJob) -> SuiteReport:
    """The whole suite."""
    report = SuiteReport("meister2014", __doc__ or "", published_source("meister2014"), job.picture(SIZE), job.repeat)

    def measure_still(choice: SceneChoice, given: Scene) -> Iterator[dict[str, Any]]:
        scene = dataclasses.replace(given, lights=(LIGHT,))
        for configuration in CONFIGURATIONS:
            for leaf in LEAVES:
                found = still(
                    job.target, scene, configuration.settings(leaf), job.picture(SIZE), job.repeat, secondary_rays()
                )
                yield {"part": "still", **_what(choice, scene, configuration), "leaf": leaf, **found}

    def measure_moving(choice: SceneChoice, given: Scene) -> Iterator[dict[str, Any]]:
        return _follow(job, choice, dataclasses.replace(given, lights=(LIGHT,)))

    for choices, measure in ((STILL, measure_still), (MOVING, measure_moving)):
        job.each(choices, report, measure, tabulate)
    job.keep(report)
    return report


def _follow(job: SuiteJob, choice: SceneChoice, scene: Scene) -> Iterator[dict[str, Any]]:
    """One moving scene: frames per second with either way of building, and the cost from instant to instant."""
    moments = moments_of(scene, job.key_frames)
    for configuration in (MEDIAN, SAH):
        for word, ray_type, options in ray_types():
            settings = configuration.settings(8, ray_type=ray_type, ray_type_options=options)
            found = moving(job.target, scene, settings, job.picture(SIZE), moments, job.repeat)
            yield {"part": "moving", **_what(choice, scene, configuration), "rays": word, **found}
    curves = ((MEDIAN, "rebuild"), (SAH, "rebuild"), (SAH, "refit"))
    for configuration, update in curves:
        costs = costs_over(job.target, scene, configuration.settings(8), moments, update)
        times = [moment.time for moment in moments]
        yield {
            "part": "curve",
            **_what(choice, scene, configuration),
            "update": update,
            "times": times,
            "sah_costs": costs,
        }


def _what(choice: SceneChoice, scene: Scene, configuration: Configuration) -> dict[str, Any]:
    return {
        "published_scene": choice.published,
        "scene": choice.label(scene.triangle_count),
        "triangles": scene.triangle_count,
        "configuration": configuration.title,
    }


# -- tables -----------------------------------------------------------------------------------------------------------
def tabulate(report: SuiteReport) -> None:
    """Tables and plots from the rows that there are."""
    report.tables = [
        table
        for configuration in CONFIGURATIONS
        for table in (_builds(report, configuration), _rays(report, configuration))
    ]
    report.tables += [_phases(report)] + [_moving(report, configuration) for configuration in (MEDIAN, SAH)]
    report.plots = [
        plot
        for number, c in zip(FIGURES, CONFIGURATIONS, strict=True)
        for plot in (_performance(report, number, c), _as_published(number, c))
    ]
    report.plots += [
        plot
        for number, choice in enumerate(MOVING, 7)
        if (plot := _curves(report, f"7.{number}", choice.published)).series
    ]


def _builds(report: SuiteReport, configuration: Configuration) -> SuiteTable:
    names = [(name, leaf) for name in ("kernels_ms", "overall_ms", "sah_cost", "node_count") for leaf in LEAVES]
    words = {"kernels_ms": "kernels ms", "overall_ms": "overall ms", "sah_cost": "cost", "node_count": "nodes"}
    columns = ("scene", *(f"{words[n]}, leaf {leaf}" for n, leaf in names))
    table = SuiteTable(
        configuration.tables[0], f"construction: {configuration.title}", columns, notes=(BUILD_NOTE, COST_NOTE)
    )
    _fill(report, table, configuration, names)
    return table


def _rays(report: SuiteReport, configuration: Configuration) -> SuiteTable:
    names = [(f"{rays}_mrays_per_s", leaf) for rays in RAYS for leaf in LEAVES] + [
        ("memory_mb", leaf) for leaf in LEAVES
    ]
    words = {f"{rays}_mrays_per_s": f"{rays} MRays/s" for rays in RAYS} | {"memory_mb": "MB"}
    columns = ("scene", *(f"{words[n]}, leaf {leaf}" for n, leaf in names), "auxiliary MB", "reserved MB")
    notes = (SECONDARY_NOTE, MEMORY_NOTE)
    table = SuiteTable(configuration.tables[1], f"rays and memory: {configuration.title}", columns, notes=notes)
    _fill(report, table, configuration, [*names, ("auxiliary_mb", 8), ("reserved_mb", 8)])
    return table


def _with_memory(row: dict[str, Any]) -> dict[str, Any]:
    """A row with the bytes that are used in the place of those that are reserved."""
    return {**row, "memory_mb": used_mb(row), "reserved_mb": row["memory_mb"]}


def _fill(
    report: SuiteReport, table: SuiteTable, configuration: Configuration, names: Sequence[tuple[str, int]]
) -> None:
    """Two rows a scene: what was published, what was measured here."""
    for choice in STILL:
        rows = _rows(report, "still", choice, configuration)
        if not rows:
            continue
        printed = published_row("meister2014", table.number, choice.published)
        table.rows.append(
            (
                f"{choice.published} (published)",
                *(printed.get(f"{name}.{leaf}", printed.get(name)) for name, leaf in names),
            )
        )
        by_leaf = {row["leaf"]: _with_memory(row) for row in rows}
        table.rows.append((rows[0]["scene"], *(by_leaf.get(leaf, {}).get(name) for name, leaf in names)))


def _phases(report: SuiteReport) -> SuiteTable:
    columns = ("scene", *(f"{phase.replace('_', ' ')} ms" for phase in PHASES), "other ms", "kernels ms", "overall ms")
    table = SuiteTable("7.7", f"phases: {SAH.title}, leaf 8", columns, notes=(BUILD_NOTE, OVERALL_NOTE))
    for choice in STILL:
        for row in _rows(report, "still", choice, SAH):
            if row["leaf"] != 8:
                continue
            printed = published_row("meister2014", "7.7", choice.published)
            table.rows.append(
                (
                    f"{choice.published} (published)",
                    *(printed[f"{name}_ms"] for name in (*PHASES, "other", "kernels", "overall")),
                )
            )
            parts = [row["phases_ms"].get(f"build.{phase}") for phase in PHASES.values()]
            other = row["kernels_ms"] - sum(part or 0.0 for part in parts)
            table.rows.append((row["scene"], *parts, other, row["kernels_ms"], row["overall_ms"]))
    return table


def _moving(report: SuiteReport, configuration: Configuration) -> SuiteTable:
    number = configuration.moving_table or ""
    columns = (
        "scene",
        "construction ms",
        "cost",
        *(f"{rays} frames/s" for rays in RAYS),
        *(f"{rays} frame ms" for rays in RAYS),
    )
    title = f"moving scenes, rebuilt every frame: {configuration.title}, leaf 8"
    table = SuiteTable(number, title, columns)
    for choice in MOVING:
        rows = {row["rays"]: row for row in _rows(report, "moving", choice, configuration)}
        if not rows:
            continue
        printed = published_row("meister2014", number, choice.published)
        table.rows.append((f"{choice.published} (published)", *printed.values(), *(None for _ in RAYS)))
        first = next(iter(rows.values()))
        timed = [rows.get(rays, {}).get(name) for name in ("frames_per_s", "frame_ms") for rays in RAYS]
        table.rows.append((first["scene"], first["construction_ms"], first["sah_cost"], *timed))
        table.notes = (FRAME_NOTE, MEDIAN_NOTE if "period_ms" in first else MEAN_NOTE, COST_NOTE)
    return table


# -- plots ------------------------------------------------------------------------------------------------------------
def _performance(report: SuiteReport, number: str, configuration: Configuration) -> Plot:
    """Construction performance here, a bar a leaf size."""
    rows = [row for row in report.rows if row["part"] == "still" and row["configuration"] == configuration.title]
    names = list(dict.fromkeys(row["scene"] for row in rows))
    rates = {leaf: {row["scene"]: row["mtris_per_s"] or 0.0 for row in rows if row["leaf"] == leaf} for leaf in LEAVES}
    places = _places(names)
    series = {f"leaf {leaf}": (places, [float(rates[leaf].get(name, 0.0)) for name in names]) for leaf in LEAVES}
    return Plot(number, f"Construction performance here: {configuration.title}", "", "MTris/s", series, tuple(names))


def _as_published(number: str, configuration: Configuration) -> Plot:
    """The same from the published times: triangles over the kernels' milliseconds."""
    names = [choice.published for choice in STILL]
    printed = [published_row("meister2014", configuration.tables[0], name) for name in names]
    series = {
        f"leaf {leaf}": (
            _places(names),
            [c.published_triangles / row[f"kernels_ms.{leaf}"] / 1e3 for c, row in zip(STILL, printed, strict=True)],
        )
        for leaf in LEAVES
    }
    title = f"Construction performance, published (GTX TITAN): {configuration.title}"
    return Plot(f"{number}-published", title, "", "MTris/s", series, tuple(names))


def _places(names: Sequence[str]) -> list[float]:
    return [float(index) for index in range(len(names))]


def _curves(report: SuiteReport, number: str, scene: str) -> Plot:
    words = {(MEDIAN.title, "rebuild"): "median splits, rebuilt", (SAH.title, "rebuild"): "SAH splits, rebuilt"}
    rows = [row for row in report.rows if row["part"] == "curve" and row["published_scene"] == scene]
    refitted = "SAH tree of the first key, refitted"
    names = [words.get((row["configuration"], row["update"]), refitted) for row in rows]
    series = {name: (row["times"], row["sah_costs"]) for name, row in zip(names, rows, strict=True)}
    title, instants = (rows[0]["scene"], len(rows[0]["times"])) if rows else (scene, 0)
    return Plot(number, f"SAH cost at {instants} even instants: {title}", "time, s", "SAH cost", series)


def _rows(report: SuiteReport, part: str, choice: SceneChoice, configuration: Configuration) -> list[dict[str, Any]]:
    wanted = (part, choice.published, configuration.title)
    return [row for row in report.rows if (row["part"], row["published_scene"], row["configuration"]) == wanted]
