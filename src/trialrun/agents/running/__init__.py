"""What runs agents: worker processes for Python functions, programs, HTTP, within limits."""
