"""Reports: a run rendered, one module per format. Each has `render(run) -> str`."""
