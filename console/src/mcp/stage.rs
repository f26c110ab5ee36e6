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
    let port = port.map(|port| port.to_string());
    let port = port.iter().flat_map(|port| ["--port", port]);
    replaced_by(house, &["--sign-in", name].into_iter().chain(port).collect::<Vec<_>>())
}

/// Becomes a stage of the broker's, at this terminal.
pub fn replaced_by(house: &House, words: &[&str]) -> Result<u8> {
    let error = at_the_terminal(house, words)?.exec();
    Err(error).context("failed to run the broker")
}

/// Signs the owner in at this terminal, and comes back.
pub fn signed_in(house: &House, name: &str) -> Result<bool> {
    #[allow(clippy::disallowed_methods, reason = "the owner at the terminal is waited for")]
    let status = at_the_terminal(house, &["--sign-in", name])?.status();
    Ok(status.context("failed to run the broker")?.success())
}

fn at_the_terminal(house: &House, words: &[&str]) -> Result<Command> {
    let mut command = Command::new(broker()?);
    command.arg("--house").arg(house.root()).args(words);
    Ok(command)
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
