"""The wheel: what it holds, and that it works where there is no checkout: command, window, library."""

from __future__ import annotations

import json
import pathlib
import shlex
import zipfile

import pytest

from raygrove.version import VERSION
from tests.test_readme import python_examples

from .installed import Environment, build_wheel, make_environment, pip, sources

pytestmark = [pytest.mark.wheel, pytest.mark.broad("a wheel is made and installed, which takes 7 CPU s")]
CUBE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The project's wheel."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def bare(wheel: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel with NumPy alone."""
    made = make_environment(tmp_path_factory.mktemp("bare"), "numpy")
    pip("install", str(wheel), python=made.python)
    return made


@pytest.fixture(scope="module")
def full(wheel: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel with all the libraries that the tests have."""
    made = make_environment(tmp_path_factory.mktemp("full"))
    pip("install", str(wheel), python=made.python)
    return made


def test_it_holds_the_project_and_nothing_else(wheel: pathlib.Path) -> None:
    assert wheel.name == f"raygrove-{VERSION}-py3-none-any.whl"
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    wanted = {f"raygrove/{name.removeprefix('package/')}" for name in sources()}
    assert held == wanted
    endings = {pathlib.PurePosixPath(name).suffix for name in held}
    assert {".cu", ".cuh", ".cpp", ".vert", ".frag", ".npy", ".json", ".typed", ".py"} <= endings


def test_nothing_of_the_checkout_is_seen(bare: Environment) -> None:
    places = json.loads(bare.code("import json, sys, raygrove; print(json.dumps([*sys.path, raygrove.__file__]))"))
    assert str(bare.folder) in places[-1] and not [
        place for place in places if (bare.home / place / "main.py").exists()
    ]


def test_without_its_extra_the_command_says_what_to_install(bare: Environment) -> None:
    assert bare.run("raygrove", "--version").stdout == f"Raygrove {VERSION}\n"
    helped = bare.run("raygrove", "render", "--help")
    assert helped.returncode == 0 and "raygrove render" in helped.stdout and "main.py" not in helped.stdout
    drawn = bare.run("raygrove", "render", "--demo", "orbit", "--out", "orbit.png")
    assert drawn.returncode == 1 and "pip install 'raygrove[app]'" in drawn.stderr, drawn.stderr


def test_the_library_works_with_numpy_alone(bare: Environment) -> None:
    for program, said in python_examples():
        assert bare.code(program) == said
    assert bare.code("import raygrove; print('hploc' in raygrove.structures())") == "True\n"


def test_the_command_draws(full: Environment) -> None:
    words = shlex.split("render --demo orbit --device cpu --time 0.5 --size 64x48 --samples 1 --out orbit.png")
    for program in (("raygrove",), ("python", "-m", "raygrove")):
        done = full.run(*program, *words)
        assert done.returncode == 0, done.stderr
        picture = full.home / "orbit.png"
        assert picture.read_bytes().startswith(b"\x89PNG")
        picture.unlink()


def test_a_server_sweeps_without_the_libraries_of_a_window(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """With what the extra headless brings, a node of a cluster measures a model and draws it."""
    made = make_environment(tmp_path, "numpy", "cmeel", "PIL", "pillow", "platformdirs", "tomli_w")
    pip("install", str(wheel), python=made.python)
    assert made.run("python", "-c", "import PySide6").returncode == 1
    (made.home / "cube.obj").write_text(CUBE)
    fixed = 'scene = "cube.obj"\nconfiguration = "lbvh"\ndevice = "cpu"\nsize = "8x6"\ntime = 0.0'
    (made.home / "plan.toml").write_text(f'[fixed]\n{fixed}\n[axes]\nmeasure = ["build", "render"]\n')
    done = made.run("raygrove", "sweep", "plan.toml", "--store", "results/", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["done"] == 2, done.stderr
    done = made.run("raygrove", "results", "results/", "--where", "measure=render", "--pictures", "film/")
    assert done.returncode == 0 and (made.home / "film" / "frame_0000.png").is_file(), done.stderr


def test_it_reads_a_model(full: Environment) -> None:
    (full.home / "cube.obj").write_text(CUBE)
    done = full.run("raygrove", "info", "cube.obj", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["triangles"] == 1, done.stderr


def test_the_window_opens(full: Environment) -> None:
    words = shlex.split("--demo orbit --frames 3 --warmup 1 --size 320x240 --device cpu --screenshot window.png")
    done = full.run("python", "-m", "raygrove.bench", "window", *words, QT_QPA_PLATFORM="offscreen")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["problems"] == []
    assert (full.home / "window.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("words", ("app.help.settings_docs", "app.help.structures_docs", "bench claims", "bench soaks"))
def test_what_needs_the_checkout_says_so(full: Environment, words: str) -> None:
    done = full.run("python", "-m", *f"raygrove.{words}".split())
    assert done.returncode == 1 and done.stderr.startswith("error: "), done.stderr
    assert "on a checkout of Raygrove only" in done.stderr and "Traceback" not in done.stderr


def test_the_doctor_reports(full: Environment) -> None:
    done = full.run("raygrove", "doctor")
    assert done.returncode == 0 and f"{VERSION}, not a checkout" in done.stdout, done.stderr
