"""Tables and plots of Soell's evaluation from the rows that there are: as published, with marks, and as measured."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from raygrove.gpu.glyphs.options import ARRANGEMENTS

from .published import published, published_row
from .report import Cell, Plot, SuiteReport, SuiteTable

NAME = "soell2015"
VARIANTS = {f"v{number}": name for number, name in enumerate(ARRANGEMENTS) if number > 0}
GRIDS = (32, 48, 64, 80, 96, 128, 160, 192, 224, 256)
WHOLE_GRIDS = (32, 64, 128, 256)
"""Those that divide 1024: the others' published times are of a part of the picture."""
READINGS = ("at its own distance", "in space")
"""What a radius in pixels may mean."""
STEP_NAMES = ("plain", "local buffer", "sorted", "boxes")
SORTED_BEST = {"v2": "boxes", "v4": "boxes"}
"""The steps that tables 5.6 to 5.8 are of, else `sorted`."""
NOT_CORRECT = ("v3", "v4")
"""Variants that were timed without the exchange between threads: their published picture is not correct."""
PICTURE_NOTE = "*: picture not correct, timed without the exchange between threads. Ours are, with it."
USE = "registers, shared bytes, blocks a multiprocessor"
SORTING_NOTE = "Published times have no boxes and no sorting in them; ours have them in the second column or row."

Row = dict[str, Any]


def tabulate(report: SuiteReport) -> None:
    """All of them."""
    report.tables = [
        _test_table(report),
        *(_step_table(report, number, variant) for number, variant in enumerate(VARIANTS, 1)),
        _grid_table(report),
        _count_table(report, "5.7", 3),
        _count_table(report, "5.8", 12),
        _optimised_table(report),
        _glsl_table(report),
        _axes_table(report),
        _order_table(report),
    ]
    report.plots = [plot for plot in _plots(report) if plot.series]


def _of(report: SuiteReport, part: str, **wanted: Any) -> list[Row]:
    return [
        row
        for row in report.rows
        if row["part"] == part and all(row.get(name) == value for name, value in wanted.items())
    ]


def _scenes(report: SuiteReport, pixels: int) -> list[str]:
    """Scenes that there are rows of, in their order."""
    names = list(dict.fromkeys(row["scene"] for row in report.rows))
    return [name for name in names if name.split()[-2] == str(pixels)]


def marked(variant: str) -> str:
    """A variant's heading."""
    return variant + ("*" if variant in NOT_CORRECT else "")


def drawn_share(grid: int, pixels: int = 1024) -> float:
    """How much of the thesis' picture its integer tile sizes draw."""
    return (pixels // grid * grid / pixels) ** 2


def _test_table(report: SuiteReport) -> SuiteTable:
    table = SuiteTable(
        "3.1",
        f"tests of a ray with a sphere, {report.size[0]}x{report.size[1]}",
        ("spheres", "pixels x spheres", "by tiles with lists (64x64)", "of the naive ones"),
        notes=("The naive form is not drawn: it is the product that the thesis prints.",),
    )
    for scene in _scenes(report, 3):
        for row in _of(report, "counts", scene=scene, variant="v1", reading=READINGS[0]):
            naive, tests = report.size[0] * report.size[1] * row["spheres"], row.get("tests")
            table.rows.append((f"{scene} (stand-in)", naive, tests, None if tests is None else tests / naive))
    return table


def _step_table(report: SuiteReport, number: int, variant: str) -> SuiteTable:
    notes = [SORTING_NOTE]
    if variant in NOT_CORRECT:
        notes.append("Published: " + PICTURE_NOTE[3:])
    table = SuiteTable(
        f"5.{number}",
        f"{marked(variant)} ({VARIANTS[variant]}), 1K spheres of 3 px, ms, at its best grid and block",
        ("step", "kernel ms", "with boxes, lists and hits", "grid", "block", "of the picture", USE),
        notes=tuple(notes),
    )
    places = published(NAME)["tables"]["best"]["rows"]
    for step in STEP_NAMES:
        found = _of(report, "steps", variant=variant, step=step)
        if not found:
            continue
        best = min(found, key=lambda row: float(row["kernel_ms"]))
        printed = published_row(NAME, "steps", step)[variant]
        grid, block = places.get(f"{variant} {step}", (None, None))
        share = f"{100.0 * drawn_share(int(grid)):.1f} %" if grid else None
        table.rows.append((f"{step} (published)", printed, None, grid, block, share, None))
        block = "x".join(map(str, best["block"]))
        ours = (best["kernel_ms"], best["total_ms"], best["grid"], block, "100.0 %", _use(best))
        table.rows.append((f"{step} (stand-in)", *ours))
    return table


def _use(row: Row) -> str | None:
    """What the kernel took of a GPU's multiprocessor; of a CPU, and of results from before it was asked, nothing."""
    found = row.get("use")
    return found and f"{found['registers']}, {found['shared_bytes']:,}, {found['blocks']}"


def _grid_table(report: SuiteReport) -> SuiteTable:
    note = f"Of the picture: what integer tile sizes draw of it. Compare {', '.join(map(str, WHOLE_GRIDS))}."
    table = SuiteTable(
        "5.6",
        "grids, blocks of 32x4, 1K spheres of 3 px, kernel ms",
        ("grid", "of the picture", *map(marked, VARIANTS)),
        notes=(note, PICTURE_NOTE),
    )
    rows = [row for row in _of(report, "steps") if row["block"] == [32, 4]]
    for grid in GRIDS if rows else ():
        printed = published_row(NAME, "5.6", str(grid))
        if printed:
            table.rows.append((f"{grid} (published)", f"{100.0 * drawn_share(grid):.1f} %", *printed.values()))
        table.rows.append((f"{grid} (stand-in)", "100.0 %", *_at_grid(rows, grid)))
        cut = {row["variant"]: row for row in _of(report, "cut", grid=grid)}
        drawn = next(iter(cut.values()), {}).get("drawn", 1.0)
        if drawn < 1.0:
            times = (cut[name]["kernel_ms"] if name in cut else None for name in VARIANTS)
            table.rows.append((f"{grid}, tiles cut as his (stand-in)", f"{100.0 * drawn:.1f} %", *times))
    return table


def _at_grid(rows: Sequence[Row], grid: int) -> list[Cell]:
    keys = [(grid, variant, SORTED_BEST.get(variant, "sorted")) for variant in VARIANTS]
    found = {(row["grid"], row["variant"], row["step"]): row["kernel_ms"] for row in rows}
    return [found.get(key) for key in keys]


def _others(report: SuiteReport) -> list[str]:
    """Arrangements that are not the thesis'."""
    names = dict.fromkeys(row["variant"] for row in _of(report, "counts"))
    return [name for name in names if name not in VARIANTS]


def _count_table(report: SuiteReport, number: str, pixels: int) -> SuiteTable:
    """Each arrangement, the thesis' and ours, by the number of spheres."""
    others = _others(report)
    names = (*VARIANTS, *others)
    table = SuiteTable(
        number,
        f"how many spheres, of {pixels} px, ms",
        ("spheres", "time", *map(marked, VARIANTS), *others),
        notes=("Grids of 64 and blocks of 16x8 for the thesis' variants.", SORTING_NOTE, PICTURE_NOTE),
    )
    for scene in _scenes(report, pixels):
        printed = published_row(NAME, "counts", scene)
        table.rows.append((f"{scene} (published)", "kernel", *printed.values(), *(None for _ in others)))
        for reading, (word, what) in itertools.product(
            READINGS, (("kernel", "kernel_ms"), ("with boxes, lists and hits", "total_ms"))
        ):
            by_name = {row["variant"]: row[what] for row in _of(report, "counts", scene=scene, reading=reading)}
            table.rows.append((f"stand-in, radius {reading}", word, *(by_name.get(name) for name in names)))
    return table


def _optimised_table(report: SuiteReport) -> SuiteTable:
    table = SuiteTable(
        "5.9",
        "after the optimisation, spheres of 3 px, ms",
        ("spheres", "time", *map(marked, VARIANTS)),
        notes=(
            "His: the ray's set-up moved out of the loops, by increments, and lines exchanged. Ours: rays kept a tile, "
            "and intrinsics in the test.",
            SORTING_NOTE,
            PICTURE_NOTE,
        ),
    )
    for scene in _scenes(report, 3):
        rows = {row["variant"]: row for row in _of(report, "optimised", scene=scene)}
        printed = published_row(NAME, "5.9", scene)
        if printed:
            table.rows.append((f"{scene} (published)", "kernel", *printed.values()))
        for word, what in (("kernel", "kernel_ms"), ("with boxes, lists and hits", "total_ms")):
            table.rows.append((f"{scene} (stand-in)", word, *(rows.get(name, {}).get(what) for name in VARIANTS)))
    return table


def _glsl_table(report: SuiteReport) -> SuiteTable:
    """GLSL, variant 4 without and with lists, and what is fastest here with all that belongs to it."""
    drawn = _of(report, "glsl")
    table = SuiteTable(
        "5.10",
        "GLSL and variant 4, spheres of 3 px, ms",
        (
            "spheres",
            "GLSL",
            "GL impostors",
            "v4 unsorted*",
            "v4 sorted*",
            "sorted, with boxes, lists and hits",
            "fastest here",
            "which",
        ),
        notes=(
            "GLSL: a fragment shader that tests all spheres, timed by OpenGL's own clock in the program's window. It "
            "has no published time for a million spheres and takes 100,000 at most.",
            *dict.fromkeys(f"OpenGL here: {row['gl_renderer']}." for row in drawn if "gl_renderer" in row),
            *dict.fromkeys(f"OpenGL was not measured: {row['why']}" for row in drawn if "why" in row),
            PICTURE_NOTE,
        ),
    )
    for scene in _scenes(report, 3):
        rows = _of(report, "counts", scene=scene, reading=READINGS[0])
        if not rows:
            continue
        by_glsl, *by_kernels = published_row(NAME, "5.10", scene).values()
        table.rows.append((f"{scene} (published)", by_glsl, None, *by_kernels, None, None, None))
        unsorted = next(iter(_of(report, "unsorted", scene=scene)), {}).get("kernel_ms")
        best = next((row for row in rows if row["variant"] == "v4"), {})
        fastest = min(rows, key=lambda row: float(row["total_ms"]))
        by_way = {row.get("way"): row.get("ms") for row in drawn if row["scene"] == scene}
        opengl = map(by_way.get, ("full_screen", "impostors"))
        times = (*opengl, unsorted, best.get("kernel_ms"), best.get("total_ms"))
        table.rows.append((f"{scene} (stand-in)", *times, fastest["total_ms"], fastest["variant"]))
    return table


def _axes_table(report: SuiteReport) -> SuiteTable:
    """What the thesis names without a figure, one at a time."""
    rows = _of(report, "axes")
    columns = [(row["scene"], row["variant"]) for row in rows]
    columns = list(dict.fromkeys(columns))
    table = SuiteTable(
        "outlook",
        "variants with boxes, one choice changed at a time, ms with boxes, lists and hits (the kernel alone)",
        ("choice", *(f"{variant}, {scene}" for scene, variant in columns)),
        notes=("Lists by the CPU hold the device up, and are counted.",),
    )
    for axis in dict.fromkeys(row["axis"] for row in rows):
        cells: list[Cell] = []
        for scene, variant in columns:
            found = next(iter(_of(report, "axes", scene=scene, variant=variant, axis=axis)), None)
            cells.append(None if found is None else f"{found['total_ms']:.3g} ({found['kernel_ms']:.3g})")
        table.rows.append((axis, *cells))
    return table


def _order_table(report: SuiteReport) -> SuiteTable:
    """The same spheres in the order they were drawn by lot, and in Morton order."""
    sorted_rows = _of(report, "morton")
    names = list(dict.fromkeys(row["variant"] for row in sorted_rows))
    table = SuiteTable(
        "orders",
        "spheres in random and in Morton order, ms with boxes, lists and hits (the kernel alone)",
        ("spheres", "order", *names),
        notes=("v4 with boxes. The thesis does not say in which order its spheres lie.",),
    )
    for scene in dict.fromkeys(row["scene"] for row in sorted_rows):
        for word, rows in (
            ("random", _of(report, "counts", scene=scene, reading=READINGS[0])),
            ("Morton", _of(report, "morton", scene=scene)),
        ):
            found = {row["variant"]: f"{row['total_ms']:.3g} ({row['kernel_ms']:.3g})" for row in rows}
            table.rows.append((scene, word, *(found.get(name) for name in names)))
    return table


# -- plots ------------------------------------------------------------------------------------------------------------
def _plots(report: SuiteReport) -> list[Plot]:
    plots = [_grid_plot(report), _grid_plot_published()]
    for number, pixels in (("5.7", 3), ("5.8", 12)):
        scenes = _scenes(report, pixels)
        title = f"spheres of {pixels} px"
        plots.append(_count_plot(number, f"Kernel alone here, {title}", scenes, _by_count(report, scenes, "kernel_ms")))
        total = _by_count(report, scenes, "total_ms")
        plots.append(_count_plot(f"{number}-total", f"With boxes, lists and hits here, {title}", scenes, total))
        printed = {scene: published_row(NAME, "counts", scene) for scene in scenes}
        his = {name: [printed[scene].get(name) for scene in scenes] for name in VARIANTS}
        plots.append(_count_plot(f"{number}-published", f"Kernel alone, published (GTX 660), {title}", scenes, his))
    return plots


def _grid_plot(report: SuiteReport) -> Plot:
    rows = [row for row in _of(report, "steps") if row["block"] == [32, 4]]
    by_grid = {grid: dict(zip(VARIANTS, _at_grid(rows, grid), strict=True)) for grid in GRIDS}
    return Plot("5.6", "1K spheres of 3 px by the grid, blocks of 32x4", "tiles a side", "ms", _curves(by_grid))


def _grid_plot_published() -> Plot:
    by_grid: dict[int, dict[str, Cell]] = {grid: dict(published_row(NAME, "5.6", str(grid))) for grid in GRIDS}
    title = "1K spheres of 3 px by the grid, published (GTX 660)"
    return Plot("5.6-published", title, "tiles a side", "ms", _curves(by_grid))


def _curves(by_grid: dict[int, dict[str, Cell]]) -> dict[str, tuple[list[float], list[float]]]:
    """Without variant 3, which takes a hundred times as long."""
    found = {}
    for name in VARIANTS:
        points = [(float(grid), float(row[name])) for grid, row in by_grid.items() if row.get(name) is not None]  # type: ignore[arg-type]
        if points and name != "v3":
            found[name] = ([x for x, _ in points], [y for _, y in points])
    return found


def _by_count(report: SuiteReport, scenes: Sequence[str], what: str) -> dict[str, list[float | None]]:
    found: dict[str, list[float | None]] = {}
    for name in (*VARIANTS, *_others(report)):
        by_scene = {row["scene"]: row[what] for row in _of(report, "counts", variant=name, reading=READINGS[0])}
        found[name] = [by_scene.get(scene) for scene in scenes]
    return found


def _count_plot(number: str, title: str, scenes: Sequence[str], values: dict[str, list[float | None]]) -> Plot:
    series = {}
    for name, times in values.items():
        known = [(float(place), time) for place, time in enumerate(times) if time is not None]
        if known:
            series[name] = ([place for place, _ in known], [time for _, time in known])
    return Plot(number, title, "", "ms", series, tuple(scenes))
