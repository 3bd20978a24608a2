"""A unit of the host target: where its kernels begin, and what they are given."""

from __future__ import annotations

import dataclasses
from typing import Any

from .arguments import ArgumentBlock
from .structs import address
from .translation_unit import UnitText


@dataclasses.dataclass(eq=False)
class HostUnit:
    """A loaded library: an entry and an argument block a kernel, and of a checked one where its state's address is."""

    kernels: tuple[str, ...]
    entries: dict[str, Any]
    blocks: dict[str, ArgumentBlock]
    check_state: Any = None

    @classmethod
    def of(cls, written: UnitText, entries: dict[str, Any]) -> HostUnit:
        """A unit as it was written, and where its kernels begin."""
        blocks = {name: ArgumentBlock(signature, address) for name, signature in written.kernels.items()}
        return cls(tuple(written.kernels), entries, blocks)
