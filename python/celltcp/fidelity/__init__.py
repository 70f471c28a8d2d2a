"""Fidelity: the native TCP compared with the Linux kernel on the same path realisations.

Both engines meet the same seeds and the same code for the path, so that what differs is TCP.
"""

from __future__ import annotations

from celltcp.fidelity.campaign import Sides, judge
from celltcp.fidelity.cases import Case, choose_cases
from celltcp.fidelity.judgement import Difference, Fidelity, Judgement

__all__ = ["Case", "Difference", "Fidelity", "Judgement", "Sides", "choose_cases", "judge"]
