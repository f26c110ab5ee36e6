//! Sub-sessions at work: each a few thoughts of its own, beside one another, on the creature's budget.
