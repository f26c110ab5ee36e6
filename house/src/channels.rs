//! Channels as their program and the console share them: the code of a pairing, what was taken back, and how each stands.

use crate::records::view::field;
use crate::settings::channels::PLATFORMS;
use crate::terminal::typed;
use crate::{House, bounds, files, moments};
use anyhow::Result;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Tries that a code allows, and how long it counts, in seconds.
pub const TRIES: u64 = 5;
pub const COUNTS_S: i64 = 600;

/// `pairing.json`: the one code that counts, written by the console.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pairing {
    /// The channel it is for; empty: none is waited for.
    pub channel: String,
    pub code: String,
    pub until: String,
    pub tries: u64,
    /// When the owner took back the pairing of a channel: one from before counts no more.
    pub unpaired: BTreeMap<String, String>,
}

/// How a channel stands, as its program says in `standing.json`, by the channel's name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Standing {
    /// `connected`, `connecting`, `away`, `revoked`, `elsewhere`, or `missing` where it lacks what it needs.
    pub state: String,
    /// Its name on the platform.
    #[serde(rename = "as")]
    pub name: String,
    /// The owner's name there; empty: nobody is paired.
    pub paired: String,
    /// Trouble with it, in a sentence; empty: none.
    pub trouble: String,
    /// Messages of others that were refused.
    pub strangers: u64,
    /// `until` of the code that counts no more, for it was used or tried too often; empty: none.
    pub code_over: String,
    /// Since when it is in this state.
    pub since: String,
}

impl Pairing {
    /// As it was written; nothing where that cannot be read.
    pub fn read(house: &House) -> Self {
        let bytes = files::read_small(&house.pairing()).ok().flatten().unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub fn write(&self, house: &House) -> Result<()> {
        std::fs::create_dir_all(house.channels())?;
        files::replace_secret(&house.pairing(), format!("{}\n", serde_json::to_string(self)?).as_bytes())
    }

    /// The code that counts now for a channel.
    pub fn code(&self, channel: &str, now: Timestamp) -> Option<&str> {
        let counts = self.until.parse::<Timestamp>().is_ok_and(|until| now < until);
        (counts && self.channel == channel && !self.code.is_empty()).then_some(&self.code)
    }

    /// The code that is waited for: one that its channel still takes.
    pub fn waits(&self, channel: &str, now: Timestamp, standing: &Standing) -> Option<&str> {
        self.code(channel, now).filter(|_| standing.code_over != self.until)
    }

    /// Whether the owner took back what was paired at a time.
    pub fn is_taken_back(&self, channel: &str, paired_at: &str) -> bool {
        let taken = self.unpaired.get(channel).and_then(|at| at.parse::<Timestamp>().ok());
        let paired = paired_at.parse::<Timestamp>().ok();
        taken.is_some_and(|taken| paired.is_none_or(|paired| paired <= taken))
    }
}

/// How each channel stands by its program's last word.
pub fn standing(house: &House) -> BTreeMap<String, Standing> {
    let bytes = files::read_small(&house.channels_standing()).ok().flatten().unwrap_or_default();
    let told = bounds::read(&bytes).unwrap_or_default();
    serde_json::from_value(told).unwrap_or_default()
}

/// A line for each channel that the owner named, with its name; `told` is the channels' part of `guardian.json`.
pub fn lines(house: &House, told: Option<&Value>) -> Vec<(&'static str, String)> {
    let Some(told) = told.filter(|told| told.is_object()) else { return vec![] };
    let runs = field::<bool>(told, "running");
    if !runs {
        return vec![("channels", field::<&str>(told, "note").to_owned())];
    }
    let (all, pairing, now) = (standing(house), Pairing::read(house), moments::now());
    let line = |name: &'static str| Some((name, all.get(name)?.line(name, &pairing, now)));
    let lines: Vec<_> = PLATFORMS.iter().filter_map(|platform| line(platform.name)).collect();
    if lines.is_empty() { vec![("channels", "starting".to_owned())] } else { lines }
}

impl Standing {
    /// `connected as @x, paired with Ann`, and what is the matter; with the code that is waited for.
    pub fn line(&self, name: &str, pairing: &Pairing, now: Timestamp) -> String {
        let code = pairing.waits(name, now, self);
        let is_over = code.is_none() && pairing.code(name, now).is_some();
        let state = match self.state.as_str() {
            "connected" if self.name.is_empty() => "connected".to_owned(),
            "connected" => format!("connected as {}", self.name),
            "revoked" => format!("signed out: {}", self.trouble),
            "missing" => self.trouble.clone(),
            "away" | "elsewhere" => {
                format!("not reached since {}: {}", moments::near(&self.since), self.trouble)
            }
            _ => "connecting".to_owned(),
        };
        let pair = || format!("not paired: {}", typed(&format!("channels pair {name}")));
        let whom = match (code, self.paired.as_str()) {
            (Some(code), _) => format!("send it {code} from your own account"),
            (None, "") if is_over => format!("the code was tried too often; {}", pair()),
            (None, "") => pair(),
            (None, paired) => format!("paired with {paired}"),
        };
        let strangers = match self.strangers {
            0 => String::new(),
            1 => "; one message of somebody else was refused".to_owned(),
            more => format!("; {more} messages of others were refused"),
        };
        format!("{state}; {whom}{strangers}")
    }

    /// Whether the owner is heard by it now.
    pub fn is_well(&self) -> bool {
        self.state == "connected" && !self.paired.is_empty()
    }
}
