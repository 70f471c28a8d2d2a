"""Estimation of the path of a captured transfer, and its scenario."""
