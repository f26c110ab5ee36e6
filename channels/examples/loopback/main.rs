//! The program of the channels over folders instead of platforms: `loopback HOUSE NAME=FOLDER …`; for trials of its ends.

mod platform;

use anyhow::{Context, Result};
use channels::channel::Channel;
use channels::door::Door;
use channels::run::{Made, Served, serve};
use house::{House, files};
use redact::keys::Keys;
use std::collections::BTreeMap;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (house, words) = words.split_first().context("wants HOUSE NAME=FOLDER …")?;
    let mut channels = BTreeMap::new();
    for (name, folder, loopback) in platform::opened(words)? {
        let told = files::read_small(&folder.join("settings.json"))?;
        let settings = told.map(|told| serde_json::from_slice(&told)).transpose()?.unwrap_or_default();
        let missing = files::read_small(&folder.join("missing"))?;
        let made: Made = match missing {
            Some(why) => Err(String::from_utf8_lossy(&why).into_owned()),
            None => Ok(Box::new(loopback) as Box<dyn Channel>),
        };
        channels.insert(name, (settings, made));
    }
    let keys = Keys::of(BTreeMap::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(Served {
        house: House::new(house),
        channels,
        door: Door::new(None)?,
        keys,
        warn_percent: 80.0,
    }))
}
