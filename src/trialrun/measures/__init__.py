"""Pure arithmetic: plain values in, a number or a plain answer out, None where it is undefined."""
