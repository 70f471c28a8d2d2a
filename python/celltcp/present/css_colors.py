"""Colours of a page as CSS variables, with values for light and for dark pages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from matplotlib.colors import to_hex, to_rgb

#: Colours of the dark page, in the order of the style sheet.
_DARK = (
    "color-scheme: dark; --paper: #15191e; --ink: #e6eaee; --faint: #9aa5b1; --rule: #333b44; "
    "--tint: #1d232a; --accent: #6cb6ff; --decided: #56d364; --tied: #e3b341; --undecided: #9aa5b1; "
    "--warn: #ffb77c; --warn-tint: #2d2013;"
)
_PAPER = "#15191e"
#: Minimum contrast of a colour with dark paper (WCAG 2.1, non-text contrast).
_MIN_CONTRAST = 3.2
#: Maximum difference of the RGB components of a grey.
_MAX_GREY_DIFFERENCE = 0.06

#: A colour in a page: a CSS variable, or a field of JSON.
_USES = re.compile(r"--h([0-9a-f]{6})\b|\"colour\":\"#([0-9A-Fa-f]{6})\"")


def variable(colour: str) -> str:
    """Returns the name of the variable of a colour such as `#0072B2`."""
    return f"--h{to_hex(colour)[1:]}"


def declarations(body: str) -> tuple[str, str]:
    """Returns the declarations of all colours that a page uses, for light and for dark pages."""
    colours = sorted({(css or json).lower() for css, json in _USES.findall(body)})
    light = _declarations((digits, f"#{digits}") for digits in colours)
    dark = _declarations((digits, on_dark(f"#{digits}")) for digits in colours)
    return light, f"{_DARK} {dark}"


def _declarations(pairs: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"--h{name}: {value};" for name, value in pairs)


def on_dark(colour: str) -> str:
    """Returns a colour for dark pages: greys inverted, others lightened to the minimum contrast."""
    red, green, blue = to_rgb(colour)
    if max(red, green, blue) - min(red, green, blue) <= _MAX_GREY_DIFFERENCE:
        darkest, lightest = 0.1, 0.92
        return to_hex((lightest - (lightest - darkest) * red,) * 3)
    share = 0.0
    while share < 1:
        components = (1 - (1 - component) * (1 - share) for component in (red, green, blue))
        lighter = to_hex(tuple(components))  # type: ignore[arg-type]
        if contrast(lighter, _PAPER) >= _MIN_CONTRAST:
            return lighter
        share += 0.05
    return "#ffffff"


def contrast(colour: str, background: str) -> float:
    """Returns the contrast of two colours, from 1 to 21 (WCAG 2.1)."""
    low, high = sorted((_luminance(colour), _luminance(background)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    linear = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in to_rgb(colour)
    )
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
