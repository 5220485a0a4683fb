"""Agents of any kind, asked one question at a time: what comes back is a `Reply`, always.

`python.py` functions in worker processes · `in_process.py` the same without one · `command.py` any
program · `http.py` any address. `processes.py` runs programs within limits, `keeper.py` sees to it
that none outlives us, `actions.py` prepares and inspects the world around an agent.
"""
