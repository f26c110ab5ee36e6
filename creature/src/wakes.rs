//! Wakes: what comes due by itself is done, and whether this wake needs a thought is decided.
