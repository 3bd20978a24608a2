"""What the statistics show of the structure. Texts are translated in the context "Statistics"."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication

from raygrove.app.frames.frame_history import Spread
from raygrove.app.settings import option_tables, titles
from raygrove.app.settings.settings import Settings
from raygrove.app.ui.panels.stats_row import DASH, Row, four_digits, span_of
from raygrove.app.user_files.published import PREFIX, PUBLISHED, in_force
from raygrove.gpu.stats import FrameStatistics, HierarchyStatistics, ViewStatistics


def structure_title(hierarchy: str, layout: str) -> str:
    """A builder and a layout by the names that people use: "H-PLOC / BVH4"; the layout where there are several."""
    kind, title = option_tables.builder(hierarchy), titles.short_title("hierarchy", hierarchy)
    return f"{title} / {titles.brief_layout(layout)}" if kind is not None and len(kind.layouts()) > 1 else title


def structure_rows(
    view: ViewStatistics,
    statistics: FrameStatistics,
    settings: Settings,
    found: Mapping[str, Spread],
    compared: str,
    details: str,
) -> list[Row]:
    """A heading with the structure's name, and its counts and costs in places that stay. `compared` says how its SAH
    cost stands to that of the reference, where that was asked for."""
    structure, tr = view.structure, QCoreApplication.translate
    depth = "…" if structure.depth is None else str(structure.depth)
    hidden = f"{statistics.hidden:,}" if statistics.hidden else DASH
    inactive = f"{structure.inactive_count:,}" if structure.inactive_count else DASH
    optimiser, form = settings.render.optimiser, in_force(settings)
    form_tip = PUBLISHED[form].sentence if form else tr("Statistics", (
        "The published preset whose values are all in force: Settings > Presets > As published has them."
    ))  # fmt: skip
    improved = titles.short_title("optimiser", optimiser) if optimiser != "none" else DASH
    builder, layout = titles.short_title("hierarchy", view.hierarchy), titles.layout_title(view.hierarchy, view.layout)
    compared_tip = tr("Statistics", (
        "How the SAH cost stands to that of binned SAH at the same instant. Return on this row builds that once, "
        "beside the picture, as Structure > Compare with binned SAH does."
    ))  # fmt: skip
    return [
        Row("structure", tr("Statistics", "Structure"), builder),
        _row("layout", tr("Statistics", "Layout"), layout, tr("Statistics", "How the nodes lie in memory.")),
        _row("optimiser", tr("Statistics", "Optimiser"), improved),
        _row("published", tr("Statistics", "As published"), form.removeprefix(PREFIX) or DASH, form_tip),
        _row("triangles", tr("Statistics", "Primitives"), f"{statistics.triangles - statistics.hidden:,}"),
        _row("hidden", tr("Statistics", "Hidden"), hidden, tr(
            "Statistics", "Of hidden objects: they are in no structure."
        )),
        _row("inactive", tr("Statistics", "Inactive"), inactive, tr(
            "Statistics", "With corners that are no numbers, or moved out of the world: no ray can hit them."
        )),
        _row("nodes", tr("Statistics", "Nodes"), f"{structure.node_count:,}", tr("Statistics", "Inner nodes.")),
        _row("leaves", tr("Statistics", "Leaves"), f"{structure.leaf_count:,}"),
        *_reference_rows(structure),
        _row("depth", tr("Statistics", "Depth"), depth, tr("Statistics", "Of the deepest leaf; the root has 0.")),
        _sah_row(structure, found),
        _row("compared", tr("Statistics", "Compared"), compared or DASH, f"{details} {compared_tip}".strip()),
        *_quality_rows(structure),
    ]  # fmt: skip


def _row(key: str, name: str, value: str, tip: str = "", parent: str = "structure") -> Row:
    return Row(key, name, value, parent, tip)


def _sah_row(structure: HierarchyStatistics, found: Mapping[str, Spread]) -> Row:
    tr = QCoreApplication.translate
    cost, spread = "…" if structure.sah_cost is None else four_digits(structure.sah_cost), ""
    if structure.sah_cost is None and structure.depth is not None:  # measured, and it has none
        cost = tr("Statistics", "not defined")
    if structure.sah_cost is not None and "sah" in found:
        spread = span_of(found["sah"])
    tip = tr(
        "Statistics",
        "What a ray through the scene is expected to cost: areas of inner nodes times the traversal cost, of "
        "leaves times their references and the "
        "intersection cost, over the root's. Settings > Statistics has both constants. Measured at most ten times "
        "a second; kd-trees and octrees weigh cells, and grids have none.",
    )
    return Row("sah", tr("Statistics", "SAH cost"), cost, "structure", tip, spread)


def _reference_rows(structure: HierarchyStatistics) -> list[Row]:
    """Leaves that hold nothing, and how often primitives are listed; whether the tree is one of an earlier frame."""
    tr, count = QCoreApplication.translate, structure.primitive_count
    filled = structure.leaf_count - structure.empty_leaf_count
    references, empty = structure.reference_count, structure.empty_leaf_count
    empty_tip = tr("Statistics", "Leaves without a reference: kd-trees cut off empty space, grids have cells there.")
    tip = tr("Statistics", "Entries in leaves: a primitive that reaches into several has several.")
    each = f"{references / count:.2f}" if references and count else DASH
    of_leaf = f"{references / filled:.2f}" if references and filled else DASH
    rows = [
        _row("empty", tr("Statistics", "empty"), f"{empty:,}" if empty else DASH, empty_tip, "leaves"),
        _row("references", tr("Statistics", "References"), f"{references:,}" if references else DASH, tip),
        _row("references.each", tr("Statistics", "per primitive"), each, "", "references"),
        _row(
            "references.leaf",
            tr("Statistics", "per leaf"),
            of_leaf,
            tr("Statistics", "Of leaves that are not empty."),
            "references",
        ),
    ]
    if structure.is_stale:
        tip = tr(
            "Statistics",
            "The newest tree needed more memory than was reserved: the picture shows an earlier tree until there "
            "is enough.",
        )
        rows.append(_row("behind", tr("Statistics", "Tree"), tr("Statistics", "of an earlier frame"), tip))
    return rows


def _quality_rows(structure: HierarchyStatistics) -> list[Row]:
    """What is measured on request alone (statistics.quality), and the nodes of each level under the levels' row."""
    tr = QCoreApplication.translate
    asked = tr("Statistics", "Structure > Measure its quality turns it on.")
    overlap, variability = structure.end_point_overlap, structure.leaf_variability
    overlap_tip = tr("Statistics", (
        "End-point overlap: the area of surfaces in boxes they do not belong to, weighed by costs. Cells of "
        "kd-trees have 0."
    ))  # fmt: skip
    variability_tip = tr("Statistics", (
        "Leaf-count variability: the standard deviation of how many leaves that are not empty a line through "
        "the scene meets."
    ))  # fmt: skip
    levels_tip = tr("Statistics", (
        "Inner nodes and leaves of each depth; Structure > Show or hide the boxes has them as bars."
    ))  # fmt: skip
    levels = tr("Statistics", "{count}, inner + leaves").format(count=len(structure.levels))
    return [
        _row("epo", tr("Statistics", "Overlap (EPO)"), DASH if overlap is None else f"{overlap:.3f}",
             f"{overlap_tip} {asked}"),
        _row("lcv", tr("Statistics", "Leaf variability"), DASH if variability is None else f"{variability:.2f}",
             f"{variability_tip} {asked}"),
        _row("levels", tr("Statistics", "Levels"), levels if structure.levels else DASH, f"{levels_tip} {asked}"),
        *(
            _row(f"levels.{depth}", str(depth), f"{inner:,} + {leaves:,}", "", "levels")
            for depth, (inner, leaves) in enumerate(structure.levels)
        ),
    ]  # fmt: skip
