//! The program of the channels: started by the guardian where `owner.toml` names one; `--house PATH`.

use anyhow::{Context, Result, bail};
use channels::door::{Broker, Door};
use channels::platforms;
use channels::run::{Served, serve};
use house::{House, hidden, settings, terminal};
use redact::keys::Keys;
use std::collections::BTreeMap;
use std::process::ExitCode;

fn main() -> ExitCode {
    house::files::close_to_others();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::error(&format!("channels: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    // The tokens of the platforms are in its memory.
    hidden::hide()?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    let house = match words.as_slice() {
        [option, path] if option == "--house" => House::new(path),
        _ => bail!("the guardian starts this by itself, where owner.toml has a section [channels.NAME]"),
    };
    let settings = settings::whole(&house)?;
    let named: Vec<String> = settings.channels.values().flat_map(|channel| channel.variables()).collect();
    let keys = Keys::load(&house, &named)?;
    let door = Door::new(Some(Broker::of(&house)?))?;
    let mut channels = BTreeMap::new();
    for (name, channel) in settings.channels {
        let secrets = |variable: &str| keys.get(variable).map(str::to_owned);
        let made = platforms::made(&name, &channel, &secrets, door.clone());
        channels.insert(name, (channel, made));
    }
    let warn_percent = settings.budget.warn_percent;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(4).build();
    let runtime = runtime.context("failed to start")?;
    runtime.block_on(serve(Served { house, channels, door, keys, warn_percent }))
}
