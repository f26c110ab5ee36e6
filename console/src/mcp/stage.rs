//! Asks the broker's own program to try a server: the same code, walls and variables as when the creature calls it.

use anyhow::{Context, Result, bail};
use house::{House, bounds, terminal};
use processes::made::beside;
use processes::trusted;
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Longest wait: the broker itself gives a server a minute to start, and half of one to list its tools.
const LONGEST_S: u64 = 120;

fn broker() -> Result<PathBuf> {
    let program = beside("broker").filter(|program| program.is_file());
    program.context(
        "the broker is not built, and only it reaches servers: start the guardian once, or run `cargo build -p broker`",
    )
}

/// Becomes the broker's stage that signs the owner in, at this terminal.
pub fn sign_in(house: &House, name: &str, port: Option<u16>) -> Result<u8> {
    let program = broker()?;
    let mut command = Command::new(&program);
    command.arg("--house").arg(house.root()).args(["--sign-in", name]);
    if let Some(port) = port {
        command.args(["--port", &port.to_string()]);
    }
    #[allow(clippy::disallowed_methods, reason = "this process becomes the broker's stage")]
    let error = command.exec();
    Err(error).with_context(|| format!("failed to run {}", program.display()))
}

/// Asks for all that a server has, by the settings of this text; else by those of `owner.toml`.
pub fn ask(house: &House, name: &str, text: Option<&str>) -> Result<Value> {
    let program = broker()?;
    let root = house.root().display().to_string();
    let mut args = vec!["--house", &root, "--mcp-tools", name];
    args.extend(text.map(|_| "--piped"));
    let output = trusted::answered(&program, &args, text.unwrap_or_default(), LONGEST_S, |seconds| {
        let told = match seconds {
            1 => format!("waiting for {name}; a program that was never here is fetched first"),
            more if more % 5 == 0 => format!("{name} has not answered yet, after {more} s"),
            _ => return,
        };
        terminal::error(&told);
    })?;
    let Some(output) = output else {
        bail!("{name} did not answer within {LONGEST_S} s");
    };
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    match output.status.code() {
        Some(0) => bounds::read(&output.stdout).context("the broker answered with what is no JSON"),
        Some(2) => bail!("owner.toml cannot be taken: {said}"),
        _ => bail!("{}", said.trim_start_matches("broker: ")),
    }
}
