//! What the owner wants, as far as it concerns the guardian; the schema and its judge are the house's.

use crate::limits::Limits;
use anyhow::Result;
use house::House;
use house::settings::judge::Mistakes;
use house::settings::{self, Reader, forms, guardian};
use walls::Choice;

/// What a text came to that has no mistake.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub limits: Limits,
    pub walls: Choice,
    pub sandbox: guardian::Sandbox,
    /// As the owner wrote it: what the creature is handed is made from it.
    pub text: String,
}

/// The owner's settings; none are all defaults.
pub fn load(house: &House) -> Result<Settings> {
    settings::load(house, read)
}

/// Reads a text; what is wrong with it, beginning with its line.
pub fn read(text: &str) -> Result<Settings, Mistakes> {
    let read = settings::read(text, Reader::Guardian, forms::check)?;
    let walls = match read.settings.walls {
        guardian::Walls::On => Choice::On,
        guardian::Walls::Required => Choice::Required,
        guardian::Walls::Off => Choice::Off,
    };
    let settings::Settings { limits, sandbox, .. } = read.settings;
    Ok(Settings { limits, walls, sandbox, text: text.to_owned() })
}
