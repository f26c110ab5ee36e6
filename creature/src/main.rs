//! The creature's door: reads what the guardian told it and lives, or rehearses.
fn main() {}
