"""Plots of evaluations, explanations and of the agreement of engines."""
