"""The project keeps the rules of the house, and every rule bites."""

from __future__ import annotations

import ast
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable

import pytest

from raygrove.app.cli.arguments import COMMANDS, parse
from raygrove.app.help import texts as help_texts
from tests.waiting import PROCESS_S

from . import house_files
from . import house_rules as rules

ROOT = pathlib.Path(__file__).resolve().parents[1]
Rule = Callable[[pathlib.Path], list[str]]


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_the_project_keeps_the_rule(rule: Rule) -> None:
    broken = rule(ROOT)
    assert not broken, "\n".join(broken)


def test_without_git_what_is_made_is_passed_over(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ("app/__pycache__/cli.pyc", ".venv/lib/six.py", ".venv-312/six.py", ".mypy_cache/x.json", ".git/HEAD")
    for name in ("main.py", "app/cli/main.py", ".ci/run", *made):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(house_files.shutil, "which", lambda name: None)
    assert house_files.names_of(tmp_path) == [".ci/run", "app/cli/main.py", "main.py"]


def test_the_rules_see_the_project() -> None:
    """A rule that reads no file would be content with anything."""
    names = [name for name, _ in house_files.files_of(ROOT, ".py", ".cu", ".cuh")]
    assert {"main.py", "gpu/engine.py", "gpu/device/vec.cuh", "gpu/primitives/reduce.cu"} <= set(names)
    assert len(names) > 100


DOC = '"""Says what it is."""\n'
PLANTED: list[tuple[Rule, str, str, str]] = [
    (rules.broken_arrows, "gpu/trace/a.py", "from ..hierarchy.bvh import nodes", "may not import gpu.hierarchy.bvh"),
    (rules.broken_arrows, "gpu/trace/a.py", "from ..display import presenter", "may not import gpu.display"),
    (rules.broken_arrows, "gpu/shade/a.py", "from raygrove.gpu.trace import trace", "imports are relative"),
    (rules.broken_arrows, "gpu/engine.py", "import raygrove.app.document.document", "app.document"),
    (
        rules.broken_arrows,
        "gpu/primitives/a.py",
        "from ..hierarchy.base import Hierarchy",
        "may not import gpu.hierarchy.base",
    ),
    (
        rules.broken_arrows,
        "gpu/target/a.py",
        "def f():\n    from ..primitives import scan",
        "may not import gpu.primitives",
    ),
    (
        rules.broken_arrows,
        "gpu/hierarchy/bvh/builders/a/__init__.py",
        "from ..b import emit",
        "may not import gpu.hierarchy.bvh.builders.b",
    ),
    (rules.broken_arrows, "gpu/hierarchy/octree/a.py", "from ..bvh.bvh import Bvh", "may not import gpu.hierarchy.bvh"),
    (
        rules.broken_arrows,
        "app/document/document.py",
        "from raygrove.app.ui.window import main_window",
        "may not import app.ui",
    ),
    (
        rules.broken_arrows,
        "app/ui/window/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from raygrove.app.ui.window import main_window",
        "app.ui.window.a may not import app.ui.window.main_window",
    ),
    (
        rules.broken_arrows,
        "app/ui/measuring/a.py",
        "from raygrove.app.ui.window.main_window import MainWindow",
        "app.ui.measuring.a may not import app.ui.window.main_window",
    ),
    (
        rules.broken_arrows,
        "app/ui/session/a.py",
        "from raygrove.app.ui.dialogs import palette",
        "app.ui.session.a may not import app.ui.dialogs",
    ),
    (rules.broken_arrows, "app/ui/a.py", "from raygrove.app.ui.session import memory", "app.ui.a may not import"),
    (
        rules.broken_arrows,
        "app/playback/timeline.py",
        "from raygrove.app import document",
        "may not import app.document",
    ),
    (rules.broken_arrows, "bench/a.py", "from raygrove.app.document import state", "may not import app.document"),
    (rules.broken_arrows, "tests/gpu/test_a.py", "from raygrove.app import document", "may not import app.document"),
    (
        rules.broken_arrows,
        "app/document/document.py",
        "from app.document import history",
        "is imported as raygrove.app",
    ),
    (rules.broken_arrows, "tests/a.py", "import gpu.engine", "is imported as raygrove.gpu.engine"),
    (rules.broken_arrows, "tools/a.py", "import raygrove.gpu", "Python files stand in"),
    (rules.strange_libraries, "app/document/document.py", "import PySide6.QtCore", "PySide6 belongs to app/ui/"),
    (rules.strange_libraries, "gpu/engine.py", "import cupy", "cupy belongs to gpu/target/"),
    (rules.strange_libraries, "app/ui/a.py", "from OpenGL import GL", "OpenGL belongs to gpu/display/"),
    (rules.strange_libraries, "gpu/display/presenter.py", "from cuda.bindings import driver", "cuda belongs to"),
    (rules.strange_libraries, "app/scene_io/obj.py", "from PIL import Image", "PIL belongs to"),
    (rules.strange_libraries, "app/a.py", "import sympy", "sympy has no room"),
    (rules.strange_libraries, "tests/gpu/test_a.py", "import PySide6", "PySide6 belongs to app/ui/"),
    (rules.strange_libraries, "tests/gpu/test_a.py", "import pytestqt", "pytestqt has no room"),
    (rules.strange_libraries, "app/a.py", "import pytest", "pytest belongs to package/testing/"),
    (rules.strange_libraries, "gpu/trace/a.py", "import subprocess", "subprocess belongs to gpu/target/"),
    (rules.strange_libraries, "bench/a.py", "import ctypes", "ctypes belongs to gpu/linux.py, gpu/linux_sandbox.py"),
    (
        rules.broken_includes,
        "gpu/trace/a.cu",
        '#include "gpu/hierarchy/bvh/n.cuh"',
        "may not include gpu/hierarchy/bvh/n.cuh",
    ),
    (
        rules.broken_includes,
        "gpu/device/a.cuh",
        '#include "gpu/hierarchy/bvh/n.cuh"',
        "may not include gpu/hierarchy/bvh/n.cuh",
    ),
    (
        rules.broken_includes,
        "gpu/hierarchy/bvh/builders/a/a.cu",
        '#include "gpu/hierarchy/bvh/builders/b/b.cuh"',
        "may not include",
    ),
    (
        rules.broken_includes,
        "gpu/hierarchy/octree/a.cu",
        '#include "gpu/hierarchy/bvh/n.cuh"',
        "may not include gpu/hierarchy/bvh/n.cuh",
    ),
    (rules.broken_includes, "gpu/shade/a.cu", '#include "vec.cuh"', "vec.cuh is not there"),
    (rules.broken_includes, "gpu/shade/a.cu", "// from gpu.shade.nowhere import Row", "no module gpu.shade.nowhere"),
    (
        rules.broken_includes,
        "gpu/trace/a.cuh",
        "// from gpu.hierarchy.bvh.nodes import Row",
        "may not read gpu.hierarchy.bvh.nodes",
    ),
    (rules.long_things, "app/a.py", "x = 1\n" * 401, "401 lines; 400 is the wall"),
    (rules.long_things, "app/a.py", "def f() -> None:\n" + "    print()\n" * 60, "f has 61 lines"),
    (
        rules.long_things,
        "gpu/shade/a.cu",
        "namespace n {\n__global__ void f(int n)\n{\n" + "n;\n" * 58 + "}\n}",
        "f has 61 lines",
    ),
    (rules.places_named, "docs/a.md", "see /wo" + "rk/main for more", "names a folder of one machine"),
    (rules.places_named, "requirements.txt", "--index-url https://py" + "pi.org/simple", "names a package registry"),
    (rules.dead_links, "README.md", "see [the guide](guide.md)", "its link to guide.md leads nowhere"),
    (rules.dead_links, "app/a.py", '"""See docs/a.md."""', "names docs/a.md, which is not there"),
    (rules.dead_links, "docs/a.md", "Nobody comes here.", "no page has a link to it"),
    (rules.forked_kernels, "gpu/shade/a.cu", "#ifdef CUDA_ON_HOST", "belongs to gpu/target and gpu/device"),
    (rules.forked_kernels, "gpu/trace/a.cuh", "int a = __CUDA_ARCH__;", "belongs to gpu/target and gpu/device"),
    (rules.forked_kernels, "gpu/trace/a.cuh", "long a;", "use int64"),
    (rules.forked_kernels, "gpu/trace/a.cuh", "#include <math.h>", "no standard headers"),
    (rules.raw_tolerances, "gpu/trace/a.cu", "bool a = b <= c * 1.0000005f;", "1.0000005f is a tolerance"),
    (rules.raw_tolerances, "gpu/shade/a.cuh", "float a = max(b, 1e-6f);", "1e-6f is a tolerance"),
    (rules.raw_tolerances, "gpu/device/a.cuh", "double a = b + 2.4e-12 * c;", "2.4e-12 is a tolerance"),
    (rules.raw_tolerances, "gpu/trace/a.cuh", "Real a = t * splat(0.9999f);", "0.9999f is a tolerance"),
    (rules.numbered_rows, "gpu/shade/a.cu", "Real a = splat(options[9]);", "options[9 reads a row by number"),
    (
        rules.numbered_rows,
        "gpu/shade/a.cu",
        "Real a = gather(surface.materials + 11, at);",
        "materials + 11 reads a row",
    ),
    (rules.numbered_rows, "gpu/trace/a.cuh", "Real a = splat(light[ 7 ]);", "reads a row by number"),
    (rules.numbered_rows, "gpu/trace/a.cuh", "float a = f.clip[3];", "clip[3 reads a row by number"),
    (
        rules.numbered_rows,
        "gpu/trace/a.cuh",
        "const float* now = frame->camera;\nfloat a = now[3];",
        "now[3 reads a row by number",
    ),
    (
        rules.numbered_rows,
        "gpu/trace/a.cuh",
        "const float* m = materials + MaterialRow::FLOATS * i;\nfloat a = m[3];",
        "m[3 reads a row by number",
    ),
    (rules.linux_calls, "app/a.py", "def f():\n    import pwd", "belongs to gpu/linux.py alone"),
    (rules.linux_calls, "gpu/target/a.py", "open('/proc/meminfo')", "belongs to gpu/linux.py alone"),
    (rules.short_waits, "tests/test_a.py", "qtbot.waitUntil(lambda: (a or b()), timeout=500)", "as all tests do"),
    (rules.percents, "app/a.py", "text = f'{share:.0%} of it'", "spell it by percent"),
    (rules.percents, "gpu/a.py", "text = f'{100 * share:.0f}%'", "spell it by percent"),
    (rules.strange_words, "app/a.py", "triangle_idx = 1", "the house says id"),
    (rules.strange_words, "app/a.py", "def grow(bbox): ...", "the house says aabb"),
    (rules.strange_words, "gpu/trace/a.cu", "// Heading.\nint num_nodes;", "the house says count"),
    (rules.strange_words, "gpu/trace/a.cu", "int a;", "begins without a comment"),
]


@pytest.mark.parametrize(
    ("rule", "name", "text", "expected"), PLANTED, ids=lambda value: getattr(value, "__name__", None)
)
def test_the_rule_bites(tmp_path: pathlib.Path, rule: Rule, name: str, text: str, expected: str) -> None:
    for module in (
        "gpu/hierarchy/bvh/nodes.py",
        "gpu/hierarchy/bvh/builders/b/__init__.py",
        "app/document/document.py",
        "app/ui/window/main_window.py",
    ):
        write(tmp_path / module, DOC)
    for header in ("gpu/hierarchy/bvh/n.cuh", "gpu/hierarchy/bvh/builders/b/b.cuh"):
        write(tmp_path / header, "// A header.\n")
    assert rule(tmp_path) == []
    write(tmp_path / name, (DOC if name.endswith(".py") and rule is not rules.long_things else "") + text)
    broken = rule(tmp_path)
    assert broken and all(expected in sentence for sentence in broken), broken


def test_a_module_without_a_docstring_is_seen(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "app/a.py", "x = 1\n")
    assert rules.strange_words(tmp_path) == ["app/a.py: begins without a docstring."]


def test_an_unlocked_package_is_seen(tmp_path: pathlib.Path) -> None:
    for name, text in house_files.files_of(ROOT, ".toml", ".txt"):
        write(tmp_path / name, text)
    assert rules.unlocked_packages(tmp_path) == []
    project = tmp_path / "pyproject.toml"
    project.write_text(project.read_text().replace('"Pillow', '"Sandpaper>=1",\n    "Pillow'))
    assert rules.unlocked_packages(tmp_path) == [
        f".ci/requirements/{lock}.txt: sandpaper is missing; run .ci/lock." for lock in ("core", "dev")
    ]


@pytest.mark.parametrize("table", help_texts.pages())
def test_each_structure_and_ray_type_has_its_help_page(table: str) -> None:
    page = help_texts.pages()[table]
    assert page.missing == (), (
        f"The docstring of {table}'s module needs the paragraphs {', '.join(page.missing)} "
        f"(docs/adding-a-structure.md)."
    )
    assert page.summary.endswith(".") and all(len(text) > 30 for text in page.sections.values())


@pytest.mark.parametrize(
    "module",
    [name for name in house_files.names_of(ROOT) if re.fullmatch(r"gpu/hierarchy/\w+/layouts/[a-z]\w+\.py", name)],
)
def test_each_layout_says_its_idea_and_its_limits(module: str) -> None:
    summary, sections = help_texts.parsed(
        ast.get_docstring(ast.parse((ROOT / module).read_text(encoding="utf-8"))) or ""
    )
    assert (
        summary.endswith(".")
        and tuple(sections) == help_texts.SECTIONS
        and all(len(text) > 30 for text in sections.values())
    )


RECIPES = ("docs/adding-a-structure.md", "docs/adding-a-family.md")
STRUCTURE_FILES = ("bvh/builders/in_order/__init__.py", "bvh/builders/in_order/in_order.cu")
FAMILY_FILES = (
    "slabs/nodes.cuh",
    "slabs/__init__.py",
    "slabs/slabs.py",
    "slabs/statistics.cu",
    "slabs/traversals/march.cuh",
    "slabs/builders/__init__.py",
    "slabs/builders/even_slabs/__init__.py",
    "slabs/builders/even_slabs/even_slabs.cu",
)


@pytest.mark.parametrize(
    ("page", "structure", "expected"),
    [("adding-a-structure.md", "in_order", STRUCTURE_FILES), ("adding-a-family.md", "even_slabs", FAMILY_FILES)],
)
def test_the_recipe_works(tmp_path: pathlib.Path, page: str, structure: str, expected: tuple[str, ...]) -> None:
    """A page, performed: its files written into a copy of the project, its commands run there."""
    recipe = (ROOT / "docs" / page).read_text(encoding="utf-8")
    copy = tmp_path / "copy"
    for name in house_files.names_of(ROOT):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    files = re.findall(r"^`([\w./]+)`\n\n```\w+\n(.*?)^```", recipe, re.MULTILINE | re.DOTALL)
    assert [name.removeprefix("gpu/hierarchy/") for name, _ in files] == list(expected)
    for name, text in files:
        write(copy / name, text)
    assert [sentence for rule in rules.RULES for sentence in rule(copy)] == []
    outputs = [
        run(command, copy)
        for block in re.findall(r"^```sh\n(.*?)^```", recipe, re.MULTILINE | re.DOTALL)
        for command in block.splitlines()
    ]
    assert len(outputs) == 3
    assert re.search(r"^\d+ passed", outputs[0], re.MULTILINE), outputs[0]
    assert (copy / f"{structure}.png").stat().st_size > 1000
    assert re.search(rf"^cloth .* {structure} ", outputs[2], re.MULTILINE), outputs[2]


@pytest.mark.parametrize("page", ["README.md", "docs/guide.md", "docs/architecture.md", *RECIPES])
def test_the_page_tells_the_truth(page: str) -> None:
    """The program understands its commands, and make knows its targets."""
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    for line in lines:
        words = shlex.split(line, comments=True)
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), line
        elif words[:2] in (["python", "main.py"], [".venv/bin/python", "main.py"]):
            assert parse(words[2:], "0").command in COMMANDS, line
        else:
            assert words[0] in (".ci/run", ".venv/bin/python"), line


def run(command: str, folder: pathlib.Path) -> str:
    """The standard output of a command of the recipe, which must succeed."""
    words = shlex.split(command.replace(".venv/bin/python", shlex.quote(sys.executable)))
    subprocess.run([folder / ".ci/link_package", folder / "out/site"], check=True)  # the copy, not this checkout
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = str(folder / "out/site")
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=PROCESS_S, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def write(path: pathlib.Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
