//! Hands commands about the page beyond this machine to its own program, which is built first where there is none.

use anyhow::{Context, Result, ensure};
use house::beyond::PROGRAM;
use house::{House, files, terminal};
use nix::sys::wait::WaitStatus;
use processes::made::{Made, beside, cargo};
use processes::trusted::{self, Trusted};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// The path of its program, if it is there.
pub fn program() -> Option<PathBuf> {
    beside(PROGRAM).filter(|program| program.is_file())
}

/// Becomes the program of the page, with these words.
pub fn carry_out(house: &House, words: &[&str]) -> Result<u8> {
    if program().is_none() {
        build(house)?;
    }
    let program = program().context("its program is not built; `cargo build -p phone-page` makes it")?;
    #[allow(clippy::disallowed_methods, reason = "this process becomes that program")]
    let error = Command::new(&program).args(words).current_dir(house.root()).exec();
    Err(error).with_context(|| format!("failed to run {}", program.display()))
}

fn build(house: &House) -> Result<()> {
    let Some(made) = Made::me(house) else { return Ok(()) };
    terminal::error(
        "building the page beyond this machine, once, some minutes; see .self/log/phone-page-build.log",
    );
    std::fs::create_dir_all(house.logs()).context("failed to make the folder of logs")?;
    let log = Some(files::create(&house.phone_page_build_log())?);
    let (program, args) = (cargo(), made.args(PROGRAM));
    let pid = trusted::start(house, Trusted { program, args, log, ..Trusted::default() })?;
    let status = trusted::wait(pid, || true);
    let is_built = matches!(status, Some(WaitStatus::Exited(_, 0)));
    ensure!(is_built, "the page beyond this machine does not build; see .self/log/phone-page-build.log");
    Ok(())
}
