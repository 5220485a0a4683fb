"""Plain data: traces, cases, results. No code here reads, judges or stores them."""
