"""The command line's words. Nothing heavy is imported here, so that `--help` answers at once; values are only read, not
yet checked."""

from __future__ import annotations

import argparse
import os
import re

from raygrove.app.cli import values
from raygrove.app.cli.examples import EXAMPLES, EXIT_CODES
from raygrove.app.cli.of_laboratory import (
    add_advice,
    add_contestants,
    add_hot_spots,
    add_lesson,
    add_race,
    add_rays,
    add_recording,
    add_tree,
    add_trees,
)
from raygrove.app.cli.of_programs import add_plug_in
from raygrove.app.cli.of_stores import OF_STORES, SAID_OF_STORES, add_parts, add_store
from raygrove.program import typed

COMMANDS = (
    *("view", "render", "bench", "race", "advise", "hotspots", "record", "sweep", "results", "compare"),
    *("store", "suite", "tree", "lesson", "info", "warm", "doctor"),
)
DEFAULT_COMMAND = "view"
BENCH_KINDS = ("build", "trace", "frame", "suite")
TREE_KINDS = ("export", "import", "validate", "diagnose")
TREE_HELP = (
    "export: a tree that --hierarchy builds; import: another program's tree; validate: whether a tree is sound and of "
    "this scene; diagnose: what is wrong with it"
)
BENCH_HELP = (
    "build: the structure alone; trace: primary and diffuse rays through it, whatever the ray type; frame: whole "
    "frames with their ray type; "
    "suite: a published evaluation"
)
FLAGS = ("-v", "--verbose", "--quiet", "--debug", "--json")
"""What may stand before the command."""

TRUSTING = {
    "--allow-outside": "read what a model or a saved picture names outside its folder, too: only for those you trust",
    "--all-formats": "open models of rare formats, too: only files that you trust",
}


def parse(arguments: list[str], version: str) -> argparse.Namespace:
    """The arguments as a namespace with `command`. Leaves by SystemExit: 0 after --help and --version, 2 with a
    sentence after a mistake."""
    if arguments and arguments[0] in ("-h", "--help", "--version"):
        top_parser(version).parse_args(arguments[:1])
    place = next((index for index, word in enumerate(arguments) if word not in FLAGS), len(arguments))
    is_named = place < len(arguments) and arguments[place] in COMMANDS
    command = arguments[place] if is_named else DEFAULT_COMMAND
    rest = arguments[:place] + arguments[place + 1 :] if is_named else arguments
    parser = command_parser(command, version)
    names = parser.parse_intermixed_args(joined_negatives(plain_files(rest)))
    names.command = command
    _check_files(parser, names, is_typed=is_named)
    return names


def _check_files(parser: argparse.ArgumentParser, names: argparse.Namespace, *, is_typed: bool) -> None:
    """Refuse what no file can be: an empty name, and a word without a command that is no path either, which is a
    mistyped command."""
    files = getattr(names, "files", [])
    if "" in files:
        parser.error("FILE: an empty name names nothing")
    if files and not is_typed and re.fullmatch(r"[A-Za-z]+", files[0]) and not os.path.lexists(files[0]):
        parser.error(f"there is neither a command nor a file {files[0]!r}; the commands are {', '.join(COMMANDS)}")


def top_parser(version: str) -> argparse.ArgumentParser:
    """What `--help` alone shows."""
    parser = _parser(typed(), "Dynamic scenes through acceleration structures: build, refit, trace, look, measure.", "")
    parser.add_argument("--version", action="version", version=f"Raygrove {version}")
    parser.add_argument(
        "--completion",
        metavar="bash|zsh|fish",
        help="print a script that completes commands, flags, names and settings",
    )
    commands = parser.add_argument_group("commands")
    commands.add_argument("view", nargs="?", help="the window, also without this word; no FILE: its welcome page")
    commands.add_argument(
        "render", nargs="?", help="pictures without a window: PNG, video, EXR; statistics as a table or JSON"
    )
    commands.add_argument("bench", nargs="?", help="measure: bench build, trace, frame or suite")
    commands.add_argument("race", nargs="?", help="several structures on the same frames: who is faster, and why")
    commands.add_argument("advise", nargs="?", help="when to rebuild a structure over a clip, and when to refit it")
    commands.add_argument("hotspots", nargs="?", help="where rays spend their steps, and what may help")
    commands.add_argument(
        "record", nargs="?", help="the rays of a picture as a file, to be measured by race and others"
    )
    commands.add_argument("sweep", nargs="?", help="many measurements or pictures by a plan, kept in a folder")
    commands.add_argument("results", nargs="?", help="what such a folder holds, as tables")
    commands.add_argument("compare", nargs="?", help="two such folders: what became slower, for CI")
    commands.add_argument("store", nargs="?", help="such a folder itself: store pack makes one file of it")
    commands.add_argument("suite", nargs="?", help="published evaluations by such a folder, one or all")
    commands.add_argument("tree", nargs="?", help="trees in files: tree export, import, validate or diagnose")
    commands.add_argument("lesson", nargs="?", help="questions to predict, measured on this machine")
    commands.add_argument("info", nargs="?", help="what is in a file")
    commands.add_argument("warm", nargs="?", help="compile ahead what drawing needs")
    commands.add_argument("doctor", nargs="?", help="what this machine can do, as a report to paste")
    return parser


def command_parser(command: str, version: str) -> argparse.ArgumentParser:
    """The parser of one command."""
    sentences = {
        "view": "Open the window.",
        "render": "Draw pictures without a window.",
        "bench": "Measure a scene. Tables go to stdout, raw samples with --json. What the project itself promises is "
        "measured by `python -m raygrove.bench CASE`.",
        "race": "Race up to eight configurations over the same frames, in turns: ranks with intervals, reasons, and "
        "hits proved equal. FILE may be a race.toml, which says all of it.",
        "advise": "Say when to rebuild a structure over a clip and when to refit it, by measured times.",
        "hotspots": "Say where the rays of a picture, or of --frames of a clip, spend their steps: by node, depth, "
        "object, material or triangle. Of one frame with what may help.",
        "record": "Keep the rays that a picture's ray type casts, of any bounce, in a file: what --rays of race, advise"
        " and hotspots measures.",
        **SAID_OF_STORES,
        "tree": "Write, read, prove and judge trees over a scene; exit code 1 where something is wrong.",
        "lesson": "Predict what structures cost, then measure it here. Without a name: the lessons there are.",
        "info": "Say what is in a scene.",
        "warm": "Compile ahead what drawing a scene needs, for a lecture, a container or a test machine.",
        "doctor": "Say what this machine can do, as a report to paste.",
    }
    parser = _parser(f"{typed()} {command}", sentences[command], command)
    if command == "bench":
        parser.add_argument("kind", choices=BENCH_KINDS, help=BENCH_HELP)
    if command == "tree":
        parser.add_argument("kind", choices=TREE_KINDS, help=TREE_HELP)
    if command in OF_STORES:
        add_store(parser, command)
    elif command == "lesson":
        add_lesson(parser)
    elif command != "doctor":
        _add_scene(parser)
        _add_choices(parser, command)
    if command in ("view", "render", "bench", "race", "advise", "hotspots", "record"):
        _add_picture(parser, command)
    if command == "tree":
        add_tree(parser)
    if command == "warm":
        _add_warming(parser)
    if command in ("view", "render", "race", "hotspots", "record"):
        _add_objects(parser)
    if command == "view":
        add_rays(add_contestants(parser))
    if command == "race":
        add_race(parser)
    if command == "advise":
        add_advice(parser)
    if command == "hotspots":
        add_hot_spots(parser)
    if command == "record":
        add_recording(parser)
    if command in ("render", "bench"):
        _add_measuring(parser, command)
    if command == "render":
        _add_export(parser)
        add_parts(parser)
    if command == "bench":
        _add_suite(parser)
    _add_common(parser, version, has_settings=command not in ("doctor", *OF_STORES))
    return parser


def _parser(program: str, sentence: str, command: str) -> argparse.ArgumentParser:
    epilog = f"{EXAMPLES[command].replace('raygrove', typed())}\n\n{EXIT_CODES}"
    return _Parser(
        prog=program,
        description=sentence,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


class _Parser(argparse.ArgumentParser):
    """A mistake is one sentence and the place where help is."""

    def error(self, message: str) -> None:  # type: ignore[override]
        if message.startswith("the following arguments are required: kind"):
            message = "say what to measure: bench build, trace, frame, or bench suite NAME"
            if self.prog.endswith(" store"):
                message = "say what to do: store pack"
            if self.prog.endswith(" tree"):
                message = f"say what to do: tree {', '.join(TREE_KINDS[:-1])} or {TREE_KINDS[-1]}"
        self.exit(2, f"error: {message.removeprefix('argument ')}.\nSee {self.prog} --help.\n")


def _add_scene(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("scene")
    group.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="a model or particles; several, a glob or frame_%%04d.obj are the key frames of one scene",
    )
    group.add_argument(
        "--demo",
        metavar="NAME",
        help="a built-in scene: orbit, metal, glass, explode, walker, cloth, blob, room, "
        "radiosity_room, spheres, mixed, galaxy, molecule, ball_and_stick",
    )
    for flag, what in TRUSTING.items():
        group.add_argument(flag, action="store_const", const="true", help=what)
    group.add_argument("--seed", metavar="N", help="seed of everything random")
    group.add_argument("--fps", metavar="N", help="frames per second (default: the file's, or 30)")


def _add_choices(parser: argparse.ArgumentParser, command: str) -> None:
    group = parser.add_argument_group("what runs, and where")
    group.add_argument("--device", metavar="auto|cuda[:N]|cpu", help="where pictures are rendered: a GPU, or the CPU")
    group.add_argument("--target", help=argparse.SUPPRESS)  # what --device was called
    group.add_argument("--threads", metavar="N", help="threads that the CPU device uses")
    add_plug_in(group)
    if command != "race":  # its contestants say it
        group.add_argument(
            "--hierarchy",
            metavar="NAME",
            help="the structure's builder, or all of it: builder[+optimiser][/layout[/traversal]][@policy], each name "
            "with :option=value, as binned_sah:bins=32/bvh4@auto",
        )
        group.add_argument("--optimiser", metavar="NAME", help="what improves the tree after the build")
        group.add_argument("--layout", metavar="NAME", help="how nodes lie in memory")
        group.add_argument("--traversal", metavar="NAME", help="how rays traverse the layout")
    if command in ("view", "render", "bench", "advise", "hotspots"):
        add_trees(group, "a structure called NAME")
    if command not in ("advise", "hotspots", "record"):  # rays through a structure
        help_ = "first hits: by the structure, or tiles of spheres and glyphs"
        group.add_argument("--primary", metavar="NAME", help=help_)
    if command not in ("race", "advise"):
        help_ = "how the structure follows a moving scene: rebuild, refit, auto, every_n ..."
        group.add_argument("--update", metavar="POLICY", help=help_)


def _add_picture(parser: argparse.ArgumentParser, command: str) -> None:
    group = parser.add_argument_group("picture")
    if command != "advise":
        group.add_argument("--ray-type", metavar="NAME", help="what the rays show")
    if command not in ("race", "advise", "hotspots", "record"):  # one sample a frame
        help_ = "samples per pixel (pictures that are written: 16, or display.still_samples)"
        group.add_argument("--samples", metavar="N", help=help_)
    group.add_argument("--size", metavar="WxH", type=values.size, help="width and height in pixels")
    times = group.add_mutually_exclusive_group()
    times.add_argument("--time", metavar="S", type=values.seconds, help="the instant to draw, in seconds")
    times.add_argument("--frames", metavar="A:B", type=values.frames, help="frames A to B - 1")
    group.add_argument("--eye", metavar="X,Y,Z", type=values.vector, help="where the camera stands")
    group.add_argument("--look-at", metavar="X,Y,Z", type=values.vector, help="what it looks at")
    group.add_argument("--up", metavar="X,Y,Z", type=values.vector, help="which way is up")
    lens = group.add_mutually_exclusive_group()
    lens.add_argument("--fov", metavar="DEG", type=values.degrees, help="vertical field of view")
    help_ = "parallel rays, the picture H scene units high"
    lens.add_argument("--orthographic", metavar="H", type=values.height, help=help_)


def _add_objects(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is seen")
    group.add_argument("--hide", metavar="NAMES", help="objects to leave out: names, 'vase_*' or numbers, split by ;")
    group.add_argument("--isolate", metavar="NAMES", help="the objects that alone are seen, in the same way")
    group.add_argument("--color-by", metavar="NAME", help="the attribute that colours spheres; NAME.x for a component")
    group.add_argument("--size-by", metavar="NAME", help="the attribute that sizes spheres")
    group.add_argument("--select", metavar="NAME=A:B", help="only spheres whose attribute is from A to B")
    group.add_argument(
        "--camera", metavar="NAME", help="a camera of the file by name or number from 1, a bookmark by name, or free"
    )


def _add_measuring(parser: argparse.ArgumentParser, command: str) -> None:
    group = parser.add_argument_group("output and measuring")
    group.add_argument(
        "--out",
        metavar="FILE|DIR/",
        help="FILE.png, .mp4, .exr, .csv or .json; a folder for frame_0000.png ...; NAME_%%04d.exr; or the scene of an "
        "instant, FILE.glb or .ply",
    )
    group.add_argument("--repeat", metavar="N", type=values.count(1), help="measure so many times; the median counts")
    group.add_argument("--warmup", metavar="N", type=values.count(0), help="runs before measuring")
    if command == "bench":
        add_rays(group)


def _add_warming(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is compiled")
    group.add_argument("--ray-type", metavar="NAME", help="what the rays show")
    group.add_argument("--all", action="store_true", help="every structure, and every ray type on each kind of tree")


def _add_export(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("export")
    group.add_argument(
        "--turntable", metavar="S", type=values.turn, help="the camera goes round what it looks at, in S seconds"
    )
    group.add_argument(
        "--camera-path",
        metavar="FILE|bookmarks",
        help="the camera goes through the bookmarks of a file, or those saved for the scene",
    )
    group.add_argument("--statistics", metavar="FILE", help="what each frame cost, as FILE.csv or FILE.json")


def _add_suite(parser: argparse.ArgumentParser) -> None:
    sentence = (
        "A suite decides its scenes, structures, layouts, rays and instants itself, and refuses the flags and "
        "settings that choose them. FILE ..., each a scene of your own, and --demo are measured beside its scenes."
    )
    group = parser.add_argument_group("bench suite NAME", sentence)
    group.add_argument(
        "--list",
        action="store_const",
        const=True,
        help="say which suites there are, their scenes, and which are at hand",
    )
    group.add_argument("--data", metavar="DIR", help="the folder of the models that a suite names")
    group.add_argument(
        "--scenes", metavar="A,B", type=values.names, help="only these of the published scenes; none: your own alone"
    )
    group.add_argument(
        "--structures",
        metavar="A,B",
        type=values.configurations,
        help="measure these on every scene, too, as in lbvh@refit,hploc/bvh4",
    )
    group.add_argument(
        "--progress", choices=("json",), help="say on stderr how far the run is, as JSON on a line for each step"
    )
    group.add_argument(
        "--most-triangles", metavar="N", type=values.count(1, 999_999_999), help="leave larger scenes out"
    )


def _add_common(parser: argparse.ArgumentParser, version: str, *, has_settings: bool) -> None:
    group = parser.add_argument_group("settings and words" if has_settings else "words")
    if has_settings:
        group.add_argument(
            "--preset", metavar="NAME", help="settings kept under a name, or published/...: --settings is stronger"
        )
        group.add_argument(
            "--settings", metavar="FILE", help="a settings file (TOML, or Meister's .env), stronger than the user's own"
        )
        group.add_argument(
            "--set",
            metavar="KEY=VALUE",
            action="append",
            default=[],
            type=values.assignment,
            help="one setting, as in the file; repeats",
        )
        group.add_argument(
            "--print-settings",
            action="store_true",
            help="print the settings that would be used as TOML, and do nothing else",
        )
    group.add_argument("--json", action="store_true", help="data as JSON on stdout")
    words = group.add_mutually_exclusive_group()
    words.add_argument("--quiet", action="store_true", help="no words, only errors")
    words.add_argument("-v", "--verbose", action="store_true", help="more words")
    group.add_argument(
        "--debug",
        action="store_true",
        help="the whole traceback of an error, and kernels that check themselves (device.checks), which is slower",
    )
    group.add_argument("--version", action="version", version=f"Raygrove {version}")


def plain_files(arguments: list[str]) -> list[str]:
    """What follows `--` as paths that no longer look like flags: argparse forgets the `--` where files and flags are
    mixed."""
    if "--" not in arguments:
        return arguments
    place = arguments.index("--")
    return arguments[:place] + [f"./{name}" if name.startswith("-") else name for name in arguments[place + 1 :]]


def joined_negatives(arguments: list[str]) -> list[str]:
    """`--eye -1,2,3` as `--eye=-1,2,3`, which argparse would take for another flag."""
    joined: list[str] = []
    for argument in arguments:
        if (
            joined
            and re.fullmatch(r"--(eye|look-at|up|fov|orthographic|time|frames|size)", joined[-1])
            and re.match(r"-[\d.]", argument)
        ):
            joined[-1] += "=" + argument
        else:
            joined.append(argument)
    return joined
