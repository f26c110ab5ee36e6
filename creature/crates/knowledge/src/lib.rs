//! Knowledge: full-text search over notes, snapshots and memory, and the merging of facts.
