"""How long tests wait for what must come. What comes ends a wait; a busy machine may take many times as long as a quiet
one, so none of these is a measurement, and `make test` ends a test that hangs after 1,200 s."""

from __future__ import annotations

PROCESS_S = 900.0
"""For a process to end: what it runs may compile kernels first."""
EVENT_S = 240.0
"""For an event, a frame or a state within the process."""
