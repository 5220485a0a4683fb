"""One file per rule. `base.py` says what a rule is; a rule never calls another one."""
