//! The owner's settings for the creature, and what the guardian sets in its environment; every default is safe.
//!
//! The guardian judges `owner.toml` and writes the creature's part to `.self/settings.json`; what it leaves out is at the
//! defaults of the golden file. Settings of the creature's own are declared in `creature/settings.toml`.

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
use std::sync::LazyLock;

/// Most bytes read of a settings file.
const MOST_BYTES: u64 = 256 * 1024;

/// The declarations of the creature's own settings; compiled in, so that their defaults need no file at run time.
const DECLARED: &str = include_str!("../settings.toml");

/// The file of settings as it was read last, or why it could not be read; none before the first look.
pub type Handed = Option<Result<Vec<u8>, String>>;

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

    /// The settings as the guardian handed them over; none where the file is as it was `known`, which it is from then on.
    /// The second value says what is not followed; an error says why the file cannot be read.
    pub fn handed_anew(house: &House, known: &mut Handed) -> Option<Result<(Self, Option<String>), String>> {
        let read = files::whole(&house.settings(), MOST_BYTES).map_err(|error| error.to_string());
        if known.as_ref() == Some(&read) {
            return None;
        }
        let read = known.insert(read).as_deref().map_err(Clone::clone);
        let handed = read.and_then(Self::parsed);
        Some(handed)
    }

    fn parsed(bytes: &[u8]) -> Result<(Self, Option<String>), String> {
        let file: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let sections = file.get("settings").filter(|sections| sections.is_object());
        let sections = sections.ok_or("it holds no settings")?;
        // At its defaults this section would forbid nothing.
        if sections.get("permissions").is_some_and(|said| !said.is_object()) {
            return Err("its [permissions] are no table".to_owned());
        }
        let told = file.get("told").and_then(Value::as_array).into_iter().flatten();
        let mut told: Vec<String> = told.filter_map(Value::as_str).map(str::to_owned).collect();
        let settings = Self::of(sections, &mut told);
        Ok((settings, Some(told.join("; ")).filter(|told| !told.is_empty())))
    }

    /// Reads each section by itself: one that cannot be read is at its defaults, which `told` says.
    pub fn of(sections: &Value, told: &mut Vec<String>) -> Self {
        let mut settings = Self {
            model: section(sections, "model", told),
            rest: section(sections, "rest", told),
            self_edit: section(sections, "self_edit", told),
            agenda: section(sections, "agenda", told),
            revenue: section(sections, "revenue", told),
            sessions: section(sections, "sessions", told),
            dream: section(sections, "dream", told),
            files: section(sections, "files", told),
            permissions: permissions(sections, told),
            own: section(sections, "creature", told),
        };
        // Each is judged by itself: what is longer is found here.
        let rest = &mut settings.rest;
        if rest.longest_s < rest.shortest_s {
            told.push(format!(
                "owner.toml [rest]: longest_s = {} is less than shortest_s, and taken as {}",
                rest.longest_s, rest.shortest_s
            ));
            rest.longest_s = rest.shortest_s;
        }
        rest.quiet_s = rest.quiet_s.max(rest.longest_s);
        settings
    }
}

/// Reads permissions entry by entry: for a word it does not know a tool may never be used, which `told` says.
fn permissions(sections: &Value, told: &mut Vec<String>) -> BTreeMap<String, Permission> {
    let entries: Map<String, Value> = section(sections, "permissions", told);
    let mut read = |name: &str, word: &Value| {
        Permission::deserialize(word).unwrap_or_else(|_| {
            told.push(format!(
                "settings.json [permissions] {name}: {word} is neither always, owner nor never; it is taken as never"
            ));
            Permission::Never
        })
    };
    entries.iter().map(|(name, word)| (name.clone(), read(name, word))).collect()
}

fn section<T: DeserializeOwned + Default>(sections: &Value, name: &str, told: &mut Vec<String>) -> T {
    let read = sections.get(name).map_or_else(|| Ok(T::default()), T::deserialize);
    read.unwrap_or_else(|error| {
        told.push(format!("settings.json [{name}]: {error}; that section is at its defaults"));
        T::default()
    })
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
