"""The engine: from files to cases, and from a case and a trace to a verdict."""
