"""Comparing congestion controls on one scenario."""
