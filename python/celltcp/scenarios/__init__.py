"""Scenarios: the built-in ones, files, their CCAs and requirements."""
