"""`molecule`: a protein-like chain of helices that wobbles, generated: no measured one."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from raygrove.gpu.scene import Attribute, Light, Material, Object, Scene, SphereKeys, Spheres

from ..particles.bonds import ball_and_stick, bonds_within, covalent_radii
from .memory import check_memory
from .parts import bounds

DURATION, KEYS = 4.0, 33
MANY, KEYS_OF_MANY = 16_000_000, 17
"""More atoms than that have fewer key frames: 100 million take 20 GB with them, 40 with all."""

DRAWN = 1 << 16
"""Side chains are drawn for so many residues; longer chains have the same ones again."""

BYTES_BESIDE_KEYS, BYTES_OF_STICKS = 110, 170
"""Of memory for an atom while it is made, as measured."""

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
    """Helices side by side in a bundle, up and down in turn, with side chains of 1 to 5 atoms. OptionError, with the
    figure, for more than the free main memory holds."""
    check_memory(spheres, BYTES_BESIDE_KEYS + 12 * key_count(spheres))
    return _molecule(spheres, seed)


def key_count(spheres: int) -> int:
    """Key frames of so many atoms."""
    return KEYS if spheres <= MANY else KEYS_OF_MANY


def _molecule(spheres: int, seed: int) -> Scene:
    random = np.random.default_rng(seed)
    kinds, places, residues = _atoms(spheres, random)
    numbers = np.array([number for number, _, _ in ELEMENTS.values()], np.float32)
    radii = np.array([radius for _, radius, _ in ELEMENTS.values()], np.float32)
    colours = np.array([colour for _, _, colour in ELEMENTS.values()], np.float32)
    places -= places.mean(axis=0)
    keys = _wobble(places.astype(np.float32), random)
    atoms = Spheres(
        "atoms",
        keys[0],
        radii[kinds],
        colours[kinds],
        attributes=(
            Attribute("element", numbers[kinds]),
            Attribute("residue", residues.astype(np.float32)),
            Attribute("mobility", _mobility(keys), "angstrom"),
        ),
        key_frames=SphereKeys(np.linspace(0.0, DURATION, len(keys)), keys),
    )
    margin = float(radii[kinds].max())
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
    check_memory(spheres, BYTES_OF_STICKS + BYTES_BESIDE_KEYS + 12 * key_count(spheres))
    scene = dataclasses.replace(_molecule(spheres, seed), name="ball_and_stick")
    (atoms,) = scene.spheres
    (elements,) = (one.values for one in atoms.attributes if one.name == "element")
    return ball_and_stick(scene, 0, bonds_within(atoms.centres, covalent_radii(elements)))


def _atoms(count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of exactly `count` atoms the places of their elements in ELEMENTS, where they are (count, 3) float64, and the
    numbers of their residues."""
    sizes, chain = _drawn(count, random)
    kinds, places, residues = np.empty(count, np.uint8), np.empty((count, 3)), np.empty(count, np.int32)
    axes, done, first = _axes(1 + count // (RESIDUES_A_HELIX * 5)), 0, 0
    while done < count:
        residue = np.repeat(np.arange(first, first + len(sizes)), sizes)[: count - done]
        part = slice(done, done + len(residue))
        kind, distance, turned, raised = chain[: len(residue)].T
        kinds[part], residues[part] = kind, residue
        places[part] = _placed(residue, axes, distance, turned, raised)
        done, first = done + len(residue), first + len(sizes)
    return kinds, places, residues


def _drawn(count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """How many atoms each of the first residues has, and of each atom (A, 4): the place of its element in ELEMENTS,
    its distance from the axis, its angle and its height from the alpha carbon's."""
    names = list(ELEMENTS)
    sizes: list[int] = []
    chain: list[tuple[float, ...]] = []
    while len(chain) < count and len(sizes) < DRAWN:
        before = len(chain)
        chain += [(names.index(element), *where) for element, *where in BACKBONE]
        length, kind = int(random.integers(1, LONGEST_SIDE + 1)), int(random.integers(0, len(SIDE)))
        for link in range(length):
            bend = random.normal(0.0, 0.12)
            element = "C" if link == 0 else SIDE[(kind + link) % len(SIDE)]
            chain.append((names.index(element), 2.29 + 1.2 * (link + 1), bend, 0.35 * (link % 2)))
        sizes.append(len(chain) - before)
    return np.array(sizes), np.array(chain)


def _placed(
    residue: np.ndarray, axes: np.ndarray, distance: np.ndarray, turned: np.ndarray, raised: np.ndarray
) -> np.ndarray:
    """(N, 3) of atoms: their residues, the helices' axes, and where they are in their residue."""
    helix, step = np.divmod(residue, RESIDUES_A_HELIX)
    upwards = np.where(helix % 2 == 0, 1.0, -1.0)
    height = upwards * RISE * (step - 0.5 * (RESIDUES_A_HELIX - 1))
    angle = TURN * step + 0.7 * helix + upwards * turned
    axis = axes[helix]
    return np.stack(
        [axis[:, 0] + distance * np.cos(angle), height + upwards * raised, axis[:, 1] + distance * np.sin(angle)],
        axis=1,
    )


def _axes(count: int) -> np.ndarray:
    """Where the helices of a bundle stand, (count, 2): the cells of a hexagonal lattice nearest to its middle."""
    side = math.isqrt(count) + 2
    rows, columns = (index.ravel() for index in np.mgrid[-side : side + 1, -side : side + 1])
    lattice = np.stack([columns + 0.5 * rows, math.sqrt(0.75) * rows], axis=1) * HELIX_DISTANCE
    order = np.lexsort((np.arctan2(lattice[:, 1], lattice[:, 0]), np.round(np.linalg.norm(lattice, axis=1), 6)))
    return lattice[order[:count]]


def _wobble(places: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Key frames (K, N, 3): a few long waves through the molecule that come round in the end."""
    size, count = float(np.ptp(places, axis=0).max()), key_count(len(places))
    turns = 2.0 * math.pi * np.linspace(0.0, 1.0, count)
    keys = np.empty((count, *places.shape), np.float32)
    keys[:] = places
    for wave in range(4):
        direction, way = random.normal(size=3), random.normal(size=3) * (1.0 + wave) / size
        amplitude = 0.018 * size / (1.0 + wave) * direction / np.linalg.norm(direction)
        phases = 2.0 * math.pi * (places @ way).astype(np.float32) + random.uniform(0.0, 2.0 * math.pi)
        for key, turn in zip(keys, turns, strict=True):
            swing = np.sin(phases + (1 + wave // 2) * turn).astype(np.float32)
            for axis in range(3):
                key[:, axis] += swing * np.float32(amplitude[axis])
    keys[-1] = keys[0]
    return keys


def _mobility(keys: np.ndarray) -> np.ndarray:
    """(N,) float32: how far atoms are from their middle on average over their keys (K, N, 3)."""
    middle = keys.mean(axis=0)
    away = np.zeros(len(middle), np.float32)
    for key in keys:
        away += np.linalg.norm(key - middle, axis=1)
    return away / np.float32(len(keys))
