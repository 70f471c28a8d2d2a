"""Calibration of the radio: comparison with measurements on a motorway, under fading, and by phones."""
