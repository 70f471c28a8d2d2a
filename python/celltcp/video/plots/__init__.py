"""Plots of comparisons of videos."""
