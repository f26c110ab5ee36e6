//! The program of the channels: a task for each to receive, to send and to show that it is written to, and one for the house.

use crate::channel::Channel;
use crate::door::Door;
use crate::follow::Talk;
use crate::state::State;
use crate::switchboard::{Line, Shared, Switchboard};
use crate::telling::Telling;
use crate::watch::Changes;
use crate::{attached, places, platforms, receive, send, typing};
use anyhow::{Context, Result, bail};
use house::files;
use house::settings::channels::Channel as Settings;
use house::{House, clock, openat};
use redact::keys::Keys;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, UNIX_EPOCH};
use tokio::task::LocalSet;

/// Rest after a failure to keep something: the disk is full.
const REST: Duration = Duration::from_secs(10);

/// A channel that was made of its settings, or what it lacks, in a sentence.
pub type Made = Result<Box<dyn Channel>, String>;

/// A house's channels, about to be served.
pub struct Served {
    pub house: House,
    pub channels: BTreeMap<String, (Settings, Made)>,
    pub door: Door,
    pub keys: Keys,
    /// Percent of a cap from which on it counts as nearly spent.
    pub warn_percent: f64,
}

/// Serves channels until this process is ended.
pub async fn serve(served: Served) -> Result<()> {
    let Served { house, channels, door, keys, warn_percent } = served;
    let state = openat::Folder::open(&house.state_folder()).context("failed to open .self")?;
    std::fs::create_dir_all(places::folder(&house)).context("failed to make the folder of the channels")?;
    state.make(Path::new("received")).context("failed to make .self/received")?;
    let lock = files::open_lock(&house.channels_lock()).context("failed to open the lock of the channels")?;
    if fs2::FileExt::try_lock_exclusive(&lock).is_err() {
        bail!("another program serves the channels of this house already");
    }
    let (mut lines, mut made, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for (name, (settings, channel)) in channels {
        // A file that cannot be read stops its own channel alone, and stays as it is.
        let (state, damage) = match State::load(&house, &name) {
            Ok(state) => (state, None),
            Err(error) => (State::default(), Some(format!("{error:#}"))),
        };
        let limits = match (channel, damage) {
            (Ok(channel), None) => {
                let channel: Rc<dyn Channel> = channel.into();
                made.push((name.clone(), channel.clone()));
                channel.limits().clone()
            }
            (Err(why), _) | (Ok(_), Some(why)) => {
                missing.push((name.clone(), why));
                platforms::limits(&name).clone()
            }
        };
        lines.push(Line::new(&name, settings, limits, &house, state));
    }
    let shared: Shared = Rc::new(RefCell::new(Switchboard::open(&house, lines, keys)?));
    for (name, why) in &missing {
        shared.borrow_mut().stands(name, "missing", why)?;
    }
    shared.borrow_mut().publish()?;
    let tasks = LocalSet::new();
    for (name, _) in &made {
        send::left_behind(&mut shared.borrow_mut(), name)?;
    }
    let channels = made.clone();
    for (name, channel) in made {
        tasks.spawn_local(receive::run(shared.clone(), name.clone(), channel.clone()));
        tasks.spawn_local(attached::run(shared.clone(), name.clone(), channel.clone()));
        if channel.limits().typing {
            tasks.spawn_local(typing::run(shared.clone(), name.clone(), channel.clone()));
        }
        tasks.spawn_local(send::run(shared.clone(), name, channel, door.clone()));
    }
    tasks.run_until(keep_house(shared, channels, warn_percent, &lock)).await
}

/// Takes what happens in the house to the channels; `lock` is touched each time, by which the guardian knows that this lives.
async fn keep_house(
    shared: Shared,
    channels: Vec<(String, Rc<dyn Channel>)>,
    warn_percent: f64,
    lock: &File,
) -> Result<()> {
    let house = shared.borrow().house.clone();
    let mut talk = Talk::open(&house)?;
    let mut telling = Telling::open(&house, warn_percent);
    let changes = Changes::of(&house);
    loop {
        // On a disk that takes not even this, a start anew does no harm.
        let _ = lock.set_modified(UNIX_EPOCH + Duration::from_millis(clock::wall_ms()));
        let looked = look(&shared, &mut talk, &mut telling);
        // A code is open, or is no more.
        channels.iter().for_each(|(name, channel)| channel.welcome(&shared.borrow().welcome(name)));
        match looked {
            Ok(true) => tokio::task::yield_now().await,
            Ok(false) => changes.next().await,
            Err(error) => {
                shared.borrow_mut().row("house", &format!("nothing is told until this is mended: {error:#}"));
                // What was not kept is read again from where it was.
                telling = Telling::open(&house, warn_percent);
                tokio::time::sleep(REST).await;
            }
        }
    }
}

/// Whether another look would bring more at once.
fn look(shared: &Shared, talk: &mut Talk, telling: &mut Telling) -> Result<bool> {
    shared.borrow_mut().look_at_pairings()?;
    let more = talk.look(shared)?;
    shared.borrow_mut().look_at_asks()?;
    telling.look(shared)?;
    Ok(more)
}
