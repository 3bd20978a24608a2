"""Pictures of a real engine, drawn until they are whole."""

from __future__ import annotations

from collections.abc import Sequence

from raygrove.app.document.state import State
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.outcome import Outcome
from raygrove.app.frames.pixel_slots import PixelSlot
from raygrove.gpu.scene import Moment, Scene


def whole_picture(
    maker: FrameMaker, scene: Scene, state: State, moment: Moment, slots: Sequence[PixelSlot], is_moving: bool = False
) -> Outcome:
    """One more sample of a picture, at rest mostly. A slow one comes by some rows at a time, and on a busy machine any
    may be slow: then its slots hold nothing yet, and its figures are of those rows."""
    while not (outcome := maker.draw(scene, state, moment, slots, is_moving)).is_whole:
        pass
    return outcome
