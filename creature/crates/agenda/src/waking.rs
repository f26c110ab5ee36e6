//! Waking: why a wake needs a thought, or that it needs none.
