"""Pages: one renderer for the one-file HTML report, the viewer and notebooks."""
