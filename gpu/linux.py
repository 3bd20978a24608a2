"""What Linux alone is asked: memory, processors, users, limits, groups of processes. Everything else of the project can
be imported on other systems, where nothing runs yet and `system_problem` says so."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import pathlib
import signal
import sys
import threading
from collections.abc import Iterator

_SET_PARENT_DEATH_SIGNAL = 1  # of prctl
_MOST_HEAPS = -8  # of mallopt: M_ARENA_MAX
_PROC = pathlib.Path("/proc")
_DEVICES = pathlib.Path("/dev")
_GROUP = pathlib.Path("/sys/fs/cgroup")


_LOWEST_PRIORITY = 19
_LATER = 5  # more of niceness: a third of what another thread has of a processor


def system_problem(platform: str = "") -> str:
    """Why nothing can run here, as a sentence; "" on Linux."""
    platform = platform or sys.platform
    if platform == "linux":
        return ""
    return f"Raygrove runs on Linux x86-64; on this system ({platform}) it can be imported, and nothing more."


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


def processor_lines() -> list[tuple[str, str]]:
    """What Linux lists of its processors, as names and values; nothing where it does not."""
    try:
        lines = (_PROC / "cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    return [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]


def main_memory() -> tuple[int, int]:
    """Bytes of main memory: all, and what is free for a program. Zeros where the system does not say."""
    try:
        lines = dict(line.split(":", 1) for line in (_PROC / "meminfo").read_text(encoding="ascii").splitlines())
        total, free = (int(lines[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))
    except (OSError, KeyError, ValueError, IndexError):
        return 0, 0
    return total, free


def free_memory() -> int:
    """Bytes that this process can still have: what Linux estimates to be free, the limit of its address space, and that
    of its control group."""
    import resource

    limits = [main_memory()[1] or 1 << 62]
    with contextlib.suppress(OSError, ValueError, IndexError):
        ceiling = resource.getrlimit(resource.RLIMIT_AS)[0]
        if ceiling != resource.RLIM_INFINITY:
            limits.append(ceiling - _address_space())
    with contextlib.suppress(OSError, ValueError, KeyError):
        ceiling, used = (int((_GROUP / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
        kept = dict(line.split() for line in (_GROUP / "memory.stat").read_text(encoding="ascii").splitlines())
        limits.append(
            ceiling - used + int(kept["inactive_file"])
        )  # pages of files are given back before anything is refused
    return max(min(limits), 0)


def _address_space() -> int:
    """Bytes of addresses that this process has. Raises OSError where the system does not say."""
    import resource

    return int((_PROC / "self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()


def seconds_of_children() -> float:
    """Processor seconds of the processes that this one started and that have ended, finer than `os.times`."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def lower_limits(memory_bytes: int, seconds: int, mapped_bytes: int = 0) -> None:
    """Let this process have no more address space and processor time than that, and write no core; of files it may map
    `mapped_bytes` beside (`allow_mapping`)."""
    import resource

    wanted = {
        resource.RLIMIT_AS: (memory_bytes, memory_bytes + mapped_bytes),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_CPU: (seconds, seconds),
    }
    for kind, values in wanted.items():
        hard = resource.getrlimit(kind)[1]
        soft, most = values if hard == resource.RLIM_INFINITY else (min(value, hard) for value in values)
        resource.setrlimit(kind, (soft, most))


def allow_mapping(size: int) -> None:
    """Let this process have `size` bytes more of address space, for a file that it maps; no more than it may have."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        more = soft + size + resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (more if hard == resource.RLIM_INFINITY else min(more, hard), hard))


@contextlib.contextmanager
def growth_within(size: int) -> Iterator[None]:
    """Let this process have no more than `size` bytes of address space beyond what it has, until the end of the block:
    what asks for more fails. A limit that is lower already stays."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with contextlib.suppress(OSError, ValueError, IndexError):  # without /proc the limits of the whole process hold
        most = _address_space() + size
        resource.setrlimit(resource.RLIMIT_AS, (most if soft == resource.RLIM_INFINITY else min(most, soft), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def end_with_parent() -> None:
    """Let this process be killed when the one that started it ends."""
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def lower_priority(leader: int) -> None:
    """Let a process and those that it has started run when nobody else wants to. Raises ProcessLookupError where it is
    gone."""
    os.setpriority(os.PRIO_PGRP, leader, _LOWEST_PRIORITY)


def come_after_other_threads() -> None:
    """Let this thread, and those that it starts from now on, have a third of what another thread of the process has of
    a processor that both want. Where the system does not let it (sandboxes refuse the call), all stay alike."""
    with contextlib.suppress(OSError):
        later = os.getpriority(os.PRIO_PROCESS, 0) + _LATER
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), min(later, _LOWEST_PRIORITY))


def kill_group(leader: int) -> None:
    """Kill a process and those that it started. Raises ProcessLookupError where it is gone."""
    os.killpg(leader, signal.SIGKILL)


def give_memory_back() -> None:
    """Give the system what lies free between blocks that the C library keeps in use: after much was freed in another
    order than it was asked for, its heap holds on to that for ever."""
    with contextlib.suppress(AttributeError):  # a C library that is not glibc's
        ctypes.CDLL(None).malloc_trim(0)


def use_one_heap() -> None:
    """Let all threads that are started from now on take memory from the C library's first heap. It would make one for
    each, up to eight times as many as there are processors, and each keeps what was freed in it between its blocks: in
    the window two and a half times what is in use."""
    with contextlib.suppress(AttributeError):  # a C library that is not glibc's
        ctypes.CDLL(None).mallopt(_MOST_HEAPS, 1)


@contextlib.contextmanager
def file_in_memory(data: bytes) -> Iterator[str]:
    """A path to the bytes for a library that opens files by name; no file is left behind, whatever ends the process."""
    descriptor = os.memfd_create("raygrove")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(data)
        yield f"{_PROC}/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


def try_lock(file: int) -> bool:
    """Lock an open file against everyone else who asks, until it is closed; False where somebody has. Raises OSError
    where the file system knows no locks."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def user() -> int:
    """The number of the user whom this process acts for."""
    return os.geteuid()


def user_name(number: int) -> str:
    """What a user is called."""
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def open_queue_times() -> int:
    """A file whose second number is the nanoseconds that this thread waited for a processor; raises OSError where they
    are not counted."""
    return os.open(_PROC / f"self/task/{threading.get_native_id()}/schedstat", os.O_RDONLY | os.O_CLOEXEC)


def has_graphics_card() -> bool:
    """Whether there is a device that OpenGL could draw with in hardware: a card that Linux's drivers or NVIDIA's know,
    or Windows' beside it."""
    return any(next(_DEVICES.glob(name), None) is not None for name in ("dri/*", "nvidiactl", "dxg"))


def has_library(name: str) -> bool:
    """Whether the system can load a shared library: "libcuda.so.1"."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def load_beside_others(package: str) -> None:
    """Load the libraries that a Python package brings, while other threads run on: its import finds them in memory. An
    import holds the interpreter's lock meanwhile, FFmpeg's for 85 to 150 ms where they come from the disk. What cannot
    be loaded is left to the import, which says why."""
    spec = None if package in sys.modules else importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return
    load = ctypes.CDLL(None).dlopen  # called by ctypes, which lets go of the lock
    for library in sorted(pathlib.Path(spec.origin).parent.glob("*.so")):
        load(os.fsencode(library), os.RTLD_NOW)


def process_start(number: int) -> str:
    """When a process began, in the kernel's ticks since the start of the machine: what tells it from another with its
    number. An empty text where it does not run."""
    try:
        return (_PROC / str(number) / "stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
