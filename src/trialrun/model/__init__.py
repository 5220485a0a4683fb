"""Plain data: traces, cases, results. Nothing here knows how they are read, judged or stored."""
