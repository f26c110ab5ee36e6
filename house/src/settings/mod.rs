//! The one schema of `owner.toml`: what the owner may set, for guardian, broker and creature; judged here and nowhere else.
//!
//! Invariant: a mistake anywhere in it is an error that names file, line, key and the nearest valid name, never a default.
//! To add a setting, add its line to its section in `guardian`, `broker` or `creature`; all else is made from that line.

pub mod broker;
pub mod channels;
pub mod creature;
pub mod declared;
pub mod forms;
pub mod guardian;
pub mod handed;
pub mod judge;
pub mod key;
pub mod makers;
pub mod mcp;
pub mod notices;
pub mod page;
pub mod platforms;
pub mod table;
pub mod words;

use crate::{House, files};
use anyhow::{Context, Result, anyhow};
use broker::{Autonomy, Bluesky, Budget, Dns, Model, Packages, Price, Search, Service, Taint, Web, X};
use channels::Channel;
use creature::{Agenda, Dream, Files, PERMISSIONS, Rest, Revenue, SelfEdit, Sessions};
use forms::{Check, Form};
use ground::asked::{Asked, Ceilings, Choice};
use guardian::{Limits, Sandbox};
use judge::{Judge, Mistake, Mistakes};
use key::Shape::{Any, Names, Table, Word};
use key::{Shape, section};
use makers::OwnMaker;
use mcp::Mcp;
use notices::{Notices, Notify, Report, Show};
use page::Page;
use std::collections::BTreeMap;

section! {
    /// The whole file: the keys above the first section, and the sections.
    Settings {
        /// `on`: as far as this kernel can; `required`: all of them or no start; `off`: none
        walls: Choice = Choice::On, Word(&["on", "required", "off"]);
        /// after text of others was read, acts to somebody new and rewrites of `PURPOSE.md` wait for you (`ask`) or
        /// not (`allow`)
        taint: Taint = Taint::Ask, Word(&["ask", "allow"]);
        /// which model thinks, and how it is asked
        model: Model = Model::default(), Table(Model::KEYS);
        /// what may be spent on models
        budget: Budget = Budget::default(), Table(Budget::KEYS);
        /// what the creature may spend of its own accord, and when
        autonomy: Autonomy = Autonomy::default(), Table(Autonomy::KEYS);
        /// what a model of this name costs, also with a date behind it; `"NAME*"`: all that begin so, the longest
        /// counts
        prices: BTreeMap<String, Price> = BTreeMap::new(), Names(Form::PriceName, &Table(Price::KEYS));
        /// a maker or server of models that you add, by a name of yours, or what you correct of one that the broker
        /// knows (`broker/src/makers.toml`)
        makers: BTreeMap<String, OwnMaker> = BTreeMap::new(), Names(Form::MakerName, &Table(OwnMaker::KEYS));
        /// a place the creature may call by name: a-z, 0-9 and `-`
        services: BTreeMap<String, Service> = BTreeMap::new(), Names(Form::ServiceName, &Table(Service::KEYS));
        /// an MCP server, by `command` or by `url`, under a name of yours: a-z, 0-9 and `-`
        mcp: BTreeMap<String, Mcp> = BTreeMap::new(), Names(Form::ServiceName, &Table(Mcp::KEYS));
        /// where you talk with it from a chat of your own, by the platform's name: `telegram`, `discord`, `slack`, `matrix`
        /// or `mail`; its program is built and started where one stands here
        channels: BTreeMap<String, Channel> = BTreeMap::new(), Names(Form::ChannelName, &Table(Channel::KEYS));
        /// what pages may be fetched
        web: Web = Web::default(), Table(Web::KEYS);
        /// which packages of Python's and npm's may be installed in the workspace
        packages: Packages = Packages::default(), Table(Packages::KEYS);
        /// how names are resolved on this machine; private and local addresses stay refused
        dns: Dns = Dns::default(), Table(Dns::KEYS);
        /// makes a service named `search`
        search: Search = Search::default(), Table(Search::KEYS);
        /// makes a service named `x` where its variables are set
        x: X = X::default(), Table(X::KEYS);
        /// makes a service named `bluesky` where its variables are set
        bluesky: Bluesky = Bluesky::default(), Table(Bluesky::KEYS);
        /// bounds on the rest between wakes
        rest: Rest = Rest::default(), Table(Rest::KEYS);
        /// what goes first, and from where on you are asked
        agenda: Agenda = Agenda::default(), Table(Agenda::KEYS);
        /// where ways to earn are looked for
        revenue: Revenue = Revenue::default(), Table(Revenue::KEYS);
        /// sub-sessions
        sessions: Sessions = Sessions::default(), Table(Sessions::KEYS);
        /// the nightly dream
        dream: Dream = Dream::default(), Table(Dream::KEYS);
        /// where the file tools work, and how much of it they show
        files: Files = Files::default(), Table(Files::KEYS);
        /// by `"family.tool"` or `"family.*"`: `always`; `owner`: only for a request of yours that asks for it in
        /// plain words, until that is done, a day after the last word about it at most; `never`. Left out: `always`,
        /// `repo.install_deps`: `owner`
        permissions: BTreeMap<String, String> = BTreeMap::new(), Names(Form::Free, &Word(PERMISSIONS));
        /// how long each step of a self-edit may take
        self_edit: SelfEdit = SelfEdit::default(), Table(SelfEdit::KEYS);
        /// what the creature has declared for itself in `creature/settings.toml`
        creature: toml::Table = toml::Table::new(), Names(Form::KeyName, &Any);
        /// every number the guardian lives by
        limits: Limits = Limits::default(), Table(Limits::KEYS);
        /// how you are told of what happens: asks, deaths, rollbacks, a budget nearly spent, a model that is down,
        /// settings that are refused
        notify: Notify = Notify::default(), Table(Notify::KEYS);
        /// how much of what happens is shown to you
        show: Show = Show::default(), Table(Show::KEYS);
        /// your page beyond this machine, for a phone: over TLS and behind a sign-in
        page: Page = Page::default(), Table(Page::KEYS);
        /// the morning report by itself
        report: Report = Report::default(), Table(Report::KEYS);
        /// what you add to the walls
        sandbox: Sandbox = Sandbox::default(), Table(Sandbox::KEYS);
    }
}

impl Settings {
    pub fn notices(&self) -> Notices {
        Notices {
            notify: self.notify.clone(),
            report: self.report.clone(),
            warn_percent: self.budget.warn_percent,
        }
    }

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

/// Reader of the file; decides which parts are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// All of it, unknown names included.
    Guardian,
    /// The broker's own sections; the guardian judges the others.
    Broker,
}

/// The sections and top-level keys that the broker reads.
const BROKERS: [&str; 15] = [
    "model", "budget", "autonomy", "prices", "makers", "services", "mcp", "channels", "web", "packages",
    "dns", "search", "x", "bluesky", "taint",
];

impl Reader {
    fn reads(self, name: &str) -> bool {
        self == Self::Guardian || BROKERS.contains(&name)
    }
}

/// The content of a file without a mistake.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// Sections the reader does not read are at their defaults.
    pub settings: Settings,
    /// Values not taken as written that are no mistake: numbers beyond their bounds.
    pub told: Vec<Mistake>,
}

/// Reads the owner's file; a missing one means all defaults.
pub fn load<T>(house: &House, read: impl Fn(&str) -> Result<T, Mistakes>) -> Result<T> {
    let path = house.owner_settings();
    let bytes = files::read_small(&path)?.unwrap_or_default();
    let text = String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8 text", path.display()))?;
    read(&text).map_err(|mistakes| anyhow!("{}, {mistakes}", path.display()))
}

/// Reads all of the owner's file.
pub fn whole(house: &House) -> Result<Settings> {
    load(house, |text| read(text, Reader::Guardian, forms::check)).map(|read| read.settings)
}

/// Judges a text and takes its values. `check` is `forms::check`, or the check of a program that knows more.
pub fn read(text: &str, reader: Reader, check: Check) -> Result<Read, Mistakes> {
    let mut judge = Judge::new(text, check);
    let file = judge.parse()?;
    judge.top(file.get_ref(), Settings::KEYS, |key| {
        key.map_or(reader == Reader::Guardian, |key| reader.reads(key.name))
    });
    judge.found()?;
    let mut table: toml::Table = toml::from_str(text).unwrap_or_default();
    table.retain(|name, _| reader.reads(name));
    clamp(&mut table);
    // The shapes are stricter than the types, so this fails only if the two disagree.
    let mut settings: Settings = table.try_into().map_err(|_: toml::de::Error| {
        Mistakes(vec![judge.mistake(0, "", "somewhere a value is of the wrong kind")])
    })?;
    for (path, what) in contradictions(&settings) {
        judge.wrong_at(file.get_ref(), &path, what);
    }
    judge.found()?;
    settings.channels.iter_mut().for_each(|(name, channel)| channel.complete(name));
    Ok(Read { settings, told: judge.told })
}

/// Reads how much the owner wants shown; the default where the file cannot be taken.
pub fn shown(house: &House) -> Show {
    whole(house).map(|settings| settings.show).unwrap_or_default()
}

/// A mistake found by one program's own rules, at a key below sections.
pub fn mistake(text: &str, path: &[&str], what: String) -> Mistakes {
    let mut judge = Judge::new(text, forms::check);
    let file = judge.parse().map(|file| file.into_inner()).unwrap_or_default();
    judge.wrong_at(&file, path, what);
    Mistakes(judge.mistakes)
}

/// Mistakes that only several keys together show.
fn contradictions(settings: &Settings) -> Vec<(Vec<&str>, String)> {
    let mut found = Vec::new();
    for (name, mcp) in &settings.mcp {
        let ways = [
            ("command", !mcp.command.is_empty()),
            ("url", !mcp.url.is_empty()),
            ("hand", !mcp.hand.is_empty()),
        ];
        found.extend(one_way(name, &ways).map(|(key, what)| (vec!["mcp", name, key], what)));
    }
    found.extend(page::contradictions(&settings.page));
    found.extend(channels::contradictions(&settings.channels));
    if settings.search.provider == "searxng" && settings.search.base_url.is_empty() {
        let what = "is missing: searxng is a server of your own";
        found.push((vec!["search", "base_url"], what.to_owned()));
    }
    found
}

/// The mistake at a key where a server is reached in no way, or in more than one.
fn one_way(
    name: &str,
    ways: &[(&'static str, bool)],
) -> impl Iterator<Item = (&'static str, String)> + use<> {
    let keys =
        |given: bool| ways.iter().filter(move |way| way.1 || !given).map(|way| way.0).collect::<Vec<_>>();
    let mistake = match keys(true).as_slice() {
        [] => {
            let all = keys(false).join(" or a ");
            Some(("url", format!("is missing: {name} needs a {all}")))
        }
        [_] => None,
        [key, .., other] => {
            Some((*key, format!("there is a {other} as well: {name} is reached by one of them")))
        }
    };
    mistake.into_iter()
}

/// Moves numbers to their bounds, as reported to the owner.
fn clamp(table: &mut toml::Table) {
    for section in Settings::KEYS {
        let Table(keys) = section.shape else { continue };
        let Some(written) = table.get_mut(section.name).and_then(toml::Value::as_table_mut) else { continue };
        for key in keys {
            if let (Shape::Clamped(least, most), Some(toml::Value::Integer(number))) =
                (&key.shape, written.get_mut(key.name))
            {
                let inside = u64::try_from(*number).unwrap_or_default().clamp(*least, *most);
                *number = i64::try_from(inside).unwrap_or(i64::MAX);
            }
        }
    }
}
