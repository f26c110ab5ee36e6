//! Sub-sessions: a graph of objectives that run apart, and what becomes of each.
