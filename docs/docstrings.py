"""Docstrings in Google's style as Markdown: paragraphs, and the table of the arguments."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

from celltcp.present.schema_tables import table


def one_line(documented: object) -> str:
    """Returns the docstring of a function in one line."""
    return " ".join(_text(documented).split())


def paragraphs(documented: object) -> str:
    """Returns the docstring of a class, with the beginning of each paragraph in bold."""
    summary, *rest = _text(documented).split("\n\n")
    return "\n\n".join([summary, *(re.sub(r"^(\w+)([,:])", r"**\1**\2", each) for each in rest)])


def arguments(function: Callable[..., object]) -> str:
    """Returns the table of the arguments of a function: name, default and meaning."""
    _, _, text = _text(function).partition("Args:\n")
    text = re.split(r"\n(?=\w+:\n)", text)[0]
    defaults = inspect.signature(function).parameters
    items = re.findall(r"^    (\w+): (.*?)(?=^    \w+: |\Z)", text, re.MULTILINE | re.DOTALL)
    rows = [(name, _default(defaults[name]), " ".join(meaning.split())) for name, meaning in items]
    return table(("argument", "default", "meaning"), rows)


def _default(parameter: inspect.Parameter) -> str:
    value = parameter.default
    return "" if value is None or value is inspect.Parameter.empty else str(value)


def _text(documented: object) -> str:
    text = inspect.getdoc(documented)
    if not text:
        raise ValueError(f"{documented}: there is no docstring")
    return text
