//! The creature: senses, thinks, acts, remembers, rests, and rewrites itself.
