//! The stand-in: a stage that runs a blessed version, in safe mode and without the broker, while no steward lives.
//!
//! Invariant: it judges nothing and starts one life. It holds the creature's lock, as the steward does: never two lives.

use anyhow::{Context, Result, bail, ensure};
use ground::checksum::checksum_of;
use ground::clock::{Millis, running_ms};
use ground::{House, files, interrupt, terminal};
use heart::course::NOTHING_TO_RUN;
use heart::kept::Plan;
use heart::wire::{Line, Said, Version};
use heart::{HOUSE_LOST, LEAVE};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::unistd::getppid;
use processes::alone::{creature_lock, lost};
use processes::child::{self, Bond, Occupant, Start, Tree};
use processes::granted::Granted;
use processes::hunt;
use processes::prepare::{find_walls, too_little};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Time between two rounds.
const ROUND_MS: Millis = 1_000;

/// The stage: `stand-in HOUSE PLAN`. Its exit code says whether there was something to run.
pub fn stage(root: &Path, plan: &str) -> Result<u8> {
    let line = Line::inherited().context("only the guardian starts a stand-in")?;
    prctl::set_name(c"stand-in")?;
    let (read, write) = UnixStream::pair().context("failed to make a pipe for signals")?;
    // What a terminal says to the whole group is the heart's to hear.
    let wanted = interrupt::wanted(&[LEAVE as i32, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD]);
    let signals = SignalDelivery::with_pipe(read, write, SignalOnly, wanted)?;
    let house = House::new(root);
    let begun =
        serde_json::from_str(plan).context("there is no blessed version on record").and_then(|plan: Plan| {
            let program = kept_binary(&house, &plan.version)?;
            Ok((plan, program))
        });
    let (plan, program) = match begun {
        Ok(begun) => begun,
        Err(error) => {
            terminal::error(&format!("guardian: no version can stand in: {error:#}"));
            return Ok(NOTHING_TO_RUN);
        }
    };
    hunt::adopt_orphans()?;
    let bond = Bond::new(&house, creature_lock(&house)?)?;
    let walls = find_walls(&house, &plan.record.walls, "/proc/self/exe".into(), true)?;
    prctl::set_dumpable(false)?;
    if let Some(why) = too_little(plan.record.walls.choice, &walls) {
        bail!(why);
    }
    let log = files::append(&house.life_log(plan.life))?;
    let extra = child::of_life(&house, plan.life, &plan.version.commit, true);
    let start = Start {
        occupant: Occupant::Life,
        program,
        args: vec![],
        extra,
        walls: &walls,
        granted: Granted::default(),
        broker: None,
        stdout: log.try_clone()?,
        stderr: log,
    };
    let tree = child::start(&house, &bond, start)?;
    line.say(Said::Ready);
    line.say(Said::Life { number: plan.life, pid: tree.pid.as_raw() });
    watch(&house, &line, signals, &tree, plan.record.grace_ms)
}

/// Waits until the life has ended; asks it to end, and kills it, where the heart wants that.
fn watch(
    house: &House,
    line: &Line,
    mut signals: SignalDelivery<UnixStream, SignalOnly>,
    tree: &Tree,
    grace_ms: Millis,
) -> Result<u8> {
    let mut asked: Option<Millis> = None;
    loop {
        if let Some(why) = lost(house, getppid().as_raw()) {
            terminal::error(&format!("guardian: {why}"));
            return Ok(HOUSE_LOST);
        }
        line.say(Said::Round { leaves: asked.is_some() });
        for _ in signals.pending().filter(|signal| *signal == LEAVE as i32) {
            // Said again, it is killed.
            match asked {
                None => tree.terminate(),
                Some(_) => tree.kill(),
            }
            asked.get_or_insert_with(running_ms);
        }
        if asked.is_some_and(|since| running_ms() >= since + grace_ms) {
            tree.kill();
        }
        let mut ended = Vec::new();
        let none_left = hunt::reap_into(&mut ended);
        if none_left || ended.iter().any(|(pid, _)| *pid == tree.pid) {
            tree.end(&[], &mut ended);
            return Ok(u8::from(asked.is_none()));
        }
        line.say(Said::Waits { leaves: asked.is_some() });
        let mut heard = [PollFd::new(signals.get_read().as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut heard, PollTimeout::from(ROUND_MS as u16));
    }
}

/// The kept binary of a version, if its content is the one on record.
fn kept_binary(house: &House, version: &Version) -> Result<PathBuf> {
    let path = house.binaries().join(&version.tree);
    let file = files::open(&path)?.with_context(|| format!("{} is gone", path.display()))?;
    let found = checksum_of(file)?;
    ensure!(found == version.sha256, "{} is not what was blessed", path.display());
    Ok(path)
}
