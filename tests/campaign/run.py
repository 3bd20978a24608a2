"""One campaign: changed files into every reader, and what became of each.

`python -m tests.campaign [--count N] [--seconds S] [--seed N] [--only NAME[:NUMBER]]`. What a reader must give is a
value or one sentence; a crash of its child is a sentence, too, and counted. Anything else is a finding: another
exception, a reader that took longer than its limit, a sentence that asks for a report. Findings are kept under
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

from tests.campaign.forked_child import take_forked_children
from tests.campaign.mutations import mutant
from tests.campaign.targets import SENTENCES, Target, all_targets

FINDINGS = Path(__file__).parent / "findings"
SLOW_S = 20.0
OUTCOMES = ("value", "sentence", "crash in the child", "finding")


def outcome_of(target: Target, path: Path) -> tuple[str, str]:
    """What became of a file, as one of OUTCOMES, and the words for a finding."""
    begun = time.monotonic()
    try:
        target.read(path)
        outcome, words = "value", ""
    except SENTENCES as error:
        words = str(error)
        outcome = "crash in the child" if "crashed (" in words else "sentence"
        if "Please report" in words or "was stopped" in words or not words.rstrip().endswith((".", ")")):
            outcome = "finding"
    except Exception as error:
        outcome, words = "finding", f"{type(error).__name__}: {error}"
    if time.monotonic() - begun > SLOW_S:
        outcome, words = "finding", f"it took {time.monotonic() - begun:.1f} s. {words}"
    return outcome, words


def run(
    targets: list[Target], count: int, seconds: float, seed: int, folder: Path, first: int = 0, keep: Path = FINDINGS
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
            outcome, words = outcome_of(target, path)
            found[target.name][outcome] += 1
            if outcome == "finding":
                keep.mkdir(parents=True, exist_ok=True)
                (keep / path.name).write_bytes(data)
                print(f"{path.name}: {words}", flush=True)
            path.unlink()
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
    names = parser.parse_args(arguments)
    take_forked_children()
    with tempfile.TemporaryDirectory(prefix="raygrove-campaign-") as name:
        folder = Path(name)
        kind, _, number = names.only.partition(":")
        targets = [target for target in all_targets(folder / "seeds") if kind in ("", target.name)]
        if names.good:
            return int(sum(not is_read(target, folder) for target in targets) > 0)
        count, first = (1, int(number)) if number else (names.count, 0)
        begun = time.monotonic()
        found = run(targets, count, names.seconds, names.seed, folder, first)
    total = sum((counts for counts in found.values()), collections.Counter[str]())
    if names.json:
        print(json.dumps({"seed": names.seed, "seconds": time.monotonic() - begun, "counts": found}))
        return int(total["finding"] > 0)
    print(f"{'file':10}" + "".join(f"{outcome:>20}" for outcome in OUTCOMES))
    for what, counts in (*found.items(), ("all", total)):
        print(f"{what:10}" + "".join(f"{counts[outcome]:>20,}" for outcome in OUTCOMES))
    print(f"{sum(total.values()):,} mutants of seed {names.seed} in {time.monotonic() - begun:,.0f} s")
    return int(total["finding"] > 0)
