"""Sum, minimum and maximum of an array, left on the target.

The result does not depend on the number of threads or blocks: float sums are equal bit by bit from run to run, and from
the host to CUDA.
"""

from __future__ import annotations

import numpy as np

from ..target.base import Array, Target, UnitSource

TILE = 4096
OPERATIONS = ("sum", "minimum", "maximum")
_VALUE_TYPES = {"float32": "float", "int32": "int", "uint32": "unsigned"}


def reduce(target: Target, operation: str, values: Array, out: Array, scratch: str = "reduce") -> None:
    """Write the sum, minimum or maximum of `values` (n,) to `out` (1,), both float32, int32 or uint32.

    Nothing is waited for. Integer sums wrap round; a NaN is no minimum and no maximum; of no values the sum is 0, the
    minimum the greatest and the maximum the least value of the type (infinities for floats). `scratch` names the
    scratch memory.
    """
    unit = target.unit(_unit_source(operation, values.dtype))
    if out.dtype != values.dtype or out.shape != (1,):
        raise ValueError(
            f"The result needs one {np.dtype(values.dtype).name}; {out.shape} of {np.dtype(out.dtype).name} was given."
        )
    level, count = 0, int(values.shape[0])
    while True:
        tile_count = max(1, -(-count // TILE))
        partials = out if tile_count == 1 else target.scratch(f"{scratch}.{level}", tile_count, values.dtype)
        target.launch(
            unit,
            "reduce_tiles",
            count,
            values=values,
            n=count,
            tile_count=tile_count,
            partials=partials,
            blocks=tile_count,
        )
        if tile_count == 1:
            return
        values, count, level = partials, tile_count, level + 1


def _unit_source(operation: str, dtype: np.dtype) -> UnitSource:
    name = np.dtype(dtype).name
    if operation not in OPERATIONS:
        raise ValueError(f"The operation {operation!r} is not known: it is one of {', '.join(OPERATIONS)}.")
    if name not in _VALUE_TYPES:
        raise ValueError(f"Arrays of {name} cannot be reduced: the types are {', '.join(_VALUE_TYPES)}.")
    aliases = (("Value", _VALUE_TYPES[name]), ("Operation", operation.capitalize()))
    return UnitSource("gpu/primitives/reduce.cu", ("gpu/primitives/combine.cuh",), aliases)
