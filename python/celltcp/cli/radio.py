"""celltcp radio."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import draws, option
from celltcp.cli.verbosity import note, progress_bar

if TYPE_CHECKING:
    from celltcp.radio.calibration.fading import Reports
    from celltcp.radio.calibration.highway import Highway
    from celltcp.radio.calibration.phone_logs import PhoneLogs


@click.group()
def radio() -> None:
    """Compare the model of the radio with measurements."""


@radio.command()
@option("runs", default=5, help="Number of drives.")
@option("seed")
@option("duration", help="Length of a drive.  [default: that of highway/traffic]")
@option("changes", help="Override a field of highway/traffic; may be repeated.")
@option("jobs")
@click.option(
    "--phone-logs", "logs", metavar="DIR", help="Folder with logs of phones in the format of 5Gdataset."
)
@option("out")
@draws
def calibrate(
    runs: int,
    seed: int,
    duration: str | None,
    changes: tuple[str, ...],
    jobs: int | None,
    logs: str | None,
    out: str | None,
) -> None:
    """Compare the radio with measurements and logs of phones.

    There are three comparisons: downloads on a motorway (scenario highway/traffic) with published ones,
    the channel quality (CQI) under three kinds of fading with that of a testbed, and, with --phone-
    logs, CQI by SNR with that of phones.
    """
    from pathlib import Path

    from celltcp.present.style import save
    from celltcp.radio.calibration.fading import reports
    from celltcp.radio.calibration.highway import SCENARIO, drive
    from celltcp.radio.calibration.phone_logs import read_folder
    from celltcp.radio.plots.calibration import draw_highway, draw_phone_logs, draw_reports
    from celltcp.results.folder import prepare_folder
    from celltcp.scenarios.scenarios import load_scenario

    folder = prepare_folder(out) if out else None
    phones = read_folder(Path(logs), load_scenario(SCENARIO).to_toml()) if logs else None
    drive_changes = [*changes, *([f"duration={duration}"] if duration else [])]
    with progress_bar("driving") as progress:
        highway = drive(runs, seed, changes=drive_changes, jobs=jobs, out=folder, progress=progress)
    with progress_bar("fading") as progress:
        fading_reports = reports(seed, progress=progress)
    print_calibration(highway, fading_reports, phones)
    if folder:
        pictures = {"highway": draw_highway(highway), "cqi": draw_reports(fading_reports)}
        if phones:
            pictures["phone-logs"] = draw_phone_logs(phones)
        for name, picture in pictures.items():
            note(f"picture: {save(picture, folder / f'{name}.png')}")


@radio.command()
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO]...")
@option("runs", default=5, help="Number of runs per scenario.")
@option("seed")
@option("changes", help="Override a field of the scenarios; may be repeated.")
def rtt(scenarios: tuple[str, ...], runs: int, seed: int, changes: tuple[str, ...]) -> None:
    """Show the jitter of the RTT, and when slow start ends.

    Each run is a download by NewReno or, for HyStart, CUBIC.
    The scenarios are those of the emulated testbed at low latency unless given.
    Published values of the testbed stand below the table.
    """
    from celltcp.present.terminal import Terminal
    from celltcp.radio.calibration.rtt import SCENARIOS, rtt_jitter
    from celltcp.radio.calibration.tables import rtt_table

    with progress_bar("RTT") as progress:
        result = rtt_jitter(runs, seed, scenarios or SCENARIOS, changes, progress)
    console = Terminal(100)
    console.print_table(rtt_table(result))
    console.print("Rises are those from one sample to the next. Windows at the exit are in segments.")
    console.print(
        "Published: 12 to 25 ms without load, over 100 % above the lowest, rises of up to 100 %\n"
        "(Atxutegi, PhD thesis, UPV/EHU, 2018, annex A1, figures 7.2 and 7.3)."
    )


def print_calibration(highway: Highway, fading: list[Reports], phones: PhoneLogs | None) -> None:
    """Prints metrics of motorway, fading and phone logs next to published or measured values."""
    from celltcp.present.terminal import Terminal
    from celltcp.radio.calibration.fading import relations
    from celltcp.radio.calibration.phone_logs import MIN_SECONDS, median_distance
    from celltcp.radio.calibration.tables import (
        cqi_table,
        highway_table,
        phone_table,
        sinr_table,
        throughput_table,
    )

    console = Terminal()
    for table in (sinr_table(highway), highway_table(highway), throughput_table(highway)):
        console.print_table(table)
    console.print(
        "Published: Li, Chung, Jiang, Driving TCP congestion control algorithms on highway, 2017."
    )
    console.print_table(cqi_table(fading))
    for relation, holds in relations(fading).items():
        console.print(f"{relation}: {'holds' if holds else 'does not hold'}")
    console.print("Seen on a testbed: Atxutegi, PhD thesis, UPV/EHU, 2018, section 5.5.2, figure 5.23.")
    if phones:
        console.print_table(phone_table(phones))
        console.print(f"An SNR that was there for less than {MIN_SECONDS} s is left out.")
        console.print(
            f"ours less the phones' median, mean over the seconds: {median_distance(phones):+.2f}"
        )
