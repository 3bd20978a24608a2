"""Tipsy snapshots of cosmology: gas, dark matter and stars as records of float32.

time f8, bodies i4, dimensions i4, gas i4, dark i4, stars i4 (, padding i4)          big-endian ("standard") or little
gas: mass, position 3, velocity 3, density, temperature, smoothing, metals, potential        12 floats
dark: mass, position 3, velocity 3, softening, potential                                      9 floats
star: mass, position 3, velocity 3, metals, formation time, softening, potential             11 floats
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from raygrove.gpu.scene import Attribute

from .frame import Frame, ParticleError, Source

KINDS = (
    ("mass x y z vx vy vz density temperature smoothing metals potential", "gas"),
    ("mass x y z vx vy vz softening potential", "dark"),
    ("mass x y z vx vy vz metals formation_time softening potential", "star"),
)
HEADERS = (32, 28)


def read(source: Source) -> Iterator[Frame]:
    """One frame: gas first, then dark matter, then stars. Smoothing and softening are attributes: as radii they would
    hide everything."""
    data = source.read()
    order, start, counts, time = _header(data)
    total = sum(counts)
    source.expect(total, floats=12)
    values: dict[str, np.ndarray] = {}
    kinds = np.zeros(total, np.float32)
    first, offset = 0, start
    for number, ((names, _), count) in enumerate(zip(KINDS, counts, strict=True)):
        fields = names.split()
        whole = min(count, max(len(data) - offset, 0) // (4 * len(fields)))
        table = np.frombuffer(data, f"{order}f4", whole * len(fields), offset).reshape(whole, len(fields))
        for column, name in enumerate(fields):
            values.setdefault(name, np.full(total, np.nan, np.float32))[first : first + whole] = table[:, column]
        kinds[first : first + whole] = number
        first, offset = first + whole, offset + 4 * len(fields) * count
        if whole < count:
            break
    if not first:
        raise ParticleError("no whole particle is in it")
    if first < total:
        source.remark(f"The header says {total:,} particles, and {first:,} are there: the file is cut short.")
    values = {name: column[:first] for name, column in values.items()}
    vectors = Attribute("velocity", np.stack([values.pop(name) for name in ("vx", "vy", "vz")], axis=1))
    positions = np.stack([values.pop(name) for name in "xyz"], axis=1)
    rest = [Attribute(name, column) for name, column in values.items()]
    kind = Attribute("type", kinds[:first], "0 gas, 1 dark matter, 2 star")
    yield Frame(positions, attributes=(kind, vectors, *rest), stamp=(time, "time"))


def _header(data: bytes) -> tuple[str, int, tuple[int, int, int], float]:
    """Byte order, where the records start, how many of each kind, and the time."""
    if len(data) < min(HEADERS):
        raise ParticleError(f"a Tipsy header has {min(HEADERS)} bytes, and {len(data)} are there")
    found: list[tuple[str, int, tuple[int, int, int], float]] = []
    for order in (">", "<"):
        time = float(np.frombuffer(data, f"{order}f8", 1)[0])
        bodies, dimensions, *counts = (int(value) for value in np.frombuffer(data, f"{order}i4", 5, 8))
        if dimensions != 3 or min(counts) < 0 or sum(counts) != bodies or bodies <= 0 or not np.isfinite(time):
            continue
        gas, dark, stars = counts
        size = 48 * gas + 36 * dark + 44 * stars
        padded = 32 if len(data) != 28 + size else 28
        found.append((order, padded, (gas, dark, stars), time))
        if len(data) in (28 + size, 32 + size):
            return found[-1]
    if not found:
        raise ParticleError("its header is no Tipsy header of three dimensions")
    return found[0]


def is_one(data: bytes, size: int) -> bool:
    """Whether the first bytes of a file of `size` bytes are a Tipsy header whose counts fit the size."""
    try:
        _, start, (gas, dark, stars), _ = _header(data)
    except ParticleError:
        return False
    return size in (28 + 48 * gas + 36 * dark + 44 * stars, 32 + 48 * gas + 36 * dark + 44 * stars)
