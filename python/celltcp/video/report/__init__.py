"""Reports on comparisons of videos."""
