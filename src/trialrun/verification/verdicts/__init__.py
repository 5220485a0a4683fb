"""Claims held against what happened: a room for each kind of claim."""
