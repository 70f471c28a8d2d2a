"""First comparison: three congestion controls on one mobile link, a picture and a recommendation.

Usage: python docs/examples/first_comparison.py [FOLDER]
"""

import sys
from pathlib import Path

import celltcp as ct

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery")
folder.mkdir(parents=True, exist_ok=True)

result = ct.compare("drive", cca=["cubic", "bbr", "vegas"], runs=5, duration="20s")
print(result.summary)
for requirement, best in result.recommendation.items():
    print(f"best for {requirement}: {', '.join(best)}")
result.plot.overview().savefig(folder / "first_comparison.png")
