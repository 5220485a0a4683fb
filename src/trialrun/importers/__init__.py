"""Traces from files: one module per format."""
