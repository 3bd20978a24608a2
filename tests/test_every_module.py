"""Every module can be imported by the Python at hand, and none of them says that this Python will soon refuse it."""

from __future__ import annotations

import pathlib
import subprocess
import sys

from tests.house_files import names_of
from tests.waiting import PROCESS_S

ROOT = pathlib.Path(__file__).resolve().parents[1]
IMPORTS = """
import importlib, sys, warnings
for name in sys.argv[1:]:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=DeprecationWarning, module=r"(raygrove|tests)\\b")
        warnings.filterwarnings("error", category=SyntaxWarning)
        importlib.import_module(name)
print(len(sys.argv) - 1)
"""


def modules() -> list[str]:
    """The names of all modules of the package."""
    names = [name for name in names_of(ROOT) if name.endswith(".py") and name.split("/")[0] in ("app", "gpu", "bench")]
    files = [pathlib.PurePosixPath(name) for name in names]
    return ["raygrove." + ".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files]


def test_every_module_can_be_imported() -> None:
    names = modules()
    assert len(names) > 200 and "raygrove.app.ui.window.main_window" in names and "raygrove.gpu.engine" in names
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == [str(len(names))]
