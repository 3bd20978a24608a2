"""What forces between bodies cost, and how exact they are, by each way to find them.

The direct sum, Barnes and Hut's tree code and the fast multipole method. Bodies of a Gaussian ball of radius 1,
softened by 0.01. The error is the rms difference of accelerations over their rms, from the direct sum; above
MOST_DIRECT bodies, where that takes long, from the multipole method at order 8 and an angle of 0.4, whose own error is
about 1e-6. Milliseconds of the target's own clock, medians, with all phases: the tree is built for every measurement.
Last the built-in scene galaxy, with the forces it has by default: by what share its energy drifts in so many steps.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.animate.simulation import make_forces
from raygrove.gpu.gravity import BarnesHutOptions, GravityOptions, MultipoleOptions, force_method
from raygrove.gpu.nbody.barnes_hut import BarnesHut
from raygrove.gpu.nbody.bodies import PROGRESS, Bodies, Forces, upload_bodies
from raygrove.gpu.nbody.direct import DirectSum
from raygrove.gpu.nbody.multipole import FastMultipole
from raygrove.gpu.nbody.run import Run
from raygrove.gpu.target.base import Target

from ..arguments import DEVICE, OUT, argument, chosen, repeat
from ..context import context
from ..measure import median, timed
from ..saved import keep
from ..table import aligned

SOFTENING = 0.01
DRIFT = "drift of galaxy's energy"
MOST_DIRECT = 200_000
EXACT = MultipoleOptions(order=8, angle=0.4)
GOAL = "H200: 1,000,000 bodies with an rms error of 1e-3 in 30 ms"
WAYS: tuple[BarnesHutOptions | MultipoleOptions, ...] = (
    *(BarnesHutOptions("monopole", angle, 32) for angle in (0.5, 0.3)),
    *(BarnesHutOptions("quadrupole", angle, 32) for angle in (0.7, 0.5, 0.3)),
    *(MultipoleOptions(order, angle) for order, angle in ((3, 0.6), (4, 0.8), (4, 0.75), (4, 0.7), (5, 0.8), (6, 0.5))),
)
"""From coarse to fine of each kind; 4 and 0.7 are what the multipole method has by default."""


def make_bodies(target: Target, count: int, seed: int) -> Bodies:
    """Bodies of a Gaussian ball; they rest."""
    random = np.random.default_rng(seed)
    positions = random.normal(size=(count, 3))
    return upload_bodies(target, positions, np.zeros((count, 3)), random.uniform(0.5, 1.5, count) / count)


def field_of(target: Target, forces: Forces, bodies: Bodies) -> np.ndarray:
    """The field, with as much room as it takes."""
    forces.find(bodies)
    while target.download(bodies.progress)[PROGRESS.index("lacking")]:
        forces.make_room()
        forces.find(bodies)
    return target.download(bodies.field).astype(np.float64)


def measured(target: Target, forces: Forces, bodies: Bodies, runs: int) -> dict[str, Any]:
    """Milliseconds in all and by phase."""
    found = timed(target, lambda: forces.find(bodies), runs, 2 if runs > 1 else 0)
    phases = {name: median(samples) for name, samples in found.phases_ms.items()}
    return {"ms": median(found.spans_ms), "samples": list(found.spans_ms), "phases_ms": phases}


def rows_of(target: Target, count: int, seed: int, runs: int, say: Callable[[dict[str, Any]], None]) -> None:
    """Each way for so many bodies."""
    bodies = make_bodies(target, count, seed)
    exact = np.zeros((count, 4))
    if count <= MOST_DIRECT:
        direct = DirectSum(target, SOFTENING)
        exact = field_of(target, direct, bodies)
        say({"bodies": count, "forces": "direct", **measured(target, direct, bodies, min(runs, 3)), "rms_error": 0.0})
    else:
        exact = field_of(target, FastMultipole(target, count, SOFTENING, EXACT), bodies)
    for options in WAYS:
        forces: Forces
        if isinstance(options, BarnesHutOptions):
            name, forces = "barnes_hut", BarnesHut(target, count, SOFTENING, options)
        else:
            name, forces = "multipole", FastMultipole(target, count, SOFTENING, options)
        away = field_of(target, forces, bodies) - exact
        error = float(np.sqrt((away[:, :3] ** 2).sum() / (exact[:, :3] ** 2).sum()))
        about = {"bodies": count, "forces": name, "options": dataclasses.asdict(options)}
        say({**about, **measured(target, forces, bodies, runs), "rms_error": error})


def drift_row(target: Target, count: int, steps: int) -> dict[str, Any]:
    """How far the energy of `galaxy` drifts: at most, of ten instants."""
    (stars,) = make_demo("galaxy", count).spheres
    gravity = stars.gravity
    assert gravity is not None
    method = force_method(gravity, GravityOptions(), target.kind)
    forces = make_forces(target, method, len(stars.centres), gravity.softening)
    run = Run(target, forces, stars.centres, gravity.velocities, gravity.masses, gravity.step)
    start, drifts = run.energy(), []
    for instant in range(1, 11):
        run.advance(steps * instant // 10 - run.launched)
        drifts.append(abs(run.energy().drift(start)))
    return {"what": DRIFT, "bodies": len(stars.centres), "forces": method.name, "steps": steps, "drift": max(drifts)}


def table(rows: list[dict[str, Any]]) -> str:
    """A line for each way, and where the time of the default one goes."""
    lines = []
    for row in rows:
        if "drift" in row:
            continue
        options = row.get("options", {})
        chosen_options = ", ".join(str(value) for value in options.values())
        lines.append((f"{row['bodies']:,}", row["forces"], chosen_options, f"{row['rms_error']:.1e}", row["ms"]))
    text = aligned(("bodies", "forces", "options", "rms error", "ms"), lines)
    usual = dataclasses.asdict(MultipoleOptions())
    for row in rows:
        if row.get("options") == usual:
            phases = ", ".join(f"{name} {ms:.2f}" for name, ms in row["phases_ms"].items())
            text += f"\n{row['bodies']:,} bodies by the multipole method as it is: {phases}"
    for row in rows:
        if "drift" in row:
            by = f"{row['bodies']:,} bodies by {row['forces']}, {row['steps']:,} steps"
            text += f"\n{row['what']}, {by}: {row['drift']:.1e}"
    return f"{text}\nGoal: {GOAL}.\n"


ARGUMENTS = (
    DEVICE,
    repeat(9),
    argument("--counts", type=int, nargs="+", default=[100_000], metavar="N", help="how many bodies"),
    argument("--galaxy", type=int, nargs=2, default=[4_000, 1_000], metavar=("N", "STEPS"), help="whose energy drifts"),
    argument("--seed", type=int, default=0, help="from which they are drawn"),
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print as it comes, and keep where asked for."""
    rows: list[dict[str, Any]] = []

    def say(row: dict[str, Any]) -> None:
        rows.append(row)
        print(f"{row['bodies']:,} {row['forces']} {row.get('options', '')}: {row['ms']:.1f} ms", flush=True)

    with chosen(names.device) as target:
        about = context(target, command=names.command)
        for count in names.counts:
            rows_of(target, count, names.seed, names.repeat, say)
        rows.append(drift_row(target, *names.galaxy))
    print(text := table(rows))
    keep(names.out, {"context": about, "results": rows}, text)
    return 0
