"""GSD files of HOOMD-blue: https://gsd.readthedocs.io/en/stable/schema-hoomd.html. Particles have no ids: their order
is that of the tags, in every frame. The box is centred on zero."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from raygrove.gpu.scene import Attribute, PeriodicBox

from .cut_binaries import whole_gsd
from .frame import Frame, ParticleError, Source
from .headers import gsd_fault, in_brackets

KEPT = ("velocity", "charge", "mass", "body", "image", "orientation", "moment_inertia", "angmom")
COUNTED = ("particles", "bonds", "angles", "dihedrals", "impropers", "constraints", "pairs")
FEW, MOST_A_BYTE = 100_000, 10
"""So many may be there without a value in the file, or for each of its bytes."""
DEFAULTS = {
    "velocity": 0.0,
    "charge": 0.0,
    "mass": 1.0,
    "body": -1.0,
    "image": 0.0,
    "moment_inertia": 0.0,
    "angmom": 0.0,
}


def read(source: Source) -> Iterator[Frame]:
    """The frames one after another."""
    try:
        yield from _frames(source)
    except UnopenedError as error:
        whole = whole_gsd(source.read())
        if not whole:
            raise
        yield from _frames(source.replaced(whole))
        raise ParticleError("the file ends within it") from error


class UnopenedError(ParticleError):
    """The file cannot be opened."""


def _frames(source: Source) -> Iterator[Frame]:
    import gsd.hoomd

    with source.on_disk() as path:
        try:
            file = gsd.hoomd.open(path, "r")
        except MemoryError:
            raise
        except Exception as error:  # whatever damage does to the library
            with source.open() as raw:
                raise UnopenedError(gsd_fault(raw, in_brackets(error, path))) from error
        with file:
            steps = len(file)
            if not steps:
                raise ParticleError("no frame is in it")
            for step in range(steps):
                try:
                    _check_counts(file.file, step, os.path.getsize(path))
                    frame = file[step]
                except ParticleError:
                    raise
                except MemoryError:
                    raise
                except Exception as error:
                    what = f"what stands for frame {step + 1:,} of {steps:,} is damaged"
                    raise ParticleError(what + in_brackets(error, path)) from error
                if not step:
                    source.expect(int(frame.particles.N), steps)
                yield _frame(frame)


def _check_counts(handle: Any, step: int, size: int) -> None:
    """Refuse a step that says that there are more particles, bonds and others than its file can hold: for each that has
    no values the library makes some up."""
    for kind in COUNTED:
        if not handle.chunk_exists(frame=step, name=f"{kind}/N"):
            continue
        count = int(np.asarray(handle.read_chunk(frame=step, name=f"{kind}/N")).reshape(-1)[0])
        if count > max(FEW, MOST_A_BYTE * size):
            raise ParticleError(f"frame {step + 1:,} says that there are {count:,} {kind}, in a file of {size:,} bytes")


def _frame(frame: Any) -> Frame:
    particles, configuration = frame.particles, frame.configuration
    positions = np.asarray(particles.position, np.float32).reshape(-1, 3)
    attributes = [] if particles.typeid is None else [_types(particles)]
    for name in KEPT:
        values = getattr(particles, name)
        if values is not None and len(values) == len(positions) and not _is_default(name, np.asarray(values)):
            attributes.append(Attribute(name, np.asarray(values).astype(np.float32)))
    radii = None if particles.diameter is None else np.asarray(particles.diameter, np.float64) / 2.0
    bonds = 0 if frame.bonds is None else int(frame.bonds.N or 0)
    stamp = (float(configuration.step or 0), "step")
    group = None if frame.bonds is None or frame.bonds.group is None else frame.bonds.group
    pairs = None if group is None else np.asarray(group, np.int64).reshape(-1, 2)
    box = _box(configuration.box)
    return Frame(positions, radii, attributes=tuple(attributes), box=box, stamp=stamp, bonds=bonds, pairs=pairs)


def _types(particles: Any) -> Attribute:
    names = ", ".join(f"{index} {name}" for index, name in enumerate((particles.types or ["A"])[:8]))
    return Attribute("type", np.asarray(particles.typeid).astype(np.float32), names)


def _is_default(name: str, values: np.ndarray) -> bool:
    """Whether nobody wrote them: what HOOMD takes where a file says nothing."""
    if name == "orientation":
        return bool((values == np.array([1.0, 0.0, 0.0, 0.0], np.float32)).all())
    return bool((values == DEFAULTS[name]).all())


def _box(values: Any) -> PeriodicBox | None:
    """Lx, Ly, Lz and the tilts xy, xz, yz; Lz = 0 is a plane, which gets the thickness of its shorter side."""
    if values is None or len(values) != 6:
        return None
    x, y, z, xy, xz, yz = (float(value) for value in values)
    is_flat = z == 0.0
    z = z or min(x, y)
    vectors = np.array([[x, 0.0, 0.0], [xy * y, y, 0.0], [xz * z, yz * z, z]])
    return PeriodicBox(-vectors.sum(axis=0) / 2.0, vectors, (True, True, not is_flat))
