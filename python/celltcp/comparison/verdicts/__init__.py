"""Verdicts: the best congestion control for each flow and need, and the differences that decide it."""
