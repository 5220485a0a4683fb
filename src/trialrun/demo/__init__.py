"""Data of `trialrun demo`: a spec, and recorded runs of a small fictional support agent."""
