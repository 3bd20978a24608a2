"""docs/api.md, made from the docstrings of the names that `import raygrove` gives.

Run as `python -m raygrove.app.help.api_docs` after one of them changed; a test demands that the page is current.
"""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATH = ROOT / "docs" / "api.md"

HEAD = """# The library

`import raygrove as rg`. This page is made from the docstrings by `python -m raygrove.app.help.api_docs`; edit those,
not this. The examples are run by the tests. How a structure is spelt: [configurations](decisions/configurations.md);
what trees answer of regions: [queries](queries.md); a builder of one's own: [your-own-builder.md](your-own-builder.md).
Two notebooks: [nearest hits from NumPy](notebooks/nearest-hits.ipynb),
[compare builders on your animation](notebooks/compare-builders.ipynb).

Arrays are NumPy's, CuPy's, or anything with DLPack or `__cuda_array_interface__`, and come back as the same kind.
Lengths are in scene units, angles in degrees, times in seconds; what statistics say is in milliseconds.
"""

ALL = "the group of objects that the rays of every group meet, and of rays that meet everything."

PARTS = (
    ("Scenes", ("Scene", "Mesh", "ALL", "Clip", "open")),
    (
        "Trees",
        (
            "build",
            "build_spheres",
            "Structure",
            "structures",
            "Configuration",
            "save_tree",
            "load_tree",
            "import_tree",
            "use_tree",
        ),
    ),
    ("Rays", ("RaySet", "sensors.lidar", "sensors.pinhole", "sensors.Sensor", "sensors.SensorRays", "Hits")),
    ("Pictures", ("render", "Pictures", "Camera")),
    ("The window", ("show", "Viewer")),
    ("Notebooks", ("NotebookViewer",)),
    ("A builder of one's own", ("builder", "Tree")),
    ("Regions", ("Nearest", "Neighbours", "PrimitiveLists", "FoundLeaves")),
    ("Errors", ("Error", "ConfigurationError", "OptionError", "HierarchyError", "TargetError", "NoDeviceError")),
    (
        "The laboratory",
        (
            *("advise", "validate", "diagnose", "race", "Race", "correlate", "Survey"),
            *("RayLog", "hot_spots", "divergence"),
        ),
    ),
)


def text() -> str:
    """The page."""
    library = importlib.import_module("raygrove")
    parts = [HEAD]
    for title, names in PARTS:
        parts.append(f"\n## {title}\n")
        for name in names:
            thing: Any = library
            for word in name.split("."):
                thing = getattr(thing, word)
            parts.append(_entry(f"rg.{name}", thing))
    return "".join(parts)


def _entry(name: str, thing: Any) -> str:
    if isinstance(thing, int):
        return f"\n### `{name}`\n\n{thing}: {ALL}\n"
    made = f"\n### `{name}`\n\n{_signature(name, thing)}{_told(thing)}"
    if inspect.isclass(thing) and not issubclass(thing, BaseException):
        made += "".join(_member(thing, member) for member in _members(thing))
    return made


def _members(thing: type) -> list[str]:
    """What a class has besides what Python gives, its own first."""
    found = [name for kind in thing.__mro__ if kind.__module__.startswith("raygrove") for name in vars(kind)]
    return [
        name
        for name in dict.fromkeys(found)
        if not name.startswith("_") and (callable(getattr(thing, name)) or isinstance(_raw(thing, name), property))
    ]


def _member(owner: type, name: str) -> str:
    thing = _raw(owner, name)
    if isinstance(thing, property):
        return f"\n**`.{name}`** {_one_line(thing.fget)}\n"
    called = getattr(owner, name)
    shown = _parameters(called)
    return f"\n**`.{name}({shown})`** {_one_line(called)}\n"


def _raw(owner: type, name: str) -> Any:
    return inspect.getattr_static(owner, name)


def _signature(name: str, thing: Any) -> str:
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return ""
    return f"`{name}({_parameters(thing)})`\n\n"


def _parameters(thing: Any) -> str:
    """Names and defaults, without types: those are in the text. Of overloads the widest."""
    call = thing.__init__ if inspect.isclass(thing) else thing
    shown: list[str] = []
    was_keyword = False
    for parameter in inspect.signature(call).parameters.values():
        if parameter.name == "self" or (parameter.name == "device" and thing.__name__ == "Mesh"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not was_keyword:
            was_keyword = True
            if not any(one.startswith("*") for one in shown):
                shown.append("*")
        stars = 1 if parameter.kind is parameter.VAR_POSITIONAL else 2 if parameter.kind is parameter.VAR_KEYWORD else 0
        word = "*" * stars + parameter.name
        default = parameter.default
        has_default = default is not inspect.Parameter.empty and not repr(default).startswith("<")
        shown.append(f"{word}={default!r}" if has_default else word)
    return ", ".join(shown)


def _told(thing: Any) -> str:
    """A docstring as Markdown: examples and indented lines as blocks of code."""
    lines = inspect.cleandoc(thing.__doc__ or "").split("\n")
    made: list[str] = []
    is_code = False
    for line in lines:
        begins = line.startswith(">>>") or (line.startswith("    ") and not is_code)
        if begins and not is_code:
            made.append("```python")
            is_code = True
        elif is_code and not line.strip():
            made.append("```")
            is_code = False
        made.append(line)
    if is_code:
        made.append("```")
    return textwrap.dedent("\n".join(made)) + "\n"


def _one_line(thing: Any) -> str:
    said = inspect.cleandoc(thing.__doc__ or "").partition("\n>>>")[0].strip()
    return re.sub(r"\s*\n\s*", " ", said)


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
