"""Small helpers that know nothing about traces, cases or results."""
