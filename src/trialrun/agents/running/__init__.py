"""Run agents within limits: worker processes for Python functions, programs, HTTP."""
