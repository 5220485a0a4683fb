"""How agents are called: one file for each kind; `running/` holds what runs them."""
