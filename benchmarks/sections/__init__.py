"""The sections of RESULTS.md, one module each; each has functions that measure and write one."""
