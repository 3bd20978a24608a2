"""H.264 video by PyAV: a frame a picture, at a constant rate, whatever time drawing took. The library is the extra
`video`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from raygrove.gpu.linux import load_beside_others

from .whole_files import Check, nothing_to_check, whole_file

FORMATS = {".mp4": "mp4", ".mov": "mov", ".mkv": "matroska"}
QUALITY = "16"
"""x264's constant rate factor: 18 is said to look lossless; thin edges of triangles deserve a little more."""
BT709, SRGB, LIMITED_RANGE = 1, 13, 1
"""The numbers of ISO/IEC 23091-2 that a player reads: matrix and primaries, transfer, range."""
RATE_DENOMINATOR = 1001


class VideoError(RuntimeError):
    """The encoder does not take what it is given; the message is a sentence."""


@contextlib.contextmanager
def open_video(
    path: Path, width: int, height: int, fps: float, check: Check = nothing_to_check
) -> Iterator[VideoWriter]:
    """A video that stands under `path` once the block has ended well; an error inside leaves what was there. Raises
    OSError and VideoError."""
    load_beside_others("av")  # the window's thread would wait for it
    import av

    with whole_file(path, check) as file:
        try:
            container = av.open(file, "w", format=FORMATS[path.suffix.lower()])
            try:
                writer = VideoWriter(container, width, height, fps)
                yield writer
                writer.finish()
            except BaseException:
                with contextlib.suppress(Exception):  # closing writes the end of a file that is thrown away
                    container.close()
                raise
            container.close()
        except av.error.FFmpegError as error:
            if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
                raise
            raise VideoError(
                f"{path}: the encoder refused a video of {width} x {height} pixels at {fps:g} frames per second "
                f"({error})."
            ) from error


class VideoWriter:
    """Takes pictures one after another. Sides are made even, as yuv420p asks: an odd one repeats its last row or
    column."""

    def __init__(self, container: Any, width: int, height: int, fps: float) -> None:
        rate = Fraction(fps).limit_denominator(RATE_DENOMINATOR)
        self._container, self._time_base, self._count = container, 1 / rate, 0
        self.width, self.height = even(width), even(height)
        stream = container.add_stream("libx264", rate=rate)
        stream.width, stream.height, stream.pix_fmt = self.width, self.height, "yuv420p"
        context = stream.codec_context
        context.time_base, context.options = self._time_base, {"crf": QUALITY}
        context.colorspace, context.color_primaries, context.color_trc, context.color_range = (
            BT709,
            BT709,
            SRGB,
            LIMITED_RANGE,
        )
        self._stream = stream

    def add(self, pixels: np.ndarray) -> None:
        """The next picture, (H, W, 4) uint8, row 0 on top."""
        import av

        rows, columns = self.height - pixels.shape[0], self.width - pixels.shape[1]
        padded = np.pad(pixels[:, :, :3], ((0, rows), (0, columns), (0, 0)), mode="edge")
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(padded), format="rgb24")
        frame = frame.reformat(format="yuv420p", dst_colorspace=BT709, dst_color_range=LIMITED_RANGE)
        frame.pts, frame.time_base = self._count, self._time_base
        self._count += 1
        self._container.mux(self._stream.encode(frame))

    def finish(self) -> None:
        """Take out of the encoder what it holds back."""
        self._container.mux(self._stream.encode(None))


def even(side: int) -> int:
    """A side of a picture, made even."""
    return side + side % 2
