"""Entry point of `celltcp` and `python -m celltcp`; Ctrl-C ends it at once, also during imports."""

from __future__ import annotations

from celltcp.interrupts import leaving_at_once


def main() -> None:
    """Runs the command, and ends with its exit code."""
    with leaving_at_once():
        from celltcp.cli import main as run_cli

    run_cli()


if __name__ == "__main__":
    main()
