"""Damage: changes of values, lines and characters in a text."""

from __future__ import annotations

import re
from random import Random

#: Values that parsers of numbers, quantities and names often mishandle.
_VALUES = (
    *("0", "-1", "1", "nan", "inf", "-inf", "1e308", "1e-308", "18446744073709551616", "4294967295"),
    *('""', '"0"', '"x"', "true", "false", "[]", "{}", "[[]]", '"\\u0000"', '"é"'),
    *('"0s"', '"1ns"', '"1us"', '"-1s"', '"1e308s"', '"1000000h"', '"0.0000000001ns"'),
    *('"0Mbit/s"', '"1bit/s"', '"1e308Gbit/s"', '"18446744073709551615bit/s"'),
    *('"0B"', '"1B"', '"27B"', '"1e30GB"', '"0packets"', '"0bdp"', '"1e308bdp"'),
    *('"1e308MHz"', '"0Hz"', '"-400dB"', '"1e308dBm"', '"1e308m"', '"1e308km/h"', '"0%"', '"101%"'),
)

_VALUE = re.compile(r"(?<=[=\[,{ ])(\"[^\"\n]*\"|-?[\d.]+|true|false)(?=[\s,}\]\n])")
_NUMBER = re.compile(r"\d+(\.\d+)?")


def damaged(text: str, draw: Random) -> str:
    """Changes a text in one to four places."""
    for _ in range(draw.randint(1, 4)):
        text = draw.choices((_value, _scaled, _line, _character), (5, 4, 2, 1))[0](text, draw)
    return text


def damaged_override(text: str, draw: Random) -> str:
    """Makes an override of a field of a scenario's text, with a value that may not suit it."""
    section, fields = "", []
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]") + "."
        elif "=" in line and not line.startswith("#"):
            fields.append(section + line.partition("=")[0].strip())
    field = draw.choice(fields)
    if draw.random() < 0.1:
        field = _character(field, draw)
    return f"{field}={draw.choice(_VALUES)}"


def _value(text: str, draw: Random) -> str:
    """Puts an odd value in the place of another."""
    places = list(_VALUE.finditer(text))
    if not places:
        return text
    place = draw.choice(places)
    return text[: place.start()] + draw.choice(_VALUES) + text[place.end() :]


def _scaled(text: str, draw: Random) -> str:
    """Makes a number larger or smaller by powers of ten, or negative."""
    places = list(_NUMBER.finditer(text))
    if not places:
        return text
    place = draw.choice(places)
    factor = draw.choice((-1.0, 0.0, 10.0 ** draw.randint(-12, 12)))
    value = float(place.group()) * factor
    number = f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)
    return text[: place.start()] + number + text[place.end() :]


def _line(text: str, draw: Random) -> str:
    """Removes, repeats or moves a line."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    place = draw.randrange(len(lines))
    line = lines[place]
    action = draw.randrange(3)
    if action != 1:
        del lines[place]
    if action != 0:
        lines.insert(draw.randrange(len(lines) + 1), line)
    return "".join(lines)


def _character(text: str, draw: Random) -> str:
    """Removes, replaces or inserts a character."""
    if not text:
        return text
    place = draw.randrange(len(text))
    new = draw.choice(("", *'0-9.,="[]{}#\n\t é\x00x'))
    return text[:place] + new + text[place + draw.randrange(2) :]
