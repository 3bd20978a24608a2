"""What rays hit, in arrays of the caller's kind."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..target.base import Array, Target
from ..target.foreign import as_library, is_library, library_of, on_target
from . import arrays

OUTPUTS = {
    "t": (np.float32, ()),
    "prim_id": (np.int32, ()),
    "u": (np.float32, ()),
    "v": (np.float32, ()),
    "normal": (np.float32, (3,)),
    "instance": (np.int32, ()),
}
"""What can be asked for of each hit: its type, and the numbers of each."""

UNCHANGING = ("jax", "jaxlib")
"""Libraries whose arrays nobody may write to."""

USUAL = ("t", "prim_id", "u", "v")


@dataclasses.dataclass(frozen=True, eq=False)
class Hits:
    """The closest hits of N rays, in their order, in arrays that nobody else writes to: NumPy's for rays of NumPy, else
    of the library that the rays are of.

    `t` (N,) float32: distance in lengths of the ray's direction, inf where nothing is hit. `prim_id` (N,) int32: the
    row of the triangle or sphere (of a scene: counted instance by instance), -1 where nothing is hit. `u`, `v` (N,)
    float32: the weights of the triangle's second and third corner, 0 where nothing is hit; of a sphere, where on it the
    hit is (octahedral). On request `normal` (N, 3) float32: the triangle's, of unit length, towards where the ray comes
    from, 0 where nothing is hit; `instance` (N,) int32: the instance of the scene, -1 where nothing is hit. None is
    what was not asked for.
    """

    t: Any
    prim_id: Any
    u: Any = None
    v: Any = None
    normal: Any = None
    instance: Any = None

    def __len__(self) -> int:
        return len(self.t)


def checked_outputs(outputs: tuple[str, ...]) -> tuple[str, ...]:
    """The outputs asked for, t and prim_id among them. ArrayError for one that there is not."""
    if isinstance(outputs, str):
        raise arrays.ArrayError(f"outputs are several names; this is one, {outputs!r}", remedy=f'give ("{outputs}",)')
    for name in outputs:
        if name not in OUTPUTS:
            raise arrays.ArrayError(f"there is no output {name!r} of a hit", remedy="choose of " + ", ".join(OUTPUTS))
    return tuple(name for name in OUTPUTS if name in outputs or name in ("t", "prim_id"))


def checked_count(count: Any) -> int:
    """How many hits there are to be. ArrayError for what is no whole number from 0."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
        raise arrays.ArrayError(f"count is a whole number from 0; it is {count!r}", remedy="give len(rays)")
    return int(count)


def empty_arrays(target: Target, count: int, outputs: tuple[str, ...]) -> dict[str, Array]:
    """The target's arrays for hits of so many rays, uninitialised."""
    return {name: _empty(target, (count, *shape), kind) for name, (kind, shape) in _asked(outputs)}


def as_hits(native: dict[str, Array], library: str) -> Hits:
    """Arrays of a target as hits of a library's arrays. Of arrays that are written already: who must not see them
    change, as JAX, copies them."""
    return Hits(**{name: as_library(array, library) for name, array in native.items()})


def empty_hits(target: Target, count: int, outputs: tuple[str, ...], library: str) -> tuple[Hits, dict[str, Array]]:
    """Hits of so many rays to be written into, and their arrays as the target has them. ArrayError where the library's
    arrays never change, or where it is none that is imported."""
    _check_can_change(library, "hits")
    own = "numpy" if target.kind == "host" else "cupy"
    if library not in ("", own) and not is_library(library):
        raise arrays.ArrayError(
            f"there are no arrays of {library!r} here",
            remedy=f"leave library out for {own}, or import the one you name",
        )
    native = empty_arrays(target, count, outputs)
    return as_hits(native, library), native


def _asked(outputs: tuple[str, ...]) -> list[tuple[str, tuple[Any, tuple[int, ...]]]]:
    return [(name, OUTPUTS[name]) for name in checked_outputs(outputs)]


def _check_can_change(library: str, name: str) -> None:
    if library in UNCHANGING:
        what = f"arrays of JAX never change, and {name} are written in place"
        raise arrays.ArrayError(what, remedy="call without out, which gives new ones")


def native_hits(target: Target, hits: Hits, count: int) -> dict[str, Array]:
    """The arrays of a caller's hits, to be written in place. ArrayError where they cannot be."""
    if not isinstance(hits, Hits):
        raise arrays.ArrayError(
            f"out are rg.Hits to be written into, an array for each output, and no {type(hits).__name__}",
            remedy="take tree.empty_hits(count), or rg.Hits(t=..., prim_id=...) of your own arrays",
        )
    native = {}
    for name, (kind, shape) in OUTPUTS.items():
        array = getattr(hits, name)
        if array is None:
            continue
        arrays.check_is_array(array, f"out.{name}")
        _check_can_change(library_of(array), f"out.{name}")
        found = on_target(target, array, f"out.{name}")
        arrays.check_shape(found, f"out.{name}", (count, *shape))
        is_writable = not isinstance(found, np.ndarray) or found.flags.writeable
        if found.dtype != kind or not found.flags.c_contiguous or not is_writable:
            raise arrays.ArrayError(
                f"out.{name} is written in place: contiguous {np.dtype(kind)} that can be written; it is "
                f"{arrays.shown(found)}",
                remedy="take tree.empty_hits(count)",
            )
        if (target.kind == "host") != isinstance(found, np.ndarray):
            raise arrays.ArrayError(
                f"out.{name} lies on the host and the tree is on {target.name}", remedy="take tree.empty_hits(count)"
            )
        native[name] = found
    return native


def native_flags(target: Target, out: Any, count: int) -> Array:
    """(count,) bool on the target: a caller's, or new ones. ArrayError where those cannot be written in place."""
    if out is None:
        return _empty(target, (count,), np.bool_)
    arrays.check_is_array(out, "out")
    _check_can_change(library_of(out), "flags")
    found = on_target(target, out, "out")
    arrays.check_shape(found, "out", (count,))
    is_writable = not isinstance(found, np.ndarray) or found.flags.writeable
    on_it = (target.kind == "host") == isinstance(found, np.ndarray)
    if found.dtype != np.bool_ or not found.flags.c_contiguous or not is_writable or not on_it:
        raise arrays.ArrayError(
            f"out is written in place: contiguous bool on {target.name}; it is {arrays.shown(found)}"
        )
    return found


def _empty(target: Target, shape: tuple[int, ...], kind: Any) -> Array:
    """An array for a caller, who owns it."""
    return np.empty(shape, kind) if target.kind == "host" else target.empty(shape, kind, "hits")
