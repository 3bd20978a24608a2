"""The project's own measurements: one module per case, found by its file. `python -m raygrove.bench CASE` runs one.

A case is a module with ARGUMENTS (`bench.arguments`) and `run`, which gets them parsed, `command` among them (what was
typed, for the context of saved figures), and returns the exit code. Its docstring is its help. Cases make or load their
scenes themselves; what they share lies one folder up. Those that measure the window start it as a process.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import pathlib
import sys
from collections.abc import Sequence

from raygrove.app.scene_io.errors import SceneError
from raygrove.gpu.target.base import NoDeviceError

from ..arguments import DEVICE, UsageError
from ..saved import check_place

PROGRAM = ("python", "-m", "raygrove.bench")
EXIT_USAGE, EXIT_SCENE, EXIT_DEVICE = 2, 3, 4


def names() -> list[str]:
    """Every case."""
    return sorted(path.stem for path in pathlib.Path(__file__).parent.glob("[a-z]*.py"))


def summary(case: str) -> str:
    """The first sentence of a case's docstring, without importing it."""
    tree = ast.parse(pathlib.Path(__file__).with_name(f"{case}.py").read_text(encoding="utf-8"))
    text = " ".join((ast.get_docstring(tree) or "").split("\n\n")[0].split())
    return text.partition(". ")[0].rstrip(".") + "."


def parser_of(case: str) -> argparse.ArgumentParser:
    """The parser of a case's arguments."""
    module = importlib.import_module(f".{case}", __name__)
    parser = argparse.ArgumentParser(
        prog=" ".join((*PROGRAM, case)),
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for one in module.ARGUMENTS:
        one.add_to(parser)
    if DEVICE in module.ARGUMENTS:
        parser.add_argument("--target", dest="device", default=argparse.SUPPRESS, help=argparse.SUPPRESS)  # as it was
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run a case. Exit codes are the program's: 2 for what cannot be meant, 3 for a scene, 4 without the device."""
    width = max(map(len, names()))
    parser = argparse.ArgumentParser(
        prog=" ".join(PROGRAM),
        description="Measure what the project has promised or compares. A scene of your own is measured by "
        "`raygrove bench build|trace|frame|suite`.",
        epilog="\n".join(["cases:", *(f"  {case:{width}}  {summary(case)}" for case in names())])
        + f"\n\n{' '.join(PROGRAM)} CASE --help says what a case takes.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("case", choices=names(), metavar="CASE", help="one of those below")
    case = parser.parse_args(list(arguments[:1])).case
    of_case = parser_of(case)
    asked = of_case.parse_args(list(arguments[1:]))
    asked.command = [*PROGRAM, *arguments]
    try:
        if isinstance(asked.__dict__.get("out"), str) and asked.out:
            check_place(asked.out)
        code: int = importlib.import_module(f".{case}", __name__).run(asked)
    except UsageError as error:
        of_case.error(str(error))
    except SceneError as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_SCENE
    except NoDeviceError as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_DEVICE
    return code
