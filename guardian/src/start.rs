//! Starts the guardian or refuses: everything that can keep it from running is checked here, before the loop.

use crate::act::around::Around;
use crate::act::builder::Builder;
use crate::act::daemons::keep::Daemons;
use crate::act::executor::{End, Executor};
use crate::act::first_minutes::open_house;
use crate::act::ladder::Ladder;
use crate::act::living::Living;
use crate::act::report::Report;
use crate::act::state::State;
use crate::act::walled::Walled;
use crate::decide::policy::Policy;
use crate::run::{self, Guardian};
use crate::{absence, orders, settings, steward};
use anyhow::Result;
use house::clock::{self, Clock};
use house::find::{find_house, writes};
use house::refused::{refuse, refused};
use house::sealed::Left;
use house::{House, files, interrupt, outlet, records, repair, terminal};
use processes::alone::{creature_lock, lock_instance, lost};
use processes::child::Bond;
use processes::prepare::{find_walls, too_little};
use processes::{hunt, machine};
use repo::{Repo, fit, open, restoring, updating};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;
use std::collections::VecDeque;
use std::os::unix::net::UnixStream;
use std::path::Path;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;
use walls::Walls;

/// The house to start in; refused where no creature could live, and where the creature writes, for cargo and the shell obey
/// what lies there.
fn house_to_start() -> Result<House> {
    let here = std::env::current_dir()?.canonicalize()?;
    let house = find_house(&here)?;
    if writes(house.root(), &here) {
        let (here, root) = (here.display(), house.root().display());
        return refuse(format!(
            "{here} is the creature's to write; start the guardian in the house itself: cd {root}"
        ));
    }
    machine::unfit(&house).map_or(Ok(house), refuse)
}

/// Runs the guardian: this process is its heart from here on. `plain`: with lines instead of a window.
pub fn run(plain: bool) -> Result<u8> {
    let house = house_to_start()?;
    repair::clear(&house).iter().for_each(|told| terminal::error(&format!("guardian: {told}")));
    let lock = lock_instance(&house)?;
    heart::beat::run(&house, plain, lock)
}

/// The steward, a stage that the heart starts: `steward HOUSE`. It is all of the guardian but the heart.
pub fn steward(root: &Path, plain: bool) -> Result<u8> {
    start_logging()?;
    let mut signals = run::signals()?;
    steward::begin()?;
    let house = House::new(root);
    if let Some(why) = lost(&house, steward::heart_pid()) {
        tracing::warn!("{why}");
        return Ok(heart::HOUSE_LOST);
    }
    let settings = files::in_time(|| settings::load(&house)).map_err(refused)?;
    hunt::adopt_orphans()?;
    let bond = Bond::new(&house, creature_lock(&house)?)?;
    let (mut state, rebuilt) = after_what_was_cut_off(&house)?;
    let repo = Repo::open(&house).map_err(refused)?;
    if let Some(why) = cleared_refusal(&house, &repo, &state) {
        // Nothing was changed yet: if the owner asked to stop meanwhile, end without an error.
        return if interrupt::check().is_err() { Ok(0) } else { refuse(why) };
    }
    let walls = put_up_walls(&house, &settings)?;
    let daemons = Daemons::open(&house, &walls.network, &settings.limits, plain)?;
    let clock = Clock::start(state.anchor);
    // A rebuilt state does not know which order was the last.
    let forgotten = rebuilt.is_some() || state == State { life: state.life, ..State::default() };
    if let (true, Some((tree, _))) = (state.record.untidy, &state.record.trial) {
        state.lost_tree.clone_from(tree);
    }
    let policy = policy_of(&state, &clock);
    lay_the_bottom_rung(&house, &repo)?;
    let mut executor = Executor {
        heard: VecDeque::new(),
        ladder: Ladder::new(&house, repo),
        builder: Builder::default(),
        living: Living::new(&house, Walled { walls, bond }),
        daemons,
        end: End::default(),
        order_seen: orders::passed_over(&house, forgotten),
        around: Around {
            limits: settings.limits.clone(),
            settings,
            clock,
            decided: policy.clone(),
            report: Report::open(),
            state,
            house,
            lives: false,
            builds: false,
            is_news: false,
            owes: false,
        },
    };
    if !prove_settings(&mut executor, &mut signals)? {
        return Ok(0);
    }
    tell_of_before(&mut executor.around, rebuilt);
    executor.around.state.left = None;
    executor.around.save();
    // The status an earlier guardian published is out of date.
    executor.publish();
    Guardian::new(policy, executor, signals).run()
}

/// Finishes a restore that was cut off, and takes back an update that was; the state after that.
fn after_what_was_cut_off(house: &House) -> Result<(State, Option<String>)> {
    if let Some(kept) = restoring::finish(house).map_err(refused)? {
        tracing::warn!(before = %kept.display(), "a restore that was cut off is finished");
    }
    if updating::settle(house).map_err(refused)? {
        tracing::warn!("an update that was cut off is taken back: creature/ is as it was");
    }
    let (mut state, rebuilt) = State::load(house);
    // A life of a stand-in's has a number too.
    let last = std::env::var(hunt::LAST_LIFE).ok().and_then(|number| number.parse().ok()).unwrap_or_default();
    state.life = state.life.max(last);
    Ok((state, rebuilt))
}

/// Does as `refusal`, after files planted for the owner's own tools are moved aside: it says what to do with them.
fn cleared_refusal(house: &House, repo: &Repo, state: &State) -> Option<String> {
    // Nothing of it can be seen then.
    if let Some(why) = open::unread_index(&repo.git) {
        return Some(why);
    }
    let mut told = Vec::new();
    let cleared = repo.clear_planted(&mut told);
    told.iter().for_each(|told| tracing::warn!("{told}"));
    let why = machine::unfit(house).or_else(|| fit::refusal(house, repo, &state.left()))?;
    let first = cleared.err().map(|error| format!("{error:#}; mend that first, then: "));
    Some(first.unwrap_or_default() + &why)
}

fn policy_of(state: &State, clock: &Clock) -> Policy {
    let mut policy = Policy::new(state.record.clone(), clock.now());
    // Uncommitted changes are the creature's, to be kept before the next life, after a crash, or if they were there
    // already at an orderly stop, and so were made while a creature lived.
    policy.record.untidy |= match state.left() {
        Left::Never => false,
        Left::Unknown => true,
        Left::With(edits) => !edits.is_empty(),
    };
    policy
}

/// Finds the walls; refuses where the owner requires more. From here on other processes may not inspect this one.
fn put_up_walls(house: &House, settings: &settings::Settings) -> Result<Walls> {
    let walls = find_walls(house, &settings.asked, "/proc/self/exe".into(), true);
    let walls = walls.map_err(refused)?;
    nix::sys::prctl::set_dumpable(false)?;
    if let Some(why) = too_little(settings.asked.choice, &walls) {
        return refuse(why);
    }
    tracing::info!("walls: {}", walls.level.told());
    machine::not_there(house).iter().for_each(|told| tracing::warn!("{told}"));
    if !walls.level.missing().is_empty() || !walls.stand() {
        tracing::warn!(walls = %walls.level.summary(), "the creature is not walled in fully");
        machine::remedies(&walls, None).iter().for_each(|remedy| tracing::warn!("{remedy}"));
    }
    Ok(walls)
}

/// Has the broker check its sections of `owner.toml`. False: the owner did not wait for it.
fn prove_settings(
    executor: &mut Executor,
    signals: &mut SignalDelivery<UnixStream, SignalOnly>,
) -> Result<bool> {
    // To judge them the broker may have to be built: what comes is said before.
    open_house(executor);
    let leaves = |signal| signal == heart::LEAVE as i32;
    match executor.daemons.prove(&mut executor.around, || !signals.pending().any(leaves)) {
        Ok(()) => Ok(true),
        Err(Some(mistake)) => refuse(mistake),
        Err(None) => Ok(false),
    }
}

/// Records that the state had to be rebuilt, and why the guardian began anew, where it did; tells of a time when nothing ran.
fn tell_of_before(around: &mut Around, rebuilt: Option<String>) {
    if let Some(told) = absence::told(&around.house, clock::wall_ms()) {
        around.report.say(&told);
    }
    let anew = std::env::var(hunt::ANEW).ok();
    let anew = anew.map(|why| (format!("the guardian began anew: {why}"), "begun_anew", "cause", why));
    let rebuilt = rebuilt.map(|told| (told.clone(), "state_rebuilt", "told", told));
    for (line, what, name, text) in rebuilt.into_iter().chain(anew) {
        around.report.warn(&line);
        records::tell(&around.house, what, serde_json::json!({name: text}));
    }
}

fn lay_the_bottom_rung(house: &House, repo: &Repo) -> Result<()> {
    repo.clear_own_locks();
    if repo.rungs()?.is_empty() {
        repo.bless(repo.head()?)?;
    }
    repo::publish_last_good(house, &repo.rungs()?)
}

/// Lines for people, printed by a thread apart.
fn start_logging() -> Result<()> {
    outlet::apart()?;
    let default = if terminal::is_one() { LevelFilter::WARN } else { LevelFilter::INFO };
    let told = std::env::var("RUST_LOG").ok().filter(|text| !text.is_empty());
    // Richer filters would need a regex engine.
    let filter: Targets =
        told.and_then(|text| text.parse().ok()).unwrap_or(Targets::new().with_default(default));
    let lines = tracing_subscriber::fmt::layer()
        .with_target(false)
        .with_ansi(false)
        // It reports a failed write by another write, and panics when that fails too, on a full disk for instance.
        .log_internal_errors(false)
        .with_writer(|| terminal::Log);
    let _ = tracing_subscriber::registry().with(filter).with(lines).try_init();
    Ok(())
}
