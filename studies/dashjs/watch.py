"""Measurement: dash.js in Chromium plays the ladder over each link, in real time.

python3 watch.py RECORD... [--scale SHARE...] [--abr NAME...] [--out FOLDER]

All links are played at the same time, the adaptations one after the other. Run it as root, in an
environment where celltcp is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ladder import Ladder
from link import HERE, SERVER, Link
from media import encode

from celltcp import Trace

#: Least rate of a link: a token bucket cannot stand still.
LEAST_MBPS = 0.05

#: Rules of dash.js by the name that celltcp gives them.
RULES = {"throughput": "throughputRule", "bola-e": "bolaRule"}


def rates_of(record: Path, scale: float, seconds: int) -> list[float]:
    """Returns the rates of the first seconds of a recorded link, Mbit/s; a shorter one is repeated."""
    result = Trace.read(str(record)).rate_series(1.0)
    return [
        max(LEAST_MBPS, round(scale * result[second % len(result)], 3)) for second in range(seconds)
    ]


def settings_of(asked: argparse.Namespace, abr: str, server: str = SERVER) -> dict[str, Any]:
    """Returns the settings of the page. What celltcp's player does not have is switched off."""
    target = asked.max_buffer
    rules = {rule: {"active": name == abr} for name, rule in RULES.items()}
    return {
        "manifest": f"http://{server}/video.mpd",
        "longest_s": 3 * asked.length,
        "dashjs": {
            "streaming": {
                "abandonLoadTimeout": round(1e3 * asked.hold),
                "buffer": {
                    "fastSwitchEnabled": False,
                    "bufferTimeDefault": target,
                    "bufferTimeAtTopQuality": target,
                    "bufferTimeAtTopQualityLongForm": target,
                },
                "lastBitrateCachingInfo": {"enabled": False},
                "utcSynchronization": {"enabled": False},
                "abr": {
                    "initialBitrate": {"video": 1000},
                    "rules": {**rules, "switchHistoryRule": {"active": False}},
                },
            }
        },
    }


def origin(asked: argparse.Namespace, segments: int, address: str) -> list[str]:
    """Returns the command of the server of so many segments."""
    words = [asked.out / "media", asked.ladder, segments, address, asked.cca]
    return [sys.executable, str(HERE / "origin.py"), *map(str, words)]


def page_server(settings: Path, log: Path) -> list[str]:
    """Returns the command of the server of the page, which writes the log of the player."""
    dashjs = HERE / "node_modules/dashjs/dist/modern/umd/dash.all.min.js"
    return [sys.executable, str(HERE / "page.py"), str(dashjs), str(settings), str(log)]


def browser(scratch: str) -> list[str]:
    """Returns the command of a browser that opens the page."""
    return [
        *("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--mute-audio"),
        *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
        *("--autoplay-policy=no-user-gesture-required", f"--user-data-dir={scratch}/profile"),
        "http://127.0.0.1/player.html",
    ]


def add_player_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the player and its video."""
    parser.add_argument("--abr", nargs="+", choices=sorted(RULES), default=["throughput", "bola-e"])
    parser.add_argument("--length", type=int, default=120, help="seconds of video")
    parser.add_argument("--max-buffer", type=float, default=30, help="seconds in the player's buffer")
    parser.add_argument(
        "--hold",
        type=float,
        default=0,
        help="seconds without a higher quality after an abandoned segment; dash.js: 10",
    )
    parser.add_argument("--cca", default="cubic", help="congestion control of the server")
    parser.add_argument("--ladder", type=Path, default=HERE / "ladder.json")
    parser.add_argument("--out", type=Path, default=HERE / "run")


def play(asked: argparse.Namespace, ladder: Ladder, name: str, abr: str) -> None:
    """Plays one video over the link of that name, and writes the log of the player."""
    segments = round(asked.length / ladder.segment_s)
    log = asked.out / f"{name}-{abr}.json"
    # Names of devices have 15 letters at most.
    short = f"dj{os.getpid() % 100_000}x{list(asked.links).index(name)}"
    with (
        tempfile.TemporaryDirectory() as scratch,
        Link(short, asked.links[name], asked.rtt, asked.buffer) as link,
    ):
        settings = Path(scratch) / "settings.json"
        settings.write_text(json.dumps(settings_of(asked, abr)))
        link.spawn(link.server, *origin(asked, segments, SERVER))
        page = link.spawn(link.browser, *page_server(settings, log))
        link.spawn(link.browser, *browser(scratch))
        assert page.stdout is not None
        if page.stdout.readline() != "start\n":
            raise RuntimeError(f"{name}: the page did not start")
        link.follow()
        page.wait(4 * asked.length)


def main() -> None:
    """Plays all links with each adaptation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("record", nargs="+", type=Path, help="recorded links, in a format of celltcp")
    parser.add_argument(
        "--scale", nargs="+", type=float, default=[1.0], help="factor of each link's rates"
    )
    parser.add_argument("--rtt", type=float, default=50, help="base RTT, ms")
    parser.add_argument("--buffer", type=int, default=150, help="packets in the queue of the link")
    add_player_options(parser)
    asked = parser.parse_args()
    if len(asked.scale) not in (1, len(asked.record)):
        parser.error("--scale: one factor, or one for each link")
    asked.out.mkdir(parents=True, exist_ok=True)
    ladder = Ladder.read(asked.ladder)
    encode(asked.out / "media", ladder, round(asked.length / ladder.segment_s))
    scales = asked.scale * len(asked.record) if len(asked.scale) == 1 else asked.scale
    asked.links = {
        record.name.split(".")[0]: rates_of(record, scale, 3 * asked.length)
        for record, scale in zip(asked.record, scales, strict=True)
    }
    kept = ("length", "rtt", "buffer", "max_buffer", "hold", "cca", "abr", "links")
    plan = {name: getattr(asked, name) for name in kept}
    (asked.out / "plan.json").write_text(json.dumps(plan))
    shutil.copy(asked.ladder, asked.out / "ladder.json")
    for abr in asked.abr:
        with ThreadPoolExecutor(len(asked.links)) as pool:
            for each in [pool.submit(play, asked, ladder, name, abr) for name in asked.links]:
                each.result()
        print(f"{abr}: played over {', '.join(asked.links)}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        sys.exit(f"watch.py: {error}")
