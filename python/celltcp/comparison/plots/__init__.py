"""Plots of comparisons, sweeps and single runs."""
