"""One file per check. The file's name is the check's name; `base.py` says what a check is."""
