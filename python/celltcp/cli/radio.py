"""celltcp radio."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import draws, option
from celltcp.cli.verbosity import note, progress_bar

if TYPE_CHECKING:
    from rich.console import Console

    from celltcp.radio.calibration.fading import Reports
    from celltcp.radio.calibration.highway import Highway
    from celltcp.radio.calibration.phone_logs import PhoneLogs
    from celltcp.radio.calibration.rtt import RttJitter


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
    from celltcp.present.terminal import wide_console
    from celltcp.radio.calibration.fading import reports
    from celltcp.radio.calibration.highway import SCENARIO, drive
    from celltcp.radio.calibration.phone_logs import read_folder
    from celltcp.radio.plots.calibration import draw_highway, draw_phone_logs, draw_reports
    from celltcp.results.folder import prepare_folder
    from celltcp.scenarios.scenarios import load_scenario

    folder = prepare_folder(out) if out else None
    phones = read_folder(Path(logs), load_scenario(SCENARIO).to_toml()) if logs else None
    drives = [*changes, *([f"duration={duration}"] if duration else [])]
    with progress_bar("driving") as progress:
        highway = drive(runs, seed, changes=drives, jobs=jobs, out=folder, progress=progress)
    with progress_bar("fading") as progress:
        result = reports(seed, progress=progress)
    console = wide_console()
    print_highway(highway, console)
    print_reports(result, console)
    if phones:
        print_phone_logs(phones, console)
    if folder:
        pictures = {"highway": draw_highway(highway), "cqi": draw_reports(result)}
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
    Published figures of the testbed stand below the table.
    """
    from celltcp.present.terminal import wide_console
    from celltcp.radio.calibration.rtt import SCENARIOS, rtt_jitter

    with progress_bar("RTT") as progress:
        result = rtt_jitter(runs, seed, scenarios or SCENARIOS, changes, progress)
    print_rtt(result, wide_console(100))


def print_rtt(result: list[RttJitter], console: Console) -> None:
    """Prints the RTT samples under NewReno, and the end of slow start."""
    from rich.table import Table

    table = Table(title="RTT samples of the first 5 s of NewReno, and slow start")
    headings = (
        "scenario",
        "lowest,\nms",
        "above it, %:\nmedian,\n95 %, most",
        "rise, %:\n95 %,\nmost",
        "exit at:\nHyStart,\nNewReno",
        "Mbit/s, 2 s:\nCUBIC,\nNewReno",
    )
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "scenario" else "right")
    for each in result:
        table.add_row(
            each.scenario.removeprefix("mobility/"),
            _number(each.lowest_ms, 1),
            ", ".join(_number(value, 0) for value in each.increment),
            ", ".join(_number(value, 0) for value in each.change),
            ", ".join(_number(value, 0) for value in each.exits),
            ", ".join(_number(value, 1) for value in each.start_up),
        )
    console.print(table)
    console.print("Rises are those from one sample to the next. Windows at the exit are in segments.")
    console.print(
        "Published: 12 to 25 ms without load, over 100 % above the lowest, rises of up to 100 %\n"
        "(Atxutegi, PhD thesis, UPV/EHU, 2018, annex A1, figures 7.2 and 7.3)."
    )


def print_highway(result: Highway, console: Console) -> None:
    """Prints the rows by SINR, and then published figures beside ours."""
    from rich.table import Table

    from celltcp.present.fit_table import print_table
    from celltcp.radio.opportunities import MODULATIONS

    table = Table(title="highway/traffic by mean SINR of a second; shares of transport blocks in %")
    modulations = [name for name in MODULATIONS.values() if result.by_sinr[name].sum() > 0]
    columns = {
        **{name: name for name in modulations},
        "bler": "BLER",
        "first_decoded": "decoded\nat first",
        "again_1": "2nd\nattempt",
        "again_2": "3rd\nattempt",
        "again_3": "4th and\nlater",
    }
    for heading in ("SINR, dB", "seconds, %", *columns.values(), "RTT,\nms"):
        table.add_column(heading, justify="right")
    for row in result.by_sinr.to_dict("records"):
        parts = (_percent(row[column]) for column in ("seconds", *columns))
        table.add_row(str(row["range"]), *parts, _number(row["rtt_ms"], 1))
    print_table(console, table)
    table = Table(title="Published figures and ours")
    for heading in ("figure", "published", "here", "holds"):
        table.add_column(heading, justify="left" if heading == "figure" else "right")
    for figure in result.figures:
        words = {True: "yes", False: "no", None: ""}
        table.add_row(figure.name, figure.published, _number(figure.ours, 3), words[figure.holds])
    print_table(console, table)
    table = Table(title="Throughput of downloads of 20 MB, Mbit/s: mean ± standard deviation, median")
    for heading in ("CCA", "published", "here", "downloads"):
        table.add_column(heading, justify="left" if heading == "CCA" else "right")
    for each in result.throughputs:
        texts = [
            f"{mean:.1f} ± {sd:.1f}, {median:.1f}" for mean, sd, median in (each.published, each.ours)
        ]
        table.add_row(each.cca, *texts, str(each.downloads))
    print_table(console, table)
    console.print(
        "Published: Li, Chung, Jiang, Driving TCP congestion control algorithms on highway, 2017."
    )


def print_reports(result: list[Reports], console: Console) -> None:
    """Prints the CQI under each kind of fading, and the relations between them."""
    from rich.table import Table

    from celltcp.present.fit_table import print_table
    from celltcp.radio.calibration.fading import SINR_DB, relations

    table = Table(title=f"CQI reports at a mean SINR of {SINR_DB:g} dB; speeds in km/h")
    for heading in ("fading", "mean", "standard deviation", "change from one to the next", "reports"):
        table.add_column(heading, justify="left" if heading == "fading" else "right")
    for each in result:
        figures = (f"{value:.2f}" for value in (each.mean, each.sd, each.change))
        table.add_row(each.model, *figures, str(len(each.cqi)))
    print_table(console, table)
    for relation, holds in relations(result).items():
        console.print(f"{relation}: {'holds' if holds else 'does not hold'}")
    console.print("Seen on a testbed: Atxutegi, PhD thesis, UPV/EHU, 2018, section 5.5.2, figure 5.23.")


def print_phone_logs(result: PhoneLogs, console: Console) -> None:
    """Prints the CQI of phones by SNR, beside ours."""
    from rich.table import Table

    from celltcp.present.fit_table import print_table
    from celltcp.radio.calibration.phone_logs import LEAST_S, NETWORK, median_distance

    table = Table(
        title=f"CQI by SNR: {result.files} phone logs, seconds on {NETWORK}, and our thresholds"
    )
    for heading in ("SNR, dB", "seconds", "lower quartile", "median", "upper quartile", "mean", "ours"):
        table.add_column(heading, justify="right")
    for row in result.by_snr.to_dict("records"):
        quartiles = (f"{row[name]:.0f}" for name in ("low", "median", "high"))
        table.add_row(
            str(row["sinr_db"]), str(row["seconds"]), *quartiles, f"{row['mean']:.1f}", str(row["ours"])
        )
    print_table(console, table)
    console.print(f"An SNR that was there for less than {LEAST_S} s is left out.")
    console.print(
        f"ours less the phones' median, mean over the seconds: {median_distance(result):+.2f}"
    )


def _percent(value: float) -> str:
    return _number(100 * value, 1)


def _number(value: float, digits: int) -> str:
    return "-" if value != value else f"{value:.{digits}f}"
