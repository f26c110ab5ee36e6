//! The owner's sign-in at an MCP server: this process becomes the broker's stage for it.

use anyhow::{Context, Result, anyhow};
use house::House;
use processes::made::beside;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Returns only if it fails.
pub fn sign_in(house: &House, name: &str, port: u16) -> Result<u8> {
    let program = beside("broker").filter(|program| program.is_file());
    let program = program.context(
        "the broker is not built, and only it signs in: start the guardian once, or run `cargo build -p broker`",
    )?;
    let mut command = Command::new(&program);
    command.arg("--house").arg(house.root()).args(["--sign-in", name, "--port", &port.to_string()]);
    #[allow(clippy::disallowed_methods, reason = "this process becomes the program")]
    let error = command.exec();
    Err(anyhow!(error).context(format!("failed to start {}", program.display())))
}
