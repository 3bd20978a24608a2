"""Runs the jobs of which nothing is kept under both sanitizers at once, and keeps what is clean (kept_jobs.py): python
-m tests.gpu.sanitizers.keep. Whoever has changed kernels, or what launches them, does so before a commit."""

from __future__ import annotations

import concurrent.futures
import threading

from . import kept_jobs
from .tools import FLAGS, how, names_for, outcomes

AT_ONCE = 12
"""Jobs of a process, behind which they are kept, so that who ends this goes on where it was."""

_file = threading.Lock()


def keep(tool: str) -> None:
    """Run a tool's jobs, and keep them."""
    names = names_for(tool)
    valid = kept_jobs.read().valid(tool, how(tool))
    new, kept_count = [name for name in names if name not in valid], len(valid)
    for first in range(0, max(len(new), 1), AT_ONCE):
        some = new[first : first + AT_ONCE]
        found = outcomes(tool, some) if some else {}
        with _file:
            kept_count += len(found) - len(kept_jobs.keep(tool, how(tool), names, found))
        print(f"{tool}: {kept_count} of {len(names)} jobs are kept.", flush=True)


def main() -> None:
    """Keep all of both tools."""
    with concurrent.futures.ThreadPoolExecutor(len(FLAGS)) as pool:
        list(pool.map(keep, FLAGS))


if __name__ == "__main__":
    main()
