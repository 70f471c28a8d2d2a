"""Plots of video sessions."""
