"""How colours differ, after the literature and independently of the program: contrast of WCAG 2, dichromats after
Machado, Oliveira and Fernandes (2009), CIEDE2000 after Sharma, Wu and Dalal (2005)."""

from __future__ import annotations

import math

import numpy as np

DEFICIENCIES = {
    "none": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900),
    ),
}  # fmt: skip
"""Machado's matrices of severity 1.0, from linear RGB to what those people see of it."""

TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
"""Linear sRGB to XYZ under D65."""

WHITE = (0.95047, 1.0, 1.08883)


def linear(color: str) -> np.ndarray:
    """The linear RGB of "#rrggbb"."""
    coded = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255.0
    return np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours after WCAG 2: 1 to 21."""
    low, high = sorted(float(linear(color) @ (0.2126, 0.7152, 0.0722)) for color in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(color: str, deficiency: str = "none") -> tuple[float, float, float]:
    """CIE L*a*b* of what someone sees of a colour."""
    seen = np.clip(np.array(DEFICIENCIES[deficiency]) @ linear(color), 0.0, 1.0)
    share = TO_XYZ @ seen / WHITE
    x, y, z = np.where(share > (6 / 29) ** 3, np.cbrt(share), share * (29 / 6) ** 2 / 3 + 4 / 29)
    return float(116 * y - 16), float(500 * (x - y)), float(200 * (y - z))


def ciede2000(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """The difference of two L*a*b* colours, by CIEDE2000 with all weights 1."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    g = 0.5 * (1.0 - _saturating((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2.0))
    a1, a2 = (1.0 + g) * a1, (1.0 + g) * a2
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360.0 for a, b in ((a1, b1), (a2, b2)))
    is_grey = c1 * c2 == 0.0
    turn = 0.0 if is_grey else (h2 - h1 + 180.0) % 360.0 - 180.0
    if turn == -180.0 and h2 > h1:
        turn = 180.0
    hue_step = 2.0 * math.sqrt(c1 * c2) * math.sin(math.radians(turn) / 2.0)
    mean_l, mean_c = (l1 + l2) / 2.0, (c1 + c2) / 2.0
    mean_h = h1 + h2 if is_grey else (h1 + h2) / 2.0
    if not is_grey and abs(h1 - h2) > 180.0:
        mean_h += 180.0 if h1 + h2 < 360.0 else -180.0
    t = (
        1.0
        - 0.17 * _cos(mean_h - 30.0)
        + 0.24 * _cos(2.0 * mean_h)
        + 0.32 * _cos(3.0 * mean_h + 6.0)
        - 0.20 * _cos(4.0 * mean_h - 63.0)
    )
    away = (mean_l - 50.0) ** 2
    of_l = (l2 - l1) / (1.0 + 0.015 * away / math.sqrt(20.0 + away))
    of_c = (c2 - c1) / (1.0 + 0.045 * mean_c)
    of_h = hue_step / (1.0 + 0.015 * mean_c * t)
    angle = 60.0 * math.exp(-(((mean_h - 275.0) / 25.0) ** 2))
    rotation = -math.sin(math.radians(angle)) * 2.0 * _saturating(mean_c)
    return math.sqrt(of_l**2 + of_c**2 + of_h**2 + rotation * of_c * of_h)


def _saturating(chroma: float) -> float:
    return math.sqrt(chroma**7 / (chroma**7 + 25.0**7))


def _cos(degrees: float) -> float:
    return math.cos(math.radians(degrees))
