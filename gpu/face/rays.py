"""Rays in arrays, and what of a scene they may meet."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import Error
from ..target.base import Array, Target
from ..target.foreign import in_rows, is_on_gpu, library_of, of_numbers, on_host, on_target
from ..trace.arrays import EVERY_GROUP, EVERY_MASK, ArrayRays, packed
from ..trace.trace import BufferRays, upload_rays
from . import arrays
from .scenes import MOST_GROUPS

LABELS = {"groups": (EVERY_GROUP, MOST_GROUPS - 1), "masks": (-(1 << 31), (1 << 32) - 1)}
"""The least and the largest group of a ray, and its mask as a number: of 32 bits, with a sign or without."""

FLOAT_MAX = float(np.finfo(np.float32).max)


class RaySet:
    """N rays from `origins` along `directions`, (N, 3) numbers each or (3,) for all, in scene units; directions need
    not have length 1, and distances are in their lengths.

    `t_min` and `t_max` bound them, one number or (N,). `groups`, one or (N,) whole numbers: a ray meets the objects of
    its own group and those of `rg.ALL`; `rg.ALL` (the default) meets everything. `masks`, one or (N,) whole numbers: a
    ray meets objects that have one of its bits. Arrays of NumPy, CuPy, or anything with DLPack or
    `__cuda_array_interface__`; float32 and int32 on the tree's device are not copied, and what is written into them
    later is seen by the next trace.

    Raises Error where these are no rays. Rays on the host that are not finite or have no direction are refused unless
    `check` is False; those, and such rays on a GPU, hit nothing.

    >>> import raygrove as rg
    >>> rays = rg.RaySet([[0.2, 0.2, 1.0], [2.0, 2.0, 1.0]], [0.0, 0.0, -1.0], t_max=5.0)
    >>> len(rays), len(rays[1])
    (2, 1)
    """

    def __init__(
        self,
        origins: Any,
        directions: Any,
        t_min: Any = 0.0,
        t_max: Any = np.inf,
        *,
        groups: Any = EVERY_GROUP,
        masks: Any = EVERY_MASK,
        check: bool = True,
    ) -> None:
        self.origins, self.directions = _array(origins, "origins"), _array(directions, "directions")
        self.t_min, self.t_max = _array(t_min, "t_min"), _array(t_max, "t_max")
        self.groups, self.masks = _array(groups, "groups"), _array(masks, "masks")
        counts = set()
        for name, rows in (("origins", self.origins), ("directions", self.directions)):
            shape = tuple(rows.shape)
            if len(shape) not in (1, 2) or shape[-1] != 3 or _kind(rows) not in "fiu":
                raise arrays.ArrayError(
                    f"{name} are rows of three numbers, (N, 3), or one for all; these are {arrays.shown(rows)}"
                )
            counts |= {shape[0]} if len(shape) == 2 else set()
        if len(counts) > 1:
            raise arrays.ArrayError(
                f"There are {len(self.origins)} origins and {len(self.directions)} directions: a ray has one of each"
            )
        self.count = counts.pop() if counts else 1
        for name in ("t_min", "t_max", "groups", "masks"):
            self._check_column(name, check)
        if check:
            self._check_values()
        self._taken: tuple[Target, np.ndarray, tuple[Array, ...]] | None = None

    @classmethod
    def record(
        cls,
        clip: Any,
        *,
        time: float = 0.0,
        ray_type: str = "path",
        bounce: int = 0,
        rays: str = "",
        ray_type_options: dict[str, Any] | None = None,
        camera: Any = None,
        size: tuple[int, int] = (512, 384),
        seed: int = 0,
        device: str = "auto",
    ) -> RaySet:
        """The rays that a ray type casts in the first sample of a picture of a rg.Clip at `time` seconds, a workload:
        those of bounce n, 0 being the camera's, or those called `rays` (shadow, occlusion, bounce 1 ...). By a camera
        that sees all of the clip unless one is given. Rays that a kernel makes and traces on the way (recursive ray
        tracing behind the primary ones) cannot be recorded. Waits. Error where there are none.

        >>> import raygrove as rg
        >>> rays = rg.RaySet.record(rg.open("room"), ray_type="path", bounce=1, size=(32, 24), device="cpu")
        >>> 0 < len(rays) <= 32 * 24
        True
        """
        from .ray_files import recorded

        name = rays or (f"bounce {bounce}" if bounce else "primary")
        return recorded(clip, time, name, ray_type, ray_type_options, camera, size, seed, device)

    def save(self, path: Any) -> None:
        """Write origins, directions, t_min and t_max into an .npz, which appears whole or not at all; groups and masks
        are left out. Raises OSError."""
        from .ray_files import save_rays

        save_rays(self, path)

    @classmethod
    def load(cls, path: Any) -> RaySet:
        """The rays of an .npz: `origins` and `directions` (N, 3), and `t_min`, `t_max`, one or (N,), where they are.
        Read in a child process, without pickles. Raises Error (UnreadableError) where there are none."""
        from .ray_files import load_rays

        return load_rays(path)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: Any) -> RaySet:
        """Some of the rays, or one. IndexError where there is no such ray."""
        if isinstance(index, int | np.integer):
            if not -self.count <= index < self.count:
                raise IndexError(f"There are {self.count} rays, and none is number {index}.")
            index = slice(int(index), int(index) + 1 or None)
        some = index
        parts = {name: self._some(getattr(self, name), some, width) for name, width in _WIDTHS.items()}
        return RaySet(**parts, check=False)

    @staticmethod
    def _some(values: Any, some: Any, width: int) -> Any:
        return values[some] if len(values.shape) == width else values

    @property
    def library(self) -> str:
        """The package whose arrays the rays are."""
        return library_of(self.origins if len(self.origins.shape) == 2 else self.directions)

    @property
    def columns(self) -> tuple[Any, ...]:
        """All arrays."""
        return self.origins, self.directions, self.t_min, self.t_max, self.groups, self.masks

    # -- for the tracer -----------------------------------------------------------------------------------------------
    from_sensors = False

    def view(self, target: Target) -> tuple[np.ndarray, tuple[Array, ...]]:
        """The rays as kernels take them, and the arrays that have to live until the launch. Kept where they are read
        where they lie, so that the same rays again cost nothing."""
        if self._taken is not None and self._taken[0] is target:
            return self._taken[1:]
        parts: list[tuple[Array, bool]] = [_rows(target, self.origins, "origins")]
        parts.append(_rows(target, self.directions, "directions"))
        parts += [_column(target, self.t_min, "t_min"), _column(target, self.t_max, "t_max")]
        (origins, _), (directions, _), (t_mins, _), (t_maxs, _) = parts
        row = packed(
            ArrayRays,
            origins,
            directions,
            t_mins,
            t_maxs,
            _stride(origins),
            _stride(directions),
            _number(self.t_min, 0.0, t_mins),
            _number(self.t_max, np.inf, t_maxs),
            self.count,
            1,
        )
        kept = tuple(array for array, _ in parts)
        if all(is_shared for _, is_shared in parts):
            self._taken = (target, row, kept)
        return row, kept

    def _check_column(self, name: str, check: bool) -> None:
        column = getattr(self, name)
        is_whole = name in ("groups", "masks")
        shape = tuple(column.shape)
        if shape not in ((), (self.count,)) or _kind(column) not in ("iu" if is_whole else "fiu"):
            what = "one whole number" if is_whole else "one number"
            raise arrays.ArrayError(
                f"{'t_min and t_max are' if not is_whole else f'{name} are'} {what}, or one for each of the "
                f"{self.count} rays; {name} is {arrays.shown(column)}"
            )
        if name in LABELS and check:
            arrays.check_range(column, name, *LABELS[name])

    def _check_values(self) -> None:
        start, along = self.origins, self.directions
        if not (isinstance(start, np.ndarray) and isinstance(along, np.ndarray)):
            return
        with np.errstate(over="ignore", invalid="ignore"):
            start, along = start.astype(np.float32, copy=False), along.astype(np.float32, copy=False)
            is_known = np.isfinite(start).all(axis=-1) & np.isfinite(along).all(axis=-1) & along.any(axis=-1)
        if not is_known.all():
            ray = int(np.flatnonzero(~np.broadcast_to(is_known, self.count))[0])
            shown = [rows[ray] if rows.ndim == 2 else rows for rows in (start, along)]
            raise arrays.ArrayError(f"Ray {ray} is not finite or has no direction: {shown[0]}, {shown[1]}")
        for name in ("t_min", "t_max"):
            column = getattr(self, name)
            if isinstance(column, np.ndarray) and np.isnan(column.astype(np.float64, copy=False)).any():
                raise arrays.ArrayError(f"{name} has NaN in it", remedy="use inf for a ray without an end")


_WIDTHS = {"origins": 2, "directions": 2, "t_min": 1, "t_max": 1, "groups": 1, "masks": 1}


def _array(values: Any, name: str) -> Any:
    """The array itself, or numpy's of a sequence or number."""
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "__dlpack__") or is_on_gpu(values):
        return of_numbers(values)
    return in_rows(values, name)


def _kind(array: Any) -> str:
    """What numpy calls a kind of numbers; other libraries name their types alike."""
    kind = getattr(array.dtype, "kind", None)
    if kind is not None:
        return str(kind)
    name = str(array.dtype).rpartition(".")[2]
    return next((letter for word, letter in (("float", "f"), ("uint", "u"), ("int", "i")) if word in name), "O")


def _rows(target: Target, values: Any, name: str) -> tuple[Array, bool]:
    """Rows of three float32, with any stride between them, and whether they are the caller's memory."""
    found = on_target(target, values, name)
    own = (target.kind == "host") == isinstance(found, np.ndarray)
    if own and found.dtype == np.float32 and _is_in_rows(found):
        return found, True
    return arrays.taken(target, values, name, (None, 3) if found.ndim == 2 else (3,)), False


def _is_in_rows(array: Any) -> bool:
    step = array.strides[0] if array.ndim == 2 and len(array) > 1 else 0
    return array.strides[-1] == 4 and step % 4 == 0 and 0 <= step < 1 << 31


def _stride(array: Any) -> int:
    """Floats from a row to the next."""
    return int(array.strides[0]) // 4 if array.ndim == 2 else 0


def _column(target: Target, values: Any, name: str, kinds: str = arrays.NUMBERS) -> tuple[Array, bool]:
    """A number for each ray on the target, or None where there is one for all."""
    if len(values.shape) == 0:
        return None, True
    found = on_target(target, values, name)
    taken = arrays.taken(target, values, name, (None,), kinds)
    return taken, taken is found


def _number(values: Any, default: float, column: Array | None) -> float:
    found = default if column is not None else float(values)
    return min(max(found, -FLOAT_MAX), np.inf)


def admitted_columns(target: Target, rays: Any) -> tuple[Array, Array, int, int]:
    """The groups and masks of rays (or of sensors) on the target, and those for all where there are none."""
    columns, numbers = [], []
    for name, default in (("groups", EVERY_GROUP), ("masks", EVERY_MASK)):
        values = getattr(rays, name)
        if name == "masks" and isinstance(values, np.ndarray) and values.dtype == np.uint32:
            values = values.view(np.int32)
        column = _column(target, values, name, arrays.WHOLE)[0]
        columns.append(column)
        numbers.append(default if column is not None else int(np.int64(values).astype(np.uint32).view(np.int32)))
    return columns[0], columns[1], numbers[0], numbers[1]


def buffered(target: Target, rays: Any, kind: str) -> BufferRays:
    """Rays in the buffer that counting kernels read, for closest hits or any. Error where they meet only some of the
    scene."""
    if kind not in ("closest", "any"):
        raise Error(f"rays look for their closest hit or for any, not {kind!r}", remedy="say closest or any")
    if getattr(rays, "from_sensors", False):
        rays = rays.to_rays()
    if not isinstance(rays, RaySet):
        raise Error(f"rays are a rg.RaySet or those of sensors, and these are {type(rays).__name__}",
                    remedy="give rg.RaySet(origins, directions)")  # fmt: skip
    given = {name: getattr(rays, name) for name in _WIDTHS}
    columns = {name: target.download(on_target(target, values, name)) if is_on_gpu(values) else on_host(values, name)
               for name, values in given.items()}  # fmt: skip
    if (columns["groups"] != EVERY_GROUP).any() or (columns["masks"].astype(np.int64) & 0xFFFFFFFF != 0xFFFFFFFF).any():
        raise Error("rays with groups or masks meet only some of the scene, and counts are of rays that meet all of it",
                    remedy="leave groups and masks out")  # fmt: skip
    origins, directions = (np.broadcast_to(columns[name], (len(rays), 3)) for name in ("origins", "directions"))
    return upload_rays(target, origins, directions, columns["t_min"], columns["t_max"])
