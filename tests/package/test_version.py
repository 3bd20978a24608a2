"""There is one version, and one class of each name."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tomllib

from raygrove.version import VERSION
from tests.test_every_module import modules
from tests.waiting import PROCESS_S

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = """
import importlib, os, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
names = {}
for name, module in list(sys.modules.items()):
    if (file := getattr(module, "__file__", None)) and name != "__main__":
        names.setdefault(os.path.realpath(file), set()).add(name)
ours = [found for found in names.values() if any(name.partition(".")[0] == "raygrove" for name in found)]
print(len(ours), [sorted(found) for found in ours if len(found) > 1])
"""


def test_no_module_is_loaded_twice() -> None:
    """A class that is there twice, under two names of its module, is not caught by `except` nor found by isinstance."""
    command = [sys.executable, "-c", FILES, *modules()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PROCESS_S, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    count, _, twice = done.stdout.strip().partition(" ")
    assert int(count) > 200 and twice == "[]"


def test_there_is_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "raygrove.version.VERSION"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest and newest[1] == VERSION


def test_reports_carry_the_version() -> None:
    from raygrove.bench.context import context
    from raygrove.testing import make_target

    with make_target("host") as target:
        assert context(target)["raygrove"] == VERSION
