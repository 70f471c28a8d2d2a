"""celltcp: compares TCP congestion controls on mobile networks, and selects one for an application.

>>> import celltcp as ct
>>> result = ct.compare("steady-20-68", cca=["cubic", "bbr"], runs=1, duration="10s")
>>> result.recommendation["delay"]
['bbr']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from celltcp.attachments import provide

if TYPE_CHECKING:
    from celltcp._core import (
        CelltcpError,
        InternalError,
        KernelEngineError,
        Report,
        Scenario,
        Trace,
        __version__,
    )
    from celltcp.comparison import Comparison, compare
    from celltcp.own_cca import CongestionControl, Decision, register
    from celltcp.parameter_sweep import Sweep, sweep
    from celltcp.results import Results
    from celltcp.scenario_set import ScenarioSet, compare_all
    from celltcp.scenarios import load_scenario, scenario_names
    from celltcp.single import SingleRun, run
    from celltcp.stored import load
    from celltcp.video import Viewing, watch

_HOMES = {
    "CelltcpError": "celltcp._core",
    "InternalError": "celltcp._core",
    "KernelEngineError": "celltcp._core",
    "Report": "celltcp._core",
    "Scenario": "celltcp._core",
    "Trace": "celltcp._core",
    "__version__": "celltcp._core",
    "Comparison": "celltcp.comparison",
    "ScenarioSet": "celltcp.scenario_set",
    "compare_all": "celltcp.scenario_set",
    "compare": "celltcp.comparison",
    "CongestionControl": "celltcp.own_cca",
    "Decision": "celltcp.own_cca",
    "register": "celltcp.own_cca",
    "Results": "celltcp.results",
    "load": "celltcp.stored",
    "load_scenario": "celltcp.scenarios",
    "scenario_names": "celltcp.scenarios",
    "SingleRun": "celltcp.single",
    "Sweep": "celltcp.parameter_sweep",
    "run": "celltcp.single",
    "sweep": "celltcp.parameter_sweep",
    "Viewing": "celltcp.video",
    "watch": "celltcp.video",
}

__all__ = [
    "CelltcpError",
    "Comparison",
    "CongestionControl",
    "Decision",
    "InternalError",
    "KernelEngineError",
    "Report",
    "Results",
    "Scenario",
    "ScenarioSet",
    "SingleRun",
    "Sweep",
    "Trace",
    "Viewing",
    "__version__",
    "compare",
    "compare_all",
    "load",
    "load_scenario",
    "register",
    "run",
    "scenario_names",
    "sweep",
    "watch",
]


def __getattr__(name: str) -> object:
    """Imports what is asked for only then, as pandas and matplotlib take their time."""
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'celltcp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def _plots(name: str, result: Any) -> Any:
    """Returns what `celltcp.plots` has of that name, for a result; matplotlib is imported only then."""
    return getattr(importlib.import_module("celltcp.plots"), name)(result)


# Results know no plots: they get them from here.
provide("Comparison.plot", lambda result: _plots("ComparisonPlots", result))
provide("SingleRun.plot", lambda result: _plots("RunPlots", result))
provide("Sweep.plot", lambda result: lambda: _plots("plot_sweep", result))
provide("Viewing.plot", lambda result: lambda: _plots("plot_viewing", result))
provide("Viewing.plot_ecdf", lambda result: lambda: _plots("plot_viewers", result))
provide("Evaluation.plot", lambda result: lambda: _plots("plot_evaluation", result))
provide("Evaluation.plot_reliability", lambda result: lambda: _plots("plot_reliability", result))
provide("Explanation.plot", lambda result: lambda: _plots("plot_explanation", result))
