"""Validation of the analysis: against the ground truth of runs, and against other tools."""
