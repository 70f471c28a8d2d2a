"""celltcp video."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import (
    cca_file_option,
    complete_scenario,
    draws,
    option,
    options,
    takes_settings,
)
from celltcp.cli.output import (
    check_json,
    draw,
    print_load_summary,
    print_result,
    reuse_picture,
    run_request,
)
from celltcp.present.terminal import Terminal

if TYPE_CHECKING:
    from celltcp.campaign.run_settings import RunSettings
    from celltcp.video.comparison import VideoComparison

#: Pictures of a folder.
_PICTURES = ("video", "video-ecdf")


@click.command()
@click.argument("scenarios", metavar="[SCENARIO...]", nargs=-1, shell_complete=complete_scenario)
@click.option(
    "--abr",
    default="throughput,bola-e,robust-mpc",
    metavar="LIST",
    help="Adaptations of the bitrate: throughput, bola, bola-finite, bola-e, bba-0, bba-2, robust-mpc.",
)
@click.option(
    "--ladder",
    show_default="that of the scenario's video, else bbb",
    help="Representations of the video: bbb, 1080p, 4k, or a file of segment sizes (.json).",
)
@options("cca", "duration", "changes")
@option("runs", default=5)
@options("seed", "engine", "kernel", "jobs", "cluster", "dry_run", "out", "overwrite", "json_file")
@cca_file_option
@draws
@takes_settings
def video(
    scenarios: tuple[str, ...],
    abr: str,
    ladder: str | None,
    settings: RunSettings,
    dry_run: bool,
    json_file: str | None,
) -> None:
    """Compare CCAs by video quality of experience (ITU-T P.1203).

    The first flow of each SCENARIO becomes a video session per ABR algorithm, or stays one. The tables
    have mean opinion scores from 1 to 5, linear QoE, bitrates and stalls, the best CCA and ABR
    algorithm. SCENARIO is as for celltcp compare; without any: a radio cell, a highway, the
    motorway, and NR.

    celltcp video check compares the scores with those of the reference software, where that is
    installed.
    """
    if scenarios == ("check",):
        _check()
        return
    from celltcp.video.comparison import DEFAULT_SCENARIOS, expand_videos, video_request

    check_json(json_file)
    videos = expand_videos(scenarios or DEFAULT_SCENARIOS, abr, ladder, settings)
    print_load_summary(next(iter(videos.values())))
    folder = settings.prepare_out()
    request = video_request(videos, settings)
    result = run_request(request, "playing videos", dry_run=dry_run)
    print_result(result.to_json, json_file, lambda: print_video(result))
    results = [comparison.results for comparison in result.comparisons.values()]
    is_repeat = all(comparison_results.is_repeat for comparison_results in results)
    if folder and not (
        is_repeat and all(reuse_picture(results[0], folder, name) for name in _PICTURES)
    ):
        draw(result.plot(), folder, "video")
        draw(result.plot_ecdf(), folder, "video-ecdf")


def _check() -> None:
    """Prints scores by celltcp and by the reference software; ends with status 1 if they differ."""
    import sys

    from celltcp.video.check import check

    result = check()
    for checked in result:
        scores = ", ".join(
            f"{name} {score:.3f} (reference {checked.reference[name]:.3f})"
            for name, score in checked.scores.items()
        )
        click.echo(f"{checked.session}: {scores}: {'agrees' if checked.agrees else 'differs'}")
    if not all(checked.agrees for checked in result):
        sys.exit(1)


def print_video(comparison: VideoComparison) -> None:
    """Prints scores, other metrics, and the best CCA and ABR algorithm."""
    from celltcp.campaign.provenance import engine_text
    from celltcp.video.report.video import (
        adaptations_table,
        metrics_table,
        over_all_lines,
        scores_table,
    )

    about = next(iter(comparison.comparisons.values())).results.about
    console = Terminal()
    # The table of all metrics contains the scores of a single CCA.
    if len(comparison.ccas) > 1:
        console.print_table(scores_table(comparison))
    console.print_table(metrics_table(comparison))
    if (adaptations := adaptations_table(comparison)) is not None:
        console.print_table(adaptations)
    for line in over_all_lines(comparison):
        console.print(line)
    for warning in comparison.warnings:
        console.print(f"warning: {warning}", style="yellow")
    console.print(engine_text(about), style="dim")
