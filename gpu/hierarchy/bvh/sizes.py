"""What the family of bounding volume hierarchies holds in shared memory and on stacks, and from what sizes on which
way is the faster one: measured, the same for all of its builders.
"""

from __future__ import annotations

CHUNKS = {"cuda": 128, "host": 1024}
"""References that one block of a build joins in shared memory before it goes on in global memory."""

KEEPS_DISTANCE = {"cuda": False, "host": False}
"""Whether waiting children carry the distance at which they are entered: fewer nodes visited, more memory traffic of
the stack.
"""

LEAST_STACK = 128
"""Places of a traversal's stack at least: an array of 65 or fewer is kept in registers by ptxas for sm_75 in some
traversals, which then spill. Places that are not reached cost nothing."""

LEAST_INTERLEAVED = 16
"""Packs of so many rays and more are faster where incoherent rays are interleaved; eight rays do not hide each other's
waits."""
