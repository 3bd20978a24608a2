"""Files of particles written by hand, byte by byte, for tests of their readers."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from raygrove.app.scene_io.limits import ImportLimits
from raygrove.app.scene_io.particles import read_particles
from raygrove.app.scene_io.sanitise import sanitise
from raygrove.gpu.scene import Scene, Spheres


def read(path: Path | Sequence[Path], limits: ImportLimits | None = None, fps: float = 30.0) -> Scene:
    """The sanitised scene of a file of particles, read in this process."""
    paths = [path] if isinstance(path, Path) else list(path)
    texts = [str(one) for one in paths]
    return sanitise(read_particles(texts, limits or ImportLimits(), fps, lambda fraction, text: None), texts[0])


def spheres_of(path: Path | Sequence[Path]) -> Spheres:
    """The one group of spheres of a file."""
    (spheres,) = read(path).spheres
    return spheres


def said(scene: Scene) -> str:
    """All remarks, one per line."""
    return "\n".join(remark.counted for remark in scene.remarks)


def moving(frames: int = 3, count: int = 8, seed: int = 1) -> np.ndarray:
    """Positions (T, N, 3) within a cube of 10."""
    return np.random.default_rng(seed).random((frames, count, 3)) * 10.0


def xyz(positions: np.ndarray, words: str = "a comment", symbol: str = "O") -> bytes:
    """A plain XYZ trajectory."""
    lines = []
    for frame in positions:
        lines += [str(len(frame)), words]
        lines += [f"{symbol} {x!r} {y!r} {z!r}" for x, y, z in frame.tolist()]
    return ("\n".join(lines) + "\n").encode()


def gro(
    frames: Sequence[np.ndarray], atoms: Sequence[tuple[str, str]], digits: int = 3, *, has_velocities: bool = False
) -> bytes:
    """A GRO of positions (N, 3) in angstrom of atoms (name, residue) with so many digits behind the point, and one more
    in velocities, which are these from the other side, as GROMACS writes it."""
    width, lines = digits + 5, list[str]()
    for number, positions in enumerate(frames):
        lines += [f"{len(atoms)} atoms t= {number}.50000", f"{len(atoms):5d}"]
        for index, ((name, residue), place) in enumerate(zip(atoms, positions / 10, strict=True), 1):
            line = f"{index:5d}{residue:<5s}{name:>5s}{index:5d}" + "".join(f"{x:{width}.{digits}f}" for x in place)
            faster = "".join(f"{-x:{width}.{digits + 1}f}" for x in place) if has_velocities else ""
            lines.append(line + faster)
        lines.append("   2.00000   2.20000   2.40000")
    return ("\n".join(lines) + "\n").encode()


def lammps(
    frames: Sequence[tuple[int, np.ndarray, np.ndarray]], columns: str = "id type x y z", box: str = ""
) -> bytes:
    """A dump of (step, ids, values (N, C)): the columns after the id and the type 1."""
    lines = []
    for step, ids, values in frames:
        lines += ["ITEM: TIMESTEP", str(step), "ITEM: NUMBER OF ATOMS", str(len(ids))]
        lines += [box or "ITEM: BOX BOUNDS pp pp ff\n0 10\n0 20\n-5 5"]
        lines += [f"ITEM: ATOMS {columns}"]
        lines += [f"{i} 1 " + " ".join(map(repr, row)) for i, row in zip(ids.tolist(), values.tolist(), strict=True)]
    return ("\n".join(lines) + "\n").encode()


def ply(positions: np.ndarray, colours: np.ndarray, form: str) -> bytes:
    """Vertices with colours and a radius of 0.25, as ascii, binary_little_endian or binary_big_endian."""
    head = f"ply\nformat {form} 1.0\ncomment by hand\nelement vertex {len(positions)}\n"
    head += "".join(f"property double {axis}\n" for axis in "xyz")
    head += "".join(f"property uchar {name}\n" for name in ("red", "green", "blue"))
    head += "property float radius\nend_header\n"
    if form == "ascii":
        rows = [
            " ".join(map(repr, p)) + " " + " ".join(map(str, c)) + " 0.25"
            for p, c in zip(positions.tolist(), colours.tolist(), strict=True)
        ]
        return (head + "\n".join(rows) + "\n").encode()
    order = "<" if "little" in form else ">"
    body = b"".join(
        struct.pack(f"{order}3d3Bf", *p, *c, 0.25) for p, c in zip(positions.tolist(), colours.tolist(), strict=True)
    )
    return head.encode() + body


def pcd(positions: np.ndarray, form: str) -> bytes:
    """Points of x, y, z and rgb as PCL packs it, 0x102030 for each; compressed as literals and one copy."""
    count = len(positions)
    head = "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z rgb\nSIZE 4 4 4 4\nTYPE F F F F\n"
    head += f"COUNT 1 1 1 1\nWIDTH {count}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {count}\nDATA {form}\n"
    rgb = struct.unpack("<f", struct.pack("<I", 0x102030))[0]
    if form == "ascii":
        rows = [f"{x!r} {y!r} {z!r} {rgb!r}" for x, y, z in positions.tolist()]
        return (head + "\n".join(rows) + "\n").encode()
    if form == "binary":
        return head.encode() + b"".join(struct.pack("<4f", *p, rgb) for p in positions.tolist())
    columns = [*positions.astype("<f4").T, np.full(count, rgb, "<f4")]
    plain = b"".join(column.tobytes() for column in columns)
    body = plain[: -4 * (count - 1)]  # the colours after the first are copies of it, 4 bytes back
    packed = b"".join(bytes([len(body[i : i + 32]) - 1]) + body[i : i + 32] for i in range(0, len(body), 32))
    left = 4 * (count - 1)
    while left:
        length = min(left, 264)
        length = length if left - length not in (1, 2) else length - 3
        control = bytes([(min(length - 2, 7) << 5)])
        packed += control + (bytes([length - 9]) if length >= 9 else b"") + bytes([3])
        left -= length
    return head.encode() + struct.pack("<2I", len(packed), len(plain)) + packed


def vtk(positions: np.ndarray, charge: np.ndarray, velocity: np.ndarray, is_text: bool) -> bytes:
    """Poly data with a vertex cell each, scalars, vectors and a field."""
    count = len(positions)
    out = b"# vtk DataFile Version 3.0\nby hand\n" + (b"ASCII" if is_text else b"BINARY") + b"\nDATASET POLYDATA\n"

    def numbers(values: np.ndarray, kind: str) -> bytes:
        if is_text:
            return " ".join(map(repr, values.reshape(-1).tolist())).encode() + b"\n"
        return values.astype(f">{kind}").tobytes() + b"\n"

    cells = np.stack([np.ones(count, np.int32), np.arange(count, dtype=np.int32)], axis=1)
    out += f"POINTS {count} float\n".encode() + numbers(positions, "f4")
    out += f"VERTICES {count} {2 * count}\n".encode() + numbers(cells, "i4")
    out += f"POINT_DATA {count}\nSCALARS charge double 1\nLOOKUP_TABLE default\n".encode() + numbers(charge, "f8")
    out += b"VECTORS velocity float\n" + numbers(velocity, "f4")
    out += f"FIELD data 1\nradius 1 {count} float\n".encode() + numbers(np.full(count, 0.5), "f4")
    return out


def vtp(positions: np.ndarray, charge: np.ndarray, form: str) -> bytes:
    """Poly data as XML: `form` is ascii, binary, zlib (base64 in place), appended or raw."""
    appended, packer = b"", ' compressor="vtkZLibDataCompressor"' if form == "zlib" else ""

    def array(name: str, values: np.ndarray, width: int) -> str:
        nonlocal appended
        data = values.astype("<f4").tobytes()
        start = f'<DataArray type="Float32" Name="{name}" NumberOfComponents="{width}" '
        if form == "ascii":
            return start + f'format="ascii">{" ".join(map(repr, values.reshape(-1).tolist()))}</DataArray>'
        if form == "binary":
            return (
                start + f'format="binary">{base64.b64encode(struct.pack("<I", len(data)) + data).decode()}</DataArray>'
            )
        if form == "zlib":
            half = len(data) // 2
            blocks = [zlib.compress(data[:half]), zlib.compress(data[half:])]
            head = struct.pack("<5I", 2, half, len(data) - half, len(blocks[0]), len(blocks[1]))
            text = base64.b64encode(head) + base64.b64encode(b"".join(blocks))
            return start + f'format="binary">{text.decode()}</DataArray>'
        offset = len(appended)
        whole = struct.pack("<I", len(data)) + data
        appended += whole if form == "raw" else base64.b64encode(whole)
        return start + f'format="appended" offset="{offset}"/>'

    count = len(positions)
    body = f'<Piece NumberOfPoints="{count}" NumberOfVerts="0" NumberOfPolys="0"><Points>'
    body += array("Points", positions, 3) + "</Points><PointData>" + array("charge", charge, 1) + "</PointData></Piece>"
    text = (
        '<?xml version="1.0"?>\n<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt32"'
    )
    text += f"{packer}>\n<PolyData>{body}</PolyData>\n"
    tail = b""
    if form in ("raw", "appended"):
        tail = f'<AppendedData encoding="{"raw" if form == "raw" else "base64"}">\n_'.encode() + appended
        tail += b"\n</AppendedData>\n"
    return text.encode() + tail + b"</VTKFile>\n"


def tipsy(gas: int, dark: int, stars: int, order: str = ">") -> tuple[bytes, np.ndarray]:
    """A snapshot with the time 0.25, and the positions in it: the particle n lies at (n, 2 n, 3 n)."""
    total = gas + dark + stars
    out = struct.pack(f"{order}d6i", 0.25, total, 3, gas, dark, stars, 0)
    for index in range(total):
        left = 5 if index < gas else 2 if index < gas + dark else 4
        out += struct.pack(f"{order}{7 + left}f", 1.5, index, 2 * index, 3 * index, 4, 5, 6, *range(left))
    numbers = np.arange(total)[:, None]
    return out, numbers * np.array([1.0, 2.0, 3.0])
