"""The flags of the laboratory's commands: race, advise, hotspots, record, lesson, tree."""

from __future__ import annotations

import argparse

from raygrove.app.cli import values


def add_contestants(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Who takes part; the group of it."""
    group = parser.add_argument_group("race")
    group.add_argument(
        "--contestants",
        metavar="A,B,C",
        type=values.configurations,
        help="who takes part, as lbvh@refit,binned_sah:bins=32/bvh4@auto; a value with a comma stands in double quotes",
    )
    return group


def add_trees(group: argparse._ArgumentGroup, how: str) -> None:
    """Trees of files by names."""
    group.add_argument(
        "--tree",
        metavar="NAME=FILE",
        dest="trees",
        action="append",
        type=values.named_file,
        help=f"a tree of a file (docs/trees.md), {how}; more than once",
    )


def add_rays(group: argparse._ArgumentGroup) -> None:
    """Which rays are measured."""
    group.add_argument(
        "--rays",
        metavar="FILE.npz|SENSOR",
        help="measure these rays in each frame, not a camera's: of a file, or of a sensor, lidar, dome or cameras, as "
        "lidar:rows=32:columns=512:node=head (docs/race.md)",
    )


def add_race(parser: argparse.ArgumentParser) -> None:
    """Who takes part, over what, and what is written."""
    group = add_contestants(parser)
    add_trees(group, "made over the first frame, that takes part as NAME")
    add_rays(group)
    group.add_argument(
        "--repeat", metavar="N", type=values.count(1), help="passes that are timed, 6 or more (default: 7)"
    )
    group.add_argument(
        "--correlate",
        action="store_true",
        help="all structures, or any number of --contestants, in heats: which figures of trees go with speed here",
    )
    group.add_argument(
        "--out",
        metavar="FILE|DIR/",
        help="FILE.json, .csv, .tex, .html (a report that loads nothing), .svg or .pdf; a folder for all of them",
    )


def add_advice(parser: argparse.ArgumentParser) -> None:
    """How advice is measured and kept."""
    group = parser.add_argument_group("advice")
    add_rays(group)
    group.add_argument("--exact", action="store_true", help="measure trees of every age, and all rays: takes longer")
    group.add_argument(
        "--beside",
        metavar="A,B,C",
        type=values.configurations,
        help="what else is measured, as lbvh,hploc+reinsertion/bvh4, or none (default: a few)",
    )
    group.add_argument("--out", metavar="FILE", help="FILE.json, or FILE.toml, which --settings takes")


def add_hot_spots(parser: argparse.ArgumentParser) -> None:
    """Which rays are counted, and what is listed."""
    group = parser.add_argument_group("hot spots")
    add_rays(group)
    group.add_argument(
        "--only", metavar="NAME", help="these rays alone: primary, shadow, occlusion, 'bounce 1', 'bounce 2' ..."
    )
    help_ = "rays that look for their closest hit, for any, or both (default)"
    group.add_argument("--hits", choices=("closest", "any", "both"), help=help_)
    by = ("node", "depth", "object", "material", "triangle")
    group.add_argument("--by", choices=by, help="what a line is (default: node; of several frames: depth)")
    group.add_argument("--most", metavar="N", type=values.count(1), help="lines at most (default: 20)")
    group.add_argument("--remedies", action="store_true", help="build what may help, and count the same rays with it")


def add_recording(parser: argparse.ArgumentParser) -> None:
    """Which rays are kept, and where."""
    group = parser.add_argument_group("recording")
    group.add_argument(
        "--only",
        metavar="NAME",
        help="which: primary (default), shadow, occlusion, 'bounce 1', 'bounce 2' ..., as the ray type casts them",
    )
    group.add_argument("--out", metavar="FILE.npz", help="where they are kept; --rays FILE.npz measures them")


def add_lesson(parser: argparse.ArgumentParser) -> None:
    """Which lesson, and the predictions."""
    parser.add_argument("files", nargs="*", metavar="NAME|FILE", help="a lesson by its name, or of a file (TOML)")
    group = parser.add_argument_group("lesson")
    group.add_argument("--answers", metavar="1,2,1", type=values.counts, help="the numbers of your predictions")
    help_ = "passes that are timed, 6 or more (default: 7)"
    group.add_argument("--repeat", metavar="N", type=values.count(6), help=help_)
    group.add_argument("--question", metavar="N", type=values.count(1), help="measure this one alone, as JSON")
    group.add_argument("--out", metavar="FILE.html", help="predictions and measurements as one page")
    group.add_argument("--device", metavar="auto|cuda[:N]|cpu", help="where it is measured: on a GPU, or on the CPU")
    group.add_argument("--threads", metavar="N", help="threads that the CPU device uses")


def add_tree(parser: argparse.ArgumentParser) -> None:
    """The files of trees, and the instant they are of."""
    group = parser.add_argument_group("the tree")
    group.add_argument("--tree", metavar="FILE", help="the file of a tree: .rgtree, or another program's")
    group.add_argument("--format", metavar="NAME", help="what wrote it (docs/trees.md); auto where its name tells")
    group.add_argument("--out", metavar="FILE", help="the file of export and import, FILE.rgtree")
    times = group.add_mutually_exclusive_group()
    times.add_argument("--time", metavar="S", type=values.seconds, help="the scene's instant, in seconds")
    times.add_argument("--frames", metavar="A:B", type=values.frames, help="its frame A; export: boxes of all")
