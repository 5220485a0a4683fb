"""Local web pages over a store: `trialrun view`. It writes nothing but labels."""
