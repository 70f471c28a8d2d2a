"""Benchmarks: speed and memory of the native engine and of the radio."""
