"""What this machine is: facts for the doctor's report and for the context of measured figures. Asking changes
nothing."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

from raygrove import checkout
from raygrove.gpu import linux

LIBRARIES = ("numpy", "PySide6-Essentials", "PyOpenGL", "cmeel-assimp", "Pillow", "platformdirs", "tomli-w")
"""What the program needs, by the names of their distributions."""

OPTIONAL_LIBRARIES = (
    "cupy-cuda13x",
    "cupy-cuda12x",
    "cuda-bindings",
    "cuda-cccl",
    "nvidia-cuda-nvrtc",
    "nvidia-cuda-nvrtc-cu12",
    "nvidia-cuda-runtime",
    "nvidia-cuda-runtime-cu12",
    "av",
    "OpenEXR",
    "chemfiles",
    "gsd",
    "laspy",
    "lazrs",
    "usd-core",
    "anywidget",
    "dracopy",
    "meshopt",
)
"""What only some machines or uses need."""


def versions(names: tuple[str, ...] = LIBRARIES + OPTIONAL_LIBRARIES) -> dict[str, str]:
    """Versions of the installed distributions among `names`."""
    import importlib.metadata  # what needs the standard library's modules for mail

    found = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """The commit this tree was checked out from, with a + where files differ from it; "" outside a checkout."""
    root = checkout.find()
    if root is None:
        return ""
    head = output(["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"])
    changed = output(["git", "-C", str(root), "status", "--porcelain", "--untracked-files=no"]) if head else ""
    return head + ("+" if changed else "")


def system() -> str:
    """The system's name as people know it."""
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        name = ""
    return f"{name or platform.system()}, Linux {platform.release()}, {platform.machine()}"


def cores() -> int:
    """Cores this process may use."""
    return linux.processors()


def processor() -> str:
    """The processor's name."""
    from raygrove.gpu.target import host_compiler

    return host_compiler.processor()[0]


def memory() -> tuple[int, int]:
    """Bytes of main memory: all, and what is free for a program. Zeros where the system does not say."""
    return linux.main_memory()


def nvidia_gpus() -> list[dict[str, str]]:
    """The NVIDIA GPUs the driver names: name, driver, memory, compute capability."""
    if not shutil.which("nvidia-smi"):
        return []
    text = output(["nvidia-smi", "--query-gpu=name,driver_version,memory.total,compute_cap", "--format=csv,noheader"])
    rows = [line.split(", ") for line in text.splitlines()]
    return [
        dict(zip(("name", "driver", "memory", "compute_capability"), row, strict=True)) for row in rows if len(row) == 4
    ]


def output(command: list[str], timeout: float = 10.0, folder: Path | None = None) -> str:
    """What a program prints, stripped; "" where it is missing, fails or hangs."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=timeout, check=False, cwd=folder
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
