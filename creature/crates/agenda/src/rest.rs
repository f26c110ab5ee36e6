//! The rest after a wake: how long, within bounds, and why.
