"""Live runs: programs behind a path in real time, in network namespaces of their own."""
