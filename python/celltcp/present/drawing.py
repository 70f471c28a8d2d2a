"""Conversion of a matplotlib figure to an SVG element of an HTML page."""

from __future__ import annotations

import io
import re

from matplotlib.figure import Figure

#: Keys of the metadata that matplotlib writes to a file, each set to None to omit it.
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))

_STYLE = re.compile(r'style="[^"]*"')
_COLOUR = re.compile(r"#([0-9a-fA-F]{6})\b")
_IDS = re.compile(r'( id="|url\(#|xlink:href="#)')
_SIZE = re.compile(r' (width|height)="[\d.]+pt"')
_METADATA = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)


def svg_of(picture: Figure, name: str) -> str:
    """Returns an SVG element with colours as CSS variables and identifiers prefixed by `name`."""
    stream = io.StringIO()
    picture.savefig(stream, format="svg", metadata=_NO_METADATA)
    text = stream.getvalue()
    text = _METADATA.sub("", text[text.index("<svg") :])
    head, _, rest = text.partition(">")
    head = _SIZE.sub("", head).replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    text = _IDS.sub(rf"\g<1>{name}-", f"{head}>{rest}")
    return _STYLE.sub(lambda match: _COLOUR.sub(_variable, match[0]), text).strip()


def _variable(match: re.Match[str]) -> str:
    return f"var(--h{match[1].lower()})"
