"""How a file is read: its scale, and how much time, memory and data one import may take."""

from __future__ import annotations

import dataclasses

from gpu.settings import option


@dataclasses.dataclass(frozen=True)
class ImportLimits:
    """How a file is read, and the limits of the child process that parses it."""

    scale: float = option(1.0, "Every length of a file is multiplied by this: 0.01 turns centimetres into metres.", minimum=1e-6, maximum=1e6)
    seconds: float = option(
        120.0, "An import that takes longer is stopped; raise it for very large files or slow disks.", minimum=0.1, maximum=86400.0, unit="s"
    )
    memory_mib: int = option(
        12288, "Address space the importing process may use; a file that needs more is refused.", minimum=256, maximum=1048576, unit="MiB"
    )
    file_mib: int = option(
        4096, "A file, also once unpacked, may be this large; stops archives that unpack without end.", minimum=1, maximum=1048576, unit="MiB"
    )
    max_triangles: int = option(
        50_000_000, "A scene with more triangles, instances counted, is refused.", minimum=1, maximum=700_000_000, unit="triangles"
    )
    max_key_frames: int = option(10_000, "A sequence may have this many key frames.", minimum=2, maximum=1_000_000, unit="files")
    texture_size: int = option(4096, "Textures with a longer side are scaled down to it.", minimum=16, maximum=32768, unit="pixels")
    environment: str = option("", "Picture of all directions (equirectangular .hdr, .exr, .png or .jpg) that lights every scene from far away.")
