"""Plots of evaluations, of explanations, and of the agreement of engines."""
