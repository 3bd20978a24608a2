"""The wheel, built from the project's files, and environments that hold it and nothing of the checkout."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import venv

from tests.house_files import names_of
from tests.waiting import PROCESS_S

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("app", "gpu", "bench", "package", "shaders", "assets")
BUILT_FROM = ("pyproject.toml", "setup.py", "README.md", "LICENSE")


def sources() -> list[str]:
    """The files of the project that a wheel holds: all of its folders but measured results."""
    return [name for name in names_of(ROOT) if name.split("/")[0] in FOLDERS and not name.startswith("bench/results/")]


def build_wheel(folder: pathlib.Path) -> pathlib.Path:
    """The wheel of a copy of the project, built without a network."""
    for name in [*sources(), *BUILT_FROM]:
        copy = folder / "source" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy)
    pip("wheel", "--no-build-isolation", "--wheel-dir", str(folder / "wheels"), str(folder / "source"))
    (wheel,) = (folder / "wheels").iterdir()
    return wheel


def pip(command: str, *arguments: str, python: pathlib.Path | None = None) -> None:
    """pip, of this environment for another, with what is on this machine alone."""
    into = ["--python", str(python)] if python else []
    isolated = ["--isolated", "--quiet", "--disable-pip-version-check", "--no-input"]
    line = [sys.executable, "-m", "pip", *isolated, *into, command, "--no-index", "--no-deps", *arguments]
    done = subprocess.run(line, capture_output=True, text=True, timeout=PROCESS_S, check=False)
    assert done.returncode == 0, done.stderr


@dataclasses.dataclass(frozen=True)
class Environment:
    """A virtual environment, and the folder that its programs are started in."""

    folder: pathlib.Path
    home: pathlib.Path

    @property
    def python(self) -> pathlib.Path:
        """Its Python."""
        return self.folder / "bin" / "python"

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run one of its programs where nothing leads to the checkout."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "QT_", "DISPLAY"))}
        homes = {"XDG_CONFIG_HOME": str(self.home / "config"), "XDG_DATA_HOME": str(self.home / "data")}
        return subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]],
            cwd=self.home,
            env={**kept, **homes, "PYTHONNOUSERSITE": "1", **variables},
            capture_output=True,
            text=True,
            timeout=PROCESS_S,
            check=False,
        )

    def code(self, program: str) -> str:
        """What a program prints; it has to end well."""
        done = self.run("python", "-c", program)
        assert done.returncode == 0, done.stderr
        return done.stdout


def make_environment(folder: pathlib.Path, *libraries: str) -> Environment:
    """An empty environment that sees these of the libraries at hand, by the beginnings of their names; all of them
    where none is named; never the checkout's links."""
    venv.create(folder / "env", symlinks=True, with_pip=False)
    seen, home = folder / "libraries", folder / "home"
    for made_folder in (seen, home):
        made_folder.mkdir()
    for place in filter(pathlib.Path.is_dir, _site_folders()):  # a wheel may name a folder that it does not bring
        for path in place.iterdir():
            is_wanted = path.name.startswith(libraries) if libraries else True
            is_ours = path.name.startswith(("raygrove", "__")) or path.suffix == ".pth"
            if is_wanted and not is_ours and not (seen / path.name).exists():
                (seen / path.name).symlink_to(path)
    made = Environment(folder / "env", home)
    site = next((folder / "env" / "lib").glob("python*")) / "site-packages"
    (site / "libraries.pth").write_text(f"{seen}\n")
    return made


def _site_folders() -> list[pathlib.Path]:
    """This environment's site-packages, and those that it names in turn."""
    first = pathlib.Path(sysconfig.get_path("purelib"))
    return [first, *(pathlib.Path(path) for path in sys.path if path.endswith("site-packages") and path != str(first))]
