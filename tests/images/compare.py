"""How alike two pictures look, for pictures that are partly chance: structural similarity, and a difference as an eye
sees it.

`ssim` after Wang et al., Image Quality Assessment: From Error Visibility to Structural Similarity (2004), on
brightness. `flip` after Andersson et al., FLIP: A Difference Evaluator for Alternating Images (2020), without its part
for edges and points: colours are blurred as far as an eye does that at 67 pixels a degree, and compared in a space
where equal steps look alike. 0: nobody sees a difference; 1: black against white.
"""

from __future__ import annotations

import numpy as np

from raygrove.gpu.shade import srgb

PIXELS_A_DEGREE = 67.0
_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = _TO_XYZ.sum(axis=1)
_BLURS = ((1.0, 0.0047, 0.0, 1e-5), (1.0, 0.0053, 0.0, 1e-5), (34.1, 0.04, 13.5, 0.025))
"""Contrast sensitivity of brightness, red-green and blue-yellow (table 1 of the paper): heights and widths of two
Gaussians."""
_EXPONENT, _KNEE, _KNEE_ERROR = 0.7, 0.4, 0.95


def ssim(one: np.ndarray, other: np.ndarray, radius: int = 4) -> float:
    """Mean structural similarity of two (H, W, 3) uint8 pictures over windows of 2 * radius + 1 pixels; 1 for equal
    ones."""
    a, b = (image[..., :3].astype(np.float64) @ [0.299, 0.587, 0.114] for image in (one, other))
    mean_a, mean_b = _box(a, radius), _box(b, radius)
    var_a, var_b = _box(a * a, radius) - mean_a**2, _box(b * b, radius) - mean_b**2
    both = _box(a * b, radius) - mean_a * mean_b
    c1, c2 = (0.01 * 255.0) ** 2, (0.03 * 255.0) ** 2
    return float(
        np.mean((2 * mean_a * mean_b + c1) * (2 * both + c2) / ((mean_a**2 + mean_b**2 + c1) * (var_a + var_b + c2)))
    )


def flip(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The visible difference of each pixel of two (H, W, 3) uint8 sRGB pictures, 0 to 1."""
    seen = [_hunt(_lab(_as_the_eye_blurs(image[..., :3]))) for image in (one, other)]
    green, blue = (_hunt(_lab(np.array([[color]], np.float64))) for color in ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    most = float(_hyab(green, blue)[0, 0] ** _EXPONENT)
    error = _hyab(*seen) ** _EXPONENT
    # Small differences get most of the range: the knee lies at two fifths of the largest there can be.
    below, above = (
        error / (_KNEE * most) * _KNEE_ERROR,
        _KNEE_ERROR + (error - _KNEE * most) / (most - _KNEE * most) * (1.0 - _KNEE_ERROR),
    )
    return np.clip(np.where(error < _KNEE * most, below, above), 0.0, 1.0)


def _box(values: np.ndarray, radius: int) -> np.ndarray:
    """Means over whole windows."""
    size = 2 * radius + 1
    sums = np.pad(values, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1)
    return (sums[size:, size:] - sums[:-size, size:] - sums[size:, :-size] + sums[:-size, :-size]) / size**2


def _as_the_eye_blurs(image: np.ndarray) -> np.ndarray:
    """Linear colours after the eye's filter, which blurs brightness least."""
    xyz = srgb.decode(image / 255.0) @ _TO_XYZ.T / _WHITE
    opponent = np.stack(
        [116 * xyz[..., 1] - 16, 500 * (xyz[..., 0] - xyz[..., 1]), 200 * (xyz[..., 1] - xyz[..., 2])], axis=-1
    )
    blurred = np.stack([_blurred(opponent[..., channel], _BLURS[channel]) for channel in range(3)], axis=-1)
    y = (blurred[..., 0] + 16) / 116
    xyz = np.stack([y + blurred[..., 1] / 500, y, y - blurred[..., 2] / 200], axis=-1) * _WHITE
    return np.clip(xyz @ np.linalg.inv(_TO_XYZ).T, 0.0, 1.0)


def _blurred(values: np.ndarray, blur: tuple[float, float, float, float]) -> np.ndarray:
    widest = max(blur[1], blur[3])
    radius = int(np.ceil(3.0 * np.sqrt(widest / (2.0 * np.pi**2)) * PIXELS_A_DEGREE))
    x = np.arange(-radius, radius + 1) / PIXELS_A_DEGREE
    result, total = np.zeros_like(values), 0.0
    for height, width in (blur[:2], blur[2:]):
        if height == 0.0:
            continue
        line = np.exp(-(np.pi**2) * x**2 / width)
        weight = height * np.pi / width
        padded = np.pad(values, radius, "edge")
        rows = np.apply_along_axis(np.convolve, 1, padded, line, "valid")
        result += weight * np.apply_along_axis(np.convolve, 0, rows, line, "valid")
        total += weight * line.sum() ** 2
    return result / total


def _lab(linear: np.ndarray) -> np.ndarray:
    """CIE L*a*b* (1976) of linear sRGB."""
    ratio = linear @ _TO_XYZ.T / _WHITE
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def _hunt(lab: np.ndarray) -> np.ndarray:
    """Colours look less colourful where it is dark."""
    return np.concatenate([lab[..., :1], lab[..., 1:] * lab[..., :1] * 0.01], axis=-1)


def _hyab(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(a[..., 0] - b[..., 0]) + np.hypot(a[..., 1] - b[..., 1], a[..., 2] - b[..., 2]))
