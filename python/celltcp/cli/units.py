"""celltcp units."""

from __future__ import annotations

import click

#: Quantities, their units, and an example of each.
_UNITS = (
    ("times", "ns, us (or \u00b5s), ms, s, min, h", 'path.rtt = "68ms"'),
    (
        "rates",
        "bit/s, kbit/s, Mbit/s, Gbit/s; bps, kbps, Mbps, Gbps; B/s, kB/s, MB/s, KiB/s, MiB/s",
        'path.down.rate = "20Mbit/s"',
    ),
    (
        "sizes",
        "B, kB, MB, GB (powers of 1000); KiB, MiB, GiB (of 1024)",
        'tcp.send_buffer_max = "4MiB"',
    ),
    ("buffers", "packets, bdp (of rate and base RTT), or a size or time", 'path.buffer = "2bdp"'),
    ("loss", "a probability, or a percentage", 'path.loss = 0.01, path.loss = "1%"'),
    ("columns", "bit/s to Gbit/s, B/s to GB/s, KiB/s, MiB/s; ns, us, ms, s, min", "--unit ms,kbit/s"),
)


@click.command()
def units() -> None:
    """List the units that scenarios, options and link traces take."""
    for quantity, spellings, example in _UNITS:
        click.echo(f"{quantity:8} {spellings}\n{'':8} such as {example}")
