//! The owner's settings as the guardian uses them; their schema and checks are in `house`.

use crate::limits::Limits;
use anyhow::Result;
use house::House;
use house::settings::judge::Mistakes;
use house::settings::notices::Notices;
use house::settings::page::Page;
use house::settings::{self, Reader, broker, forms};
use processes::prepare::Asked;
use std::collections::BTreeSet;

/// Settings without a mistake.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub limits: Limits,
    pub asked: Asked,
    /// The folder of risky mode, as the owner names it; none where that mode is off.
    pub risky: Option<String>,
    /// Which registries of packages a life is given.
    pub packages: broker::Packages,
    /// How the owner is told of what happens.
    pub notices: Notices,
    /// Whether and where the page is open beyond this machine.
    pub page: Page,
    /// Hands of ours that are to be built.
    pub hands: BTreeSet<String>,
    /// Whether the owner named a channel.
    pub has_channels: bool,
    /// The owner's file verbatim; the creature's part is made from it.
    pub text: String,
}

/// Reads the owner's file; a missing one means all defaults.
pub fn load(house: &House) -> Result<Settings> {
    settings::load(house, read)
}

/// Parses the settings; an error begins with the line of the first mistake.
pub fn read(text: &str) -> Result<Settings, Mistakes> {
    let read = settings::read(text, Reader::Guardian, forms::check)?;
    let (asked, notices) = (read.settings.asked(), read.settings.notices());
    let settings::Settings { limits, files, packages, mcp, channels, page, .. } = read.settings;
    let risky = files.risky.then_some(files.risky_root);
    let hands = mcp.into_values().map(|mcp| mcp.hand).filter(|hand| !hand.is_empty()).collect();
    let (has_channels, text) = (!channels.is_empty(), text.to_owned());
    Ok(Settings { limits, asked, risky, packages, notices, page, hands, has_channels, text })
}
