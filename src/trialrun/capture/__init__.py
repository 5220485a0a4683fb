"""Traces from live agents: what frameworks return, and what programs print."""
