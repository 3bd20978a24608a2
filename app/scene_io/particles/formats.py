"""Which files hold particles: by their ending, and by their first bytes where the ending says nothing or two things.

A form is named by the ending that most files of its kind have. Nothing here reads further than the first kilobytes.
"""

from __future__ import annotations

import dataclasses
import lzma
import os
import re
import zlib
from pathlib import Path

from raygrove.app.scene_io.compressed import first_unpacked, inner_name, is_packed

HEAD = 1 << 16


@dataclasses.dataclass(frozen=True)
class Form:
    """A family of files: what people call it, the module here that reads it, its endings, and the package that it takes
    ("" for none)."""

    title: str
    module: str
    endings: tuple[str, ...]
    package: str = ""


FORMS = (
    Form("XYZ and extended XYZ", "xyz", ("xyz", "extxyz")),
    Form("LAMMPS dump", "lammps", ("lammpstrj", "dump", "lammps")),
    Form(
        "PDB, mmCIF and other molecules",
        "molecules",
        ("pdb", "ent", "cif", "mmcif", "mmtf", "mol2", "sdf"),
        "chemfiles",
    ),
    Form("GROMACS", "molecules", ("gro", "xtc", "trr", "tng"), "chemfiles"),
    Form("DCD and Amber NetCDF trajectories", "molecules", ("dcd", "nc"), "chemfiles"),
    Form("HOOMD-blue GSD", "hoomd", ("gsd",), "gsd"),
    Form("LAS and LAZ surveys", "lidar", ("las", "laz"), "laspy"),
    Form("PLY points", "polygon_file", ("ply",)),
    Form("Point Cloud Library", "point_cloud", ("pcd",)),
    Form("Tipsy snapshots", "tipsy", ("tipsy", "tip", "std")),
    Form("NumPy arrays", "arrays", ("npz", "npy")),
    Form("tables of text", "separated", ("csv", "tsv", "txt", "dat")),
    Form("raw numbers with a layout", "layout", ("f32", "f64", "bin", "raw")),
    Form("VTK legacy", "vtk_legacy", ("vtk",)),
    Form("VTK XML", "vtk_xml", ("vtp", "vtu")),
)
BY_ENDING = {ending: form for form in FORMS for ending in form.endings}
SHARED = ("ply", "raw")
"""Endings that meshes have, too: the content decides."""
LAID_OUT = ("f32", "f64", "bin", "raw", "dat")
"""Endings of files whose layout may be declared beside them."""
PARTICLE_ENDINGS = tuple(ending for ending in BY_ENDING if ending not in SHARED)
MAGIC = (
    (0, b"ITEM: ", "lammpstrj"),
    (0, b"# vtk DataFile", "vtk"),
    (0, b"LASF", "las"),
    (0, b"\xdf\x65" * 4, "gsd"),
    (0, b"\x93NUMPY", "npy"),
    (0, b"# .PCD", "pcd"),
    (0, b"\x00\x00\x07\xcb", "xtc"),
    (0, b"\x00\x00\x07\xc9", "trr"),
    (4, b"CORD", "dcd"),
    (8, b"CORD", "dcd"),
)
XYZ = re.compile(rb"\s*\d+[ \t]*\r?\n[^\n]*\n[ \t]*\w+(?:[ \t]+[-+.\deE]+){3}")


def form_of(path: str) -> str | None:
    """The form of a file of particles (a key of `BY_ENDING`), or None where it is something else: a mesh, or nothing
    that is known. A file that cannot be opened has the form of its ending."""
    ending = Path(inner_name(path)).suffix[1:].lower()
    if ending in LAID_OUT and os.path.isfile(f"{path}.toml"):
        return "bin"
    if ending in SHARED:
        from .polygon_file import is_points

        return ending if ending == "ply" and is_points(first_bytes(path)) else None
    found = (
        _by_content(path) if ending not in BY_ENDING or BY_ENDING[ending].module in ("separated", "lammps") else None
    )
    if found is not None:
        return found
    return ending if ending in BY_ENDING else None


def looks_like_particles(path: str) -> bool:
    """Whether a file of an ending that nobody knows begins as one of particles does."""
    return _by_content(path) is not None


def first_bytes(path: str) -> bytes:
    """The first bytes, unpacked; none where the file cannot be opened."""
    try:
        if is_packed(path):
            return first_unpacked(path, HEAD)
        with open(path, "rb") as file:
            return file.read(HEAD)
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error):
        return b""


def _by_content(path: str) -> str | None:
    head = first_bytes(path)
    for offset, magic, form in MAGIC:
        if head[offset : offset + len(magic)] == magic:
            return form
    if b"<VTKFile" in head[:1024]:
        return "vtp"
    if XYZ.match(head):
        return "xyz"
    from .tipsy import is_one

    return "tipsy" if not is_packed(path) and is_one(head, os.path.getsize(path) if head else 0) else None
