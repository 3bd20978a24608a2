"""`molecule`: a protein-like chain of helices that wobbles, generated: no measured one."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from raygrove.gpu.scene import Attribute, Light, Material, Object, Scene, SphereKeys, Spheres

from ..particles.bonds import ball_and_stick, bonds_within, covalent_radii
from .parts import bounds

DURATION, KEYS = 4.0, 33
RESIDUES_A_HELIX = 18
RISE, TURN = 1.5, math.radians(100.0)
"""Of a residue of an alpha helix: angstroms along its axis, and the angle round it."""

HELIX_DISTANCE = 17.0
"""Between the axes of neighbours, in angstroms."""

ELEMENTS = {  # number, van der Waals radius in angstroms (Bondi 1964), colour of Corey, Pauling and Koltun
    "C": (6, 1.70, (0.22, 0.22, 0.22)),
    "N": (7, 1.55, (0.10, 0.18, 0.85)),
    "O": (8, 1.52, (0.80, 0.06, 0.05)),
    "S": (16, 1.80, (0.85, 0.70, 0.06)),
}
BACKBONE = (("N", 1.55, -0.48, -0.9), ("C", 2.29, 0.0, 0.0), ("C", 1.68, 0.45, 1.1), ("O", 1.95, 0.5, 2.25))
"""Atoms of each residue: element, distance from the axis, angle and height from the alpha carbon's."""

SIDE = ("C", "C", "C", "O", "C", "N", "C", "S")
LONGEST_SIDE = 5


def make_molecule(spheres: int, seed: int) -> Scene:
    """Helices side by side in a bundle, up and down in turn, with side chains of 1 to 5 atoms."""
    random = np.random.default_rng(seed)
    elements, places, residues = _atoms(spheres, random)
    numbers, radii, colours = (np.array([ELEMENTS[name][column] for name in elements]) for column in range(3))
    places = (places - places.mean(axis=0)).astype(np.float32)
    keys = _wobble(places, random)
    mobility = np.linalg.norm(keys - keys.mean(axis=0), axis=2).mean(axis=0)
    atoms = Spheres(
        "atoms",
        keys[0],
        radii.astype(np.float32),
        colours.astype(np.float32),
        attributes=(
            Attribute("element", numbers.astype(np.float32)),
            Attribute("residue", residues.astype(np.float32)),
            Attribute("mobility", mobility.astype(np.float32), "angstrom"),
        ),
        key_frames=SphereKeys(np.linspace(0.0, DURATION, KEYS), keys),
    )
    margin = float(radii.max())
    low, high = keys.min(axis=(0, 1)) - margin, keys.max(axis=(0, 1)) + margin
    lower, upper = bounds(low, high)
    size = float(np.linalg.norm(high - low))
    return Scene(
        "molecule",
        spheres=(atoms,),
        objects=(Object(0, spheres=0),),
        materials=(Material("atom", (1.0, 1.0, 1.0, 1.0), roughness=0.45),),
        lights=(Light("directional", (3.0, 3.0, 3.0), direction=(-0.5, -0.7, -0.6)),),
        lower=lower,
        upper=upper,
        eye=(0.45 * size, 0.3 * size, 0.95 * size),
        look_at=(0.0, 0.0, 0.0),
    )


def make_ball_and_stick(spheres: int, seed: int) -> Scene:
    """The same molecule with small atoms and the bonds between them, which follow as it wobbles."""
    scene = dataclasses.replace(make_molecule(spheres, seed), name="ball_and_stick")
    (atoms,) = scene.spheres
    (elements,) = (one.values for one in atoms.attributes if one.name == "element")
    return ball_and_stick(scene, 0, bonds_within(atoms.centres, covalent_radii(elements)))


def _atoms(count: int, random: np.random.Generator) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Elements, places and residue numbers of exactly `count` atoms."""
    elements: list[str] = []
    places: list[np.ndarray] = []
    residues: list[int] = []
    residue, axes = 0, _axes(1 + count // (RESIDUES_A_HELIX * 5))
    while len(elements) < count:
        axis = axes[residue // RESIDUES_A_HELIX]
        for element, place in _residue(residue, axis, random):
            elements.append(element)
            places.append(place)
            residues.append(residue)
        residue += 1
    return elements[:count], np.array(places[:count]), np.array(residues[:count])


def _axes(count: int) -> np.ndarray:
    """Where the helices of a bundle stand, (count, 2): the cells of a hexagonal lattice nearest to its middle."""
    side = math.isqrt(count) + 2
    rows, columns = (index.ravel() for index in np.mgrid[-side : side + 1, -side : side + 1])
    lattice = np.stack([columns + 0.5 * rows, math.sqrt(0.75) * rows], axis=1) * HELIX_DISTANCE
    order = np.lexsort((np.arctan2(lattice[:, 1], lattice[:, 0]), np.round(np.linalg.norm(lattice, axis=1), 6)))
    return lattice[order[:count]]


def _residue(residue: int, axis: np.ndarray, random: np.random.Generator) -> list[tuple[str, np.ndarray]]:
    """The atoms of one residue."""
    helix, step = divmod(residue, RESIDUES_A_HELIX)
    upwards = 1.0 if helix % 2 == 0 else -1.0
    height = upwards * RISE * (step - 0.5 * (RESIDUES_A_HELIX - 1))
    angle = TURN * step + 0.7 * helix

    def place(distance: float, turned: float, raised: float) -> np.ndarray:
        at = angle + upwards * turned
        return np.array(
            [axis[0] + distance * math.cos(at), height + upwards * raised, axis[1] + distance * math.sin(at)]
        )

    found = [(element, place(*where)) for element, *where in BACKBONE]
    length, kind = int(random.integers(1, LONGEST_SIDE + 1)), int(random.integers(0, len(SIDE)))
    for link in range(length):
        bend = random.normal(0.0, 0.12)
        element = "C" if link == 0 else SIDE[(kind + link) % len(SIDE)]
        found.append((element, place(2.29 + 1.2 * (link + 1), bend, 0.35 * (link % 2))))
    return found


def _wobble(places: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Key frames (K, N, 3): a few long waves through the molecule that come round in the end."""
    size = float(np.ptp(places, axis=0).max())
    turns = 2.0 * math.pi * np.linspace(0.0, 1.0, KEYS)
    keys = np.repeat(places[None], KEYS, axis=0)
    for wave in range(4):
        direction, way = random.normal(size=3), random.normal(size=3) * (1.0 + wave) / size
        amplitude = 0.018 * size / (1.0 + wave) * direction / np.linalg.norm(direction)
        phases = 2.0 * math.pi * (places @ way).astype(np.float32) + random.uniform(0.0, 2.0 * math.pi)
        swing = np.sin(phases[None] + (1 + wave // 2) * turns[:, None]).astype(np.float32)
        keys += swing[:, :, None] * amplitude.astype(np.float32)
    keys[-1] = keys[0]
    return keys
