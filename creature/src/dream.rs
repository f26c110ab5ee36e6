//! The dream: nightly, facts are merged, the pulse is tended and what is long finished forgotten; it can be undone.
