"""Files of the scenario of a captured transfer: its path, hosts and flow as TOML, and a link trace."""

from __future__ import annotations

from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.files.atomic_write import write_text
from celltcp.pcap.estimation.endpoint_settings import HEADERS_RATIO
from celltcp.pcap.estimation.path import MIN_LOSS_BURST, POLICED_UPLOADER, PathEstimate
from celltcp.scenarios.lower_bounds import UNSEEN_OVERFLOW

#: Minimum burst of a policer: two packets, bytes.
_MIN_BURST = 3_000.0


def files_of_scenario(file: Path) -> tuple[Path, Path]:
    """Returns the files that `write_scenario` writes: the scenario, and its link trace next to it.

    Raises:
        CelltcpError: if both would have one name.
    """
    trace = file.with_suffix(".csv")
    if trace == file:
        raise CelltcpError(f"{file}: is the name of the link trace; allowed: one that ends in .toml")
    return file, trace


def write_scenario(path: PathEstimate, file: Path) -> tuple[Path, Path]:
    """Writes a scenario and its link trace, which `celltcp compare` runs; returns both files.

    Raises:
        CelltcpError: if a file cannot be written.
    """
    _, trace = files_of_scenario(file)
    lines = [
        f"{time:.1f},{rate:.3f}" for time, rate in zip(path.times_s, path.capacity_mbps, strict=True)
    ]
    write_text(trace, "time_s,rate_mbps\n" + "\n".join(lines) + "\n")
    duration_note = f" # the transfer took {path.transfer_s:.1f}s" if path.is_finite else ""
    of_losses = f", of {path.loss_rate_text}" if path.loss_rate_text else ""
    left_out = "".join(f"# left out: {text}\n" for text in path.left_out)
    link, uplink = ("down", "") if path.direction == "down" else ("up", "uplink_")
    text = (
        f'name = "{file.stem}"\n'
        f'description = "{path.description}"\n'
        f'duration = "{path.duration_s:.1f}s"{duration_note}\n'
        f"{_offset_line(path)}\n[path]\n"
        f'rtt = "{max(path.rtt_ms, 0.001):.3f}ms" # the lowest in the capture\n'
        f'{uplink}buffer = "{round(path.scenario_buffer_bytes)}B" # {_buffer_note(path)}\n'
        f"{uplink}loss = {_loss_text(path)} # beside a short queue{of_losses}\n"
        f"{_queue_line(path, uplink)}"
        f"{'' if uplink else _policer_line(path)}"
        f"{_blackouts_line(path)}"
        f'{link}.trace = "{trace.name}" # with headers; {path.capacity_note}\n'
        f"{path.reverse_link}"
        f"{left_out}"
        f"{path.endpoints}{path.flows_beside}{path.server_links}"
        f"{_uplink_policer(path) if uplink else ''}"
    )
    return write_text(file, _with_fitting_ccas(text, path)), trace


def _with_fitting_ccas(text: str, path: PathEstimate) -> str:
    """Returns a scenario with the CCAs of the nearest simulation, of flows whose sender shows none."""
    again = path.rerun
    if again is None or not path.flows_beside:
        return text
    own = {} if again.is_cca_known else {f"connection-{path.connection}": again.cca}
    for name, cca in {**own, **again.ccas_beside}.items():
        line = f'name = "{name}"\n'
        text = text.replace(line, f'{line}cca = "{cca}" # nearest, as simulated\n')
    return text


def _buffer_note(path: PathEstimate) -> str:
    """Returns how the buffer is known, as text."""
    if path.has_discipline:
        return "room for the queue discipline, which drops before"
    if path.opposite is not None:
        return "one bandwidth-delay product, as its queue was not seen"
    if path.is_buffer_full:
        return "by overflow"
    if path.has_overflow:
        return "at least: by overflow, beside a capacity that is one"
    return f"{path.buffer_bytes:.0f} B waited at most; {UNSEEN_OVERFLOW}"


def _loss_text(path: PathEstimate) -> str:
    """Returns random losses: single ones, or bursts, to which a CCA reacts once.

    Bursts last for a time: counted in packets, one would outlast the time-outs of a slow sender.
    """
    if path.loss_burst < MIN_LOSS_BURST:
        return f"{path.random_loss:.6f}"
    between_us = 1e6 * path.transfer_s / path.loss_bursts
    bad_us = max(path.random_loss * between_us, 1.0)
    good_us = between_us - bad_us
    return f'{{ kind = "gilbert-elliott-time", good = "{good_us:.0f}us", bad = "{bad_us:.0f}us" }}'


def _queue_line(path: PathEstimate, uplink: str) -> str:
    """Returns the line about the queue discipline; empty without one."""
    if not path.has_discipline:
        return ""
    return f'{uplink}queue = "fq-codel" # for the AQM that drops: its kind is unknown\n'


def _policer_line(path: PathEstimate) -> str:
    """Returns the line about the policer; empty without one."""
    if path.policing is None:
        return ""
    rate = f"{8e-6 * HEADERS_RATIO * path.policing.rate:.3f}Mbit/s"
    burst = f"{max(HEADERS_RATIO * path.burst_bytes, _MIN_BURST):.0f}B"
    table = f'{{ rate = "{rate}", burst = "{burst}" }}'
    return f"policer = {table} # this rate passed between losses\n"


def _uplink_policer(path: PathEstimate) -> str:
    """Returns the link with the policer of an upload, before the phone; empty without one.

    Those of access link and wired hops are towards the phone.
    """
    line = _policer_line(path)
    return line and f'\n[[links]]\nname = "policer"\nfrom = "{POLICED_UPLOADER}"\nto = "phone"\n{line}'


def _offset_line(path: PathEstimate) -> str:
    """Returns the line that keeps the capacity at its times in each run; empty if it is constant."""
    if path.blackouts or (path.capacity_mbps <= 0).any():
        return "variation.trace_offset = false # outages are at their times in each run\n"
    if path.flows_beside:
        return "variation.trace_offset = false # flows start at their times in each run\n"
    if (path.capacity_mbps != path.capacity_mbps[0]).any():
        # Elsewhere, slow start overflows other queues: the mean RTT was up to a fourth longer.
        return "variation.trace_offset = false # the capacity is at its times in each run\n"
    return ""


def _blackouts_line(path: PathEstimate) -> str:
    """Returns the line about the blackouts; empty without any."""
    if not path.blackouts:
        return ""
    estimated, shortest, longest = (
        ", ".join(
            f'{{ at = "{each.start_s:.2f}s", duration = "{length_s:.2f}s" }}'
            for each, length_s in zip(path.blackouts, lengths_s, strict=True)
        )
        for lengths_s in zip(*((e.length_s, e.min_s, e.max_s) for e in path.blackouts), strict=True)
    )
    return (
        f"blackouts = [{estimated}] # nothing passed; ends are estimates\n"
        f"# shortest: blackouts = [{shortest}]\n# longest: blackouts = [{longest}]\n"
    )
