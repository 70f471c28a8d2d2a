"""Campaigns: many runs at once, every CCA over the same channel realisations."""
