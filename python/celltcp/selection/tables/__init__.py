"""Tables of evaluations on the terminal."""
