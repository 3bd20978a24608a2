"""One campaign: changed files into every reader, and what became of each.

`python -m tests.campaign [--count N] [--seconds S] [--seed N] [--only NAME[:NUMBER]] [--assimp FILE]`. What a reader
must give is a value or one sentence; a crash of its child is a sentence, too, and counted. Anything else is a finding:
another exception, a reader that took longer than its limit or a child that took more than 1 GiB beyond what the file
justifies, a sentence that asks for a report or ends a command with another exit code than 3, a scene that is not what
the file says (second_look.py), a fault of memory where libassimp was built to see them. Findings are kept under
tests/campaign/findings, and tests/campaign/test_campaign.py reads them ever after.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from raygrove.app.problems.problems import EXIT_FILE, problem_of
from raygrove.app.scene_io import SceneError
from raygrove.app.settings.file import SettingsError
from raygrove.gpu.scene import Scene
from tests.campaign import kept
from tests.campaign.forked_child import GROWN_MIB, SAID, take_forked_children, take_library
from tests.campaign.mutations import mutant
from tests.campaign.second_look import SecondLook
from tests.campaign.targets import LIMITS, SENTENCES, Target, all_targets

FINDINGS = Path(__file__).parent / "findings"
SLOW_S = 20.0
MOST_MIB, MOST_TIMES = 1024, 100
"""Memory that a child may take beyond what it began with: so much, and so many times the file's size."""
OUTCOMES = ("value", "sentence", "crash in the child", "finding")
EXIT_CODES = {SceneError: EXIT_FILE, SettingsError: EXIT_FILE}
"""What commands end with; the other sentences are of files that the window alone reads, or of the library."""


def outcome_of(target: Target, path: Path, look: SecondLook | None = None) -> tuple[str, str]:
    """What became of a file, as one of OUTCOMES, and the words for a finding. With `look`, scenes are looked at."""
    begun, read, size = time.monotonic(), 0.0, path.stat().st_size
    GROWN_MIB.clear()
    try:
        value = target.read(path)
        read = time.monotonic() - begun
        words = look.wrong_with(value, path) if look is not None and isinstance(value, Scene) else ""
        outcome = "finding" if words else "value"
    except SENTENCES as error:
        words, read = str(error), time.monotonic() - begun
        outcome = "crash in the child" if "crashed (" in words else "sentence"
        codes = [code for kind, code in EXIT_CODES.items() if isinstance(error, kind)]
        if "Please report" in words or "was stopped" in words or not words.rstrip().endswith((".", ")")):
            outcome = "finding"
        elif codes and problem_of(error).exit_code != codes[0]:
            outcome, words = "finding", f"exit code {problem_of(error).exit_code}: {words}"
    except Exception as error:
        outcome, words = "finding", f"{type(error).__name__}: {error}"
    if fault := _fault_of_memory():
        outcome, words = "finding", f"{fault}. {words}"
    if read > SLOW_S:
        outcome, words = "finding", f"it took {read:.1f} s. {words}"
    if max(GROWN_MIB, default=0.0) > MOST_MIB + MOST_TIMES * size / 2**20:
        outcome, words = "finding", f"its child took {max(GROWN_MIB):,.0f} MiB. {words}"
    return outcome, words


def _fault_of_memory() -> str:
    """What AddressSanitizer said of the file, where the library was built with it."""
    lines = [line for said in SAID for line in said.splitlines() if line.startswith("SUMMARY: AddressSanitizer")]
    SAID.clear()
    return lines[-1] if lines else ""


def run(
    targets: list[Target],
    count: int,
    seconds: float,
    seed: int,
    folder: Path,
    first: int = 0,
    keep: Path = FINDINGS,
    look: SecondLook | None = None,
) -> dict[str, collections.Counter[str]]:
    """Up to `count` mutants of each target, in turn, for at most `seconds`; the counts of their outcomes."""
    found = {target.name: collections.Counter[str]() for target in targets}
    end = time.monotonic() + seconds
    for number in range(first, first + count):
        for target in targets:
            if time.monotonic() > end:
                return found
            generator = random.Random(f"{seed}/{target.name}/{number}")
            data = mutant(generator.choice(target.seeds), target.ending, generator)
            path = folder / f"{target.name}-{seed}-{number}.{target.ending}"
            for name, content in target.beside:
                (folder / name).write_bytes(content)
            path.write_bytes(data)
            outcome, words = outcome_of(target, path, look)
            found[target.name][outcome] += 1
            found[target.name]["MiB"] = max(found[target.name]["MiB"], round(max(GROWN_MIB, default=0.0)))
            if outcome == "finding":
                keep.mkdir(parents=True, exist_ok=True)
                (keep / path.name).write_bytes(data)
                print(f"{path.name}: {words}", flush=True)
            path.unlink(missing_ok=True)  # a file of the user that is damaged is put aside
    return found


def is_read(target: Target, folder: Path) -> bool:
    """Whether the first file that is right is read; prints what became of it."""
    for name, content in target.beside:
        (folder / name).write_bytes(content)
    path = folder / f"good.{target.ending}"
    path.write_bytes(target.seeds[0])
    outcome, words = outcome_of(target, path)
    print(f"{target.name} {outcome} {words}".rstrip())
    return outcome == "value"


def main(arguments: list[str] | None = None) -> int:
    """Run, print a table of counts; 1 where there is a finding."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=420, help="mutants of each kind of file (420)")
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop after so many seconds (3600)")
    parser.add_argument("--seed", type=int, default=1, help="another seed gives other mutants (1)")
    parser.add_argument("--only", default="", help="one kind of file, or one mutant of it: glb or glb:17")
    parser.add_argument("--good", action="store_true", help="read the files that are right, each kind's first, alone")
    parser.add_argument("--json", action="store_true", help="the counts as JSON")
    words = "read by this libassimp, one built with AddressSanitizer (docs/reliability.md says how)"
    parser.add_argument("--assimp", type=Path, metavar="FILE", help=words)
    names = kept.parsed(parser, arguments)
    take_forked_children()
    if names.assimp is not None:
        take_library(names.assimp)
    with tempfile.TemporaryDirectory(prefix="raygrove-campaign-") as name:
        folder = Path(name)
        kind, _, number = names.only.partition(":")
        targets = [target for target in all_targets(folder / "seeds") if kind in ("", target.name)]
        if names.good:
            return int(sum(not is_read(target, folder) for target in targets) > 0)
        count, first = (1, int(number)) if number else (names.count, 0)
        begun, look = time.monotonic(), SecondLook(LIMITS)
        found = run(targets, count, names.seconds, names.seed, folder, first, look=look)
    seconds, total = time.monotonic() - begun, sum((counts for counts in found.values()), collections.Counter[str]())
    content = {"seed": names.seed, "seconds": seconds, "counts": found, "seen": dict(look.counts)}
    lines = [json.dumps(content)] if names.json else [*table_of(found, total), *sentences_of(content, total)]
    print(*lines, sep="\n")
    rows = [{"file": kind, **{one: counts[one] for one in (*OUTCOMES, "MiB")}} for kind, counts in found.items()]
    kept.keep_found(names.out, {**content, "results": rows}, lines, seed=names.seed)
    return int(total["finding"] > 0)


def table_of(found: dict[str, collections.Counter[str]], total: collections.Counter[str]) -> list[str]:
    """The counts by kind of file, and of all; the most memory of any."""
    total = total.copy()
    total["MiB"] = max((counts["MiB"] for counts in found.values()), default=0)
    rows = [f"{'file':16}" + "".join(f"{outcome:>20}" for outcome in (*OUTCOMES, "MiB"))]
    for what, counts in (*found.items(), ("all", total)):
        rows.append(f"{what:16}" + "".join(f"{counts[outcome]:>20,}" for outcome in (*OUTCOMES, "MiB")))
    return rows


def sentences_of(content: dict[str, Any], total: collections.Counter[str]) -> list[str]:
    """How many were tried, and looked at twice."""
    tried, seen = sum(total[outcome] for outcome in OUTCOMES), collections.Counter(content["seen"])
    drawn, alike = seen["drawn"], seen["read by both"]
    return [
        f"{tried:,} mutants of seed {content['seed']} in {content['seconds']:,.0f} s",
        f"{drawn:,} drawn as by brute force, {alike:,} read alike by two readers",
    ]
