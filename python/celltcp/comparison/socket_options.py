"""Socket options that set a buffer of the hosts: a program that uses them gets a value to set there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp._core import in_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Default of net.core.rmem_max and net.core.wmem_max, bytes (net/core/sock.c of Linux).
_DEFAULT_MAX_BYTES = 212_992


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
        {"tcp.receive_buffer_max": 0.5, "tcp.receive_window_max": 1.0},
    ),
    _SocketOption("SO_SNDBUF", "sender", "net.core.wmem_max", {"tcp.send_buffer_max": 0.5}),
)


def socket_option_texts(changes: Sequence[str]) -> list[str]:
    """Returns a line for each socket option that would override changes of fields, as `field=value`.

    Linux does not tune the buffer of a socket with such an option, so that tcp_rmem and tcp_wmem do not
    act on it.
    """
    values = dict(change.split("=", 1) for change in changes)
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
        raised = ""
        if max(sizes) > _DEFAULT_MAX_BYTES:
            raised = f", after sysctl -w {option.max_sysctl}={size}"
        texts.append(
            f"{option.host}: a program that sets {option.name} itself ignores these lines: remove the "
            f"option, or set {size} there{raised} (Linux doubles it)"
        )
    return texts
