//! Starts or refuses: everything that may stop the guardian is found here, before the loop.

use crate::binaries::Binaries;
use crate::clock::Clock;
use crate::companion::Companion;
use crate::heartbeat::Heartbeat;
use crate::house::House;
use crate::policy::Policy;
use crate::repo::Repo;
use crate::report::Report;
use crate::run::{End, Guardian};
use crate::state::State;
use crate::walls::{Choice, Walls};
use crate::{child, orders, records, requests, run, settings, way};
use anyhow::Result;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fs::{self, File};
use std::io::{IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

/// How often a former creature's processes are hunted before the guardian refuses to start.
const ORPHAN_HUNTS: usize = 300;

/// One clear line why the guardian will not start; exit status 100.
#[derive(Debug)]
pub struct Refused(String);

impl std::fmt::Display for Refused {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

fn refuse<T>(why: impl Into<String>) -> Result<T> {
    Err(Refused(why.into()).into())
}

/// The house around a folder.
pub fn find_house(from: &Path) -> Result<House> {
    let mut at = Some(from);
    while let Some(folder) = at {
        if folder.join(".git").exists() {
            if !folder.join("creature").exists() && !folder.join("PURPOSE.md").exists() {
                return refuse(format!(
                    "{} is a git repository but no house: it has no creature/",
                    folder.display()
                ));
            }
            return Ok(House::new(folder));
        }
        at = folder.parent();
    }
    refuse(format!(
        "{} is not in a git repository; the guardian needs one: git init && git add -A && git commit",
        from.display()
    ))
}

pub fn full_sha(house: &House, name: &str) -> Result<String> {
    Ok(Repo::open(house)?.resolve(name)?.commit.to_string())
}

pub fn run() -> Result<u8> {
    let house = find_house(&std::env::current_dir()?.canonicalize()?)?;
    start_logging();
    let signals = run::signals()?;
    let settings = settings::load(&house).map_err(|error| Refused(format!("{error:#}")))?;
    way::clear(&house).iter().for_each(|told| tracing::warn!("{told}"));
    let _instance = lock_instance(&house)?;
    child::adopt_orphans()?;
    let lock = creature_lock(&house)?;
    let (mut state, rebuilt) = State::load(&house);
    let repo = Repo::open(&house).map_err(|error| Refused(format!("{error:#}")))?;
    let walls = put_up_walls(&house, &settings)?;
    let companion = Companion::open(&house, &walls.network)?;
    let clock = Clock::start(state.anchor);
    let mut policy = Policy::new(state.record.clone(), clock.now());
    let report = Report::new(&house);
    // After a clean leave what is dirty is somebody's; after a crash it is the dead creature's.
    let left = state.left.clone();
    let first = state == State::default();
    // A state that was lost has forgotten which order was the last.
    let forgotten = rebuilt.is_some() || state == State { life: state.life, ..State::default() };
    if let (true, Some((tree, _))) = (state.record.untidy, &state.record.trial) {
        state.lost_tree.clone_from(tree);
    }
    policy.record.untidy |= left.is_none() && !first;
    let mut guardian = Guardian {
        limits: settings.limits.clone(),
        settings,
        mistake: String::new(),
        companion,
        walls,
        clock,
        repo,
        policy,
        binaries: Binaries::new(&house),
        report,
        lock,
        heart: Heartbeat::new(house.heartbeat()),
        life: None,
        build: None,
        version: None,
        built: None,
        end: End::default(),
        request_seen: None,
        order_seen: orders::passed_over(&house, forgotten),
        owes: false,
        target_look: 0,
        signals,
        state,
        house,
    };
    guardian.check_repository(left.as_deref(), first)?;
    if !guardian.prove_settings()? {
        return Ok(0);
    }
    if let Some(told) = rebuilt {
        guardian.report.warn(&told);
        records::tell(&guardian.house, "state_rebuilt", serde_json::json!({"told": told}));
    }
    guardian.state.left = None;
    guardian.save();
    guardian.run()?;
    Ok(0)
}

/// What can be put up here; refuses where the owner requires more. From here on nobody may look into this process.
fn put_up_walls(house: &House, settings: &settings::Settings) -> Result<Walls> {
    let more = settings.sandbox.read.clone();
    let walls = Walls::find(house, settings.walls, &settings.limits, more, "/proc/self/exe".into());
    let mut walls = walls.map_err(|error| Refused(format!("{error:#}")))?;
    walls.join();
    nix::sys::prctl::set_dumpable(false)?;
    if settings.walls == Choice::Required && walls.level.summary() != "full" {
        return refuse(format!(
            "owner.toml says walls = \"required\", and here they are {}; mend that, or say walls = \"on\"",
            walls.level.summary()
        ));
    }
    tracing::info!("walls: {}", walls.level.told());
    if !walls.level.missing().is_empty() || !walls.stand() {
        tracing::warn!(walls = %walls.level.summary(), "the creature is not walled in fully");
    }
    Ok(walls)
}

impl Guardian {
    /// Has the broker judge what in `owner.toml` is its own. False: the owner did not wait for it.
    fn prove_settings(&mut self) -> Result<bool> {
        let Self { house, companion, report, signals, .. } = self;
        let leaves = |signal| [SIGINT, SIGTERM, SIGHUP].contains(&signal);
        match companion.prove(house, |told| report.say(told), || !signals.pending().any(leaves)) {
            Ok(()) => Ok(true),
            Err(Some(mistake)) => refuse(mistake),
            Err(None) => Ok(false),
        }
    }

    /// Refuses where going on could harm what the owner is doing; lays the bottom rung.
    fn check_repository(&mut self, left: Option<&str>, first: bool) -> Result<()> {
        if let Some(what) = self.repo.under_way() {
            return refuse(format!("a {what} is under way in this repository; finish it or abort it first"));
        }
        let head = self.repo.head().map_err(|error| Refused(format!("{error:#}")))?;
        self.repo.clear_own_locks();
        if left.is_some() || first {
            let dirty = self.repo.dirty(head).map_err(|error| Refused(format!("{error:#}")))?;
            let edits = self.repo.edits(&dirty);
            if let Some(path) = edits.first() {
                let same = left.is_some_and(|left| {
                    !left.is_empty() && left == requests::fingerprint(&self.house, &dirty)
                });
                let whose = if same {
                    format!("made while life {} ran: the creature's, or yours", self.state.life)
                } else {
                    "yours: they were made while no creature lived".into()
                };
                return refuse(format!(
                    "creature/ has uncommitted edits ({}{}), {whose}. \
                     To keep them: git add -f creature && git commit -m 'keep'. \
                     To drop them: git checkout HEAD -- creature && git clean -ffdx creature",
                    crate::keep::told(path),
                    if edits.len() > 1 { format!(" and {} more", edits.len() - 1) } else { String::new() },
                ));
            }
        }
        if self.repo.rungs()?.is_empty() {
            self.repo.bless(head)?;
        }
        crate::repo::publish_last_good(&self.house, &self.repo.rungs()?)
    }
}

/// One guardian a house, for as long as the file is open.
fn lock_instance(house: &House) -> Result<File> {
    let path = house.lock();
    let mut file = File::options().create(true).truncate(false).read(true).write(true).open(&path)?;
    // What a guardian forked just before it was killed holds the lock a moment longer than it.
    let mut looks = 0;
    while fs2::FileExt::try_lock_exclusive(&file).is_err() {
        let pid = fs::read_to_string(&path).unwrap_or_default();
        looks += 1;
        if looks > 200 || pid.trim().parse().is_ok_and(child::exists) {
            return refuse(format!(
                "another guardian runs here (process {}); see `cargo run -p guardian -- status`, or stop it",
                pid.trim()
            ));
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    file.set_len(0)?;
    write!(file, "{}", std::process::id())?;
    Ok(file)
}

/// The lock every descendant inherits. If one still holds it, a former guardian's creature lives: it is ended first.
/// Only the lock proves that none is left: what forks while it is looked for may be missed by a look.
fn creature_lock(house: &House) -> Result<File> {
    let path = house.creature_lock();
    let file = File::options().create(true).truncate(false).read(true).write(true).mode(0o600).open(&path)?;
    for _ in 0..ORPHAN_HUNTS {
        let ended = child::end_orphans(house)?;
        if ended > 0 {
            tracing::warn!(processes = ended, "ended what a former guardian had left running");
        }
        if fs2::FileExt::try_lock_exclusive(&file).is_ok() {
            return Ok(file);
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    refuse(format!("{} is still held: a former creature lives and cannot be ended", path.display()))
}

fn start_logging() {
    let default = if std::io::stdout().is_terminal() { LevelFilter::WARN } else { LevelFilter::INFO };
    let told = std::env::var("RUST_LOG").ok().filter(|text| !text.is_empty());
    // Filters of more than targets would bring a regex engine.
    let filter: Targets =
        told.and_then(|text| text.parse().ok()).unwrap_or(Targets::new().with_default(default));
    let lines = tracing_subscriber::fmt::layer()
        .with_target(false)
        .with_ansi(false)
        // It would tell of a failed write by another write, and panic when that fails too: on a full disk, say.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    let _ = tracing_subscriber::registry().with(filter).with(lines).try_init();
}
