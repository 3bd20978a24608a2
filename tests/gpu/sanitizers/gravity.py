"""Bodies that attract one another, for the sanitizers: steps by every way to find the forces, from lists that have no
room, and frames that show them."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.attributes import SphereOptions
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.gravity import BarnesHutOptions, Gravity, MultipoleOptions
from raygrove.gpu.nbody.barnes_hut import BarnesHut
from raygrove.gpu.nbody.direct import DirectSum
from raygrove.gpu.nbody.multipole import FastMultipole
from raygrove.gpu.nbody.run import Run
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Attribute, Moment, Object, Scene, Spheres
from raygrove.gpu.target.base import Target
from tests.gpu.nbody.reference import clustered

COUNT = 300


def run_gravity(target: Target, few: bool = False) -> None:
    """Two steps of each; of a `few`, one order of cells' sums is enough."""
    ways = (
        DirectSum(target, 0.05),
        BarnesHut(target, COUNT, 0.05, BarnesHutOptions("monopole")),
        BarnesHut(target, COUNT, 0.05, BarnesHutOptions("quadrupole")),
        FastMultipole(target, COUNT, 0.05, MultipoleOptions(order=4, leaf_points=8)),
    )
    for forces in ways[:1] + ways[2:] if few else ways:
        run = Run(target, forces, *clustered(COUNT), 0.01)
        run.advance(2)
        run.settle()
        assert run.energy().step == 2
    draw_simulated(target)


def draw_simulated(target: Target) -> None:
    """Two frames of spheres that are simulated, coloured and sized by what is of the instant."""
    positions, velocities, masses = clustered(COUNT)
    bodies = Spheres(
        "bodies",
        positions,
        np.full(COUNT, 0.1, np.float32),
        attributes=(Attribute("speed", masses),),
        gravity=Gravity(velocities, masses, 0.05, 0.01, 1.0),
    )
    scene = Scene("bodies", spheres=(bodies,), objects=(Object(0, spheres=0),))
    view = View(ViewSettings("lbvh", ray_type="flat"), Camera(eye=(0.0, 0.0, 6.0)), ArrayPixels(target, 31, 17))
    with Engine(target, scene) as engine:
        engine.take_sphere_options(SphereOptions(color_by="speed", size_by="position"))
        for time in (0.0, 0.025):
            engine.render_frame(Moment(time), [view])
