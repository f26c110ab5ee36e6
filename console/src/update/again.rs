//! Stops the house for an update, and starts it again as it ran: by its service, or in the background.

use anyhow::{Context, Result, bail};
use house::{House, files, instance};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use processes::made::{self, Made};
use processes::trusted;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Looks for a guardian to be gone or there, and the time between: two minutes.
const LOOKS: usize = 1_200;
const BETWEEN: Duration = Duration::from_millis(100);

/// How the house ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ran {
    Not,
    /// By this unit of the owner's systemd.
    Service(String),
    /// From a terminal or a script.
    ByHand,
}

/// Stops what runs here, and waits until it is gone.
pub fn stop(house: &House) -> Result<Ran> {
    let Some(pid) = instance::running(house) else { return Ok(Ran::Not) };
    let groups = files::system(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let ran = unit(&groups).map_or(Ran::ByHand, Ran::Service);
    kill(Pid::from_raw(pid), Signal::SIGTERM)
        .with_context(|| format!("failed to stop the guardian, process {pid}"))?;
    for _ in 0..LOOKS {
        if instance::running(house) != Some(pid) {
            return Ok(ran);
        }
        std::thread::sleep(BETWEEN);
    }
    bail!("the guardian, process {pid}, has not stopped within two minutes; nothing was merged")
}

/// The unit of systemd's that a process belongs to, by its control group, if it is one of ours.
fn unit(groups: &str) -> Option<String> {
    let steps = groups.lines().flat_map(|line| line.rsplit('/'));
    steps
        .map(str::trim)
        .find(|step| step.starts_with("feral-") && step.ends_with(".service"))
        .map(str::to_owned)
}

/// Starts the house again as it ran; says how it goes on, or nothing where it did not run.
pub fn start(house: &House, ran: &Ran) -> Result<Option<String>> {
    match ran {
        Ran::Not => return Ok(None),
        Ran::Service(unit) => {
            let output = trusted::output(Path::new("systemctl"), &["--user", "start", unit])?;
            anyhow::ensure!(
                output.status.success(),
                "systemctl --user start {unit} failed: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            );
            return Ok(Some(format!("goes on, as {unit}")));
        }
        Ran::ByHand => {}
    }
    build_guardian(house)?;
    let program = made::beside("guardian").context("failed to find our own program")?;
    let mut command = Command::new(&program);
    command.arg("--plain").current_dir(house.root()).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // It outlives this command, as one that is started by hand.
    #[allow(clippy::disallowed_methods)]
    let mut child = command.spawn().with_context(|| format!("failed to start {}", program.display()))?;
    for _ in 0..LOOKS {
        if let Some(pid) = instance::running(house) {
            return Ok(Some(format!("goes on in the background, process {pid}; `./feral` shows it")));
        }
        if let Some(status) = child.try_wait()? {
            bail!("it does not start ({status}); start it by hand, which says why: cargo run -p guardian");
        }
        std::thread::sleep(BETWEEN);
    }
    bail!("it does not start within two minutes; start it by hand: cargo run -p guardian")
}

/// The guardian as it was merged, where this house builds its own.
fn build_guardian(house: &House) -> Result<()> {
    let Some(made) = Made::me(house) else { return Ok(()) };
    let path = house.logs().join("update.log");
    let log = files::append(&path)?;
    let start = trusted::Trusted {
        program: made::cargo(),
        args: made.args("guardian"),
        log: Some(log),
        ..trusted::Trusted::default()
    };
    let pid = trusted::start(house, start)?;
    let built = matches!(trusted::wait(pid, || true), Some(WaitStatus::Exited(_, 0)));
    anyhow::ensure!(built, "the guardian does not build; {} says why", path.display());
    Ok(())
}
