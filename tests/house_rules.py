"""The rules of the house as functions: each takes a folder that holds a copy of the project and gives the sentences of what breaks it.

docs/architecture.md says why. tests/test_house.py asks that the project breaks none of them, and that each of them bites.
"""

from __future__ import annotations

import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator

ROOMS = ("app", "gpu", "bench", "tests")
PLAIN = ("gpu.settings", "gpu.scene", "gpu.camera", "gpu.clip", "gpu.stats")
FILE_LINES, FUNCTION_LINES = 400, 60

# Who may import whom: the longest name that fits the importing module counts. A room always knows itself.
ARROWS: dict[str, tuple[str, ...]] = {
    "main": ("app.cli",),
    "app": ("app", "gpu.engine", "gpu.update_policy", "gpu.target", "gpu.hierarchy.registry", "gpu.hierarchy.base", "gpu.shade.registry", *PLAIN),
    "app.cli": ("app", "bench", "gpu"),
    "app.timeline": PLAIN,
    "app.cameras": PLAIN,
    "app.scene_io": PLAIN,
    "app.export": PLAIN,
    "app.ui": ("app", "gpu.display", "gpu.engine", *PLAIN),
    "bench": ("gpu",),
    "bench.goals": ("app.scene_io", "bench", "gpu"),  # a script, not a library: it makes the built-in scenes itself
    "bench.structures": ("app.scene_io", "bench", "gpu"),  # the same
    "bench.policy": ("app.scene_io", "bench", "gpu"),  # the same
    "bench.noise": ("app.scene_io", "bench", "gpu"),  # the same
    "bench.light": ("app.scene_io", "bench", "gpu"),  # the same
    "bench.recursive": ("app.scene_io", "bench", "gpu"),  # the same
    "gpu": ("gpu",),
    "gpu.settings": (),
    "gpu.scene": ("gpu.settings",),
    "gpu.camera": (),
    "gpu.clip": ("gpu.camera", "gpu.settings"),
    "gpu.stats": (),
    "gpu.target": PLAIN,
    "gpu.primitives": ("gpu.target",),
    "gpu.animate": ("gpu.primitives", "gpu.target", "gpu.hierarchy.base", "gpu.hierarchy.primitives", *PLAIN),
    "gpu.hierarchy": ("gpu.primitives", "gpu.target", *PLAIN),
    "gpu.hierarchy.base": ("gpu.target", *PLAIN),
    "gpu.trace": ("gpu.hierarchy.base", "gpu.primitives", "gpu.target", *PLAIN),
    "gpu.shade": ("gpu.trace", "gpu.animate", "gpu.hierarchy.base", "gpu.primitives", "gpu.target", *PLAIN),
    "gpu.display": ("gpu.target", "gpu.settings"),
    "gpu.update_policy": ("gpu.hierarchy.base", "gpu.update_costs", *PLAIN),
    "gpu.update_costs": (),
    "tests": ("app", "gpu", "bench", "main"),
    "tests.gpu": ("gpu", "tests"),
}
# What the arrows above would allow and the design does not.
NEVER = (
    (r"gpu\.(?!display)", r"gpu\.display"),
    (r"gpu\.trace", r"gpu\.hierarchy\.(?!base)"),
    (r"app\.(?!cli)(?!ui)", r"app\.(ui|cli)\b"),
    (r"app\.ui", r"app\.cli\b"),
    (r"tests\.gpu", r"tests\.app|app\b"),
)

# One library, one room: who may import what. Tests may import what the room that they mirror may.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "numpy": ("",),
    "PySide6": ("app/ui/",),
    "shiboken6": ("app/ui/",),
    "OpenGL": ("gpu/display/",),
    "cupy": ("gpu/target/",),
    "cupy_backends": ("gpu/target/",),
    "cuda": ("gpu/target/", "gpu/display/cuda_gl.py"),
    "nvidia": ("gpu/target/",),
    "PIL": ("app/export/", "app/scene_io/images.py"),
    "av": ("app/export/",),
    "OpenEXR": ("app/export/", "app/scene_io/environments.py"),
    "matplotlib": ("bench/suites/plots.py",),
    "mitsuba": ("oracle/mitsuba_light.py",),  # of tests alone
    "cmeel": ("app/scene_io/",),
    "platformdirs": ("app/",),
    "tomli_w": ("app/",),
    # Of the standard library: foreign memory and other programs (compilers, importers, measured peers).
    "ctypes": ("gpu/target/", "app/scene_io/"),
    "subprocess": ("gpu/target/", "app/", "bench/"),
}
TEST_LIBRARIES = ("pytest", "hypothesis", "_pytest", "pytestqt")

_TARGET_WORDS = re.compile(r"__CUDA_ARCH__|__CUDACC__|CUDA_ON_HOST|#\s*(if|ifdef|ifndef|elif)\b")
_KERNEL_WORDS = {
    r"(?<!long )\blong\b(?! long)": "long has no fixed width: use int64",
    r"\brsqrtf?\b": "rsqrt differs from target to target: divide by sqrtf",
    r"\bprintf\b": "kernels do not print",
    r"\bvirtual\b": "no virtual functions in kernels",
    r"\bextern\s+__shared__": "no dynamic shared memory",
    r"\b__constant__\b": "no module constants: a frame struct holds them",
    r"#\s*include\s*<": "no standard headers in device code",
}
_WORDS = {"bbox": "aabb", "idx": "id", "num": "count", "cnt": "count", "tri": "triangle", "prims": "primitives", "accel": "hierarchy"}
_MACHINE = re.compile(r"(?:^|[^A-Za-z0-9_.$])/(?:work|farm|root|home/\w+|tmp/\w*venv)/")
_REGISTRY = re.compile(r"https?://[^/\s\"']*(?:py" + r"pi|python" + r"hosted|npm" + r"js|con" + r"da|anaconda)[^/\s\"']*", re.IGNORECASE)


# -- files ---------------------------------------------------------------------------------------------------------------
def files_of(root: pathlib.Path, *suffixes: str) -> Iterator[tuple[str, str]]:
    """Name relative to `root` and text of each file of the project (what git would commit, or all files where there is no git)."""
    for name in names_of(root):
        path = root / name
        if path.suffix in suffixes or not suffixes:
            try:
                yield name, path.read_text(encoding="utf-8")
            except (UnicodeDecodeError, FileNotFoundError):
                continue


MADE_FOLDERS = {".git", "__pycache__", ".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache", "out", "build"}
"""What .gitignore names: not part of the project."""


def names_of(root: pathlib.Path) -> list[str]:
    """Every file of the project, relative to `root`; without git, or in an unpacked archive, all but what is made."""
    if (root / ".git").exists() and shutil.which("git"):
        command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        return sorted(filter(None, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")))
    names = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in MADE_FOLDERS and not name.startswith(".venv")]
        names += [str((pathlib.Path(folder) / name).relative_to(root)) for name in files]
    return sorted(names)


# -- imports -------------------------------------------------------------------------------------------------------------
def broken_arrows(root: pathlib.Path) -> list[str]:
    """Imports that no arrow allows, and absolute ones inside gpu."""
    found = []
    for name, text in files_of(root, ".py"):
        module = _module_name(name)
        if module.split(".")[0] not in (*ROOMS, "main"):
            found.append(f"{name}: Python files stand in main.py, {', '.join(ROOMS)}.")
            continue
        for imported, line, is_relative in _project_imports(root, name, text):
            if module.startswith("gpu") and not is_relative:
                found.append(f"{name}:{line}: inside gpu imports are relative, not {imported}.")
            if not _is_allowed(module, imported):
                found.append(f"{name}:{line}: {module} may not import {imported}.")
    return found


def _is_allowed(module: str, imported: str) -> bool:
    if any(re.match(importer, module) and re.match(target, imported) for importer, target in NEVER):
        return False
    family = re.match(r"gpu\.hierarchy\.(?!(?:base|primitives|quality|registry)\b)(\w+)", imported)
    if family and module.startswith("gpu.hierarchy."):
        return _knows_family(module, imported, family[1])
    room = max((r for r in ARROWS if _is_inside(module, r)), key=len)
    return any(_is_inside(imported, target) for target in (room, *ARROWS[room]))


def _knows_family(module: str, imported: str, family: str) -> bool:
    """A family knows itself; a builder or an optimiser knows its family, never its neighbour. The registry finds families by their folders."""
    if not module.startswith(f"gpu.hierarchy.{family}"):
        return False
    part = re.match(r"gpu\.hierarchy\.\w+\.(builders|optimisers)\.\w+", imported)
    return part is None or _is_inside(module, part[0])


def _is_inside(module: str, room: str) -> bool:
    return module == room or module.startswith(room + ".") or (room == "app.cli" and module.startswith("app.cli"))


def _project_imports(root: pathlib.Path, name: str, text: str) -> Iterator[tuple[str, int, bool]]:
    package = _module_name(name).split(".")
    if not name.endswith("__init__.py"):
        package = package[:-1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in ROOMS:
                    yield alias.name, node.lineno, False
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *((node.module or "").split(".") if node.module else [])])
            if source.split(".")[0] in ROOMS:
                inner = {alias.name: root / source.replace(".", "/") / alias.name for alias in node.names}
                modules = {name for name, path in inner.items() if path.with_suffix(".py").is_file() or path.is_dir()}
                for imported in sorted({f"{source}.{name}" if name in modules else source for name in inner}):
                    yield imported, node.lineno, node.level > 0


def _module_name(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def strange_libraries(root: pathlib.Path) -> list[str]:
    """Third-party imports outside the library's room; tests/gpu beyond numpy, pytest, hypothesis and the targets' libraries."""
    found = []
    for name, text in files_of(root, ".py"):
        is_test = name.startswith("tests/")
        mirrored = name.removeprefix("tests/").replace("test_", "")
        for library, line in _libraries(text):
            rooms = LIBRARIES.get(library)
            if is_test and library in sys.stdlib_module_names:
                continue
            if is_test and library in TEST_LIBRARIES and (library != "pytestqt" or name.startswith("tests/app/")):
                continue
            if rooms is None:
                found.append(f"{name}:{line}: {library} has no room; give it one in tests/house_rules.py or do without.")
            elif not any((mirrored if is_test else name).startswith(room) for room in rooms) and not (is_test and name.startswith("tests/app/")):
                found.append(f"{name}:{line}: {library} belongs to {', '.join(rooms)} alone.")
    return found


def _libraries(text: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""] if not node.level else []
        for full in names:
            top = full.split(".")[0]
            if (top not in sys.stdlib_module_names or top in LIBRARIES) and top not in (*ROOMS, "main"):
                yield top, node.lineno


def broken_includes(root: pathlib.Path) -> list[str]:
    """Includes that are not there, or that point against the arrows."""
    found = []
    for name, text in files_of(root, ".cu", ".cuh"):
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if match and not (root / match[1]).is_file():
                found.append(f"{name}:{number}: {match[1]} is not there (includes are written from the project's root).")
            elif match and not _may_include(name, match[1]):
                found.append(f"{name}:{number}: {name} may not include {match[1]}.")
    return found


def _may_include(name: str, included: str) -> bool:
    rooms = {"gpu/primitives": (), "gpu/animate": (), "gpu/trace": (), "gpu/shade": ("gpu/trace",), "gpu/target": (), "gpu/device": ()}
    if name.startswith("tests/") or included.startswith("gpu/device/"):
        return True
    family = re.match(r"gpu/hierarchy/\w+/", name)
    if family:
        own = included.startswith(str(pathlib.PurePosixPath(name).parent))
        if re.search(r"/(builders|optimisers)/", included) and not own:
            return False
        if "/layouts/" in name and "/traversals/" in included:
            return False
        return included.startswith(family[0])
    room = next((r for r in rooms if name.startswith(r + "/")), "")
    return bool(room) and any(included.startswith(r + "/") for r in (room, *rooms[room]))


# -- sizes ---------------------------------------------------------------------------------------------------------------
def long_things(root: pathlib.Path) -> list[str]:
    """Files past 400 lines and functions past 60."""
    found = []
    for name, text in files_of(root, ".py", ".cu", ".cuh", ".cpp", ".vert", ".frag"):
        count = len(text.splitlines())
        if count > FILE_LINES:
            found.append(f"{name}: {count} lines; {FILE_LINES} is the wall.")
        functions = _python_functions(text) if name.endswith(".py") else _c_functions(text)
        found += [f"{name}:{first}: {what} has {n} lines; {FUNCTION_LINES} is the wall." for what, first, n in functions if n > FUNCTION_LINES]
    return found


def _python_functions(text: str) -> Iterator[tuple[str, int, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1


def _c_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and length of each function: a brace that opens after a parenthesis, until its partner."""
    plain = _without_comments(text)
    depth, head_start = 0, 0
    function: tuple[int, int, str] | None = None
    for brace in re.finditer(r"[{};]", plain):
        head = plain[head_start : brace.start()]
        head_start = brace.end()
        if brace[0] == "{":
            named = re.search(r"(\w+)\s*\([^{}]*\)\s*(?:const|noexcept)?\s*$", head)
            if function is None and named:
                first = plain.count("\n", 0, head_start - len(head.lstrip())) + 1
                function = (depth, first, named[1])
            depth += 1
        elif brace[0] == "}":
            depth -= 1
            if function and depth == function[0]:
                yield function[2], function[1], plain.count("\n", 0, head_start) + 2 - function[1]
                function = None


def _without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)


# -- texts ---------------------------------------------------------------------------------------------------------------
def places_named(root: pathlib.Path) -> list[str]:
    """Package registries and folders of somebody's machine in any file."""
    found = []
    for name, text in files_of(root):
        for number, line in enumerate(text.splitlines(), 1):
            if match := _REGISTRY.search(line):
                found.append(f"{name}:{number}: names a package registry, {match[0]}.")
            if match := _MACHINE.search(line):
                found.append(f"{name}:{number}: names a folder of one machine, {match[0].strip()}.")
    return found


def dead_links(root: pathlib.Path) -> list[str]:
    """Links of pages that lead to no file, pages that code names and that are not there, and pages of docs/ that no other page leads to."""
    found, linked = [], set()
    for name, text in files_of(root, ".md", ".py", ".cu", ".cuh"):
        is_page, folder = name.endswith(".md"), (root / name).parent
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text) if is_page else []:
            linked.add((folder / link).resolve())
            if not (folder / link).exists():
                found.append(f"{name}: its link to {link} leads nowhere.")
        for page in re.findall(r"\bdocs/[\w/-]+\.md\b", text) if not name.startswith("tests/") else []:
            if not (root / page).is_file():
                found.append(f"{name}: names {page}, which is not there.")
    for name, _ in files_of(root, ".md"):
        if name.startswith("docs/") and (root / name).resolve() not in linked:
            found.append(f"{name}: no page has a link to it; docs/README.md lists them.")
    return found


def forked_kernels(root: pathlib.Path) -> list[str]:
    """Target conditionals outside gpu/target and gpu/device, and words that kernels do without."""
    found = []
    for name, text in files_of(root, ".cu", ".cuh"):
        is_free = name.startswith(("gpu/target/", "gpu/device/"))
        for number, line in enumerate(_without_comments_keeping_strings(text).splitlines(), 1):
            if not is_free and (match := _TARGET_WORDS.search(line)):
                found.append(f"{name}:{number}: {match[0]} belongs to gpu/target and gpu/device alone.")
            for pattern, reason in _KERNEL_WORDS.items():
                if re.search(pattern, line) and not is_free:
                    found.append(f"{name}:{number}: {reason}.")
    return found


def _without_comments_keeping_strings(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)


def strange_words(root: pathlib.Path) -> list[str]:
    """Names that say in another word what the house has a word for, and modules that do not say what they are."""
    found = []
    for name, text in files_of(root, ".py", ".cu", ".cuh"):
        if name.endswith(".py"):
            tree = ast.parse(text)
            names = _defined_names(tree)
            if tree.body and ast.get_docstring(tree) is None:
                found.append(f"{name}: begins without a docstring.")
        else:
            plain = _without_comments(text)
            names = ((m[0], plain.count("\n", 0, m.start()) + 1) for m in re.finditer(r"\b[a-z]\w*\b", plain))
            if not text.startswith("//"):
                found.append(f"{name}: begins without a comment that says what it is.")
        for word, line in names:
            for part in word.lower().strip("_").split("_"):
                if part in _WORDS:
                    found.append(f"{name}:{line}: {word}: the house says {_WORDS[part]}.")
    return found


def _defined_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno


def unlocked_packages(root: pathlib.Path) -> list[str]:
    """Dependencies of pyproject.toml that their lock file does not hold."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = {"core": [], **{name: extras[name] for name in ("dev", "cuda13", "cuda12")}}
    found = []
    for lock, requirements in wanted.items():
        text = (root / ".ci/requirements" / f"{lock}.txt").read_text(encoding="utf-8").lower()
        locked = set(re.findall(r"^([a-z0-9._-]+)==", text, re.MULTILINE))
        for requirement in [*project["dependencies"], *requirements]:
            package = re.match(r"[A-Za-z0-9._-]+", requirement)[0].lower()
            if package not in locked:
                found.append(f".ci/requirements/{lock}.txt: {package} is missing; run .ci/lock.")
        if "--hash=" not in text or "://" in text:
            found.append(f".ci/requirements/{lock}.txt: needs hashes, and no address.")
    return found


RULES = (broken_arrows, strange_libraries, broken_includes, long_things, places_named, dead_links, forked_kernels, strange_words, unlocked_packages)
