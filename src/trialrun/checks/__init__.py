"""One file per check, named like the check; `base.py` has the base classes."""
