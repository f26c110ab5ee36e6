//! An MCP server that wants a sign-in, with its authorization server: the one of the broker's tests, for those of others.
//!
//! `sign_in_like [MODE]` says its address on standard output, and ends with its input.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::disallowed_methods)]
#![allow(dead_code, reason = "the broker's tests use all of it")]

#[path = "../tests/broker/mcp_world.rs"]
mod mcp_world;
#[path = "../tests/broker/stub.rs"]
mod stub;

fn main() {
    let (stub, _world) = mcp_world::World::start(&std::env::args().nth(1).unwrap_or_default());
    println!("{}/mcp", stub.url);
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}
