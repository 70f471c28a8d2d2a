"""Reports on evaluations and on the agreement of engines."""
