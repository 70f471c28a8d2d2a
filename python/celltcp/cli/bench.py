"""celltcp bench."""

from __future__ import annotations

import click


@click.command()
@click.option("--json", "json_file", metavar="FILE", help="Write the figures as JSON.")
def bench(json_file: str | None) -> None:
    """Measure the native engine: simulated seconds and data packets per CPU second."""
    import json
    from pathlib import Path

    from celltcp.bench import CASES, measure, peak_memory_mb
    from celltcp.export.text import must_be_writable, write_text

    if json_file:
        must_be_writable(Path(json_file))
    figures = {}
    for case in CASES:
        figures[case.name] = measure(case)
        click.echo(
            f"{case.name:<14} {figures[case.name]['sim_s_per_cpu_s']:>8.0f} simulated s per CPU s, "
            f"{figures[case.name]['data_packets_per_cpu_s']:>10.0f} data packets per CPU s"
        )
    click.echo(f"peak memory of this process: {peak_memory_mb():.0f} MB")
    if json_file:
        write_text(Path(json_file), json.dumps(figures, indent=1) + "\n")
