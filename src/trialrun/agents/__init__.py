"""Kinds of agents, one file each; `running/` holds the code that runs them."""
