"""A paper's table: a scenario of a published table is run again, beside the figures in print.

Usage: python docs/examples/paper_table.py [FOLDER]

`celltcp papers atxutegi2017 table-1 --runs 5` repeats the whole table.
"""

import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery")
folder.mkdir(parents=True, exist_ok=True)

subprocess.run(
    [
        *(sys.executable, "-m", "celltcp", "papers", "atxutegi2017", "table-1"),
        *("--scenario", "mobility/forward-60-4g", "--runs", "2", "--out", str(folder / "papers")),
    ],
    check=True,
)
picture = folder / "papers" / "atxutegi2017-table-1.png"
picture.replace(folder / "paper_table.png")
