"""Video: the congestion control that carries a stream decides what its viewer sees.

Usage: python docs/examples/video.py [FOLDER]
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure

import celltcp as ct
from celltcp.present.palette import colours

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery")
folder.mkdir(parents=True, exist_ok=True)

watching = '{ kind = "video", abr = "bola-e", ladder = "4k" }'
result = ct.compare(
    "drive",
    cca=["cubic", "bbr", "vegas"],
    runs=3,
    duration="60s",
    set=[f"flows.0.workload={watching}"],
)
metrics = ["qoe", "bitrate_mbps", "startup_s", "stalled_s"]
means = result.runs.groupby("cca", sort=False, observed=True)[metrics].mean()
print(means)

picture = Figure(figsize=(8, 2.6), layout="constrained")
titles = ["score (1 to 5)", "bitrate, Mbit/s", "start-up, s", "stalled, s"]
for axes, metric, title in zip(picture.subplots(1, 4), metrics, titles, strict=True):
    axes.bar(means.index, means[metric], color=list(colours(means.index).values()))
    axes.set_ylim(0, max(1.0, 1.1 * means[metric].max()))
    axes.set_title(title)
picture.savefig(folder / "video.png")
