"""Measurement: dash.js in Chromium behind a scenario in real time, beside celltcp's own player.

Both play the same scenario.

python3 behind_shell.py SCENARIO [--set FIELD=VALUE...] [--abr NAME...] [--runs N] [--out FOLDER]

Prints a table: what dash.js chose, and the least, mean and largest of so many simulated runs. Run it as
root, in an environment where celltcp is installed, on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from ladder import Ladder
from media import encode
from side_by_side import Session, read_log, simulate
from watch import add_player_options, browser, origin, page_server, settings_of

import celltcp as ct
from celltcp._core import Scenario

#: Time after which celltcp's player begins, seconds.
START_S = 1.0


def watch(asked: argparse.Namespace, abr: str, log: Path) -> bool:
    """Plays the video by dash.js; returns whether real time was kept."""
    segments = round(asked.length / Ladder.read(asked.ladder).segment_s)
    shell = ct.Shell(asked.scenario, asked.cca, asked.seed, set=asked.set)
    with tempfile.TemporaryDirectory() as scratch, shell:
        server = shell.address("server")
        settings = Path(scratch) / "settings.json"
        settings.write_text(json.dumps(settings_of(asked, abr, server)))
        programs = [shell.start(origin(asked, segments, server), on="server")]
        page = shell.start(page_server(settings, log), stdout=subprocess.PIPE, text=True)
        programs.append(shell.start(browser(scratch), stderr=subprocess.DEVNULL))
        try:
            assert page.stdout is not None
            if page.stdout.readline() != "start\n":
                raise RuntimeError("the page did not start")
            page.wait(4 * asked.length)
            return shell.status()["lateness"]["valid"]
        finally:
            for program in programs:
                program.kill()
                program.wait()


def simulated(asked: argparse.Namespace, abr: str, ladder: Ladder) -> list[Session]:
    """Plays the same by celltcp, a run for each seed."""
    workload = {
        "kind": "video",
        "ladder": str(asked.ladder.resolve()),
        "abr": abr,
        "length": f"{asked.length}s",
        "max_buffer": f"{asked.max_buffer}s",
        "think": "0s",
    }
    changes = {
        **dict(text.split("=", 1) for text in asked.set),
        "flows": [{"cca": asked.cca, "start": f"{START_S}s", "workload": workload}],
        "duration": f"{3 * asked.length}s",
        "variation.start_jitter": "0s",
    }
    scenario: Scenario = ct.load_scenario(asked.scenario, changes=changes)
    seeds = range(asked.seed, asked.seed + asked.runs)
    return [simulate(scenario, seed, START_S, ladder) for seed in seeds]


def figures(session: Session, ladder: Ladder) -> dict[str, float]:
    """Returns what is compared."""
    return {
        "Mbit/s": session.bitrate_mbps(ladder),
        "stalls": len(session.stalls),
        "stalled, s": sum(length for _, length in session.stalls),
        "start-up, s": session.startup_s,
        "MOS": session.mos(ladder),
    }


def main() -> None:
    """Compares each adaptation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scenario", help="scenario, as for celltcp shell")
    parser.add_argument("--set", action="append", default=[], help="field of the scenario to override")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=10, help="simulated runs")
    add_player_options(parser)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    ladder = Ladder.read(asked.ladder)
    encode(asked.out / "media", ladder, round(asked.length / ladder.segment_s))
    print("| adaptation | figure | dash.js | celltcp: least | mean | largest | inside |")
    print("| -- | -- | -- | -- | -- | -- | -- |")
    for abr in asked.abr:
        log = asked.out / f"shell-{abr}.json"
        valid = watch(asked, abr, log)
        theirs = figures(read_log(log, ladder, {"length": asked.length, "rtt": 0.0}), ladder)
        ours = [figures(session, ladder) for session in simulated(asked, abr, ladder)]
        for name, value in theirs.items():
            values = [each[name] for each in ours]
            inside = min(values) <= value <= max(values)
            print(
                f"| {abr} | {name} | {value:.2f} | {min(values):.2f} | {statistics.mean(values):.2f} | "
                f"{max(values):.2f} | {'yes' if inside else 'no'} |"
            )
        if not valid:
            print(f"\n{abr}: real time was not kept\n")


if __name__ == "__main__":
    try:
        main()
    except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
        sys.exit(f"behind_shell.py: {error}")
