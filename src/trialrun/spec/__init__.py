"""From spec files to cases: strict YAML, validation with line and column, defaults, tables."""
