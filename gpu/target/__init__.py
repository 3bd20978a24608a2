"""Where kernels run. `choose` makes a target by its name on the command line; nothing else here imports a compiler or
cupy."""

from __future__ import annotations

import importlib
import re

from ..linux import system_problem
from .base import NoDeviceError, Target, TargetOptions


def choose(name: str = "auto", options: TargetOptions | None = None) -> Target:
    """The target of a device: auto, cpu (or host), cuda or cuda:N. `auto` takes the first NVIDIA GPU that can be
    used, else the CPU.

    Raises NoDeviceError where the one asked for cannot be used (a GPU asked for is never replaced by the CPU),
    ValueError for another name.
    """
    if problem := system_problem():
        raise NoDeviceError(problem)
    options = options or TargetOptions()
    match = re.fullmatch(r"(auto|cpu|host|cuda)(?::(\d+))?", name)
    if match is None or (match[1] != "cuda" and match[2]):
        raise ValueError(f"There is no device {name!r}: it is auto, cpu, cuda, or cuda:N for the N-th GPU.")
    if match[1] in ("cpu", "host"):
        return _host(options)
    try:
        return _cuda(options, int(match[2] or 0))
    except NoDeviceError:
        if match[1] == "cuda":
            raise
    return _host(options)


def _host(options: TargetOptions) -> Target:
    target: Target = importlib.import_module(".host", __name__).HostTarget(options)
    return target


def _cuda(options: TargetOptions, device: int) -> Target:
    """The N-th GPU; without the libraries that is no device either."""
    try:
        module = importlib.import_module(".cuda", __name__)
        target: Target = module.CudaTarget(options, device)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith(__name__.partition(".")[0]):
            raise
        raise NoDeviceError(
            f"The cuda target needs the cuda13 or cuda12 extra ({error.name or error} is missing): install it "
            "(pip install 'raygrove[cuda13]'; in a checkout `make env` on a machine with an NVIDIA GPU), "
            "or choose the device cpu."
        ) from error
    return target
