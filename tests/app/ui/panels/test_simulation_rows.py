"""What the stats panel says of a simulation."""

from __future__ import annotations

import dataclasses

from raygrove.app.ui.panels.simulation_rows import simulation_rows
from raygrove.gpu.stats import SimulationStatistics


def test_steps_time_and_drift_are_rows() -> None:
    told = SimulationStatistics(
        4000, 1234, -0.5, 2.5e-4, phases_ms={"nbody.m2l": 1.25, "nbody.p2p": 2.0}, forces="direct"
    )
    rows = {row.key: row.value for row in simulation_rows(told)}
    assert rows == {
        "simulation": "step 1,234",
        "simulation.bodies": "4,000",
        "simulation.forces": "direct",
        "simulation.ms": "3.25 ms",
        "simulation.drift": "2.5e-04",
    }
    behind = simulation_rows(dataclasses.replace(told, is_behind=True))
    assert behind[0].value == "step 1,234, behind"
    first = {row.key: row.value for row in simulation_rows(dataclasses.replace(told, steps=1, energy_drift=0.0))}
    assert first["simulation.drift"] == "0"
    assert simulation_rows(None) == []
