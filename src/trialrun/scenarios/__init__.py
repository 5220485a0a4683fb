"""Scenarios for an agent that works on code: a spec, and runs that prove their work and
runs that do not. `trialrun demo --copy FOLDER` writes them to a folder."""
