//! An MCP server that behaves as Janee does, for the tests.
fn main() {}
