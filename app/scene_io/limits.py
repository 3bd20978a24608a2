"""How a file is read: its scale, and how much time, memory and data one import may take."""

from __future__ import annotations

import dataclasses

from raygrove.gpu.settings import option


@dataclasses.dataclass(frozen=True)
class ImportLimits:
    """How a file is read, and the limits of the child process that parses it."""

    scale: float = option(
        1.0,
        "Every length of a file is multiplied by this: 0.01 turns centimetres into metres.",
        minimum=1e-6,
        maximum=1e6,
    )
    every_frame: int = option(
        1,
        "Of a file of particles every n-th frame is read: 10 opens a tenth of a long trajectory.",
        minimum=1,
        maximum=1_000_000,
        unit="frames",
    )
    wrap: bool = option(False, "Particles that left the periodic box of their file are put back into it.")
    copies_a: int = option(
        1, "Particles are shown this many times along the first edge of their periodic box.", minimum=1, maximum=64
    )
    copies_b: int = option(1, "And along its second edge.", minimum=1, maximum=64)
    copies_c: int = option(1, "And along its third edge.", minimum=1, maximum=64)
    point_shape: str = option(
        "sphere",
        "Particles and points are drawn as spheres; as discs that lie on the surface, by each point's normal; or as "
        "splats: discs that face every ray, shaded by the point's normal.",
        choices=("sphere", "disc", "splat"),
    )
    point_radius: float = option(
        0.0,
        "The radius of all particles, in the file's own lengths. 0 takes that of the file, or what covers the distance "
        "of neighbours.",
        minimum=0.0,
        maximum=1e12,
    )
    bonds: str = option(
        "none",
        "Atoms are shown as balls with sticks between those that are bonded: by the file's list, or by how near they "
        "are (cut_off).",
        choices=("none", "file", "cut_off"),
    )
    arrows: str = option("", "An attribute of three columns: an arrow along it from the centre of each particle.")
    arrow_scale: float = option(
        0.0,
        "How long an arrow is for a vector of length 1; 0 makes the longest four diameters of the particles.",
        minimum=0.0,
        maximum=1e12,
    )
    allow_outside: bool = option(
        False,
        "What a model or a saved picture names outside its own folder (textures, buffers, scenes) is read, too. Only "
        "for those that you trust: a picture may show what lies elsewhere on this machine.",
    )
    all_formats: bool = option(
        False,
        "Models of rare formats are opened, too: all but 3ds, dae, fbx, glb, gltf, obj, off, ply, raw, stl and vrm. "
        "Only for files that you trust: damaged ones of such formats crash the library that reads them.",
    )
    sandbox: bool = option(
        True,
        "The importing process gives up what it does not need, where Linux can take it away: other files than the "
        "model's folder and the program's own, sockets, other programs.",
    )
    seconds: float = option(
        120.0,
        "An import that takes longer is stopped, of a rare format after an eighth; raise it for very large files or "
        "slow disks.",
        minimum=0.1,
        maximum=86400.0,
        unit="s",
    )
    memory_mib: int = option(
        12288,
        "Address space the importing process may use, and never more than three quarters of the memory that is free; a "
        "file that needs more is refused.",
        minimum=256,
        maximum=1048576,
        unit="MiB",
    )
    disk_mib: int = option(
        65536,
        "Disk space that a trajectory of particles may take while it is read, where it does not fit memory_mib; it is "
        "then mapped from the disk as long as it is open. 0 refuses such a trajectory.",
        minimum=0,
        maximum=16777216,
        unit="MiB",
    )
    file_mib: int = option(
        4096,
        "A file, also once unpacked, may be this large; stops archives that unpack without end.",
        minimum=1,
        maximum=1048576,
        unit="MiB",
    )
    unpacked_times: int = option(
        30,
        "A packed file may unpack to so many times its size where that is more than 12 MiB, and the data that a glTF "
        "shares or leaves out take so many where that is more than 1 GiB; models unpack to three to ten times.",
        minimum=1,
        maximum=1_000_000,
        unit="times",
    )
    max_triangles: int = option(
        50_000_000,
        "A scene with more triangles, instances counted, is refused.",
        minimum=1,
        maximum=700_000_000,
        unit="triangles",
    )
    max_particles: int = option(
        200_000_000,
        "A file with more particles in one frame is refused.",
        minimum=1,
        maximum=700_000_000,
        unit="particles",
    )
    max_key_frames: int = option(
        10_000, "A sequence may have this many key frames.", minimum=2, maximum=1_000_000, unit="files"
    )
    texture_size: int = option(
        4096, "Textures with a longer side are scaled down to it.", minimum=16, maximum=32768, unit="pixels"
    )
    environment: str = option(
        "",
        "Picture of all directions (equirectangular .hdr, .exr, .png or .jpg) that lights every scene from far away.",
    )


FOR_ALL = ("scale", "texture_size", "allow_outside")
"""What a scene of any file is made with."""
FOR_PARTICLES = (
    *("every_frame", "wrap", "copies_a", "copies_b", "copies_c", "point_shape", "point_radius"),
    *("bonds", "arrows", "arrow_scale"),
)
"""What a scene of particles is made with as well."""
LIMITS = (
    "sandbox",
    "seconds",
    "memory_mib",
    "disk_mib",
    "file_mib",
    "unpacked_times",
    "max_triangles",
    "max_particles",
    "max_key_frames",
    "all_formats",
)
"""What only says how an import is kept from harm, and how large it may be: what was read within them stays."""
OWN = (*LIMITS, "allow_outside")
"""What protects this machine and its user: no file that is opened changes it."""
