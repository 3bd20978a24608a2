"""Targets of a campaign whose files hold whole scenes by other libraries: USD, glTF's extensions; and trees as this
program writes them. What an extra reads is among them where that is installed."""

from __future__ import annotations

import contextlib
import importlib
import io
from pathlib import Path
from typing import Any

import numpy as np

import raygrove as rg
from raygrove.gpu.hierarchy.bvh.own.tree import checked_tree
from tests.app.scene_io import test_gltf_extensions as extensions
from tests.app.scene_io.particles import files
from tests.app.scene_io.usd import stages
from tests.gpu.analysis.test_tree_files import BOUNDS, BOXES, COLUMNS

POSITIONS = files.moving(2, 12)
MOVED = """
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    point3f[] points.timeSamples = {
        0: [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], 12: [(0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)] }
    texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] (interpolation = "faceVarying")
"""
EXTENDED = b"""3
Lattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3:charge:R:1 Time=0.5
O 0 0 0 -0.8
H 1 0 0 0.4
H 0 1 0 0.4
"""
MMCIF = """data_two
_cell.length_a 20.0
_cell.length_b 22.0
_cell.length_c 24.0
_cell.angle_alpha 90.0
_cell.angle_beta 90.0
_cell.angle_gamma 90.0
loop_
_atom_site.group_PDB
_atom_site.id
_atom_site.type_symbol
_atom_site.label_atom_id
_atom_site.label_comp_id
_atom_site.label_asym_id
_atom_site.label_entity_id
_atom_site.label_seq_id
_atom_site.Cartn_x
_atom_site.Cartn_y
_atom_site.Cartn_z
_atom_site.pdbx_PDB_model_num
""" + "".join(
    f"ATOM {n + 6 * model} C CA ALA A 1 {n} {n * 1.5:.3f} {n / 3:.3f} {model}.0 {model}\n"
    for model in (1, 2)
    for n in range(1, 7)
)
PLACED = """def PointInstancer "crowd" {
    rel prototypes = </crowd/square>
    int[] protoIndices = [0, 0, 0]; point3f[] positions = [(0, 0, 0), (3, 0, 0), (6, 0, 0)]
    def Mesh "square" { int[] faceVertexCounts = [3]; int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)] } }
def Points "dots" { point3f[] points = [(0, 0, 0), (1, 1, 1)]; float[] widths = [0.5, 0.25] }
def SphereLight "lamp" { float inputs:intensity = 30 }
"""


def scenes(folder: Path) -> dict[str, list[bytes]]:
    """Files that are right, by a kind's name; its ending stands behind the last hyphen."""
    found = {**_gltfs(folder), **_particles()}
    for written in (_molecules, _simulations, _surveys):
        with contextlib.suppress(ImportError):
            found |= written(folder)
    with contextlib.suppress(ImportError):
        found |= _usds(folder, importlib.import_module("pxr.Usd"), importlib.import_module("pxr.UsdUtils"))
    return found


def _usds(folder: Path, usd: Any, utils: Any) -> dict[str, list[bytes]]:
    texts = [stages.mesh(body=MOVED), PLACED + stages.mesh(), stages.SKINNED.format(more="")]
    paths = [stages.stage(folder / f"{number}.usda", text) for number, text in enumerate(texts)]
    crates = []
    for path in paths:
        crates.append(path.with_suffix(".usdc"))
        usd.Stage.Open(str(path)).Export(str(crates[-1]))
    utils.CreateNewUsdzPackage(str(crates[0]), str(folder / "all.usdz"))
    return {
        "usda": [path.read_bytes() for path in paths],
        "usdc": [path.read_bytes() for path in crates],
        "usdz": [(folder / "all.usdz").read_bytes()],
    }


def _gltfs(folder: Path) -> dict[str, list[bytes]]:
    glb, primitive = extensions.quad()
    corners = (extensions.CORNERS * 100).astype(np.int16)
    primitive["attributes"]["POSITION"] = extensions.whole(glb, corners, "VEC3", 8, False)
    where = glb.accessor(np.array([[0, 0, 0], [5, 0, 0]], np.float32), "VEC3")
    lights, instances = extensions.gltf_extensions.LIGHTS, extensions.gltf_extensions.INSTANCING
    glb.json["nodes"] = [
        {"mesh": 0, "children": [1, 2], "extensions": {instances: {"attributes": {"TRANSLATION": where}}}},
        {"extensions": {lights: {"light": 0}}},
        {"extensions": {lights: {"light": 0}}},
    ]
    glb.json["extensions"] = {lights: {"lights": [{"type": "point", "intensity": 3.0}]}}
    glb.json["extensionsUsed"] = ["KHR_mesh_quantization", instances, lights]
    found = {"extensions-glb": [glb.save(folder / "extensions.glb").read_bytes()]}
    with contextlib.suppress(ImportError):
        importlib.import_module("DracoPy")
        found["draco-glb"] = [extensions.packed_quad(folder / "draco.glb").read_bytes()]
    with contextlib.suppress(ImportError):
        pack = extensions.packed_by(importlib.import_module("meshopt"))
        found["meshopt-gltf"] = [extensions.meshopt_quad(folder / "meshopt.gltf", pack).read_bytes()]
    return found


def _particles() -> dict[str, list[bytes]]:
    charge, colours = np.arange(12.0), np.arange(36, dtype=np.uint8).reshape(12, 3)
    rows = b"".join(b"%d,2,%f,%d\n" % (n, n / 7, n % 3) for n in range(12))
    return {
        "lammpstrj": [files.lammps([(key, np.arange(12), POSITIONS[key]) for key in range(2)])],
        "csv": [b"x,y,z,frame\n" + rows],
        "pcd": [files.pcd(POSITIONS[0], form) for form in ("ascii", "binary", "binary_compressed")],
        "vtk": [files.vtk(POSITIONS[0], charge, POSITIONS[1], is_text) for is_text in (True, False)],
        "vtp": [files.vtp(POSITIONS[0], charge, form) for form in ("ascii", "zlib", "raw")],
        "npy": [_array()],
        "extxyz": [EXTENDED * 2],
        "tsv": [b"x\ty\tz\tmass\n" + rows.replace(b",", b"\t")],
        "vtu": [files.vtp(POSITIONS[0], charge, "ascii").replace(b"PolyData", b"UnstructuredGrid")],
        "tipsy": [files.tipsy(3, 4, 5)[0]],
        "particles-npz": [_arrays()],
        "points-ply": [files.ply(POSITIONS[0], colours, form) for form in ("ascii", "binary_big_endian")],
    }


def _array() -> bytes:
    file = io.BytesIO()
    np.save(file, POSITIONS)
    return file.getvalue()


def _arrays() -> bytes:
    """Particles with elements as texts, times, and dates, which are left out."""
    file, dates = io.BytesIO(), np.array(["2026-12-01"] * 12, "datetime64[s]")
    np.savez(file, positions=POSITIONS, element=np.array(["O", "H", "H"] * 4), time=np.arange(2.0), when=dates)
    return file.getvalue()


def _molecules(folder: Path) -> dict[str, list[bytes]]:
    """Trajectories by chemfiles."""
    chemfiles, found = importlib.import_module("chemfiles"), {}
    for ending in ("gro", "xtc", "trr", "dcd", "nc", "mol2", "sdf"):
        frame, path = chemfiles.Frame(), folder / f"seed.{ending}"
        for number in range(12):
            frame.add_atom(chemfiles.Atom(("C", "H", "O")[number % 3]), [0.0, 0.0, 0.0])
        frame.cell = chemfiles.UnitCell([20.0, 22.0, 24.0], [90.0, 90.0, 60.0])
        with chemfiles.Trajectory(str(path), "w") as trajectory:
            for positions in POSITIONS:
                frame.positions[:] = positions
                trajectory.write(frame)
        found[ending] = [path.read_bytes()]
    atoms = [(("C", "H", "O")[number % 3], "SOL") for number in range(12)]
    found["gro"].append(files.gro(POSITIONS, atoms, 5, has_velocities=True))
    found["cif"] = [MMCIF.encode()]
    return found


def _simulations(folder: Path) -> dict[str, list[bytes]]:
    """Frames of HOOMD-blue."""
    hoomd, path = importlib.import_module("gsd.hoomd"), folder / "seed.gsd"
    with hoomd.open(str(path), "w") as file:
        for positions in POSITIONS:
            frame = hoomd.Frame()
            frame.particles.N, frame.particles.position = 12, positions
            file.append(frame)
    return {"gsd": [path.read_bytes()]}


def _surveys(folder: Path) -> dict[str, list[bytes]]:
    """Points of a laser, plain and packed."""
    laspy, found = importlib.import_module("laspy"), {}
    for ending in ("las", "laz"):
        path, survey = folder / f"seed.{ending}", laspy.LasData(laspy.LasHeader(point_format=3, version="1.2"))
        survey.x, survey.y, survey.z = POSITIONS[0].T
        survey.red = np.arange(12, dtype=np.uint16) * 5000
        survey.write(str(path))
        found[ending] = [path.read_bytes()]
    return found


def trees(folder: Path) -> dict[str, list[bytes]]:
    """The tree of docs/trees.md over three boxes: in the program's own format, with and without boxes of frames, and as
    arrays."""
    columns = {name: np.array(values, np.int32) for name, values in COLUMNS.items()}
    frames = {"frame_bounds": np.stack([BOUNDS, BOUNDS + np.float32(0.25)]), "frame_times": np.array([0.0, 0.5])}
    found = []
    for more in ({}, frames):
        rg.save_tree(rg.Tree(**columns, bounds=BOUNDS, **more), folder / "seed.rgtree", "by hand")
        found.append((folder / "seed.rgtree").read_bytes())
    arrays = io.BytesIO()
    np.savez(arrays, **columns, bounds=BOUNDS)
    return {"rgtree": found, "npz": [arrays.getvalue()]}


def read_own_tree(path: Path) -> object:
    """A file `.rgtree`, with the check that whoever builds with it makes first."""
    return checked_tree(rg.load_tree(path), BOXES, False)
