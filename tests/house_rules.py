"""The rules of the house as functions: each takes a folder that holds a copy of the project and gives the sentences of
what breaks it.

docs/architecture.md says why. tests/test_house.py asks that the project breaks none of them, and that each of them
bites.
"""

from __future__ import annotations

import ast
import pathlib
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from .house_files import files_of
from .house_imports import broken_arrows, broken_includes, strange_libraries
from .house_syntax import syntax_of

FILE_LINES, FUNCTION_LINES = 400, 60

_TARGET_WORDS = re.compile(r"__CUDA_ARCH__|__CUDACC__|CUDA_ON_HOST|#\s*(if|ifdef|ifndef|elif)\b")
_TOLERANCE = re.compile(r"(?<![\w.])(?:\d(?:\.\d{1,2})?e-\d+|1\.0000\d+|0\.999\d*)f?\b")
"""A number that is small or next to one; coefficients of series have more digits."""
_ROWS = ("options", "lights", "light", "of_light", "at_rest", "rest", "materials", "camera", "clip")
"""What kernels call the rows that Python writes (gpu/rows.py)."""
_POINTER = re.compile(r"\bfloat\s*\*\s*(?:const\s+)?(\w+)\s*=\s*([^;,]+)")
_LINUX_WORDS = re.compile(
    r"/proc/|/sys/|\b(?:sched_getaffinity|prctl|killpg|geteuid|getuid|import (?:fcntl|pwd|resource))\b"
)
_KERNEL_WORDS = {
    r"(?<!long )\blong\b(?! long)": "long has no fixed width: use int64",
    r"\brsqrtf?\b": "rsqrt differs from target to target: divide by sqrtf",
    r"\bprintf\b": "kernels do not print",
    r"\bvirtual\b": "no virtual functions in kernels",
    r"\bextern\s+__shared__": "no dynamic shared memory",
    r"\b__constant__\b": "no module constants: a frame struct holds them",
    r"#\s*include\s*<": "no standard headers in device code",
}
_WORDS = {
    "bbox": "aabb",
    "idx": "id",
    "num": "count",
    "cnt": "count",
    "tri": "triangle",
    "prims": "primitives",
    "accel": "hierarchy",
}
_MACHINE = re.compile(r"(?:^|[^A-Za-z0-9_.$])/(?:work|farm|root|home/\w+|tmp/\w*venv)/")
_REGISTRY = re.compile(
    r"https?://[^/\s\"']*(?:py" + r"pi|python" + r"hosted|npm" + r"js|con" + r"da|anaconda)[^/\s\"']*", re.IGNORECASE
)


# -- sizes ------------------------------------------------------------------------------------------------------------
def long_things(root: pathlib.Path) -> list[str]:
    """Files past 400 lines and functions past 60."""
    found = []
    for name, text in files_of(root, ".py", ".cu", ".cuh", ".cpp", ".vert", ".frag"):
        count = len(text.splitlines())
        if count > FILE_LINES:
            found.append(f"{name}: {count} lines; {FILE_LINES} is the wall.")
        functions = syntax_of(text).functions if name.endswith(".py") else _c_functions(text)
        found += [
            f"{name}:{first}: {what} has {n} lines; {FUNCTION_LINES} is the wall."
            for what, first, n in functions
            if n > FUNCTION_LINES
        ]
    return found


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
    return re.sub(
        r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL
    )


# -- texts ------------------------------------------------------------------------------------------------------------
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
    """Links of pages that lead to no file, pages that code names and that are not there, and pages of docs/ that no
    other page leads to."""
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


def raw_tolerances(root: pathlib.Path) -> list[str]:
    """Tolerances of kernels that stand where they are used: one place names them all and says what they follow from."""
    return [
        f"{name}:{number}: {match[0]} is a tolerance: name and derive it in gpu/device/epsilons.cuh."
        for name, text in files_of(root, ".cu", ".cuh")
        if name.startswith("gpu/") and name != "gpu/device/epsilons.cuh"
        for number, line in enumerate(_without_comments_keeping_strings(text).splitlines(), 1)
        if (match := _TOLERANCE.search(line))
    ]


def numbered_rows(root: pathlib.Path) -> list[str]:
    """Rows that Python writes and kernels read by number: `light[7]`, `materials + 11`, by another name too."""
    found = []
    for name, text in files_of(root, ".cu", ".cuh"):
        text = _without_comments_keeping_strings(text) if name.startswith("gpu/") else ""
        rows = "|".join((*_ROWS, *_other_names_of_rows(text)))
        # An array of that name is declared with its length, and parameters by default: neither is read.
        by_number = re.compile(rf"(?<!float )\b(?:{rows})(?:\s*\[\s*|\s*\+\s*)\d+\b(?!\s*\*)")
        for number, line in enumerate(text.splitlines(), 1):
            if match := by_number.search(line):
                found.append(f"{name}:{number}: {match[0]} reads a row by number: name its place (gpu/rows.py).")
    return found


def _other_names_of_rows(text: str) -> list[str]:
    """Pointers to whole rows: `const float* c = frame->camera`; `c + CameraRow::eye` is a field of one."""
    found = ["c"] if re.search(r"\bconst float\s*\*\s*c\b", text) else []
    for pointer, value in _POINTER.findall(text):
        fields = re.sub(r"\w+::FLOATS", "", value)
        if re.search(rf"\b(?:{'|'.join(_ROWS)})\b", fields) and "Row::" not in fields:
            found.append(pointer)
    return found


def _without_comments_keeping_strings(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)


LINUX = ("gpu/linux.py", "gpu/linux_sandbox.py")


def linux_calls(root: pathlib.Path) -> list[str]:
    """What Linux alone has, outside its two modules: elsewhere the package has to be imported, too."""
    return [
        f"{name}:{number}: {match[0]} belongs to {LINUX[0]} alone."
        for name, text in files_of(root, ".py")
        if not name.startswith("tests/") and name not in LINUX
        for number, line in enumerate(text.splitlines(), 1)
        if (match := _LINUX_WORDS.search(line))
    ]


def strange_words(root: pathlib.Path) -> list[str]:
    """Names that say in another word what the house has a word for, and modules that do not say what they are."""
    found = []
    for name, text in files_of(root, ".py", ".cu", ".cuh"):
        if name.endswith(".py"):
            names = syntax_of(text).names
            if not syntax_of(text).has_docstring:
                found.append(f"{name}: begins without a docstring.")
        else:
            plain = _without_comments(text)
            names = [(m[0], plain.count("\n", 0, m.start()) + 1) for m in re.finditer(r"\b[a-z]\w*\b", plain)]
            if not text.startswith("//"):
                found.append(f"{name}: begins without a comment that says what it is.")
        for word, line in names:
            for part in word.lower().strip("_").split("_"):
                if part in _WORDS:
                    found.append(f"{name}:{line}: {word}: the house says {_WORDS[part]}.")
    return found


def unlocked_packages(root: pathlib.Path) -> list[str]:
    """Dependencies of pyproject.toml that their lock file does not hold."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {"core": "all", "dev": "dev", "cuda13": "cuda13", "cuda12": "cuda12"}
    found = []
    for lock, extra in wanted.items():
        text = (root / ".ci/requirements" / f"{lock}.txt").read_text(encoding="utf-8").lower()
        locked = set(re.findall(r"^([a-z0-9._-]+)==", text, re.MULTILINE))
        for package in packages_of(project, extra):
            if package not in locked:
                found.append(f".ci/requirements/{lock}.txt: {package} is missing; run .ci/lock.")
        if "--hash=" not in text or "://" in text:
            found.append(f".ci/requirements/{lock}.txt: needs hashes, and no address.")
    return found


def packages_of(project: dict[str, Any], *extras: str) -> list[str]:
    """The packages of the base and of some extras, in lower case, with those of the extras that these name."""
    waiting, found = [*project["dependencies"], *(f"raygrove[{extra}]" for extra in extras)], []
    for requirement in waiting:
        package, inner = re.match(r"([A-Za-z0-9._-]+)(?:\[([^]]*)\])?", requirement).groups()
        if package == "raygrove":
            waiting += [one for extra in inner.split(",") for one in project["optional-dependencies"][extra]]
        else:
            found.append(package.lower())
    return list(dict.fromkeys(found))  # two extras may name a third


def short_waits(root: pathlib.Path) -> list[str]:
    """Tests of windows that wait for less time than all others: what comes ends a wait, and a time of its own only
    makes a test fail on a busy machine."""
    return [
        f"{name}:{node.lineno}: wait as long as all tests do (tests/app/conftest.py)."
        for name, text in files_of(root, ".py")
        if name.startswith("tests/") and "qtbot.wait" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).startswith("qtbot.wait")
        and any(named.arg == "timeout" for named in node.keywords)
    ]


# -- words ------------------------------------------------------------------------------------------------------------
_PERCENT = re.compile(r"\{[^{}\"]*:[^{}]*%\}|\}%[^()]")


def percents(root: pathlib.Path) -> list[str]:
    """Shares that are not spelt by `percent` of gpu/brief.py: people would read 12% here and 12 % there."""
    return [
        f"{name}:{number}: {found[0]}: spell it by percent (gpu/brief.py)."
        for name, text in files_of(root, ".py")
        if name.startswith(("app/", "gpu/", "package/")) and name != "gpu/analysis/pages.py"
        for number, line in enumerate(text.splitlines(), 1)
        if (found := _PERCENT.search(line))
    ]


RULES = (
    broken_arrows,
    strange_libraries,
    broken_includes,
    long_things,
    places_named,
    dead_links,
    forked_kernels,
    raw_tolerances,
    numbered_rows,
    linux_calls,
    strange_words,
    unlocked_packages,
    short_waits,
    percents,
)
