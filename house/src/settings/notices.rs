//! The sections of `owner.toml` on telling the owner of events: notices, and the morning report.

use super::forms::Form;
use super::key::Shape::{Count, Flag, List, Text, Word};
use super::key::section;
use serde::{Deserialize, Serialize};

/// Degrees of detail shown.
pub const VERBOSITIES: &[&str] = &["minimal", "normal", "verbose"];
/// The program that shows notices on a desktop.
pub const DESKTOP: &str = "notify-send";
/// Variables of a session with a desktop: without any of them nothing is shown there.
const DESKTOPS: [&str; 3] = ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"];

section! {
    /// Where notices go, and how many.
    Notify {
        /// a program and its arguments, started for each notice, with a JSON object on its standard input; left out:
        /// `notify-send`, where there is a desktop
        command: Vec<String> = vec![], List(&Text(Form::Plain));
        /// names of variables that program gets, beside `PATH`, `HOME` and what a desktop is found by
        pass_env: Vec<String> = vec![], List(&Text(Form::NeededVariable));
        /// whether notices go to the desktop where no `command` is named
        desktop: bool = true, Flag;
        /// notices an hour; what comes beyond them goes with the next
        per_hour: u32 = 6, Count(1, 60);
        /// seconds in which what comes goes as one
        gather_s: u64 = 5, Count(0, 3_600);
        /// seconds that program may take; then it is ended
        limit_s: u64 = 30, Count(1, 600);
    }
}

section! {
    /// How much of what happens is shown to you.
    Show {
        /// in a window, unless `--verbosity` or `/verbosity` says: `minimal` (words, asks, deaths, falls, self-edits, and a
        /// dim line each act), `normal` (a line each act and thought) or `verbose` (with the details of each)
        window: String = "minimal".to_owned(), Word(VERBOSITIES);
        /// by `feed`
        feed: String = "normal".to_owned(), Word(VERBOSITIES);
    }
}

section! {
    /// The morning report, made by itself.
    Report {
        /// when it is made, by this machine's clock, as every time the guardian prints; left out: never
        at: Option<String> = None, Text(Form::TimeOfDay);
    }
}

/// Settings of the process that notifies the owner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notices {
    pub notify: Notify,
    pub report: Report,
    /// Percent of a cap from which on it counts as nearly spent.
    pub warn_percent: f64,
}

impl Default for Notices {
    fn default() -> Self {
        super::Settings::default().notices()
    }
}

/// Where notices go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Command,
    Desktop,
    /// Nowhere: only the morning report is made.
    None,
}

impl Notices {
    /// Where notices go from a process with this environment.
    pub fn way(&self) -> Way {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = std::env::split_paths(&path);
        match () {
            () if !self.notify.command.is_empty() => Way::Command,
            () if !self.notify.desktop || !DESKTOPS.iter().any(|name| is_set(name)) => Way::None,
            () if folders.any(|folder| folder.join(DESKTOP).is_file()) => Way::Desktop,
            () => Way::None,
        }
    }

    /// Whether morning reports are made, or notices have a way to the owner.
    pub fn wanted(&self) -> bool {
        self.report.at.is_some() || self.way() != Way::None
    }
}
