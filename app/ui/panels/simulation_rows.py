"""What the stats panel shows of a simulation. Texts are translated in the context "Statistics"."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from raygrove.app.ui.panels.stats_row import Row
from raygrove.gpu.stats import SimulationStatistics


def simulation_rows(simulation: SimulationStatistics | None) -> list[Row]:
    """How far it is, what its steps took in this frame, and whether it keeps its energy."""
    tr = QCoreApplication.translate
    if simulation is None:
        return []
    steps = tr("Statistics", "step {steps}").format(steps=f"{simulation.steps:,}")
    if simulation.is_behind:
        steps = tr("Statistics", "{steps}, behind").format(steps=steps)
    drift = f"{simulation.energy_drift:.1e}" if simulation.energy_drift else "0"
    return [
        Row(
            "simulation", tr("Statistics", "Simulation"), steps,
            tip=tr("Statistics", (
                "Steps since the start. Behind: more steps are asked for than a frame makes, and an earlier instant is "
                "shown while it plays."
            )),
        ),
        Row(
            "simulation.bodies", tr("Statistics", "bodies"), f"{simulation.bodies:,}", parent="simulation",
            tip=tr("Statistics", "Spheres that attract one another."),
        ),
        Row(
            "simulation.forces", tr("Statistics", "forces"), simulation.forces, parent="simulation",
            tip=tr("Statistics", "How the attractions are found; chosen in the settings, page Gravity."),
        ),
        Row(
            "simulation.ms", tr("Statistics", "in this frame"), f"{simulation.ms:.2f} ms", parent="simulation",
            tip=tr("Statistics", "What the steps of this frame took; none where it shows the same step as before."),
        ),
        Row(
            "simulation.drift", tr("Statistics", "energy drift"), drift, parent="simulation",
            tip=tr("Statistics", (
                "By what share the energy differs from that of the start. Nothing adds or takes any: what changes is "
                "the error of forces and steps."
            )),
        ),
    ]  # fmt: skip
