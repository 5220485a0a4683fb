"""Reports about something other than a run of a suite: a comparison, one attempt, an audit."""
