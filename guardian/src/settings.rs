//! `owner.toml` as far as it concerns the guardian; the creature reads its own sections itself.

use crate::files;
use crate::house::House;
use crate::limits::Limits;
use crate::walls::Choice;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub limits: Limits,
    pub walls: Choice,
    pub sandbox: Sandbox,
}

/// What the owner adds to the walls' rules.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sandbox {
    /// Folders the creature may read and run from, beyond the house and the system.
    pub read: Vec<PathBuf>,
}

/// The owner's settings; an error names file, line and key.
pub fn load(house: &House) -> Result<Settings> {
    let path = house.owner_settings();
    let Some(bytes) = files::read_small(&path)? else { return Ok(Settings::default()) };
    let text = String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8 text", path.display()))?;
    toml::from_str(&text).map_err(|error| {
        let line = error
            .span()
            .map_or(0, |span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
        anyhow::anyhow!("{}, line {line}: {}", path.display(), error.message())
    })
}
