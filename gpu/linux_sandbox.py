"""What a process of Linux gives up for good: files by Landlock, system calls by seccomp. Neither needs rights of any
kind, and neither can be taken back, by whatever runs in the process later.

Landlock is what the kernel's `Documentation/userspace-api/landlock.rst` describes, seccomp its
`seccomp_filter.rst`; numbers of calls are those of x86-64.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import platform
import struct
from collections.abc import Iterable, Sequence

_SET_NO_NEW_PRIVILEGES = 38  # of prctl
_SECCOMP, _SET_FILTER, _ACTION_AVAILABLE, _ALL_THREADS = 317, 1, 2, 1
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _BENEATH_A_PATH = 1, 1

_WRITE_FILE, _READ_FILE, _READ_FOLDER, _REMOVE_FILE, _MAKE_FILE, _TRUNCATE = (1 << bit for bit in (1, 2, 3, 5, 8, 14))
_READ = _READ_FILE | _READ_FOLDER
_WRITE = _READ | _WRITE_FILE | _REMOVE_FILE | _MAKE_FILE | _TRUNCATE
_OF_FILES = _READ_FILE | _WRITE_FILE | _TRUNCATE
"""Rights that a rule about a single file may name; the others are of folders."""
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""All rights over files that a version of Landlock knows: what is not granted is refused."""
_CONNECTIONS = 0b11  # to bind and to connect a socket of TCP, since version 4
_SCOPES = 0b11  # abstract sockets and signals of others, since version 6

_X86_64, _OTHER_ABI = 0xC000003E, 0x40000000
_KILL, _ALLOW, _ERROR = 0x80000000, 0x7FFF0000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_CLONE, _CLONE3, _NEW_THREAD, _SIGNAL_THREAD = 56, 435, 0x10000, 234
_FCNTL, _SET_OWNER, _SET_OWNER_EX, _SET_LEASE, _NOTIFY = 72, 8, 15, 1024, 1026
_IOCTL = 16
_OF_TERMINALS = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""What Python asks of a file by ioctl: whether it is a terminal and how wide, whether it waits, and whether programs
inherit it (TCGETS, TCGETS2, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX)."""
_FIRST_UNKNOWN = 470
"""Of what later kernels have; the last that is known here is file_setattr, of Linux 6.17."""
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24  # offsets in struct seccomp_data

REFUSED_CALLS = {
    "sockets": (41, 42, 43, 44, 46, 49, 50, 53, 288, 307),  # socket, connect, accept, sendto, sendmsg, bind, listen ...
    "programs and processes": (57, 58, 59, 322),  # fork, vfork, execve, execveat
    "other processes": (
        *(62, 101, 129, 200, 297, 310, 311, 424, 434, 438, 440, 448),  # kill, ptrace, process_vm_readv, pidfd_open ...
        *(141, 251, 256, 279, 312),  # setpriority, ioprio_set, migrate_pages, move_pages, kcmp
    ),
    "users and rights": (105, 106, 113, 114, 116, 117, 119, 122, 123, 126),  # setuid, setgid, setgroups, capset ...
    "notices of files": (253, 294, 300, 301),  # inotify_init, fanotify_init, fanotify_mark
    "modes, owners, times": (
        *(90, 91, 92, 93, 94, 132, 188, 189, 190, 197, 198, 199, 235),  # chmod, chown, utime, setxattr ...
        *(260, 261, 268, 280, 452, 463, 466, 469),  # their forms with a folder: fchownat, fchmodat, file_setattr ...
    ),
    "mounts and name spaces": (
        155,
        161,
        165,
        166,
        272,
        308,
        428,
        429,
        430,
        431,
        432,
        433,
        442,
        457,
        458,
        467,
    ),  # mount, unshare, statmount ...
    "memory and queues of others": (
        29,
        30,
        31,
        64,
        65,
        66,
        68,
        69,
        70,
        71,
        240,
        241,
    ),  # shmget, semget, msgget, mq_open
    "the kernel": (
        *(103, 134, 153, 154, 159, 163, 164, 167, 168, 169, 170, 171, 172, 173, 175, 176, 179, 227, 246, 248, 249, 250),
        *(
            298,
            303,
            304,
            305,
            313,
            320,
            321,
            323,
            425,
            426,
            427,
            443,
            444,
            445,
            446,
            447,
            460,
        ),  # bpf, io_uring, modules, clocks, keys, quotas ...
    ),
}
"""Numbers of system calls, by what they reach."""
OWN_ALONE = (142, 144, 203, 302, 314)
"""Calls that set limits and turns of the process that they name first, which may be this one alone, called 0:
sched_setparam, sched_setscheduler, sched_setaffinity, prlimit64, sched_setattr."""


class SandboxError(OSError):
    """The kernel has the means and refused all the same; the text says which."""


def landlock_version() -> int:
    """The version of Landlock that this kernel has; 0 for none."""
    return max(int(_libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)), 0)


def has_seccomp() -> bool:
    """Whether this kernel filters system calls and lets this process ask for it, which some containers do not; and this
    module knows their numbers here."""
    action = ctypes.byref(ctypes.c_uint32(_ERROR))
    return platform.machine() == "x86_64" and _libc().syscall(_SECCOMP, _ACTION_AVAILABLE, 0, action) == 0


def own_libraries() -> list[pathlib.Path]:
    """What every program here reads of the system: shared libraries, and what the loader and the allocators look at."""
    named = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if folder]
    fixed = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/localtime")
    kernel = ("/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/sys/devices/system/cpu", "/dev/null", "/dev/urandom")
    return [pathlib.Path(path) for path in (*named, *fixed, *kernel)]


def keep_to_files(readable: Iterable[pathlib.Path], writable: Sequence[pathlib.Path] = ()) -> None:
    """From now on this thread, and what it starts, opens nothing but what lies in those folders (or is one of those
    files); files that are open stay so. Paths that do not exist are left out. Raises `SandboxError`."""
    version = landlock_version()
    if not version:
        raise SandboxError("This kernel has no Landlock.")
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        raise SandboxError(f"Landlock binds one thread, and {threads} threads run already.")
    rights = _RIGHTS[min(version, max(_RIGHTS))]
    fields = [rights, _CONNECTIONS, _SCOPES][: 1 if version < 4 else 2 if version < 6 else 3]
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    rules = _call("Landlock", _CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for path in readable:
            _grant(rules, path, _READ & rights)
        for path in writable:
            _grant(rules, path, _WRITE & rights)
        _give_up_new_privileges()
        _call("Landlock", _RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def refuse_calls() -> None:
    """From now on no thread of this process opens a socket, starts a program or a process, changes what another process
    may do, or calls what else `REFUSED_CALLS` has: such calls fail with EPERM. Threads can be started. Raises
    `SandboxError`."""
    if not has_seccomp():
        raise SandboxError("This kernel filters no system calls.")
    _give_up_new_privileges()
    lines = _filter()
    code = ctypes.create_string_buffer(b"".join(lines), 8 * len(lines))

    class Program(ctypes.Structure):
        """struct sock_fprog."""

        _fields_ = [("count", ctypes.c_ushort), ("lines", ctypes.c_void_p)]

    program = Program(len(lines), ctypes.addressof(code))
    _call("seccomp", _SECCOMP, _SET_FILTER, _ALL_THREADS, ctypes.byref(program))


def _filter() -> list[bytes]:
    """The filter's lines, in the order in which they are met: the architecture, calls of the 32-bit-pointer ABI, the
    calls that are told apart by one of their arguments, and those that are refused."""
    refused = sorted(number for numbers in REFUSED_CALLS.values() for number in numbers)
    allow, refuse, unknown = (_line(_RETURN, answer) for answer in (_ALLOW, _ERROR | _EPERM, _ERROR | _ENOSYS))
    refuse_after = len(refused) + 1  # from the last line of the list, behind it `allow`
    lines = [
        _line(_LOAD, _ARCHITECTURE),
        _line(_IF_EQUAL, _X86_64, 1, 0),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER),
        _line(_IF_AT_LEAST, _OTHER_ABI, 0, 1),
        refuse,
        _line(_IF_AT_LEAST, _FIRST_UNKNOWN, 0, 1),
        unknown,  # as if this kernel were as old as this list
        _line(_IF_EQUAL, _CLONE3, 0, 1),
        unknown,  # so that libc starts its threads by `clone`, whose flags can be seen
        *_told_apart(_CLONE, _FIRST_ARGUMENT, _IF_ANY_BIT, (_NEW_THREAD,), allow, refuse),
        # A crash ends itself by such a signal.
        *_told_apart(_SIGNAL_THREAD, _FIRST_ARGUMENT, _IF_EQUAL, (os.getpid(),), allow, refuse),
        # Whoever owns an open file gets a signal of the caller's choice when it can be read; a lease lets others wait.
        *_told_apart(
            _FCNTL, _SECOND_ARGUMENT, _IF_EQUAL, (_SET_OWNER, _SET_OWNER_EX, _SET_LEASE, _NOTIFY), refuse, allow
        ),
        # Flags of a file, as that nobody may write it, are set by way of one that can only be read.
        *_told_apart(_IOCTL, _SECOND_ARGUMENT, _IF_EQUAL, _OF_TERMINALS, allow, refuse),
    ]
    for number in OWN_ALONE:
        lines += _told_apart(number, _FIRST_ARGUMENT, _IF_EQUAL, (0,), allow, refuse)
    lines += [_line(_IF_EQUAL, number, refuse_after - 1 - place, 0) for place, number in enumerate(refused)]
    return [*lines, allow, refuse]


def _told_apart(
    call: int, argument: int, test: int, values: Sequence[int], if_one: bytes, if_none: bytes
) -> list[bytes]:
    """Lines that answer a call by whether one of its arguments passes the test with one of `values`; of other calls
    they go on."""
    tests = [_line(test, value, len(values) - place, 0) for place, value in enumerate(values)]
    return [_line(_IF_EQUAL, call, 0, len(values) + 3), _line(_LOAD, argument), *tests, if_none, if_one]


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """struct sock_filter."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _grant(rules: int, path: pathlib.Path, rights: int) -> None:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        file = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            allowed = rights if os.path.isdir(f"/proc/self/fd/{file}") else rights & _OF_FILES
            _call("Landlock", _ADD_RULE, rules, _BENEATH_A_PATH, struct.pack("=Qi", allowed, file), 0)
        finally:
            os.close(file)


def _give_up_new_privileges() -> None:
    if _libc().prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise SandboxError(f"prctl: {os.strerror(ctypes.get_errno())}")


def _call(what: str, number: int, *arguments: object) -> int:
    result = int(_libc().syscall(number, *arguments))
    if result < 0:
        raise SandboxError(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc
