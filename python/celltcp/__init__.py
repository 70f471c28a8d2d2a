"""celltcp: compares TCP congestion controls on mobile networks, and selects one for an application.

>>> import celltcp as ct
>>> result = ct.compare("steady-20-68", cca=["cubic", "bbr"], runs=1, duration="10s")
>>> result.recommendation["delay"]
['bbr']
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from celltcp.scenarios.lazy_attributes import register_provider

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
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.parameter_sweep import Sweep, sweep
    from celltcp.comparison.run import compare
    from celltcp.comparison.scenario_set import ScenarioSet, compare_all
    from celltcp.comparison.single_run import SingleRun, run
    from celltcp.live.shell import Shell
    from celltcp.results.tables import Results
    from celltcp.scenarios.own_cca import CongestionControl, Decision, register
    from celltcp.scenarios.scenarios import load_scenario, scenario_names
    from celltcp.selection.explained_results import Explanations, explain
    from celltcp.video.comparison import VideoComparison, compare_video
    from celltcp.video.load_results import load

_HOMES = {
    "CelltcpError": "celltcp._core",
    "InternalError": "celltcp._core",
    "KernelEngineError": "celltcp._core",
    "Report": "celltcp._core",
    "Scenario": "celltcp._core",
    "Trace": "celltcp._core",
    "__version__": "celltcp._core",
    "Comparison": "celltcp.comparison.comparison",
    "ScenarioSet": "celltcp.comparison.scenario_set",
    "compare_all": "celltcp.comparison.scenario_set",
    "compare": "celltcp.comparison.run",
    "CongestionControl": "celltcp.scenarios.own_cca",
    "Decision": "celltcp.scenarios.own_cca",
    "register": "celltcp.scenarios.own_cca",
    "Explanations": "celltcp.selection.explained_results",
    "explain": "celltcp.selection.explained_results",
    "Shell": "celltcp.live.shell",
    "Results": "celltcp.results.tables",
    "load": "celltcp.video.load_results",
    "load_scenario": "celltcp.scenarios.scenarios",
    "scenario_names": "celltcp.scenarios.scenarios",
    "SingleRun": "celltcp.comparison.single_run",
    "Sweep": "celltcp.comparison.parameter_sweep",
    "run": "celltcp.comparison.single_run",
    "sweep": "celltcp.comparison.parameter_sweep",
    "VideoComparison": "celltcp.video.comparison",
    "compare_video": "celltcp.video.comparison",
}

__all__ = [
    "CelltcpError",
    "Comparison",
    "CongestionControl",
    "Decision",
    "Explanations",
    "InternalError",
    "KernelEngineError",
    "Report",
    "Results",
    "Scenario",
    "ScenarioSet",
    "Shell",
    "SingleRun",
    "Sweep",
    "Trace",
    "VideoComparison",
    "__version__",
    "compare",
    "compare_all",
    "compare_video",
    "explain",
    "load",
    "load_scenario",
    "register",
    "run",
    "scenario_names",
    "sweep",
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


def _plot(module: str, name: str) -> Callable[[Any], Any]:
    """Returns what calls `name` of that module with a result; matplotlib is imported only then."""
    return lambda result: getattr(importlib.import_module(f"celltcp.{module}"), name)(result)


def _plot_method(module: str, name: str) -> Callable[[Any], Any]:
    """As `_plot`, for a method of the result."""
    return lambda result: (
        lambda *given: getattr(importlib.import_module(f"celltcp.{module}"), name)(result, *given)
    )


# Results do not import plots: their attributes are registered here.
register_provider("Comparison.plot", _plot("comparison.plots.accessors", "ComparisonPlots"))
register_provider("SingleRun.plot", _plot("comparison.plots.accessors", "RunPlots"))
register_provider("Sweep.plot", _plot_method("comparison.plots.accessors", "plot_sweep"))
register_provider("VideoComparison.plot", _plot_method("video.plots.video", "plot_scores"))
register_provider(
    "VideoComparison.plot_ecdf", _plot_method("video.plots.viewers", "plot_distributions")
)
register_provider("Evaluation.plot", _plot_method("selection.plots.selection", "plot_evaluation"))
register_provider(
    "Evaluation.plot_reliability", _plot_method("selection.plots.reliability", "plot_reliability")
)
register_provider("Explanation.plot", _plot_method("selection.plots.explanation", "plot_explanation"))
