"""Calibration: the radio compared with measurements on a motorway, under fading, and by phones."""
