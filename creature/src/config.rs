//! The owner's settings for the creature, and what the guardian sets in its environment; every default is safe.
//!
//! The guardian judges `owner.toml` and writes the creature's part to `.self/settings.json`; where an older one
//! does not, `owner.toml` is read here, over the defaults of the golden file. Settings of the creature's own are
//! declared in `creature/settings.toml`.

use crate::clock::Clock;
use crate::lifeline::Lifeline;
use crate::paths::House;
use agenda::stack::Category;
use ground::files;
use hands::Broker;
use mind::ModelSettings;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io;
use std::sync::LazyLock;

/// Most bytes read of a settings file.
const MOST_BYTES: u64 = 256 * 1024;

/// The declarations of the creature's own settings; compiled in, so that their defaults need no file at run time.
const DECLARED: &str = include_str!("../settings.toml");

/// The longest rest an owner can set, in seconds; a life without a turn for 150 minutes counts as hung.
const MOST_REST_S: u64 = 3_600;

/// The most thoughts in one wake that an owner can allow.
const MOST_ROUNDS: u32 = 50;

/// The creature's part of `owner.toml`. Unknown sections and keys belong to others or a newer guardian: ignored.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub model: ModelSettings,
    pub rest: RestSettings,
    pub self_edit: SelfEditSettings,
    pub agenda: AgendaSettings,
    pub revenue: RevenueSettings,
    pub sessions: SessionSettings,
    pub dream: DreamSettings,
    pub files: FileSettings,
    /// Tools by name, and when they may be used.
    pub permissions: BTreeMap<String, Permission>,
    /// `[creature]`: settings the creature declared itself.
    #[serde(rename = "creature")]
    pub own: Own,
}

/// Settings of the creature's own, by name: what the owner set, else as declared.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Own(Map<String, Value>);

impl Own {
    /// The value of a key; null for one that is neither set nor declared.
    pub fn value(&self, name: &str) -> Value {
        let set = self.0.get(name).cloned();
        set.or_else(|| declared().get(name)?.get("default").cloned()).unwrap_or_default()
    }

    /// The value of a key declared as a `number` of 0 or more; 0 for any other.
    pub fn number(&self, name: &str) -> u64 {
        self.value(name).as_u64().unwrap_or_default()
    }
}

/// Every declaration by its name.
pub fn declared() -> Map<String, Value> {
    toml::from_str(DECLARED).unwrap_or_default()
}

/// Permission of a tool: when it may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    Always,
    /// Only while the owner's own request is worked on.
    Owner,
    Never,
}

/// Settings the guardian hands over where the owner says nothing: the creature's defaults, which the guardian's schema
/// declares. The same bytes are pinned on both sides, so a life without that file has the same.
static USUAL: LazyLock<Value> = LazyLock::new(|| {
    let handed: Value =
        serde_json::from_str(include_str!("../tests/golden/settings.json")).unwrap_or_default();
    handed.get("settings").cloned().unwrap_or_default()
});

/// The default of a setting.
fn usual<T: DeserializeOwned + Default>(section: &str, key: &str) -> T {
    let value = USUAL.get(section).and_then(|section| section.get(key));
    value.and_then(|value| T::deserialize(value).ok()).unwrap_or_default()
}

macro_rules! section {
    ($(#[$doc:meta])* $name:ident $section:literal { $($(#[$meaning:meta])* $key:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(default)]
        pub struct $name {
            $($(#[$meaning])* pub $key: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($key: usual($section, stringify!($key)),)* }
            }
        }
    };
}

section! {
    /// `[agenda]`: the order of work, and above which cost the owner is asked.
    AgendaSettings "agenda" {
        /// Categories by rank; those left out follow in their usual order.
        order: Vec<Category>,
        ask_above_usd: f64,
        goal_cost_usd: f64,
        messages_per_hour: u32,
        /// An IANA name, as in `Europe/Berlin`.
        time_zone: String,
        /// Most thoughts in one wake.
        rounds: u32,
        /// Whether the checklist is worked through, and seconds between looks at it.
        checklist: bool,
        checklist_s: u64,
    }
}

section! {
    /// `[revenue]`: where ways to earn are looked for, and how often.
    RevenueSettings "revenue" {
        enabled: bool,
        scan_interval_minutes: u64,
        /// Pages and feeds by address, services by name.
        platforms: Vec<String>,
    }
}

section! {
    /// `[sessions]`: how many sub-sessions run at once.
    SessionSettings "sessions" {
        at_once: u32,
    }
}

section! {
    /// `[dream]`: when the nightly dream comes (`HH:MM` UTC), and with which model.
    DreamSettings "dream" {
        at: String,
        model: Option<String>,
    }
}

section! {
    /// `[files]`: the folder of the file tools (in risky mode `risky_root`, within the house), and their limits.
    FileSettings "files" {
        risky: bool,
        risky_root: String,
        /// Most entries in one list.
        most_entries: usize,
        /// A file of more bytes is not read.
        most_bytes: u64,
    }
}

section! {
    /// `[rest]`: bounds on the rest between wakes, in seconds.
    RestSettings "rest" {
        shortest_s: u64,
        longest_s: u64,
        /// The longest rest with nothing to do.
        quiet_s: u64,
    }
}

section! {
    /// `[self_edit]`: how long each step of a self-edit may take, in seconds.
    SelfEditSettings "self_edit" {
        build_s: u64,
        test_s: u64,
        rehearsal_s: u64,
    }
}

impl Settings {
    /// The agenda's rules; for an unknown time zone UTC, and a sentence that says so.
    pub fn rules(&self) -> (agenda::Rules, Option<String>) {
        let said = &self.agenda;
        // The guardian hands over the machine's where the owner names none.
        let named = if said.time_zone.is_empty() { "UTC" } else { &said.time_zone };
        let zone = jiff::tz::TimeZone::get(named);
        let odd = zone.as_ref().err().map(|error| {
            format!("owner.toml [agenda]: there is no time zone {:?} ({error}); it is UTC", said.time_zone)
        });
        let mut order = said.order.clone();
        order.dedup();
        order.extend(Category::ALL.into_iter().filter(|category| !said.order.contains(category)));
        let rules = agenda::Rules {
            order,
            ask_above_usd: said.ask_above_usd,
            goal_cost_usd: said.goal_cost_usd,
            messages_per_hour: said.messages_per_hour,
            time_zone: zone.unwrap_or(jiff::tz::TimeZone::UTC),
        };
        (rules, odd)
    }

    /// The creature's part as the guardian handed it to this life, else what `owner.toml` says. What cannot be
    /// read is at its default, and the second value says so in a sentence.
    pub fn load(house: &House, life: u64) -> (Self, Option<String>) {
        // Another life's may be older than `owner.toml`.
        if let Some(handed) = Self::handed_anew(house, life, &mut Vec::new()) {
            return handed;
        }
        let path = house.owner_settings();
        let bytes = match files::head(&path, 0, MOST_BYTES) {
            Ok((bytes, _)) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return (Self::default(), None),
            Err(error) => {
                return (Self::default(), Some(format!("owner.toml cannot be read: {error}")));
            }
        };
        match std::str::from_utf8(&bytes) {
            Ok(text) => Self::read(text),
            Err(error) => (Self::default(), Some(format!("owner.toml is not UTF-8 text: {error}"))),
        }
    }

    /// The settings the guardian wrote for this life; none where the file is as it was `known`, which it is from then on.
    pub fn handed_anew(house: &House, life: u64, known: &mut Vec<u8>) -> Option<(Self, Option<String>)> {
        let (bytes, _) = files::head(&house.settings(), 0, MOST_BYTES).ok()?;
        if bytes == *known {
            return None;
        }
        let file: Value = serde_json::from_slice(&bytes).ok()?;
        *known = bytes;
        let sections = file.get("settings").filter(|_| file.get("life").is_some_and(|of| *of == life))?;
        let told: Vec<&str> = file.get("told")?.as_array()?.iter().filter_map(Value::as_str).collect();
        let told = Some(told.join("; ")).filter(|told| !told.is_empty());
        Some(Self::of(sections).bounded(told))
    }

    /// Reads the text of `owner.toml`; a broken section is at its defaults, in text that is no TOML all are.
    pub fn read(text: &str) -> (Self, Option<String>) {
        let error = match toml::from_str::<Self>(text) {
            Ok(settings) => return settings.bounded(None),
            Err(error) => error,
        };
        let line = error
            .span()
            .and_then(|span| text.get(..span.start))
            .map(|before| format!(" line {}", before.bytes().filter(|byte| *byte == b'\n').count() + 1));
        let said = format!("owner.toml{}: {}", line.unwrap_or_default(), error.message());
        match toml::from_str::<Value>(text) {
            Ok(sections) => {
                Self::of(&sections).bounded(Some(format!("{said}; that section is at its defaults")))
            }
            Err(_) => (Self::default(), Some(format!("{said}; every setting is at its default"))),
        }
    }

    /// Reads each section by itself: a section that cannot be read is at its defaults.
    fn of(sections: &Value) -> Self {
        Self {
            model: section(sections, "model"),
            rest: section(sections, "rest"),
            self_edit: section(sections, "self_edit"),
            agenda: section(sections, "agenda"),
            revenue: section(sections, "revenue"),
            sessions: section(sections, "sessions"),
            dream: section(sections, "dream"),
            files: section(sections, "files"),
            permissions: section(sections, "permissions"),
            own: section(sections, "creature"),
        }
    }

    fn bounded(mut self, said: Option<String>) -> (Self, Option<String>) {
        let rest = &mut self.rest;
        let asked = (rest.shortest_s, rest.longest_s);
        rest.shortest_s = rest.shortest_s.clamp(1, MOST_REST_S);
        rest.longest_s = rest.longest_s.clamp(rest.shortest_s, MOST_REST_S);
        rest.quiet_s = rest.quiet_s.clamp(rest.longest_s, MOST_REST_S);
        self.agenda.rounds = self.agenda.rounds.clamp(1, MOST_ROUNDS);
        self.agenda.checklist_s = self.agenda.checklist_s.clamp(60, 86_400);
        self.files.most_entries = self.files.most_entries.clamp(10, 5_000);
        self.files.most_bytes = self.files.most_bytes.clamp(1_024, 16 << 20);
        self.revenue.scan_interval_minutes = self.revenue.scan_interval_minutes.clamp(5, 1_440);
        self.sessions.at_once = self.sessions.at_once.clamp(1, 8);
        // Together they stay below the 45 minutes the loop allows one call, or a slow edit would stop the heart.
        let edit = &mut self.self_edit;
        edit.build_s = edit.build_s.clamp(1, 1_200);
        edit.test_s = edit.test_s.clamp(1, 1_200);
        edit.rehearsal_s = edit.rehearsal_s.clamp(1, 120);
        if asked == (rest.shortest_s, rest.longest_s) {
            return (self, said);
        }
        let bounds = format!(
            "owner.toml [rest]: shortest_s = {}, longest_s = {} taken as {} and {}",
            asked.0, asked.1, rest.shortest_s, rest.longest_s
        );
        let said = said.map_or(bounds.clone(), |said| format!("{said}; {bounds}"));
        (self, Some(said))
    }
}

fn section<T: DeserializeOwned + Default>(sections: &Value, name: &str) -> T {
    sections.get(name).and_then(|section| T::deserialize(section).ok()).unwrap_or_default()
}

/// Facts the guardian told this process by environment.
#[derive(Clone, Debug)]
pub struct Told {
    pub house: House,
    pub life: u64,
    /// Full SHA of the commit this life runs; empty where nobody said.
    pub commit: String,
    pub safe: bool,
    pub rehearsal: bool,
    /// The broker, the only way out; none in safe mode, in a rehearsal, and where no broker runs.
    pub broker: Option<Broker>,
    pub lifeline: Lifeline,
    pub clock: Clock,
}

impl Told {
    /// Reads `FERAL_HOUSE`, `FERAL_LIFE`, `FERAL_COMMIT`, `FERAL_SAFE`, `FERAL_REHEARSAL`, `FERAL_LIFELINE`,
    /// `FERAL_BROKER` and `FERAL_BROKER_TOKEN`. Without `FERAL_HOUSE` the house is the working directory; without
    /// `FERAL_LIFE` the life is 0. An error names the variable that is wrong.
    pub fn from_env() -> Result<Self, String> {
        let var = |name: &str| std::env::var(name).unwrap_or_default();
        let root = match std::env::var_os("FERAL_HOUSE").filter(|house| !house.is_empty()) {
            Some(house) => std::path::PathBuf::from(house),
            None => std::env::current_dir().map_err(|error| format!("no FERAL_HOUSE, and {error}"))?,
        };
        let root = root
            .canonicalize()
            .map_err(|error| format!("FERAL_HOUSE {} cannot be entered: {error}", root.display()))?;
        let life = match var("FERAL_LIFE") {
            life if life.is_empty() => 0,
            life => life.parse().map_err(|_| format!("FERAL_LIFE is {life:?}, not a number"))?,
        };
        let (safe, rehearsal) = (var("FERAL_SAFE") == "1", var("FERAL_REHEARSAL") == "1");
        let broker = match (var("FERAL_BROKER"), var("FERAL_BROKER_TOKEN")) {
            (base, token) if base.is_empty() || token.is_empty() || safe || rehearsal => None,
            (base, token) => Some(Broker::new(&base, &token).map_err(|error| error.message)?),
        };
        Ok(Self {
            house: House::new(root),
            life,
            commit: var("FERAL_COMMIT"),
            safe,
            rehearsal,
            broker,
            lifeline: Lifeline::from_env(),
            clock: Clock::default(),
        })
    }
}
