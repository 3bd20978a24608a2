"""Models made to do harm (hostile_files.py), each opened by the program itself, and drawn where it opens.

`python -m tests.campaign.hostile [--only WORD]`. Each `info`, and then `render` of a small picture, must end with exit
code 0, or 3 and a sentence, within 20 s of processor time and 1 GiB more than a plain triangle takes; print no
traceback, nothing that a terminal obeys, and no word of /etc/passwd.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.campaign import kept
from tests.campaign.hostile_files import TRIANGLE, make_all

ROOT = Path(__file__).resolve().parents[2]
SLOW_S, MOST_MIB, PATIENCE_S = 20.0, 1024.0, 300.0
PICTURE = ("--device", "cpu", "--size", "32x24", "--samples", "1", "--hierarchy", "lbvh", "--ray-type", "flat")
PRIVATE = "root:x:0"
"""How /etc/passwd begins."""
FINE = (0, 3)


@dataclasses.dataclass(frozen=True)
class Run:
    """What became of one command: its exit code (-9 where it was stopped), what it said, processor seconds and the most
    memory that it or one of its children had."""

    code: int
    said: str
    seconds: float
    mib: float


def run(words: list[str], folder: Path) -> Run:
    """The program with these words, in `folder`."""
    command = [sys.executable, str(ROOT / "main.py"), *words]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
        end = time.monotonic() + PATIENCE_S
        while True:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > end:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                end += PATIENCE_S
            time.sleep(0.02)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read().decode("utf-8", "backslashreplace")
    return Run(process.returncode, said, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def wrong_with(found: Run, plain: Run) -> list[str]:
    """What is not as promised."""
    wrong = []
    if found.code not in FINE:
        wrong.append(f"exit code {found.code}")
    if found.code == 3 and "error: " not in found.said:
        wrong.append("no sentence")
    for word in ("Traceback", "Please report", "fault of the program", PRIVATE):
        if word in found.said:
            wrong.append(f"it says {word!r}")
    if any(letter in found.said for letter in "\x1b\x07\u202e"):
        wrong.append("a terminal would obey what it says")
    if found.seconds - plain.seconds > SLOW_S:
        wrong.append(f"{found.seconds:.1f} s")
    if found.mib - plain.mib > MOST_MIB:
        wrong.append(f"{found.mib:,.0f} MiB, where a triangle takes {plain.mib:,.0f}")
    return wrong


def tried(path: Path, plain: tuple[Run, Run]) -> tuple[list[Run], list[str]]:
    """`info`, and `render` where that opens it; what is wrong with both."""
    name = f"./{path.name}"
    runs = [run(["info", name, "--all-formats"], path.parent)]
    if runs[0].code == 0:
        runs.append(run(["render", name, "--all-formats", *PICTURE], path.parent))
    wrong = [f"{word}: {one}" for word, found, same in zip(("info", "render"), runs, plain, strict=False)
             for one in wrong_with(found, same)]  # fmt: skip
    if path.name.startswith("slip") and Path("/tmp/raygrove-slip.txt").exists():
        wrong.append("it wrote beside its archive")
    return runs, wrong


def main(arguments: list[str] | None = None) -> int:
    """Try all, print a table; 1 where there is a finding."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="files whose names have this word")
    names = kept.parsed(parser, arguments)
    counts = {"opened": 0, "sentence": 0, "finding": 0}
    slowest, largest, findings, rows = (0.0, ""), (0.0, ""), list[str](), list[dict[str, Any]]()
    with tempfile.TemporaryDirectory(prefix="raygrove-hostile-") as name:
        folder = Path(name)
        # What a process has taken counts for those that it starts: whoever makes pictures of gigabytes starts none.
        with ProcessPoolExecutor(1, get_context("spawn")) as maker:
            paths = [path for path in maker.submit(make_all, folder).result() if names.only in path.name]
        (folder / "plain.obj").write_text(TRIANGLE)
        words = (["info", "./plain.obj"], ["render", "./plain.obj", *PICTURE])
        run(words[1], folder)  # what is compiled once is counted for none
        plain = (run(words[0], folder), run(words[1], folder))
        for path in paths:
            runs, wrong = tried(path, plain)
            rows.append({"file": path.name, "seconds": max(one.seconds for one in runs),
                         "mib": max(one.mib for one in runs), "findings": len(wrong)})  # fmt: skip
            counts["finding" if wrong else "sentence" if runs[0].code else "opened"] += 1
            slowest = max(slowest, *((one.seconds, path.name) for one in runs))
            largest = max(largest, *((one.mib, path.name) for one in runs))
            for one in wrong:
                findings.append(f"{path.name[:60]!r}: {one}")
                print(findings[-1], flush=True)
    lines = [
        f"{len(paths)} files: " + ", ".join(f"{count} {word}" for word, count in counts.items()),
        f"a triangle takes {plain[0].mib:,.0f} MiB and {plain[0].seconds:.1f} s",
        f"most: {largest[0]:,.0f} MiB by {largest[1]!r}, {slowest[0]:.1f} s by {slowest[1]!r}",
    ]
    print(*lines, sep="\n")
    content = {"files": len(paths), "counts": counts, "findings": findings, "results": rows,
               "plain_mib": plain[0].mib, "seconds": slowest[0]}  # fmt: skip
    kept.keep_found(names.out, content, lines)
    return int(counts["finding"] > 0)


if __name__ == "__main__":
    sys.exit(main())
