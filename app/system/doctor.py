"""What this machine can do, as a report one can paste. Each finding says what is there, or what is missing and the line
that installs it."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from raygrove.app.settings.file import load_settings, user_file
from raygrove.app.settings.older import Older
from raygrove.app.system import machine
from raygrove.gpu import linux_sandbox
from raygrove.gpu.target import choose
from raygrove.program import how_to_install
from raygrove.version import VERSION

WINDOW_PACKAGES = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
}
"""Debian's packages of the shared libraries that Qt's window needs."""

EXTRAS = {
    "av": ("PyAV", "video (.mp4, .mov, .mkv); without it a sequence of PNG files can be written", "video"),
    "OpenEXR": ("OpenEXR", "depth, normals, ids and step counts in .exr files", "exr"),
    "chemfiles": ("chemfiles", "molecules and trajectories (.pdb, .gro, .xtc, .trr, .dcd)", "particles"),
    "gsd": ("gsd", "trajectories of HOOMD-blue (.gsd)", "particles"),
    "laspy": ("laspy", "surveys (.las, with lazrs .laz)", "particles"),
    "dracopy": ("DracoPy", "glTF compressed by Draco", "draco"),
    "meshopt": ("meshopt", "glTF compressed by meshoptimizer", "meshopt"),
    "anywidget": ("anywidget", "the viewer in notebooks", "notebook"),
    "duckdb": ("DuckDB", "SQL over stores of results, and packing them", "query"),
    "distributed": ("Dask", "sweeps that several hosts share as they come", "cluster"),
    "usd-core": ("OpenUSD", "USD files (.usd, .usda, .usdc, .usdz)", "usd"),
    "lazrs": ("lazrs", "packed surveys (.laz)", "particles"),
}
"""Libraries that one kind of file needs, by the names of their distributions: title, use, the project's extra."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """One line of the report. `is_good` is None where there is nothing to judge; `advice` says what to do about a bad
    one."""

    section: str
    name: str
    text: str
    is_good: bool | None = None
    advice: str = ""


def examine() -> list[Finding]:
    """The whole report. A check that fails is a finding, never an error."""
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        _machine,
        _libraries,
        _compilers,
        _targets,
        _display,
        _folders,
    )
    findings: list[Finding] = []
    for check in checks:
        try:
            findings.extend(check())
        except Exception as error:
            findings.append(
                Finding(
                    check.__name__.strip("_"), "check", f"could not be made: {type(error).__name__}: {error}", False
                )
            )
    return findings


def report(findings: list[Finding]) -> str:
    """The report as text: sections, aligned names, advice under what needs it."""
    lines: list[str] = []
    width = max(len(finding.name) for finding in findings)
    section = ""
    for finding in findings:
        if finding.section != section:
            section = finding.section
            lines += ["", section] if lines else [section]
        mark = {True: "ok  ", False: "FAIL", None: "    "}[finding.is_good]
        lines.append(f"  {mark} {finding.name.ljust(width)}  {finding.text}")
        lines += [f"       {' ' * width}  -> {finding.advice}"] if finding.advice else []
    return "\n".join(lines)


def _machine() -> Iterator[Finding]:
    commit, (total, free) = machine.commit(), machine.memory()
    yield Finding("machine", "Raygrove", f"{VERSION}, {f'commit {commit}' if commit else 'not a checkout'}")
    yield Finding("machine", "system", machine.system())
    yield Finding("machine", "processor", f"{machine.processor()}, {machine.cores()} cores for this process")
    yield Finding("machine", "memory", f"{total / 2**30:.1f} GiB, {free / 2**30:.1f} GiB free" if total else "unknown")
    old = sys.version_info < (3, 11)
    yield Finding(
        "machine",
        "Python",
        f"{sys.version.split()[0]} ({sys.executable})",
        not old,
        "Python 3.11 or later is needed." if old else "",
    )
    gpus = machine.nvidia_gpus()
    for index, gpu in enumerate(gpus):
        text = f"{gpu['name']}, {gpu['memory']}, compute capability {gpu['compute_capability']}, driver {gpu['driver']}"
        yield Finding("machine", f"GPU {index}", text, True)
    if not gpus:
        yield Finding("machine", "GPU", "no NVIDIA GPU (nvidia-smi names none); pictures are rendered on the CPU")
    yield sandbox_finding(linux_sandbox.landlock_version(), linux_sandbox.has_seccomp())


def sandbox_finding(landlock: int, has_seccomp: bool) -> Finding:
    """What the kernel keeps the reader of model files from."""
    files = f"only the files it needs (Landlock {landlock})" if landlock else "all files of yours: no Landlock here"
    calls = "no sockets, no other programs (seccomp)" if has_seccomp else "sockets and programs: no seccomp here"
    advice = "" if landlock and has_seccomp else "A kernel of 5.13 or later with Landlock switched on has both."
    text = f"a reader of models reaches {files}, {calls}"
    return Finding("machine", "sandbox", text, bool(landlock and has_seccomp) or None, advice)


def _libraries() -> Iterator[Finding]:
    found = machine.versions()
    for name in machine.LIBRARIES:
        advice = "" if name in found else how_to_install("app")
        yield Finding("libraries", name, found.get(name, "missing"), name in found, advice)
    for name in machine.OPTIONAL_LIBRARIES:
        if name in found and name not in EXTRAS:
            yield Finding("libraries", name, found[name], True)
    for name, (title, use, extra) in EXTRAS.items():
        text = f"{found[name]}, for {use}" if name in found else f"not installed; it is for {use}"
        yield Finding(
            "libraries",
            title,
            text,
            True if name in found else None,
            "" if name in found else f"pip install '{name}' (the extra {extra})",
        )
    if not any(name.startswith("cupy") for name in found):
        needed = bool(machine.nvidia_gpus())
        yield Finding(
            "libraries",
            "cupy",
            "not installed",
            False if needed else None,
            how_to_install("cuda13") if needed else "",
        )


def _compilers() -> Iterator[Finding]:
    from raygrove.gpu.target.base import NoDeviceError
    from raygrove.gpu.target.host_compiler import compiler_version, find_compiler
    from raygrove.gpu.target.nvrtc import nvrtc_version

    try:
        yield Finding(
            "compiler", "C++", f"{compiler_version()} ({shutil.which(find_compiler()[0]) or find_compiler()[0]})", True
        )
    except NoDeviceError as error:
        yield Finding("compiler", "C++", str(error), False, "sudo apt-get install g++")
    try:
        yield Finding("compiler", "NVRTC", ".".join(map(str, nvrtc_version())), True)
    except NoDeviceError as error:
        yield Finding("compiler", "NVRTC", str(error), False if machine.nvidia_gpus() else None)


def _targets() -> Iterator[Finding]:
    """Each target is really made, and given back."""
    from raygrove.gpu.target.base import TargetError

    gpus = max(1, len(machine.nvidia_gpus()))
    for name in ["cpu", *("cuda" if index == 0 else f"cuda:{index}" for index in range(gpus))]:
        try:
            with contextlib.closing(choose(name)) as target:
                yield Finding("devices", name, f"{target.device_name}, {target.lane_count} lanes", True)
                if hasattr(target, "sorter_name"):
                    text = {
                        "library": "NVIDIA's library (cuda.compute)",
                        "own": "Raygrove's own radix sort: cuda-cccl is missing or does not load",
                    }
                    yield Finding(
                        "devices", f"{name} sort", text[target.sorter_name], target.sorter_name == "library" or None
                    )
        except (TargetError, OSError) as error:
            without_gpu = name != "cpu" and not machine.nvidia_gpus()
            yield Finding("devices", name, str(error).partition("\n")[0], None if without_gpu else False)


def _display() -> Iterator[Finding]:
    variables = {
        name: os.environ[name] for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM") if os.environ.get(name)
    }
    shown = " ".join(f"{name}={value}" for name, value in variables.items())
    without = "none (no DISPLAY, no WAYLAND_DISPLAY): render and bench work, the window does not"
    yield Finding("display", "display", shown or without, bool(shown) or None)
    missing = missing_libraries()
    text = "all there" if not missing else "missing: " + ", ".join(missing)
    advice = install_line(missing)
    if importlib.util.find_spec("PySide6") is not None:
        yield Finding("display", "Qt's libraries", text, not missing, advice)
    yield from _gl(bool(variables.get("DISPLAY") or variables.get("WAYLAND_DISPLAY")))


def install_line(missing: list[str]) -> str:
    """The command that installs Debian's packages of missing shared libraries; "" for none."""
    packages = sorted({WINDOW_PACKAGES.get(name, name) for name in missing})
    return f"sudo apt-get install --no-install-recommends {' '.join(packages)}" if packages else ""


def missing_libraries() -> list[str]:
    """Shared libraries that Qt's X11 plugin needs and the system lacks, as `ldd` finds them."""
    spec = importlib.util.find_spec("PySide6")
    if spec is None or not spec.submodule_search_locations:
        return []
    folder = Path(next(iter(spec.submodule_search_locations)))
    looked_at = [
        folder / "Qt/plugins/platforms/libqxcb.so",
        folder / "Qt/lib/libQt6Gui.so.6",
        folder / "Qt/lib/libQt6OpenGLWidgets.so.6",
    ]
    text = "\n".join(machine.output(["ldd", str(path)]) for path in looked_at if path.exists())
    return sorted({line.split()[0] for line in text.splitlines() if "not found" in line and line.strip()})


def _gl(has_display: bool) -> Iterator[Finding]:
    """What draws the window's GL, asked in a child process: a broken driver must not end the report."""
    if has_display:
        question = (
            "from raygrove.app.ui.window.application import gl_renderer, make_application; make_application(); "
            "print(gl_renderer())"
        )
        text = machine.output([sys.executable, "-P", "-c", question], timeout=30.0)
        yield Finding(
            "display", "OpenGL", text or "no context could be made: the painter view is used", bool(text) or None
        )


def _folders() -> Iterator[Finding]:
    from raygrove.gpu.target.cache import damaged_files, place_and_reason

    folder, reason = place_and_reason()
    sizes = list(_sizes(folder))
    is_good, advice = _writable(folder)
    yield Finding(
        "folders",
        "kernel cache",
        f"{folder}: {len(sizes)} files, {sum(sizes) / 2**20:.1f} MiB",
        is_good and not reason,
        reason or advice,
    )
    damaged = damaged_files(folder)
    if damaged:
        text = f"{damaged[0]}{f' (and {len(damaged) - 1} more)' if len(damaged) > 1 else ''}"
        yield Finding(
            "folders",
            "kernel cache",
            text,
            None,
            "nothing has to be done: what is damaged is not loaded and made anew when it is needed",
        )
    path = user_file()
    try:
        text = "not there: built-in settings" if not path.exists() else "read without complaint"
        older = Older()
        if path.exists():
            load_settings(path, older=older)
        yield Finding("folders", "settings", " ".join([f"{path}: {text}", *older.sentences]), True)
    except ValueError as error:
        yield Finding("folders", "settings", str(error), False, "correct the line, or move the file away")
    except OSError as error:
        yield Finding(
            "folders", "settings", f"{path}: {error.strerror}", False, "change its permissions, or those of its folder"
        )


def _sizes(folder: Path) -> Iterator[int]:
    """Bytes of each file of a folder. Another program may be writing there: a file that has gone is not counted."""
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            status = path.stat()
            if stat.S_ISREG(status.st_mode):
                yield status.st_size


def _writable(folder: Path) -> tuple[bool, str]:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True, ""
    except OSError as error:
        why = f"it cannot be written ({error.strerror}), so kernels that it lacks are kept among the temporary files"
        return False, f"{why}; set RAYGROVE_CACHE to a folder that can"
