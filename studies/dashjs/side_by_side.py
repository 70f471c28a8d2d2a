"""Comparison: celltcp plays what dash.js has played, and both are shown side by side.

python3 side_by_side.py [FOLDER]

Prints tables and draws a picture for each adaptation, `FOLDER/compared-ABR.png`. FOLDER is what
watch.py wrote.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pyarrow as pa
from ladder import Ladder

from celltcp import CelltcpError
from celltcp._core import Run, Scenario, p1203_scores

#: Progress of the playback within a step that counts as standing still, s of video for each second.
STILL = 0.2
#: Shortest stall that counts, s; samples are 50 ms apart.
SHORTEST = 0.15
SEED = 1

SCENARIO = """
name = "{name}"
duration = "{seconds}s"
path = {{ rtt = "{rtt}ms", buffer = "{buffer}packets", down = {{ trace = "{link}" }}, up = "1Gbit/s" }}
variation = {{ trace_offset = false, start_jitter = "0s" }}

[[flows]]
cca = "{cca}"
start = "{start:.6f}s"

[flows.workload]
kind = "video"
ladder = "ladder.json"
abr = "{abr}"
length = "{length}s"
max_buffer = "{max_buffer}s"
think = "0s"
"""


@dataclass(frozen=True)
class Session:
    """Session as its viewer saw it: qualities, arrivals and stalls."""

    #: Time at which the connection for the first segment has to begin, s.
    start_s: float
    #: Quality of each segment.
    qualities: tuple[int, ...]
    #: Time at which each of them had arrived, s.
    arrived: tuple[float, ...]
    #: Time from the start to the first picture.
    startup_s: float
    #: Video played before each stall, and its length, s.
    stalls: tuple[tuple[float, float], ...]
    abandoned: int
    #: Time and video in the buffer, s.
    buffer: tuple[tuple[float, float], ...]

    def mos(self, ladder: Ladder) -> float:
        """Returns the mean opinion score of P.1203 in mode 0."""
        pieces = [
            (
                ladder.video_bits(segment, quality) / 1e3 / ladder.segment_s,
                *ladder.resolutions[quality],
                ladder.frame_rate,
                ladder.segment_s,
            )
            for segment, quality in enumerate(self.qualities)
        ]
        return p1203_scores(pieces, ladder.audio_kbps, [(0.0, self.startup_s), *self.stalls])[2]

    def bitrate_mbps(self, ladder: Ladder) -> float:
        """Returns the mean rate of the representations."""
        return sum(ladder.rates_kbps[each] for each in self.qualities) / len(self.qualities) / 1e3


def stalls_of(samples: list[list[float]], end_s: float) -> tuple[float, list[tuple[float, float]]]:
    """Returns the time of the first picture, and the stalls: video played before, length.

    Args:
        samples: times, and the positions of the playback then, s.
        end_s: length of the video; what stands there has ended.
    """
    first = next(place for place, (_, at, *_) in enumerate(samples) if at > 0)
    time, at, *_ = samples[first]
    # The playback has moved on since the first picture.
    startup = time - at
    result: list[tuple[float, float]] = []
    since: float | None = None
    for (before, was, *_), (now, here, *_) in zip(samples[first:], samples[first + 1 :], strict=False):
        if here - was < STILL * (now - before) and was < end_s - SHORTEST:
            since = before if since is None else since
        elif since is not None:
            if now - since - (here - was) >= SHORTEST:
                result.append((was, now - since - (here - was)))
            since = None
    return startup, result


def read_log(file: Path, ladder: Ladder, plan: dict[str, Any]) -> Session:
    """Reads the log of dash.js. It has fetched the manifest before the start, with a connection."""
    log: dict[str, Any] = json.loads(file.read_text("utf-8"))
    if log["errors"]:
        raise ValueError(f"{file}: the player had an error: {log['errors'][0]}")
    played: dict[int, tuple[int, float]] = {}
    for request in log["requests"]:
        if request["kind"] == "arrived":
            quality, segment = request["url"].removesuffix(".m4s").split("/")[-2:]
            played[int(segment)] = (int(quality), request["t"])
    count = round(plan["length"] / ladder.segment_s)
    if sorted(played) != list(range(count)):
        raise ValueError(f"{file}: {len(played)} of {count} segments have arrived")
    first_s, stalls = stalls_of(log["samples"], plan["length"])
    start = log["requests"][0]["t"] - plan["rtt"] / 1e3
    segments = [played[number] for number in range(count)]
    return Session(
        start_s=start,
        qualities=tuple(quality for quality, _ in segments),
        arrived=tuple(time for _, time in segments),
        startup_s=first_s - start,
        stalls=tuple(stalls),
        abandoned=sum(request["kind"] == "abandoned" for request in log["requests"]),
        buffer=tuple((time, ahead) for time, _, ahead in log["samples"]),
    )


def play(
    folder: Path, plan: dict[str, Any], name: str, abr: str, ladder: Ladder, start_s: float
) -> Session:
    """Plays the same on celltcp, which opens the connection at `start_s`."""
    rates = plan["links"][name]
    link = folder / f"{name}.csv"
    rows = "\n".join(f"{second},{rate}" for second, rate in enumerate(rates))
    link.write_text(f"time,Mbit/s\n{rows}\n{len(rates)},{rates[-1]}\n")
    fields = {key: plan[key] for key in ("rtt", "buffer", "cca", "length", "max_buffer")}
    text = SCENARIO.format(
        name=name, seconds=len(rates), link=link.name, abr=abr, start=start_s, **fields
    )
    return simulate(Scenario.from_toml(text, name, str(folder), []), SEED, start_s, ladder)


def simulate(scenario: Scenario, seed: int, start_s: float, ladder: Ladder) -> Session:
    """Plays the video of a scenario, whose flow begins at `start_s`."""
    run = Run(scenario, seed)
    run.advance(scenario.duration_s)
    events = pa.record_batch(run.finish()["events"]).to_pandas()
    figures = {
        kind: [(t_ns / 1e9, float(detail)) for t_ns, detail in zip(rows.t_ns, rows.detail, strict=True)]
        for kind, rows in events.groupby("kind")
        if kind in ("segment_mbps", "buffer_s", "stall_s", "startup_s", "abandoned")
    }
    startup = figures["startup_s"][0][1]
    stalls: list[tuple[float, float]] = []
    for end, length in figures.get("stall_s", []):
        before = sum(each for _, each in stalls)
        stalls.append((end - length - start_s - startup - before, length))
    return Session(
        start_s=start_s,
        qualities=tuple(
            ladder.rates_kbps.index(round(1e3 * mbps, 3)) for _, mbps in figures["segment_mbps"]
        ),
        arrived=tuple(time for time, _ in figures["segment_mbps"]),
        startup_s=startup,
        stalls=tuple(stalls),
        abandoned=round(figures["abandoned"][0][1]),
        buffer=tuple(figures["buffer_s"]),
    )


def draw(
    file: Path, plan: dict[str, Any], ladder: Ladder, sessions: dict[str, tuple[Session, Session]]
) -> None:
    """Draws the rates of the link and of the segments, and the buffers, a column for each link."""
    picture, axes = plt.subplots(
        2, len(sessions), figsize=(4.2 * len(sessions), 5), sharex="col", squeeze=False
    )
    for column, (name, pair) in enumerate(sessions.items()):
        rates, buffers = axes[:, column]
        last = max(session.buffer[-1][0] for session in pair)
        link = plan["links"][name][: round(last) + 1]
        rates.fill_between(range(len(link)), link, step="post", color="0.88", label="link")
        for session, label, colour in zip(pair, ("dash.js", "celltcp"), ("C0", "C1"), strict=True):
            mbps = [ladder.rates_kbps[each] / 1e3 for each in session.qualities]
            rates.step(session.arrived, mbps, where="post", color=colour, label=label, lw=1.4)
            buffers.plot(*zip(*session.buffer, strict=True), color=colour, lw=1.2)
        rates.set_title(name)
        rates.set_ylim(0, 1.15 * max(ladder.rates_kbps) / 1e3)
        buffers.set_xlabel("time, s")
        buffers.set_ylim(bottom=0)
    axes[0][0].set_ylabel("segments, Mbit/s")
    axes[1][0].set_ylabel("buffer, s")
    picture.legend(*axes[0][0].get_legend_handles_labels(), loc="upper center", ncol=3, frameon=False)
    picture.tight_layout(rect=(0, 0, 1, 0.94))
    picture.savefig(file, dpi=110)
    plt.close(picture)


def row(name: str, player: str, session: Session, ladder: Ladder) -> str:
    """Returns a row of the table of figures."""
    stalled = sum(length for _, length in session.stalls)
    return (
        f"| {name} | {player} | {session.startup_s:.2f} | {len(session.stalls)} | {stalled:.1f} | "
        f"{session.abandoned} | {session.bitrate_mbps(ladder):.2f} | {session.mos(ladder):.2f} |"
    )


def chosen(name: str, session: Session) -> str:
    """Returns the qualities of the segments, a figure each."""
    return f"{name:<24} {''.join(map(str, session.qualities))}"


def main() -> None:
    """Compares all sessions of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent / "run")
    folder = parser.parse_args().folder
    plan = json.loads((folder / "plan.json").read_text("utf-8"))
    ladder = Ladder.read(folder / "ladder.json")
    for abr in plan["abr"]:
        result = {}
        for name in plan["links"]:
            theirs = read_log(folder / f"{name}-{abr}.json", ladder, plan)
            result[name] = (theirs, play(folder, plan, name, abr, ladder, theirs.start_s))
        print(
            f"{abr}\n\n| link | player | start-up, s | stalls | stalled, s | abandoned | Mbit/s | MOS |"
        )
        print("| -- | -- | -- | -- | -- | -- | -- | -- |")
        for name, (theirs, ours) in result.items():
            print(row(name, "dash.js", theirs, ladder), row(name, "celltcp", ours, ladder), sep="\n")
        print("\nsegments\n")
        for name, (theirs, ours) in result.items():
            print(chosen(f"{name} dash.js", theirs), chosen(f"{name} celltcp", ours), sep="\n")
        print()
        draw(folder / f"compared-{abr}.png", plan, ladder, result)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, CelltcpError) as error:
        sys.exit(f"side_by_side.py: {error}")
