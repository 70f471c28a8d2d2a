"""Colours of a page as variables of CSS, with values for light and for dark pages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from matplotlib.colors import to_hex, to_rgb

#: Colours of the dark page, in the order in which the style has them.
_DARK = (
    "color-scheme: dark; --paper: #15191e; --ink: #e6eaee; --faint: #9aa5b1; --rule: #333b44; "
    "--tint: #1d232a; --accent: #6cb6ff; --sure: #56d364; --tied: #e3b341; --open: #9aa5b1; "
    "--warn: #ffb77c; --warn-tint: #2d2013;"
)
_PAPER = "#15191e"
#: Contrast of a colour with dark paper (WCAG 2.1, non-text contrast).
_CONTRAST = 3.2
#: Difference of the parts of a colour up to which it is a grey.
_GREY = 0.06

_USED = re.compile(r"--h([0-9a-f]{6})\b|\"colour\":\"#([0-9A-Fa-f]{6})\"")


def variable(colour: str) -> str:
    """Returns the name of the variable of a colour such as `#0072B2`."""
    return f"--h{to_hex(colour)[1:]}"


def declarations(body: str) -> tuple[str, str]:
    """Returns the declarations of all colours that a page uses, for light and for dark pages."""
    result = sorted({(one or other).lower() for one, other in _USED.findall(body)})
    return _declared((each, f"#{each}") for each in result), _DARK + " " + _declared(
        (each, on_dark(f"#{each}")) for each in result
    )


def _declared(pairs: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"--h{name}: {value};" for name, value in pairs)


def on_dark(colour: str) -> str:
    """Returns a colour for a dark page: greys inverted, others lighter until the contrast is enough."""
    red, green, blue = to_rgb(colour)
    if max(red, green, blue) - min(red, green, blue) <= _GREY:
        paper, ink = 0.1, 0.92
        return to_hex((ink - (ink - paper) * red,) * 3)
    share = 0.0
    while share < 1:
        lighter = (1 - (1 - part) * (1 - share) for part in (red, green, blue))
        result = to_hex(tuple(lighter))  # type: ignore[arg-type]
        if contrast(result, _PAPER) >= _CONTRAST:
            return result
        share += 0.05
    return "#ffffff"


def contrast(one: str, other: str) -> float:
    """Returns the contrast of two colours, from 1 to 21 (WCAG 2.1)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)
    )
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
