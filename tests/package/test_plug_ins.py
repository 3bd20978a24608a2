"""docs/plug-ins.md, performed: its package, installed beside the wheel, gives a structure and a reader."""

from __future__ import annotations

import json
import pathlib
import re
import shlex

import pytest

from .installed import ROOT, Environment, build_wheel, make_environment, pip

pytestmark = [pytest.mark.wheel, pytest.mark.broad("a wheel is made and installed, which takes 7 CPU s")]


def files_of(page: str) -> dict[str, str]:
    """The files that a page shows, by their names."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return dict(re.findall(r"^`([\w./]+)`\n\n```\w+\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


def write_package(folder: pathlib.Path) -> None:
    """The package of docs/plug-ins.md, whose structure is that of docs/adding-a-structure.md with other imports."""
    page = (ROOT / "docs" / "plug-ins.md").read_text(encoding="utf-8")
    others = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|$", page, re.MULTILINE)
    assert len(others) == 5
    files = files_of("plug-ins.md")
    for name, text in files_of("adding-a-structure.md").items():
        for here, there in others:
            text = text.replace(here, there)
        files[f"my_raygrove/in_order/{name.rpartition('/')[2]}"] = text
    for name, text in {**files, "my_raygrove/__init__.py": '"""Mine."""\n'}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel, and the package beside it."""
    folder = tmp_path_factory.mktemp("plugged")
    write_package(folder / "mine")
    made = make_environment(folder)
    pip("install", str(build_wheel(folder)), python=made.python)
    pip("install", "--no-build-isolation", str(folder / "mine"), python=made.python)
    return made


def test_the_structure_is_listed(environment: Environment) -> None:
    listed = environment.code("import raygrove; print(raygrove.structures()['in_order'].__module__)")
    assert listed == "my_raygrove.in_order\n"
    assert " in_order" in environment.run("raygrove", "--completion", "bash").stdout
    page = environment.run("python", "-m", "raygrove.app.help.structures_docs", "in_order")
    assert page.returncode == 0 and "## `in_order`: BVH in the scene's order" in page.stdout, page.stderr
    assert "`max_leaf_size`" in page.stdout


def test_the_structure_draws_and_keeps_the_contract(environment: Environment) -> None:
    page = (ROOT / "docs" / "plug-ins.md").read_text(encoding="utf-8")
    commands = (re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[0]).splitlines()
    tests = environment.run(*shlex.split(commands[0]), "-q", "-p", "no:cacheprovider", "-k", "soup or lines or spheres")
    assert tests.returncode == 0 and re.search(r"^\d\d+ passed", tests.stdout, re.MULTILINE), tests.stdout[-2000:]
    drawn = environment.run(*shlex.split(commands[1]), "--target", "host")
    assert drawn.returncode == 0 and (environment.home / "in_order.png").stat().st_size > 1000, drawn.stderr


def test_the_reader_runs_in_the_child(environment: Environment) -> None:
    (environment.home / "hill.heights").write_text("0 0 0\n0 1 0\n0 0 0\n")
    done = environment.run("raygrove", "info", "hill.heights", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["triangles"] == 8, done.stderr
    (environment.home / "no.heights").write_text("zero\n")
    failed = environment.run("raygrove", "info", "no.heights")
    assert failed.returncode == 3 and "the reader of .heights files (my_raygrove.heights:read) failed: ValueError" in (
        failed.stderr
    )
    many = environment.run("raygrove", "info", "no.heights", "hill.heights")
    assert many.returncode == 3 and "opened one at a time" in many.stderr
    code = "import sys, raygrove.app.scene_io as s; s.load('hill.heights'); print('my_raygrove.heights' in sys.modules)"
    assert environment.code(code) == "False\n"


def test_a_plug_in_that_fails_is_left_out_with_a_sentence(environment: Environment) -> None:
    (entry,) = environment.folder.glob("lib/*/site-packages/my_raygrove-*/entry_points.txt")
    whole = entry.read_text()
    faults = "broken = my_raygrove.nowhere\nlbvh = my_raygrove.in_order\nempty = my_raygrove\n"
    entry.write_text(whole.replace("[raygrove.structures]\n", f"[raygrove.structures]\n{faults}"))
    try:
        code = "import raygrove; from raygrove.gpu.target import remarks; raygrove.structures(); "
        code += "print(*remarks.sentences())"
        said = environment.code(code)
    finally:
        entry.write_text(whole)
    for name, reason in (
        ("broken", "ModuleNotFoundError"),
        ("lbvh", "must have the same name"),
        ("empty", "defines 0"),
    ):
        assert re.search(rf"The structure {name} of another package is left out: [^\n]*{reason}", said), said
