"""Radii and colours of the chemical elements.

Van der Waals radii in angstrom: A. Bondi, "van der Waals Volumes and Radii", J. Phys. Chem. 68 (1964), and M. Mantina
et al., "Consistent van der Waals Radii for the Whole Main Group", J. Phys. Chem. A 113 (2009); 2.0 where neither has
one. Colours: Corey, Pauling and Koltun's as Jmol extends them to all elements.
"""

from __future__ import annotations

import numpy as np

from raygrove.app.scene_io.particles.colours import linear_from_display

SYMBOLS = [
    "X", "H", "He", "Li", "Be", "B", "C", "N", "O", "F", "Ne", "Na", "Mg", "Al", "Si", "P", "S", "Cl", "Ar", "K",
    "Ca", "Sc", "Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr",
    "Y", "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I", "Xe", "Cs", "Ba", "La",
    "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W", "Re", "Os",
    "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn", "Fr", "Ra", "Ac", "Th", "Pa", "U", "Np", "Pu", "Am",
    "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No", "Lr", "Rf", "Db", "Sg", "Bh", "Hs", "Mt",
]  # fmt: skip
UNKNOWN_RADIUS = 2.0
_RADII = {
    "H": 1.10, "He": 1.40, "Li": 1.81, "Be": 1.53, "B": 1.92, "C": 1.70, "N": 1.55, "O": 1.52, "F": 1.47, "Ne": 1.54,
    "Na": 2.27, "Mg": 1.73, "Al": 1.84, "Si": 2.10, "P": 1.80, "S": 1.80, "Cl": 1.75, "Ar": 1.88, "K": 2.75, "Ca": 2.31,
    "Ni": 1.63, "Cu": 1.40, "Zn": 1.39, "Ga": 1.87, "Ge": 2.11, "As": 1.85, "Se": 1.90, "Br": 1.83, "Kr": 2.02,
    "Rb": 3.03, "Sr": 2.49, "Pd": 1.63, "Ag": 1.72, "Cd": 1.58, "In": 1.93, "Sn": 2.17, "Sb": 2.06, "Te": 2.06,
    "I": 1.98, "Xe": 2.16, "Cs": 3.43, "Ba": 2.68, "Pt": 1.75, "Au": 1.66, "Hg": 1.55, "Tl": 1.96, "Pb": 2.02,
    "Bi": 2.07, "Po": 1.97, "At": 2.02, "Rn": 2.20, "Fr": 3.48, "Ra": 2.83, "U": 1.86,
}  # fmt: skip
_COLOURS = [
    "ff1493", "ffffff", "d9ffff", "cc80ff", "c2ff00", "ffb5b5", "909090", "3050f8", "ff0d0d", "90e050", "b3e3f5",
    "ab5cf2", "8aff00", "bfa6a6", "f0c8a0", "ff8000", "ffff30", "1ff01f", "80d1e3", "8f40d4", "3dff00", "e6e6e6",
    "bfc2c7", "a6a6ab", "8a99c7", "9c7ac7", "e06633", "f090a0", "50d050", "c88033", "7d80b0", "c28f8f", "668f8f",
    "bd80e3", "ffa100", "a62929", "5cb8d1", "702eb0", "00ff00", "94ffff", "94e0e0", "73c2c9", "54b5b5", "3b9e9e",
    "248f8f", "0a7d8c", "006985", "c0c0c0", "ffd98f", "a67573", "668080", "9e63b5", "d47a00", "940094", "429eb0",
    "57178f", "00c900", "70d4ff", "ffffc7", "d9ffc7", "c7ffc7", "a3ffc7", "8fffc7", "61ffc7", "45ffc7", "30ffc7",
    "1fffc7", "00ff9c", "00e675", "00d452", "00bf38", "00ab24", "4dc2ff", "4da6ff", "2194d6", "267dab", "266696",
    "175487", "d0d0e0", "ffd123", "b8b8d0", "a6544d", "575961", "9e4fb5", "ab5c00", "754f45", "428296", "420066",
    "007d00", "70abfa", "00baff", "00a1ff", "008fff", "0080ff", "006bff", "545cf2", "785ce3", "8a4fe3", "a136d4",
    "b31fd4", "b31fba", "b30da6", "bd0d87", "c70066", "cc0059", "d1004f", "d90045", "e00038", "e6002e", "eb0026",
]  # fmt: skip
_NUMBERS = {symbol.lower(): number for number, symbol in enumerate(SYMBOLS)} | {"d": 1, "t": 1}

RADII = np.array([_RADII.get(symbol, UNKNOWN_RADIUS) for symbol in SYMBOLS], np.float32)
"""By atomic number; 0 stands for whatever is none."""
COLOURS = linear_from_display(np.array([list(bytes.fromhex(text)) for text in _COLOURS], np.uint8))


def numbers_of(names: list[str]) -> np.ndarray:
    """Atomic numbers (N,) int64 of symbols, in any case, with digits and charges after them ("C1", "Na+"); 0 where a
    name is no element's."""
    known = {name: _number(name) for name in set(names)}
    return np.array([known[name] for name in names], np.int64)


def _number(name: str) -> int:
    letters = name.strip().rstrip("0123456789+-*'_ ").lower()
    return _NUMBERS.get(letters, 0)
