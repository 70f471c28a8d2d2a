"""Applications of flows: units of work, their metrics and tables."""
