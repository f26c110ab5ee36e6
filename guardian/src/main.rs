//! The guardian: keeps one creature alive.
fn main() {}
