"""Files of particles -> spheres, in the importing child. A reader is a module with `read(source)`, which gives one
frame after another; it knows its file and nothing of the scene.

    formats.py                                      which files these are, and which module reads them
    frame.py                                        one instant, and the file that a reader is told to read
    columns.py  colours.py  elements.py             named columns of numbers -> a frame
    trajectory.py  attributes.py  spacing.py        frames -> spheres with key frames; periodic.py: their images
    on_disk.py                                      frames that do not fit in memory
    xyz.py  lammps.py  separated.py                 text
    arrays.py  layout.py  tipsy.py                  numbers
    polygon_file.py  point_cloud.py  vtk_*.py       points; lidar.py by laspy
    molecules.py  hoomd.py                          molecules, by chemfiles and gsd
    cut_frames.py  cut_binaries.py  cut_archive.py  what is left of files that are cut

What a reader raises ends the file there: frames before it are kept and the bad one is named.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from raygrove.app.scene_io.compressed import inner_name
from raygrove.app.scene_io.errors import SceneError, display_path
from raygrove.app.scene_io.limits import ImportLimits
from raygrove.gpu.scene import Remark, Scene
from raygrove.program import how_to_install

from .formats import BY_ENDING, PARTICLE_ENDINGS, form_of, looks_like_particles
from .frame import Frame, ParticleError, Source

if TYPE_CHECKING:
    from .trajectory import Trajectory

__all__ = ["PARTICLE_ENDINGS", "form_of", "looks_like_particles", "read_particles"]

Progress = Callable[[float, str], None]
PANIC = "PanicException"
"""What libraries in Rust raise, which is no Exception."""


def read_particles(paths: Sequence[str], limits: ImportLimits, fps: float, progress: Progress) -> Scene:
    """The spheres of a file, or of several whose frames follow one another; not yet sanitised. `SceneError` with a
    sentence where no frame can be had."""
    from .trajectory import Trajectory  # with the first file, not with the program

    trajectory = Trajectory(paths[0], limits, fps)
    remarks: list[Remark] = []
    for number, path in enumerate(paths):
        form = form_of(path)
        if form is None:
            raise SceneError(f"{display_path(path)} holds no particles as the files before it do. Open it alone.", path)
        source = Source(path, limits, form)

        def at(frames: int, source: Source = source, number: int = number) -> None:
            share = min(frames / source.frames, 1.0) if source.frames else 0.5
            progress(0.05 + 0.7 * (number + share) / len(paths), f"Reading frame {trajectory.count:,}")

        _read_one(source, trajectory, at)
        remarks += [one for one in source.remarks if all(one.sentence != other.sentence for other in remarks)]
    name = inner_name(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
    return trajectory.scene(name, remarks)


def _read_one(source: Source, trajectory: Trajectory, progress: Callable[[int], None]) -> None:
    form = BY_ENDING[source.form]
    path = source.path
    count = 0
    try:
        source.check_begin()
        reader = importlib.import_module(f".{form.module}", __package__)
        for frame in reader.read(source):
            frame = _checked(frame)
            if trajectory.seen % source.limits.every_frame == 0:
                trajectory.add(frame)
            trajectory.seen += 1
            count += 1
            if count % 16 == 0:
                progress(count)
    except (SceneError, MemoryError):
        raise
    except ImportError as error:
        raise SceneError(
            f"{display_path(path)}: files of the kind {form.title} are read by the package "
            f"{error.name or form.package}, "
            f"which is not installed. {how_to_install('particles')}",
            path,
        ) from error
    except BaseException as error:  # whatever a damaged file does to a reader, the person gets a sentence
        if not isinstance(error, Exception) and type(error).__name__ != PANIC:
            raise
        why = str(error).rstrip(".")
        if not isinstance(error, ParticleError):
            why = f"its reader stopped at what it could not understand ({type(error).__name__}: {why})"
        if not count:
            raise SceneError(
                f"{display_path(path)} cannot be read ({form.title}): {why}. Export or fetch it again.", path
            ) from error
        named = f" of {os.path.basename(display_path(path))}" if trajectory.seen > count else ""
        source.remark(f"Frame {count + 1:,}{named} is cut or damaged: {why}. Only the frames before it are shown.")


def _checked(frame: Frame) -> Frame:
    """What every reader promises. Positions that are kept as whole or half numbers, in which squares and differences
    overflow, become floats."""
    count = len(frame.positions)
    if frame.positions.shape != (count, 3):
        raise ParticleError(f"its positions have the shape {frame.positions.shape}")
    rows = [frame.radii, frame.colours, frame.ids, frame.elements, *(a.values for a in frame.attributes)]
    wrong = next((values for values in rows if values is not None and len(values) != count), None)
    if wrong is not None or (frame.time is not None and not np.isfinite(frame.time)):
        raise ParticleError("its columns have different lengths" if wrong is not None else "its time is no number")
    kind, size = frame.positions.dtype.kind, frame.positions.dtype.itemsize
    if kind == "f" and size in (4, 8):
        return frame
    wide = np.float32 if size <= 2 else np.float64
    return dataclasses.replace(frame, positions=frame.positions.astype(wide))
