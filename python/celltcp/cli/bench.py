"""celltcp bench."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING

import click

from celltcp.cli.options import option
from celltcp.cli.output import check_json, print_result

if TYPE_CHECKING:
    from celltcp.bench.outcome import BenchOutcome


@click.command()
@click.argument("what", type=click.Choice(["tcp", "radio", "cluster"]), default="tcp")
@option("runs", default=5, help="Number of runs for the approximations of the radio.")
@option("cluster", help="Dask scheduler of the cluster that is measured, such as tcp://host:8786.")
@option("json_file")
def bench(what: str, runs: int, cluster: str | None, json_file: str | None) -> None:
    """Measure speed and memory of the native engine.

    tcp: simulated seconds and data packets per CPU second, and the overhead per run outside the
    engine. radio: the cost of cells and UEs in time and memory, and what the radio's approximations
    change. cluster: the time of a campaign on a cluster, and on as many threads of this machine.
    """
    check_json(json_file)
    # Each measurement prints its line at once, unless JSON goes to stdout.
    with redirect_stdout(sys.stderr) if json_file == "-" else nullcontext():
        results = _tcp() if what == "tcp" else _radio(runs) if what == "radio" else _cluster(cluster)
    print_result(lambda: results, json_file, lambda: None)


def _tcp() -> BenchOutcome:
    from celltcp.bench.native import (
        CASES,
        MAX_SPLIT_COST,
        measure,
        measure_campaign,
        peak_memory_mb,
        split_cost,
    )

    results: dict[str, dict[str, float]] = {}
    for case in CASES:
        results[case.name] = measure(case)
        click.echo(
            f"{case.name:<14} {results[case.name]['sim_s_per_cpu_s']:>8.0f} simulated s per CPU s, "
            f"{results[case.name]['data_packets_per_cpu_s']:>10.0f} data packets per CPU s"
        )
    results["split_host"]["cost"] = split_cost(results)
    click.echo(
        f"{'split host':<14} {results['split_host']['cost']:>8.2f} times the cost of a run without; "
        f"at most {MAX_SPLIT_COST:g} is wanted"
    )
    results["campaign"] = measure_campaign()
    overhead = results["campaign"]["campaign_overhead_ms_per_run"]
    kilobytes = results["campaign"]["campaign_kb_per_run"]
    click.echo(
        f"{'campaign':<14} {overhead:>8.2f} ms of CPU per run beside the engine, "
        f"{kilobytes:>10.1f} kB of memory per run beside its rows"
    )
    click.echo(f"peak memory of this process: {peak_memory_mb():.0f} MB")
    return results


def _cluster(address: str | None) -> BenchOutcome:
    from celltcp.bench.native import measure_cluster

    if address is None:
        raise click.UsageError("cluster: give the address of its scheduler with --cluster")
    results = measure_cluster(address)
    click.echo(
        f"{results['runs']} runs on {results['threads']} threads\n"
        f"wall time: {results['here_s']:.1f} s here, {results['cluster_s']:.1f} s on the cluster, "
        f"efficiency {results['wall_efficiency']:.1%}\n"
        f"CPU time of a task: {results['engine_cpu_ms_per_task']:.0f} ms engine, "
        f"{results['other_cpu_ms_per_task']:.0f} ms everything else, efficiency "
        f"{results['cpu_efficiency']:.1%}"
    )
    return results


def _radio(runs: int) -> BenchOutcome:
    from dataclasses import asdict

    from celltcp.bench import radio
    from celltcp.bench.tables import approximations_table, cost_table, growth_table
    from celltcp.present.terminal import Terminal

    console = Terminal()
    costs = {case.name: radio.measure(case) for case in radio.CASES}
    results: dict[str, object] = {name: asdict(cost) for name, cost in costs.items()}
    console.print_table(cost_table(costs, radio.ns3_costs()))
    for title, counts, text in (
        ("UEs of one cell, one of them with greedy TCP", radio.UES, radio.many_ues),
        (f"cells, each with {radio.UES_PER_CELL} UEs", radio.CELLS, radio.many_cells),
    ):
        growth = {count: radio.measure_text(text(count)) for count in counts}
        results |= {f"{title}: {count}": asdict(cost) for count, cost in growth.items()}
        console.print_table(growth_table(growth, title))
    measured = list(radio.approximations(runs))
    for approximation in measured:
        results[f"{approximation.name}, {approximation.scenario}, {approximation.cca}"] = asdict(
            approximation
        )
    console.print_table(approximations_table(measured, runs))
    return results
