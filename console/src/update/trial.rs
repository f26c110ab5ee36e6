//! The tests of a merged `creature/`, run by its own cargo in the sandbox of any build: nothing of it runs as the owner.

use anyhow::{Context, Result, bail};
use house::clock;
use house::settings;
use house::{House, files, printable};
use nix::sys::wait::WaitStatus;
use processes::child::{self, Bond, Occupant, Start};
use processes::granted::Granted;
use processes::made::{beside, cargo, cargo_args};
use processes::prepare;
use processes::{hunt, trusted};
use std::fs::File;
use std::path::PathBuf;

/// Bytes of the log's end that are looked through, and lines of it that are told.
const MOST_BYTES: u64 = 256 << 10;
const MOST_LINES: usize = 12;

pub fn log(house: &House) -> PathBuf {
    house.logs().join("update.log")
}

/// Builds and tests `creature/` as it lies there. `lock` is the creature's. An error says why it did not pass.
pub fn run(house: &House, lock: File) -> Result<()> {
    let settings = settings::whole(house)?;
    // A whole build, and the tests after it.
    let (asked, most_ms) = (settings.asked(), settings.limits.build_ms * 2);
    // The guardian's program puts the walls up: it knows how to be started again behind them.
    let launcher = beside("guardian").context("failed to find our own program")?;
    hunt::adopt_orphans()?;
    let walls = prepare::find_walls(house, &asked, launcher, false)?;
    if let Some(why) = prepare::too_little(asked.choice, &walls) {
        bail!(why);
    }
    let bond = Bond::new(house, lock)?;
    std::fs::create_dir_all(house.logs())?;
    let stdout =
        files::create(&log(house)).with_context(|| format!("failed to write {}", log(house).display()))?;
    let extra = [
        ("RUST_TEST_THREADS", "4"),
        ("RUST_BACKTRACE", "0"),
        ("PROPTEST_RNG_SEED", "1"),
        ("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true"),
    ];
    let begin = Start {
        occupant: Occupant::Build,
        program: cargo(),
        args: cargo_args("test"),
        extra: extra.map(|(name, value)| (name, value.to_owned())).to_vec(),
        walls: &walls,
        granted: Granted::default(),
        broker: None,
        stderr: stdout.try_clone()?,
        stdout,
    };
    let mut tree = child::start(house, &bond, begin)?;
    let until = clock::running_ms() + most_ms;
    let ended = trusted::wait(tree.pid, || clock::running_ms() < until && house::interrupt::check().is_ok());
    let mut left = Vec::new();
    let Some(status) = ended else {
        tree.end(&[], &mut left);
        house::interrupt::check()?;
        bail!("its tests did not end within {} minutes", most_ms / 60_000);
    };
    let status = tree.outcome(status);
    while !tree.finish(&[], &mut left) {}
    anyhow::ensure!(matches!(status, WaitStatus::Exited(_, 0)), told(house));
    Ok(())
}

/// Names the failed tests, or the first errors of the compiler.
fn told(house: &House) -> String {
    let text = files::tail(&log(house), MOST_BYTES);
    let is_failed = |line: &&str| line.starts_with("test ") && line.trim_end().ends_with("FAILED");
    let mut lines: Vec<&str> = text.lines().filter(is_failed).take(MOST_LINES).collect();
    if lines.is_empty() {
        lines = text.lines().filter(|line| line.starts_with("error")).take(MOST_LINES).collect();
    }
    if lines.is_empty() {
        lines = text.lines().rev().take(3).collect();
        lines.reverse();
    }
    lines.iter().map(|line| printable::flat(line)).collect::<Vec<_>>().join("; ")
}
