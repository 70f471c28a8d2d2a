"""Socket options that set a buffer of the hosts: a program that uses them gets a value to set there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from celltcp._core import in_unit
from celltcp.results.first_window import LARGEST_SEND_BUFFER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: SO_RCVBUF for each byte of a window that it caps: Linux doubles it, and announces two thirds of the
#: memory for full packets.
BUFFER_OF_CAP = 0.75

#: Default of net.core.rmem_max and net.core.wmem_max, bytes (net/core/sock.c of Linux).
_DEFAULT_MAX_BYTES = 212_992


#: Largest window scale with SO_RCVBUF alone: without it, Linux has one for net.core.rmem_max or more.
MAX_OWN_SCALE = 1


class _SocketOption(NamedTuple):
    """Socket option that sets a buffer, as in socket(7)."""

    name: str
    #: Host whose programs set it.
    host: str
    #: Sysctl with its largest value.
    max_sysctl: str
    #: Fields of a scenario that it decides, and the option's value for each byte of the field. Linux
    #: doubles the value; at least half of the memory of a receive buffer is the window.
    fields: dict[str, float]


_OPTIONS = (
    _SocketOption(
        "SO_RCVBUF",
        "receiver",
        "net.core.rmem_max",
        {
            "tcp.receive_buffer_max": 0.5,
            "tcp.receive_buffer_initial": 0.5,
            "tcp.receive_window_max": 1.0,
        },
    ),
    _SocketOption("SO_SNDBUF", "sender", "net.core.wmem_max", {"tcp.send_buffer_max": 0.5}),
)


def is_raised(field: str, value: str, scenario: Mapping[str, Any] | None) -> bool:
    """Returns whether a change raises a size of the table `tcp`; a new cap of the window lowers it.

    Args:
        field: field with the size, such as `tcp.receive_window_max`.
        value: new value.
        scenario: scenario before the change; None if it is unknown, which counts as a smaller size.
    """
    if scenario is None:
        return True
    old = scenario.get("tcp", {}).get(field.removeprefix("tcp."))
    if old is None and field == "tcp.send_buffer_max":
        old = LARGEST_SEND_BUFFER
    if old is None:
        return field != "tcp.receive_window_max"
    return (in_unit(value, "B") or 0.0) > (in_unit(str(old), "B") or 0.0)


def has_own_scale(scenario: Mapping[str, Any] | None) -> bool:
    """Returns whether the window scale of the receiver is one that only a program's buffer has."""
    scale = (scenario or {}).get("tcp", {}).get("window_scale", True)
    return not isinstance(scale, bool) and scale <= MAX_OWN_SCALE


def capping_option(window: float) -> str:
    """Returns the socket option that caps a window, bytes, with the sysctl that a large value needs."""
    size = BUFFER_OF_CAP * window
    return f"SO_RCVBUF={size:.0f} of the receiving program{_raised_text(size, 'net.core.rmem_max')}"


def _raised_text(size: float, sysctl: str) -> str:
    """Returns the command that allows a value of a socket option, bytes; empty if Linux does."""
    return f", after sysctl -w {sysctl}={size:.0f}" if size > _DEFAULT_MAX_BYTES else ""


def socket_option_texts(changes: Sequence[str], scenario: Mapping[str, Any] | None = None) -> list[str]:
    """Returns a line for each socket option that would override raised sizes of windows and buffers.

    Linux does not tune the buffer of a socket with such an option, so that tcp_rmem and tcp_wmem do not
    act on it.

    Args:
        changes: fields and values, as `field=value`.
        scenario: scenario before the changes, as in `is_raised`.
    """
    values = {
        field: value
        for field, value in (change.split("=", 1) for change in changes)
        if is_raised(field, value, scenario)
    }
    texts = []
    for option in _OPTIONS:
        sizes = [
            ratio * (in_unit(values[field], "B") or 0.0)
            for field, ratio in option.fields.items()
            if field in values
        ]
        if not any(sizes):
            continue
        size = f"{max(sizes):.0f}"
        raised = _raised_text(max(sizes), option.max_sysctl)
        cause = f"a program that sets {option.name} itself ignores these lines"
        if option.name == "SO_RCVBUF" and has_own_scale(scenario):
            scale = (scenario or {})["tcp"]["window_scale"]
            cause = f"its window scale of {scale} is that of a program that sets {option.name}"
        texts.append(
            f"{option.host}: {cause}: remove the option, or set {size} there{raised} (Linux doubles it)"
        )
    return texts
