"""Initial congestion window as the limit of responses and pages, and Linux commands to raise it."""

from __future__ import annotations

from typing import NamedTuple

from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.kinds import KINDS
from celltcp.comparison.lines.linux_lines import host_text, linux_line
from celltcp.present.section import Block

#: Causes that a larger initial window mends, in the order in which they are tried.
_WINDOW_CAUSES = ("idle_restart", "large_requests", "slow_start")


class InitialWindow(NamedTuple):
    """Initial window that limits responses or pages of the flow under test."""

    #: Reason, in a sentence.
    text: str
    #: Alternative commands that raise it.
    lines: tuple[str, ...]
    #: Host that they are for.
    host: str = "host that sends"

    @property
    def block(self) -> Block:
        """The commands with their explanation."""
        return Block(
            f"Linux, in a shell as root, on the {self.host}: lines against the small window, each "
            "by itself. A large initial window makes bursts, which may overflow a short queue. "
            "`ip route show default` has GATEWAY and INTERFACE.",
            "".join(f"{line}\n" for line in self.lines),
        )


def initial_window(comparison: Comparison, cca: str) -> InitialWindow | None:
    """Returns the initial window if it limits responses or pages under a CCA; None without evidence.

    None behind middleboxes as well, which send with an initial window of their own.
    """
    if comparison.middlebox(cca) != "none" or not comparison.applications:
        return None
    evidence = Evidence(comparison, cca, comparison.tested)
    names = _WINDOW_CAUSES if len(evidence.slots) else ()
    cause = next((cause for name in names if (cause := KINDS[name].rule(evidence))), None)
    rule = KINDS[cause.name].remedies if cause else None
    if cause is None or rule is None:
        return None
    host = host_text("sender", evidence.scenario) if cause.name == "large_requests" else ""
    changes = (change for remedy in rule(evidence, cause) for change in remedy.changes)
    lines = (linux_line(change).partition(": ")[2] for change in changes)
    initial = InitialWindow(cause.text, tuple(filter(None, lines)))
    return initial._replace(host=host) if host else initial
