"""Throughput of celltcp's radio in the set-up of `lte/`, as CSV files with the columns of ns-3's.

python3 ours.py                 # writes ours.csv and ours-tcp.csv; half a minute
Run it in an environment where celltcp is installed (`make setup` makes one in `.venv`).
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from celltcp._core import Run, Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pandas as pd

SEED = 1
SINRS_DB = (0, 5, 10, 15, 20, 25)
# Only one control symbol leaves room for the highest scheme, which ns-3 uses whatever the control
# region. ns-3 sends status reports in blocks of their own, and tells its scheduler of uplink data in
# every subframe.
SET_UP = """
duration = "{duration}s"
path.rtt = "{rtt}"
path.wired = [{{ rate = "1Gbit/s" }}]
flows = [{{ start = "{start}", cca = "{cca}" }}]
[radio]
band = 7
prbs = {prbs}
control_symbols = 1
log = true
rlc = {rlc}
downlink.margin = "{margin}"
uplink = {{ sinr = "20dB", access = "configured" }}
ues = [{{ sinr = "{sinr}dB", cross_traffic = {cross} }}]
"""
AM = '{ mode = "am", status = "alone" }'
UM = '{ mode = "um" }'


def set_up(rlc: str, **values: object) -> Scenario:
    """The scenario with these values."""
    text = SET_UP.format(rlc=AM if rlc == "am" else UM, **values)
    return Scenario.from_toml(text, "ns3", ".", [])


def tables(scenario: Scenario) -> dict[str, pd.DataFrame]:
    """Runs it and answers its tables."""
    run = Run(scenario, SEED)
    run.advance(scenario.duration_s)
    return {name: pa.record_batch(batch).to_pandas() for name, batch in run.finish().items()}


def saturated(margin: str) -> Iterator[dict[str, object]]:
    """UDP that offers more than fits, from the second second on, at the IP layer."""
    for prbs in (25, 100):
        for sinr in SINRS_DB:
            for rlc in ("am", "um"):
                scenario = set_up(
                    rlc,
                    duration=11,
                    rtt="10ms",
                    start="10.99s",
                    cca="cubic",
                    prbs=prbs,
                    margin=margin,
                    sinr=sinr,
                    cross='[{ rate = "100Mbit/s" }]',
                )
                blocks = tables(scenario)["radio"]
                blocks = blocks[(blocks.uplink == 0) & (blocks.t_ns >= 10**9)]
                first = blocks[blocks.attempt == 1]
                payload = blocks[blocks.decoded == 1].payload_bytes.sum()
                yield {
                    "prbs": prbs,
                    "sinr_db": sinr,
                    "rlc": rlc,
                    # A packet of 1500 bytes has two of PDCP in the payload.
                    "mbps": round(payload * 1500 / 1502 * 8e-6 / 10, 4),
                    "mcs": round(first.mcs.mean(), 2),
                    "first_bler": round(1 - first.decoded.mean(), 4),
                }


def greedy(margin: str) -> Iterator[dict[str, object]]:
    """One flow of 60 s at 44 dB."""
    for cca in ("reno", "cubic", "bbr"):
        for rlc in ("am", "um"):
            values = {"duration": 60, "rtt": "16ms", "start": "0s", "cca": cca, "prbs": 100}
            scenario = set_up(rlc, **values, margin=margin, sinr=44, cross="[]")
            flow = tables(scenario)["flows"].iloc[0]
            yield {
                "cca": cca,
                "prbs": 100,
                "rlc": rlc,
                "goodput_mbps": round(flow.goodput_mbps, 4),
                "rtt_mean_ms": round(flow.rtt_mean_ms, 4),
                "rtt_min_ms": round(flow.rtt_min_ms, 4),
                "retransmissions": int(flow.retransmissions),
            }


def write(file: Path, rows: Iterable[dict[str, object]]) -> None:
    """Writes the rows as CSV."""
    rows = list(rows)
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(file)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--margin", default="0dB", help="taken off the SINR for the scheme; default 0dB"
    )
    parser.add_argument("--out", type=Path, default=Path(), help="folder; default this one")
    arguments = parser.parse_args()
    write(arguments.out / "ours.csv", saturated(arguments.margin))
    write(arguments.out / "ours-tcp.csv", greedy(arguments.margin))


if __name__ == "__main__":
    main()
