"""Lines of pairs such as `time=1 rate=20Mbps`, as a table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.logs.source import Source

#: A name and its value, in quotes or without spaces.
_PAIR = re.compile(r"""([A-Za-z_][\w.]*)=("[^"]*"|[^\s,;]*)""")
#: Share of the first lines that have the same names, in two pairs or more.
_ALIKE = 0.8


def pairs_in(source: Source) -> pd.DataFrame | None:
    """Returns a row for each line of a file whose lines are pairs; `None` for another file."""
    lines = source.lines()
    if not lines or len(_PAIR.findall(lines[0])) < 2:
        return None
    names = [name for name, _ in _PAIR.findall(lines[0])]
    alike = sum([name for name, _ in _PAIR.findall(line)] == names for line in lines)
    if alike < _ALIKE * len(lines):
        return None
    import pandas as pd

    pairs = (_PAIR.findall(line) for line in source.text().splitlines())
    return pd.DataFrame({name: value.strip('"') for name, value in each} for each in pairs if each)
