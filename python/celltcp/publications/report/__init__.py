"""Published figures beside ours, as parts of a report."""
