"""Video sessions as parts of a report."""
