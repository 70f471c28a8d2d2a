"""Entry point of the command `celltcp` and of `python -m celltcp`, which interrupts end at once."""

from __future__ import annotations

from celltcp.interrupts import leaving_at_once


def main() -> None:
    """Runs the command, and ends with its exit code."""
    with leaving_at_once():
        from celltcp.cli import main as run

    run()


if __name__ == "__main__":
    main()
