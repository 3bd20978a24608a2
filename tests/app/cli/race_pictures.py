"""The pictures of docs/race.md, taken of a real race: `python -m tests.app.cli.race_pictures`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from raygrove.app.cli.main import main

OUT = Path(__file__).resolve().parents[3] / "docs/images/race"
RACE = ["race", "--demo", "explode", "--frames", "0:24", "--size", "256x192", "--device", "cpu"]
CONTESTANTS = "lbvh@refit,lbvh,hploc@auto,hploc@every_n:n=6,binned_sah"
PLOTS = ("costs.svg", "frames.svg")


def take() -> int:
    """Race, and keep the plots."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        code = main([*RACE, "--contestants", CONTESTANTS, "--out", f"{folder}/"])
        for name in PLOTS if code == 0 else ():
            (OUT / name).write_bytes((Path(folder) / name).read_bytes())
    return code


if __name__ == "__main__":
    sys.exit(take())
