"""Fidelity: the native TCP compared with the Linux kernel on the same path realisations.

Both engines meet the same seeds and the same code for the path, so that what differs is TCP.
"""
