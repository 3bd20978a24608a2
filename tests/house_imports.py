"""Who may import and include whom: the rules of the house about arrows and libraries."""

from __future__ import annotations

import ast
import pathlib
import re
import sys
from collections.abc import Iterator

from .house_arrows import ARROWS, EVERYWHERE, NEVER
from .house_files import files_of
from .house_syntax import syntax_of

ROOMS = ("app", "gpu", "bench", "package", "tests")
PACKAGE = "raygrove"
"""What app, gpu and bench are imported as the subpackages of. `package/` holds the files of the package itself."""
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
    "chemfiles": ("app/scene_io/particles/", "bench/cases/opening.py"),  # which writes what it opens
    "gsd": ("app/scene_io/particles/",),
    "laspy": ("app/scene_io/particles/",),
    "DracoPy": ("app/scene_io/gltf_extensions.py",),
    "meshopt": ("app/scene_io/gltf_meshopt.py",),
    "pxr": ("app/scene_io/usd/", "bench/cases/stores.py"),  # which writes what it opens
    "lazrs": ("app/scene_io/particles/",),
    "matplotlib": ("bench/suites/plots.py",),
    "distributed": ("bench/store/cluster.py",),
    "duckdb": ("bench/store/packed.py",),
    "scipy": ("bench/cases/octrees.py",),
    "setuptools": ("setup.py",),
    "pytest": ("package/testing/",),
    "mitsuba": ("oracle/mitsuba_light.py",),  # of tests alone
    "cmeel": ("app/scene_io/",),
    "platformdirs": ("app/",),
    "tomli_w": ("app/",),
    # Of the standard library: foreign memory and other programs (compilers, importers, measured peers).
    "resource": ("gpu/linux.py",),
    "pwd": ("gpu/linux.py",),
    "ctypes": ("gpu/linux.py", "gpu/linux_sandbox.py", "gpu/target/", "app/scene_io/"),
    "subprocess": ("gpu/target/", "gpu/analysis/rivals/", "app/", "bench/"),
}
TEST_LIBRARIES = ("pytest", "hypothesis", "_pytest", "pytestqt", "playwright")


def broken_arrows(root: pathlib.Path) -> list[str]:
    """Imports that no arrow allows, and absolute ones inside gpu."""
    found = []
    for name, text in files_of(root, ".py"):
        module = _module_name(name)
        if module.split(".")[0] not in (*ROOMS, "main", "setup"):
            found.append(f"{name}: Python files stand in main.py, setup.py, {', '.join(ROOMS)}.")
            continue
        for imported, line in _misnamed_imports(text):
            found.append(f"{name}:{line}: {imported} is imported as {PACKAGE}.{imported}, so that it is loaded once.")
        for imported, line, is_relative in _project_imports(root, name, text):
            if module.startswith("gpu") and not is_relative:
                found.append(f"{name}:{line}: inside gpu imports are relative, not {imported}.")
            if not _is_allowed(root, module, imported):
                found.append(f"{name}:{line}: {module} may not import {imported}.")
    return found


def _is_allowed(root: pathlib.Path, module: str, imported: str) -> bool:
    if any(re.match(importer, module) and re.match(target, imported) for importer, target in NEVER):
        return False
    family = re.match(r"gpu\.hierarchy\.(\w+)", imported)
    if family and module.startswith("gpu.hierarchy.") and not _is_shared(root, family[1]):
        return _knows_family(module, imported, family[1])
    room = max((r for r in ARROWS if _is_inside(module, r)), key=len)
    shared = () if _is_inside(module, "gpu") else EVERYWHERE
    return any(_is_inside(imported, target) for target in (room, *ARROWS[room], *shared))


def _is_shared(root: pathlib.Path, name: str) -> bool:
    """Files of gpu/hierarchy itself are what families share; its folders are the families."""
    return (root / "gpu/hierarchy" / f"{name}.py").is_file()


def _knows_family(module: str, imported: str, family: str) -> bool:
    """A family knows itself; a builder or an optimiser knows its family, never its neighbour. The registry finds
    families by their folders.
    """
    if not module.startswith(f"gpu.hierarchy.{family}"):
        return False
    part = re.match(r"gpu\.hierarchy\.\w+\.(builders|optimisers)\.\w+", imported)
    return part is None or _is_inside(module, part[0])


def _is_inside(module: str, room: str) -> bool:
    return module == room or module.startswith(room + ".")


def _misnamed_imports(text: str) -> Iterator[tuple[str, int]]:
    for node in syntax_of(text).imports:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif not node.level:
            names = [node.module or ""]
        else:
            continue
        yield from ((name, node.lineno) for name in names if name.split(".")[0] in ("app", "gpu", "bench"))


def _project_imports(root: pathlib.Path, name: str, text: str) -> Iterator[tuple[str, int, bool]]:
    """Modules of the project that a file imports, by their paths from `root`; the line; whether relatively."""
    package = _module_name(name).split(".")
    if not name.endswith("__init__.py"):
        package = package[:-1]
    for node in syntax_of(text).imports:
        if isinstance(node, ast.Import):
            for alias in node.names:
                full = _in_rooms(alias.name)
                if full.split(".")[0] in ROOMS:
                    yield full, node.lineno, False
        else:
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *((node.module or "").split(".") if node.module else [])])
            source = _in_rooms(source)
            for imported in sorted({_imported(root, source, alias.name) for alias in node.names}):
                if imported.split(".")[0] in ROOMS:
                    yield imported, node.lineno, node.level > 0


def _in_rooms(module: str) -> str:
    """A module by the folder that it stands in: raygrove.gpu.x is gpu.x, and raygrove.version is package.version."""
    inside = module.removeprefix(PACKAGE).lstrip(".")
    if module.split(".")[0] != PACKAGE or not inside or inside.split(".")[0] in ROOMS:
        return inside if module.split(".")[0] == PACKAGE else module
    return f"package.{inside}"


def _imported(root: pathlib.Path, source: str, name: str) -> str:
    """The module that `from source import name` loads."""
    path = root / source.replace(".", "/") / name
    is_module = path.with_suffix(".py").is_file() or path.is_dir()
    return f"{source}.{name}".lstrip(".") if is_module else source


def _module_name(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def strange_libraries(root: pathlib.Path) -> list[str]:
    """Third-party imports outside the library's room; tests/gpu beyond numpy, pytest, hypothesis and the targets'
    libraries.
    """
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
                found.append(
                    f"{name}:{line}: {library} has no room; give it one in tests/house_imports.py or do without."
                )
            elif not any((mirrored if is_test else name).startswith(room) for room in rooms) and not (
                is_test and name.startswith("tests/app/")
            ):
                found.append(f"{name}:{line}: {library} belongs to {', '.join(rooms)} alone.")
    return found


def _libraries(text: str) -> Iterator[tuple[str, int]]:
    for node in syntax_of(text).imports:
        names = (
            [a.name for a in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if not node.level
            else []
        )
        for full in names:
            top = full.split(".")[0]
            if (top not in sys.stdlib_module_names or top in LIBRARIES) and top not in (*ROOMS, PACKAGE, "main"):
                yield top, node.lineno


def broken_includes(root: pathlib.Path) -> list[str]:
    """Includes, and names read of Python's (gpu/rows.py), that are not there, or that point against the arrows."""
    found = []
    for name, text in files_of(root, ".cu", ".cuh"):
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if match and not (root / match[1]).is_file():
                found.append(
                    f"{name}:{number}: {match[1]} is not there (includes are written from the project's root)."
                )
            elif match and not _may_include(name, match[1]):
                found.append(f"{name}:{number}: {name} may not include {match[1]}.")
            read = re.match(r"// from ([\w.]+) import", line)
            module = root / read[1].replace(".", "/") if read else root
            if read and not (module.with_suffix(".py").is_file() or (module / "__init__.py").is_file()):
                found.append(f"{name}:{number}: there is no module {read[1]}.")
            elif read and not name.startswith("tests/") and not _is_allowed(root, _room_of(name), read[1]):
                found.append(f"{name}:{number}: {name} may not read {read[1]}.")
    return found


def _room_of(name: str) -> str:
    """A kernel file as a module: it may read what Python beside it may import."""
    return name.rpartition(".")[0].replace("/", ".")


def _may_include(name: str, included: str) -> bool:
    rooms = {
        "gpu/primitives": (),
        "gpu/animate": (),
        "gpu/trace": (),
        "gpu/query": (),
        "gpu/nbody": ("gpu/hierarchy/octree",),
        "gpu/enlarge": (),
        "gpu/quantise": ("gpu/hierarchy/octree",),
        "gpu/analysis": ("gpu/trace",),
        "gpu/glyphs": ("gpu/trace",),
        "gpu/radiosity": ("gpu/trace", "gpu/hierarchy/octree"),
        "gpu/shade": ("gpu/trace", "gpu/radiosity"),
        "gpu/target": (),
        "gpu/device": (),
    }
    if name.startswith("tests/") or included.startswith("gpu/device/"):
        return True
    if name.startswith("gpu/hierarchy/") and re.fullmatch(r"gpu/hierarchy/\w+\.cuh", included):
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
