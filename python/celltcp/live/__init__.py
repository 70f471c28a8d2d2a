"""Live runs: programs behind the path of a scenario, in real time."""
