"""Evaluations and the agreement of engines as parts of a report."""
