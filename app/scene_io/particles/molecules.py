"""What chemfiles reads: molecules and the trajectories of molecular dynamics, in angstrom.

Trajectories that name no atoms (XTC, TRR, DCD) take them from a file of the same name beside them: .gro, .pdb, .psf and
others. Chemfiles' errors derive from BaseException; they leave here as `ParticleError`.
"""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from raygrove.app.scene_io.costs import asked_within_reason, asks_too_much
from raygrove.gpu.scene import Attribute, PeriodicBox

from . import cif_rows, elements, gro_digits
from .columns import shown
from .cut_frames import (
    CUT_ROW,
    TEXTS,
    before_the_cut,
    ends_within_a_frame,
    lacks_last_box,
    whole_frames,
    without_cut_row,
)
from .frame import Frame, ParticleError, Source
from .pdb_lines import Atoms

FORMATS = {
    "pdb": "PDB", "ent": "PDB", "gro": "GRO", "xtc": "XTC", "trr": "TRR", "dcd": "DCD", "tng": "TNG",
    "nc": "Amber NetCDF", "cif": "CIF", "mmcif": "mmCIF", "mmtf": "MMTF", "mol2": "MOL2", "sdf": "SDF",
}  # fmt: skip
NAMELESS = ("xtc", "trr", "dcd", "tng", "nc")
SURE = ("mmcif", "cif", "mmtf", "sdf")
"""Forms that say the element of each atom beside its name."""
NAMERS = ("gro", "pdb", "psf", "mmcif", "cif", "xyz", "mol2")


def read(source: Source) -> Iterator[Frame]:
    """The frames one after another."""
    import chemfiles

    chemfiles.set_warnings_callback(lambda message: None)
    try:
        yield from _frames(chemfiles, source)
    except ParticleError:
        whole = before_the_cut(source) if not source.frames else b""
        if not whole:
            raise
        yield from _frames(chemfiles, source.replaced(whole))
        raise


def _frames(chemfiles: Any, source: Source) -> Iterator[Frame]:
    form = FORMATS["mmcif" if source.form == "cif" and b"_atom_site." in source.read() else source.form]
    size = source.size()
    atoms, first = Atoms(source) if form == "PDB" else None, 0
    is_usual = form != "GRO" or gro_digits.has_usual_width(source)
    numbers = gro_digits.numbers(source)
    readable = source if is_usual else gro_digits.stand_in(source)
    if form == "mmCIF":
        readable = without_cut_row(cif_rows.together(source))
    with readable.on_disk() as path, _sentences(chemfiles, source), contextlib.ExitStack() as stack:
        with asked_within_reason(size):
            trajectory = stack.enter_context(chemfiles.Trajectory(path, "r", form))
        found: np.ndarray | None = None
        steps, whole = trajectory.nsteps, whole_frames(source)
        for step in range(steps if whole is None else min(steps, whole)):
            with asked_within_reason(size):
                frame = trajectory.read()
            count = len(frame.atoms)
            if not count:
                begin = "; they are lines that begin with ATOM or HETATM" if source.form in ("pdb", "ent") else ""
                raise ParticleError(f"no atom is in it{begin}")
            if atoms is not None:
                atoms.check(first, count)
            if not step:
                source.expect(count, steps)
                found = _elements_beside(chemfiles, source, count) if source.form in NAMELESS else None
            if not is_usual:
                _put(frame, next(numbers, None))
            if source.form not in NAMELESS and (found is None or len(found) != count):
                found = _elements(frame, source.form, atoms, first)
            yield _frame(frame, found if found is not None and len(found) == count else None, source.form)
            first += count
        if ends_within_a_frame(source, steps):
            raise ParticleError("the file ends within it")
        if not steps:
            raise ParticleError("no frame is in it")
        if form == "GRO" and lacks_last_box(source):
            source.remark("The last line of the file is no whole box: that frame has none.")
        elif source.form in TEXTS:
            source.check_end(steps)


@contextlib.contextmanager
def _sentences(chemfiles: Any, source: Source) -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except chemfiles.ChemfilesError as error:
            raise ParticleError(in_words(str(error), source)[:300] or "it is damaged") from error


def in_words(said: str, source: Source) -> str:
    """What chemfiles says of a file, by the line and without its own terms, where that is known."""
    bad_atom = re.search(r"could not read positions in '([^\n]*)'", said)
    if bad_atom:
        where = source.line_with(bad_atom[1].rstrip().encode()) or "a line of an atom"
        return f"{where} has no three numbers in the columns 31 to 54: {shown(bad_atom[1].encode())}"
    said = " ".join(said.replace("\0", "").split()).rstrip(".")
    if CUT_ROW.decode() in said:
        return "the file ends within a row of it"
    bad_count = re.search(r"could not read the number of atoms .*the line is '(.*)'", said)
    bad_number = re.search(r"can not parse '(.*)' as a", said)
    if bad_count or bad_number:
        text = (bad_count or bad_number or [""])[1].strip()
        where = source.line_with(text.encode()) or "a line"
        wanted = "the number of atoms" if bad_count else "a number"
        return f'{where} has "{text[:40]}" where {wanted} should be'
    if "bad_alloc" in said:
        return asks_too_much(source.size())
    if "not enough lines" in said:
        return "it ends before the last of its atoms"
    if "out of bounds" in said or "failed to read" in said:
        return f"it ends within a frame: {source.size():,} bytes are there, and more should follow"
    if "_MAGIC" in said or "this is not a" in said:
        return f"it, or a frame in it, does not begin as {FORMATS.get(source.form, source.form)} does"
    if "record marker" in said:
        return "a block of it does not end where it should"
    wrong_size = re.search(r"expected a positive integer, got (-?\d+)", said)
    return f"its header has {wrong_size[1]} where a count should be" if wrong_size else said


def _elements_beside(chemfiles: Any, source: Source, count: int) -> np.ndarray | None:
    """The elements of the atoms by a file beside the trajectory; None where there is none that can be read and has as
    many atoms."""
    path = source.beside(*NAMERS)
    if path is None:
        source.remark(
            f"The trajectory names no elements: a file {source.stem}.gro or {source.stem}.pdb beside it gives radii "
            f"and colours."
        )
        return None
    try:
        beside = Source(path, source.limits, path.rpartition(".")[2])
        with asked_within_reason(beside.size()), _opened(chemfiles, beside) as trajectory:
            frame = trajectory.read()
            if len(frame.atoms) == count:
                return _elements(frame, beside.form, Atoms(beside) if FORMATS.get(beside.form) == "PDB" else None)
            source.remark(f"The file beside it, {os.path.basename(path)}, has another number of atoms.")
    except (chemfiles.ChemfilesError, ParticleError):
        source.remark(f"The file beside it, {os.path.basename(path)}, cannot be read: elements are not known.")
    return None


@contextlib.contextmanager
def _opened(chemfiles: Any, source: Source) -> Iterator[Any]:
    """The file as a trajectory, of whose atoms only the names are asked."""
    if source.form != "gro" or gro_digits.has_usual_width(source):
        with chemfiles.Trajectory(source.path) as trajectory:
            yield trajectory
    else:
        with gro_digits.stand_in(source).on_disk() as path, chemfiles.Trajectory(path, "r", "GRO") as trajectory:
            yield trajectory


def _put(frame: Any, numbers: tuple[np.ndarray, np.ndarray | None] | None) -> None:
    """Let a frame have these positions and velocities, as many as it has atoms."""
    if numbers is None:
        raise ParticleError("the file ends within it")
    frame.positions[:], velocities = numbers
    if velocities is not None:
        frame.velocities[:] = velocities


def _elements(frame: Any, form: str, atoms: Atoms | None, first: int = 0) -> np.ndarray:
    """The atomic numbers (N,) by what the file says in columns of its own, else by names; its first atom is that of
    number `first` in the file."""
    found = elements.numbers_of(_atom_names(frame, form in SURE))
    own = atoms.numbers[first : first + len(found)] if atoms is not None else found
    return np.where(own > 0, own, found) if len(own) == len(found) else found


def _atom_names(frame: Any, are_sure: bool = False) -> list[str]:
    """The symbol of each atom's element, as far as it can be told. A type that is no more than the atom's name may mean
    two elements ("CA" is a carbon of a protein or calcium): two letters are believed where the residue is called so, or
    where the form `are_sure`."""
    topology = frame.topology
    known: dict[str, str] = {}
    result = []
    for index, atom in enumerate(topology.atoms):
        kind = atom.type if any(map(str.isalpha, atom.type)) else atom.name
        symbol = known.get(kind)
        if symbol is None:
            name = kind.strip().lstrip("0123456789").rstrip("0123456789+-*' ")
            symbol = name if elements.numbers_of([name])[0] else name[:1]
            known[kind] = symbol
        if len(symbol) > 1 and not are_sure and kind == atom.name and not _is_called(topology, index, symbol):
            symbol = symbol[:1]
        result.append(symbol)
    return result


def _is_called(topology: Any, index: int, symbol: str) -> bool:
    """Whether the atom has no residue, or one that is called like the element."""
    residue = topology.residue_for_atom(index)
    return residue is None or residue.name.strip().lower().startswith(symbol.lower())


def _frame(frame: Any, found: np.ndarray | None, form: str) -> Frame:
    positions = np.array(frame.positions, np.float64)
    if form in ("xtc", "gro"):  # tens of picometres at best: what float32 keeps
        positions = positions.astype(np.float32)
    found = found if found is not None and found.any() else None
    attributes = [] if found is None else [Attribute("element", found, "atomic number")]
    if frame.has_velocities():
        attributes.append(Attribute("velocity", np.array(frame.velocities, np.float32), "A/ps"))
    known = frame.list_properties()
    time = frame["time"] if "time" in known else None
    stamp = (float(time), "ps") if isinstance(time, float | int) else (float(frame.step), "step")
    return Frame(
        positions,
        elements=found,
        attributes=tuple(attributes),
        box=_box(frame),
        stamp=stamp,
        bonds=int(frame.topology.bonds_count()),
        pairs=np.array(frame.topology.bonds, np.int64).reshape(-1, 2),
    )


def _box(frame: Any) -> PeriodicBox | None:
    """The cell: its edges are the columns of chemfiles' matrix."""
    vectors = np.array(frame.cell.matrix, np.float64).T
    if np.array_equal(np.linalg.norm(vectors, axis=1), np.ones(3)):
        return None  # what writers of PDB put where there is no cell
    vectors[np.abs(vectors) < 1e-9 * np.abs(vectors).max(initial=0.0)] = 0.0
    return PeriodicBox(np.zeros(3), vectors)
