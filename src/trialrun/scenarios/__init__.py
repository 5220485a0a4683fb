"""Scenarios for an agent that works on code: a spec, runs that prove their claims, and runs that
do not. `trialrun demo --copy FOLDER` writes them to a folder."""
