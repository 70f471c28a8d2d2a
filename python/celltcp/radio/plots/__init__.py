"""Plots of the calibration of the radio model."""
