"""trialrun inside other tools; one module for each, imported only by who uses it."""
