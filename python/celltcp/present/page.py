"""HTML renderer of reports: one page with style, script, tables, pictures and their numbers."""

from __future__ import annotations

import base64
import functools
import hashlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from celltcp._core import __version__
from celltcp.present.css_colors import declarations, variable
from celltcp.present.palette import colours
from celltcp.present.section import Part, Section

_HERE = Path(__file__).parent / "page"
_UPLOT = _HERE / "uplot"


#: Keys of the metadata that matplotlib writes to a file, each set to None to omit it.
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))

_STYLE = re.compile(r'style="[^"]*"')
_COLOUR = re.compile(r"#([0-9a-fA-F]{6})\b")
_IDS = re.compile(r'( id="|url\(#|xlink:href="#)')
_SIZE = re.compile(r' (width|height)="[\d.]+pt"')
_METADATA = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)


def page_of(parts: Sequence[Part], title: str, command: str) -> str:
    """Returns the page of a report; the same parts give the same bytes."""
    # A field that the template names and the classes lack is an error, not an empty text.
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters["variable"] = variable
    template = environment.from_string(_text(_HERE / "report.html.jinja"))
    uplot = _text(_UPLOT / "uPlot.iife.min.js")
    version = re.search(r"v(\d+\.\d+\.\d+)", uplot)
    fields = {
        "title": title,
        "command": command,
        "version": __version__,
        "uplot": version[1] if version else "",
        "parts": [_part(part, number) for number, part in enumerate(parts, 1)],
        "scripts": [_script(text) for text in (uplot, _text(_HERE / "report.js"))],
    }
    # The colours are known only after a first rendering.
    body = template.render(**fields, style="")
    light, dark = declarations(body)
    own = _text(_HERE / "report.css").replace("LIGHT", light).replace("DARK", dark)
    style = Markup(_text(_UPLOT / "uPlot.min.css") + own)
    return template.render(**fields, style=style)


def _part(part: Part, number: int) -> dict[str, Any]:
    """Returns the fields of a part for the template."""
    name = f"part-{number}"
    sections = [
        _section(section, f"{name}-{index}", name) for index, section in enumerate(part.sections, 1)
    ]
    return {**vars(part), "name": name, "sections": sections}


def _section(section: Section, name: str, group: str) -> dict[str, Any]:
    """Returns the fields of a section for the template; `group` is the name of its part."""
    fields: dict[str, Any] = {**vars(section), "name": name, "shades": _shades(section)}
    fields |= {"svg": None, "chart": None}
    if section.figure is not None:
        fields["svg"] = Markup(_svg(section.figure.draw(), name))
        fields["alternative"] = section.figure.alternative
        chart = section.figure.chart
        if chart is not None and len(chart.x) > 1:
            fields["chart"] = _json(chart.to_json())
            fields["group"] = f"{group}-{chart.group}" if chart.group else name
    if section.file:
        encoded = base64.b64encode(section.code.encode()).decode("ascii")
        fields["data"] = f"data:text/plain;charset=utf-8;base64,{encoded}"
    return fields


def _shades(section: Section) -> Mapping[str, str]:
    """Returns colours of cells by their texts."""
    if section.table is None:
        return {}
    shades = colours(section.table.cca_of_cell.values())
    return {text: shades[cca] for text, cca in section.table.cca_of_cell.items()}


def _json(value: object) -> Markup:
    """Returns a value as JSON without characters that could end its element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _svg(picture: Figure, name: str) -> str:
    """Returns an SVG element with colours as CSS variables and identifiers prefixed by `name`."""
    stream = io.StringIO()
    picture.savefig(stream, format="svg", metadata=_NO_METADATA)
    text = stream.getvalue()
    text = _METADATA.sub("", text[text.index("<svg") :])
    head, _, rest = text.partition(">")
    head = _SIZE.sub("", head).replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    text = _IDS.sub(rf"\g<1>{name}-", f"{head}>{rest}")
    return _STYLE.sub(
        lambda match: _COLOUR.sub(lambda colour: f"var(--h{colour[1].lower()})", match[0]), text
    ).strip()


def _script(text: str) -> dict[str, str]:
    """Returns a script, and the digest by which the page allows it."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return {"text": Markup(text), "digest": f"sha256-{digest}"}


@functools.cache
def _text(file: Path) -> str:
    return file.read_text("utf-8")
