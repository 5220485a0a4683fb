"""Databases that a store may be: one file for each kind."""
