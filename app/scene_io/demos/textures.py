"""Textures of the built-in scenes, drawn from a seed: 8-bit sRGB, repeating seamlessly."""

from __future__ import annotations

import math

import numpy as np

from raygrove.gpu.scene import Texture


def checker(
    name: str, light: tuple[int, int, int], dark: tuple[int, int, int], size: int = 256, seed: int = 0
) -> Texture:
    """Two by two squares of two sRGB colours with thin joints and a little grain."""
    y, x = np.mgrid[0:size, 0:size]
    half = size // 2
    is_light = ((x // half + y // half) % 2 == 0)[..., None]
    colour = np.where(is_light, light, dark).astype(np.float64)
    joint = max(1, size // 128)
    is_joint = (x % half < joint) | (y % half < joint)
    colour[is_joint] *= 0.72
    grain = np.random.default_rng(seed).uniform(-4.0, 4.0, (size, size, 1))
    return _texture(name, colour + grain)


def wood(name: str, size: int = 512, planks: int = 4, seed: int = 0) -> Texture:
    """Planks side by side, each with its own tone, grain and a butt joint."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:size, 0:size] / size
    plank = np.minimum((x * planks).astype(np.int64), planks - 1)
    tone, phase, joint = (
        rng.uniform(0.82, 1.08, planks),
        rng.uniform(0, 2 * math.pi, planks),
        rng.uniform(0.1, 0.9, planks),
    )
    inside = x * planks - plank
    turn = 2.0 * math.pi
    grain = np.sin(
        turn * 5.0 * inside + phase[plank] + 1.6 * np.sin(turn * y + phase[plank]) + 0.6 * np.sin(turn * 3.0 * y)
    )
    fine = np.sin(turn * 37.0 * inside + 3.0 * np.sin(turn * 2.0 * y + phase[plank]))
    level = tone[plank] * (1.0 + 0.07 * grain + 0.025 * fine)
    gap = (np.minimum(inside, 1.0 - inside) < 0.012) | (np.abs(y - joint[plank]) < 0.0025)
    level = np.where(gap, 0.45, level)
    return _texture(name, level[..., None] * np.array([176.0, 125.0, 78.0]))


def stripes(name: str, colours: tuple[tuple[int, int, int], ...], size: int = 256) -> Texture:
    """Bands of sRGB colours, side by side, with a fine weave."""
    y, x = np.mgrid[0:size, 0:size]
    colour = np.asarray(colours, np.float64)[x * len(colours) // size]
    weave = 1.0 - 0.08 * (((x // 2 + y // 2) % 2)[..., None])
    return _texture(name, colour * weave)


def _texture(name: str, colour: np.ndarray) -> Texture:
    """RGB values 0 to 255 as an opaque 8-bit texture."""
    pixels = np.full((*colour.shape[:2], 4), 255, np.uint8)
    pixels[..., :3] = np.clip(np.rint(colour), 0, 255)
    return Texture(name, pixels)
