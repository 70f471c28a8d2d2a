"""Tables of any origin: separators, columns, units and times, understood from names and values."""
