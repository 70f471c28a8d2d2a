"""Reports: outcomes as pages with tables and pictures."""
