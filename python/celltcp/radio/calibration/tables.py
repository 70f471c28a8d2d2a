"""Tables of the radio's calibration: RTT samples, the motorway, fading, and phone logs."""

from __future__ import annotations

from collections.abc import Sequence

from celltcp.present.section import Column, Table, number_columns
from celltcp.radio.calibration.fading import SINR_DB, Reports
from celltcp.radio.calibration.highway import Highway
from celltcp.radio.calibration.phone_logs import NETWORK, PhoneLogs
from celltcp.radio.calibration.rtt import RttJitter
from celltcp.radio.opportunities import MODULATIONS


def rtt_table(jitters: Sequence[RttJitter]) -> Table:
    """Returns the RTT samples under NewReno, and the end of slow start, a row per scenario."""
    headings = (
        "lowest,\nms",
        "above it, %:\nmedian,\n95 %, most",
        "rise, %:\n95 %,\nmost",
        "exit at:\nHyStart,\nNewReno",
        "Mbit/s, 2 s:\nCUBIC,\nNewReno",
    )
    rows = tuple(
        (
            rtt_jitter.scenario.removeprefix("mobility/"),
            _number(rtt_jitter.min_ms, 1),
            *(
                ", ".join(_number(value, 0) for value in values)
                for values in (rtt_jitter.increments, rtt_jitter.rises, rtt_jitter.exit_windows)
            ),
            ", ".join(_number(value, 1) for value in rtt_jitter.start_up_mbps),
        )
        for rtt_jitter in jitters
    )
    title = "RTT samples of the first 5 s of NewReno, and slow start"
    return Table((Column("scenario"), *number_columns(*headings)), rows, title)


def sinr_table(highway: Highway) -> Table:
    """Returns transport blocks on the motorway by the mean SINR of a second."""
    modulations = [name for name in MODULATIONS.values() if highway.by_sinr[name].sum() > 0]
    columns = {
        **{name: name for name in modulations},
        "bler": "BLER",
        "first_decoded": "decoded\nat first",
        "again_1": "2nd\nattempt",
        "again_2": "3rd\nattempt",
        "again_3": "4th and\nlater",
    }
    rows = tuple(
        (
            str(row["range"]),
            *(_number(100 * row[column], 1) for column in ("seconds", *columns)),
            _number(row["rtt_ms"], 1),
        )
        for row in highway.by_sinr.to_dict("records")
    )
    title = "highway/traffic by mean SINR of a second; shares of transport blocks in %"
    headings = ("SINR, dB", "seconds, %", *columns.values(), "RTT,\nms")
    return Table(number_columns(*headings), rows, title)


def highway_table(highway: Highway) -> Table:
    """Returns published and simulated values of the motorway."""
    answers = {True: "yes", False: "no", None: ""}
    rows = tuple(
        (value.name, value.published, _number(value.simulated, 3), answers[value.holds])
        for value in highway.values
    )
    columns = (Column("figure"), *number_columns("published", "here", "holds"))
    return Table(columns, rows, "Published figures and ours")


def throughput_table(highway: Highway) -> Table:
    """Returns the throughput of downloads on the motorway, a row per CCA."""
    rows = tuple(
        (
            throughput.cca,
            *(
                f"{mean:.1f} ± {sd:.1f}, {median:.1f}"
                for mean, sd, median in (throughput.published, throughput.simulated)
            ),
            str(throughput.downloads),
        )
        for throughput in highway.throughputs
    )
    columns = (Column("CCA"), *number_columns("published", "here", "downloads"))
    title = "Throughput of downloads of 20 MB, Mbit/s: mean ± standard deviation, median"
    return Table(columns, rows, title)


def cqi_table(reports_by_model: Sequence[Reports]) -> Table:
    """Returns the statistics of CQI reports under each fading model."""
    rows = tuple(
        (
            reports.model,
            *(f"{value:.2f}" for value in (reports.mean, reports.sd, reports.change)),
            str(len(reports.cqi)),
        )
        for reports in reports_by_model
    )
    headings = ("mean", "standard deviation", "change from one to the next", "reports")
    title = f"CQI reports at a mean SINR of {SINR_DB:g} dB; speeds in km/h"
    return Table((Column("fading"), *number_columns(*headings)), rows, title)


def phone_table(phone_logs: PhoneLogs) -> Table:
    """Returns the CQI of phones by SNR, and that of the simulated UE."""
    rows = tuple(
        (
            str(row["sinr_db"]),
            str(row["seconds"]),
            *(f"{row[name]:.0f}" for name in ("low", "median", "high")),
            f"{row['mean']:.1f}",
            str(row["simulated"]),
        )
        for row in phone_logs.by_snr.to_dict("records")
    )
    headings = ("SNR, dB", "seconds", "lower quartile", "median", "upper quartile", "mean", "ours")
    title = f"CQI by SNR: {phone_logs.files} phone logs, seconds on {NETWORK}, and our thresholds"
    return Table(number_columns(*headings), rows, title)


def _number(value: float, digits: int) -> str:
    return "-" if value != value else f"{value:.{digits}f}"
