"""Sweeps: comparisons along the values of scenario fields, their trade-offs and advice."""
