"""The engine: plan and execute runs, and evaluate traces against cases."""
