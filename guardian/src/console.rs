//! Hands the owner's commands to the console, a program beside the guardian's, which is brought up to date first.

use crate::act::daemons::jobs::CONSOLE;
use anyhow::{Context, Result};
use house::{House, terminal};
use processes::exits::is_well;
use processes::made::Made;
use processes::trusted;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Replaces this process by the console, which is built first where the guardian runs from the house's own `target/`.
pub fn hand_over(house: Option<&House>, arguments: &[OsString]) -> Result<u8> {
    let program = CONSOLE.program();
    if let Some((house, made)) = house.and_then(|house| Some((house, Made::me(house)?)))
        && (std::env::var_os("CARGO").is_some() || !program.is_file())
    {
        bring_up_to_date(house, &made, program.is_file())?;
    }
    #[allow(clippy::disallowed_methods)]
    let error = Command::new(&program).args(arguments).exec();
    Err(error).with_context(|| {
        format!("failed to run {}; `cargo build -p {}` makes it", program.display(), CONSOLE.name)
    })
}

fn bring_up_to_date(house: &House, made: &Made, there: bool) -> Result<()> {
    // Before the guardian's first start there is no folder for logs.
    std::fs::create_dir_all(house.logs()).context("failed to make the folder of logs")?;
    if !there {
        terminal::error("building the console, once; see .self/log/console-build.log");
    }
    let built = CONSOLE.build(house, made, false).map(|pid| trusted::wait(pid, || true));
    match built {
        Ok(Some(status)) if is_well(status) => {}
        _ if there => terminal::error(
            "the console does not build, the one that is there is used; see .self/log/console-build.log",
        ),
        Ok(_) => anyhow::bail!("the console does not build; see .self/log/console-build.log"),
        Err(error) => return Err(error),
    }
    Ok(())
}
