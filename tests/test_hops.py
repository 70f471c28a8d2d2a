"""Way of a command to the engine: functions between the command line and the native module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

#: Prints the functions that are waiting when the engine is called, and the scenarios that were loaded.
WATCHED = """
import sys
from celltcp.__main__ import main
from celltcp.campaign import run
from celltcp.scenarios import scenarios

def called(*given):
    frame = sys._getframe(1)
    while frame is not None:
        print(frame.f_code.co_name, file=sys.stderr)
        frame = frame.f_back
    return engine(*given)

def loaded(*given, **options):
    print("loads", file=sys.stderr)
    return load(*given, **options)

engine, run.run_batch = run.run_batch, called
load, scenarios.load_scenario = scenarios.load_scenario, loaded
sys.argv[0] = "celltcp"
main()
"""


def test_a_comparison_is_few_hops_from_the_engine_and_loads_its_scenario_once(tmp_path: Path) -> None:
    command = ("compare", "steady-20-68", "--cca", "cubic", "--runs", "1", "--duration", "100ms")
    watched = [sys.executable, "-c", WATCHED, *command]
    done = subprocess.run(watched, cwd=tmp_path, capture_output=True, text=True, check=True)
    first, *hops = done.stderr.split()
    assert first == "loads"
    assert (hops[0], hops[-1]) == ("_run_local", "<module>")
    assert "loads" not in hops
    assert len(hops) <= 25, hops
