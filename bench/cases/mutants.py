"""Whether the tests bite: faults planted one at a time in a copy of the checkout, and tests to see them.

Each fault of bench/mutants.toml names a file, a text that stands there once, what it becomes, and tests. The copy is
changed, the tests run, the copy is put back: the checkout itself is never touched. Tests are those of the default run
(`make test`), and of a fault with `run = "broad"` also those that only CI runs. Prints a line a fault and the share
that was caught. With a limit of minutes they are planted in an order by chance, so that those tried come from all
rooms; each run of a seed begins with the same. The exit status is 0 when every fault that was planted was caught.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

from raygrove import checkout

from ..arguments import OUT, UsageError, argument
from ..context import context_of, heading
from ..saved import keep

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAULTS = ROOT / "bench" / "mutants.toml"
COPIED = ("app", "assets", "bench", "docs", "gpu", "package", "shaders", "tests", ".ci", "main.py", "pyproject.toml")
LIMIT_S = 600
NO_TEST_RAN, ALL_PASSED = (4, 5), 0

ARGUMENTS = (
    argument("--only", default="", help="faults whose name begins so"),
    argument("--list", action="store_true", help="only say what would be planted"),
    argument("--minutes", type=float, default=0.0, help="plant, by chance, as many as that long allows (0: all)"),
    argument("--seed", type=int, default=1, help="of that order (1)"),
    OUT,
)


@dataclasses.dataclass(frozen=True)
class Fault:
    """One planted fault: in `file` the text `old`, which stands there once, becomes `new`; `tests` should see it, in
    the `run` that is named: "default", or "broad", which is everything but -m full."""

    name: str
    file: str
    old: str
    new: str
    tests: list[str]
    run: str = "default"


def faults() -> list[Fault]:
    """All that are kept."""
    return [Fault(name, **entry) for name, entry in tomllib.loads(FAULTS.read_text(encoding="utf-8")).items()]


def run(names: argparse.Namespace) -> int:
    """Plant each fault, run its tests, take it out again."""
    checkout.demand("Planting faults")
    chosen = [fault for fault in faults() if fault.name.startswith(names.only)]
    if not chosen:
        raise UsageError(f"--only {names.only}: no fault has a name that begins so; --list says them.")
    if names.list:
        print("\n".join(f"{fault.name:34} {fault.file}" for fault in chosen))
        return 0
    if names.minutes:
        random.Random(names.seed).shuffle(chosen)
    outcomes: dict[str, str] = {}
    end = time.monotonic() + 60.0 * names.minutes
    with tempfile.TemporaryDirectory(prefix="raygrove-mutants-") as folder:
        copy = copied(pathlib.Path(folder))
        for fault in chosen:
            if names.minutes and time.monotonic() > end:
                break
            outcomes[fault.name] = outcome_of(fault, copy)
            print(f"{fault.name:34} {outcomes[fault.name]}", flush=True)
    caught = sum(outcome == "caught" for outcome in outcomes.values())
    line = f"{caught} of {len(outcomes)} were caught: {100 * caught / max(len(outcomes), 1):.0f} %"
    if len(outcomes) < len(chosen):
        line += f"; {len(chosen) - len(outcomes)} of {len(chosen)} were not planted, as the time was over"
    print(line)
    if names.out:
        about = context_of("host", names.command)
        missed = [f"{name:34} {outcome}" for name, outcome in outcomes.items() if outcome != "caught"]
        rows = [{"fault": name, "outcome": one, "caught": int(one == "caught")} for name, one in outcomes.items()]
        keep(names.out, {"context": about, "results": rows}, "\n".join([*heading(about), "", *missed, line]))
    return int(caught < len(outcomes))


def copied(folder: pathlib.Path) -> pathlib.Path:
    """A copy of what tests need of the checkout, which Python imports as the package."""
    copy = folder / "checkout"
    copy.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "images"))
        else:
            shutil.copy(source, copy / name)
    subprocess.run([str(copy / ".ci" / "link_package"), str(folder)], check=True)
    return copy


def outcome_of(fault: Fault, copy: pathlib.Path) -> str:
    """caught, SURVIVED, or why that cannot be said."""
    path = copy / fault.file
    whole = path.read_text(encoding="utf-8")
    if whole.count(fault.old) != 1:
        return f"not planted: the text stands there {whole.count(fault.old)} times"
    path.write_text(whole.replace(fault.old, fault.new), encoding="utf-8")
    try:
        code = _tests(fault, copy)
    finally:
        path.write_text(whole, encoding="utf-8")
    if code in NO_TEST_RAN:
        return "no test ran"
    return "SURVIVED" if code == ALL_PASSED else "caught"


def _tests(fault: Fault, copy: pathlib.Path) -> int:
    environment = {**os.environ, "PYTHONPATH": str(copy.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    marks = "not full" if fault.run == "broad" else "not full and not broad"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", marks, *fault.tests]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        return subprocess.run(command, cwd=copy, env=environment, timeout=LIMIT_S, **pipes).returncode  # type: ignore[call-overload,no-any-return]
    except subprocess.TimeoutExpired:
        return 1
