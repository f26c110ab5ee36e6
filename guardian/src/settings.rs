//! The owner's settings as the guardian uses them; their schema and checks are in `house`.

use crate::limits::Limits;
use anyhow::Result;
use house::House;
use house::settings::judge::Mistakes;
use house::settings::notices::Notices;
use house::settings::{self, Reader, broker, forms, guardian};
use processes::prepare::Asked;
use walls::Choice;
use walls::spec::Ceilings;

/// Settings without a mistake.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub limits: Limits,
    pub walls: Choice,
    pub sandbox: guardian::Sandbox,
    /// The folder of risky mode, as the owner names it; none where that mode is off.
    pub risky: Option<String>,
    /// Which registries of packages a life is given.
    pub packages: broker::Packages,
    /// How the owner is told of what happens.
    pub notices: Notices,
    /// The owner's file verbatim; the creature's part is made from it.
    pub text: String,
}

impl Settings {
    /// Returns the walls as the owner asks for them.
    pub fn asked(&self) -> Asked {
        let limits = &self.limits;
        let ceilings = Ceilings {
            processes: limits.processes,
            memory_mib: limits.memory_per_process_mib,
            open_files: limits.open_files,
            file_mib: limits.file_mib,
        };
        Asked { choice: self.walls, more: self.sandbox.read.clone(), ceilings }
    }
}

/// Reads the owner's file; a missing one means all defaults.
pub fn load(house: &House) -> Result<Settings> {
    settings::load(house, read)
}

/// Parses the settings; an error begins with the line of the first mistake.
pub fn read(text: &str) -> Result<Settings, Mistakes> {
    let read = settings::read(text, Reader::Guardian, forms::check)?;
    let walls = match read.settings.walls {
        guardian::Walls::On => Choice::On,
        guardian::Walls::Required => Choice::Required,
        guardian::Walls::Off => Choice::Off,
    };
    let notices = read.settings.notices();
    let settings::Settings { limits, sandbox, files, packages, .. } = read.settings;
    let risky = files.risky.then_some(files.risky_root);
    Ok(Settings { limits, walls, sandbox, risky, packages, notices, text: text.to_owned() })
}
