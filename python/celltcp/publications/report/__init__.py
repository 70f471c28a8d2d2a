"""Published and simulated values as parts of a report."""
