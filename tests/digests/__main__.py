"""Writes the digests of an engine anew."""

from __future__ import annotations

import json
import sys

from celltcp.campaign.engines import engine
from digests import digest, file_of
from digests.cases import KERNEL, NATIVE

name = sys.argv[1] if len(sys.argv) > 1 else "native"
cases = KERNEL if name == "kernel" else NATIVE
all_of_them = {case.name: digest(case, engine(name)) for case in cases}
lines = [
    f'"{case}": {{\n'
    + ",\n".join(f'  "{table}": {json.dumps(columns)}' for table, columns in found.items())
    + "}"
    for case, found in all_of_them.items()
]
file_of(name).write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
