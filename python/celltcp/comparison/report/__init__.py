"""Comparisons, sweeps and single runs as parts of a report."""
