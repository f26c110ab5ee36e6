//! The creature's own time: what it may cost, when a look begins and ends, what it leaves, and what is used of it.
//!
//! Invariant: without a budget that allows it there is none; a look under way ends with the thoughts it woke.

use crate::examine;
use crate::store::Store;
use crate::store::caller::Caller;
use crate::tools::marks::Mark;
use crate::tools::{catalogue, product};
use agenda::Change;
use agenda::goals::GoalChange;
use agenda::own::{Allowance, Kind, OwnChange};
use agenda::reasons::ReasonChange;
use agenda::sessions::{Mode, Origin, Request, Session};
use agenda::span;
use agenda::stack::{Category, Line};
use agenda::waking;
use ground::checklist;
use ground::papers;
use ground::text;
use mind::moment::main_thread;
use mind::thought::ToolCall;
use serde_json::Value;

const BRIEFS: &str = include_str!("../../prompts/own.md");

/// The first goal of a new house.
const SETTLE_IN: &str = "settle in";
const FIRST_STEPS: [&str; 5] = [
    "read PURPOSE.md and look round the house, then greet your owner in three sentences: what you are, what you will do \
     first, what you need (owner.message)",
    "write your first diary entry (notes.append diary): where you are and what you mean to become",
    "make a first goal from the purpose, with checkpoints that can be seen to be done (goal.add)",
    "see what you can reach: sources, web.search, service.list; note what works and what does not",
    "draft one thing of what you found, with its source (knowledge.write, its name beginning with draft-)",
];

/// Thoughts after which a house is not new any more.
const NOT_NEW: u64 = 40;

/// Characters of the purpose, of the goals, and of what there is to look at, that a quick look is given; with its brief they
/// stay below what an objective may have.
const MOST_PURPOSE: usize = 350;
const MOST_GOALS: usize = 250;
const MOST_FACTS: usize = 850;

/// Most characters of what there is to look at that the mind itself is given.
const MOST_NEWS: usize = 2_000;
const NEWS: &str = "New at your sources";
const OFFERS: &str = "In your records of this week";

/// Own time: its asks, what was read in it, and what it cost.
#[derive(Debug, Default)]
pub(crate) struct OwnTime {
    /// The ask of this wake, once a thought of its own was had in it: what that leaves counts for its reason.
    pub ask: Option<u64>,
    /// Papers earlier looks left that this wake read; used once something is made of them.
    read: Vec<String>,
    /// Cost of the look under way so far, in dollars.
    usd: f64,
}

impl OwnTime {
    /// Begins a look where a thought was shown this line of own time and none is under way; its kind.
    pub fn began(&self, store: &mut Store, id: &str) -> Option<Kind> {
        let look = Kind::of_line(id).filter(|_| store.agenda.own.under_way.is_none())?;
        store.made(&Caller::own(), &Change::Own(OwnChange::Began { look }));
        Some(look)
    }

    /// Adds what a thought cost, by its record, to the look under way.
    pub fn paid(&mut self, record: &Value) {
        self.usd += record.pointer("/usage/cost_usd").and_then(Value::as_f64).unwrap_or(0.0);
    }

    /// Ends the look under way, unless its sub-session still runs, and keeps the rest the thought chose, if any, where there
    /// is own time; returns how it went of late.
    pub fn ended(&mut self, store: &mut Store, rest_s: Option<u64>, allowed: bool) -> String {
        let is_apart = is_apart(store);
        self.read.clear();
        let usd = if is_apart { 0.0 } else { std::mem::take(&mut self.usd) };
        let is_under_way = store.agenda.own.under_way.is_some();
        if is_under_way && !is_apart {
            store.made(&Caller::own(), &Change::Own(OwnChange::Ended { usd, rest_s }));
        } else if let Some(rest_s) = rest_s.filter(|_| allowed && !is_under_way) {
            store.made(&Caller::own(), &Change::Own(OwnChange::Rested { rest_s }));
        }
        let told = [store.agenda.reasons.summary(), store.agenda.reasons.line(waking::OWN)];
        told.into_iter().filter(|told| !told.is_empty()).collect::<Vec<_>>().join("; ")
    }

    /// Counts the product of a successful call, and what of earlier asks it uses. A paper that was only read is used
    /// once something else is made of it in the same wake; the next of a numbered row of papers is nothing else.
    pub fn counted(&mut self, store: &mut Store, call: &ToolCall, caller: &Caller, result: &Value) {
        if result.get("ok") != Some(&Value::Bool(true)) {
            return;
        }
        let mut named = Value::Object(call.args.clone()).to_string();
        if catalogue::has(&call.tool, Mark::UsesWhatItFinds) {
            named += &result.to_string();
        }
        let product = product::of(catalogue::marks(&call.tool).and_then(|marks| marks.product), call, result);
        let is_step = product::is_step(call, result);
        // A step that is done uses the item it is of; to change an item, or to make it anew, is no use of it.
        let is_used = |what: &&String| product.as_ref() != Some(*what) && names(&named, what);
        let unused = store.agenda.reasons.unused(self.asks_under_way(store)).map(str::to_owned);
        let used = unused.filter(|what| (is_step && product.as_ref() == Some(what)) || is_used(&what));
        let (read, mut used): (Vec<String>, Vec<String>) =
            used.partition(|what| what.contains('/') && !caller.owner);
        self.read.extend(read);
        if let Some(name) = &product {
            let read = std::mem::take(&mut self.read);
            used.extend(read.into_iter().filter(|what| unnumbered(what) != unnumbered(name)));
        }
        for what in used {
            self.used(store, &what);
        }
        if let (Some(what), Some(ask)) = (product, self.ask_of(store, caller)) {
            self.made_unasked(store, what, ask, is_step);
        }
    }

    /// The ask of its own that a call is part of: the look under way for a call of its sub-session, else that of this wake.
    fn ask_of(&self, store: &Store, caller: &Caller) -> Option<u64> {
        let session = caller.session.as_ref().and_then(|id| store.sessions.get(id));
        let look = store.agenda.own.under_way.as_ref().map(|look| look.ask);
        match session.is_some_and(is_look) {
            _ if caller.owner => None,
            true => look,
            false => self.ask.or(look.filter(|_| !is_apart(store))),
        }
    }

    /// Counts the product of an ask of its own: as used at once where it is a step that is done, else as left to be used.
    fn made_unasked(&self, store: &mut Store, what: String, ask: u64, is_step: bool) {
        let looks = store.agenda.own.under_way.as_ref().is_some_and(|look| look.ask == ask);
        let ask = Some(ask);
        if looks && !product::is_item(&what) {
            store.made(&Caller::own(), &Change::Own(OwnChange::Left));
        }
        // A message of a look is used by what the owner says next: to write to the owner is no use by itself.
        if is_step && !(looks && what == product::MESSAGE) {
            store.made(&Caller::own(), &Change::Reason(ReasonChange::Came { ask }));
        } else if looks || !product::is_item(&what) {
            store.made(&Caller::own(), &Change::Reason(ReasonChange::Left { what, ask }));
        }
    }

    /// The asks that are not over, so that nothing they left can be used yet.
    fn asks_under_way(&self, store: &Store) -> [Option<u64>; 2] {
        [self.ask, store.agenda.own.under_way.as_ref().map(|look| look.ask)]
    }

    /// Counts that a model was asked of its own accord, once a wake, for the first of these reasons that is its own; the
    /// thought that takes up what a quick look found belongs to that look.
    pub fn asked_for(&mut self, store: &mut Store, why: &[String]) {
        let reason = why.iter().find_map(|why| waking::kind(why));
        let Some(reason) = reason.filter(|_| self.ask.is_none()) else { return };
        let takes_up = reason == waking::EVENTS && !is_apart(store);
        let look = store.agenda.own.under_way.as_ref().filter(|_| takes_up).map(|look| look.ask);
        if look.is_none() {
            store.made(&Caller::own(), &Change::Reason(ReasonChange::Asked { reason: reason.to_owned() }));
        }
        self.ask = look.or(Some(store.agenda.reasons.asks));
    }

    /// Notes that what an ask left by this name was used: by a call, the owner or a proof.
    pub fn used(&self, store: &mut Store, what: &str) {
        if store.agenda.reasons.unused(self.asks_under_way(store)).any(|unused| unused == what) {
            store.made(&Caller::own(), &Change::Reason(ReasonChange::Used { what: what.to_owned() }));
        }
    }
}

fn is_look(session: &Session) -> bool {
    matches!(session.origin, Origin::Own(_))
}

/// Whether a look is at work as a sub-session.
pub(crate) fn is_apart(store: &Store) -> bool {
    store.sessions.all.iter().any(|session| is_look(session) && !session.status.ended())
}

/// Gives a new house its first goal: to settle in.
pub(crate) fn settle_in(store: &mut Store, thoughts: u64, allowance: Option<&Allowance>) {
    let agenda = &store.agenda;
    let new = thoughts < NOT_NEW && agenda.goals.list.is_empty();
    // In the owner's night this waits for the morning.
    let awake = allowance.is_some_and(|allowance| allowance.wakes_at.is_none());
    if !new || agenda.own.settled_at.is_some() || !awake {
        return;
    }
    let (title, checkpoints) = (SETTLE_IN.to_owned(), FIRST_STEPS.map(str::to_owned).to_vec());
    if store.made(&Caller::own(), &Change::Own(OwnChange::Settled)) {
        store.made(&Caller::own(), &Change::Goal(GoalChange::Add { title, checkpoints, cost_usd: 0.0 }));
    }
}

/// Returns the request for a look of this kind by a sub-session, with what it must know for it.
pub(crate) fn look(store: &Store, kind: Kind, news: &[String]) -> Request {
    Request {
        origin: Origin::Own(kind.name()),
        thread: main_thread(),
        objective: objective(store, kind, news),
        mode: Mode::Minimal,
        ..Request::default()
    }
}

/// Returns the objective of a quick look.
fn objective(store: &Store, kind: Kind, news: &[String]) -> String {
    let purpose = checklist::uncommented(&papers::read(&store.house.purpose()).text);
    let goals = store.agenda.goals.lines().join("; ");
    let (news, offers) = (news_for(kind, news), offers_for(store, kind));
    let mut text = brief(kind);
    text += &format!("\n\nYour purpose: {}", text::head(&purpose, MOST_PURPOSE));
    for (what, facts, most) in
        [("Your goals", goals, MOST_GOALS), (NEWS, news, MOST_FACTS), (OFFERS, offers, MOST_FACTS)]
    {
        if !facts.is_empty() {
            text += &format!("\n{what}: {}", text::head(&facts, most));
        }
    }
    text
}

/// Returns the brief of a thought that is shown a line of own time; empty for any other.
pub(crate) fn own_brief(store: &Store, line: Option<&Line>, news: &[String]) -> String {
    let line = line.filter(|line| line.category == Category::Own);
    let Some(kind) = line.and_then(|line| Kind::of_line(&line.id)) else {
        return String::new();
    };
    let general = BRIEFS.split("\n## ").next().unwrap_or_default().trim();
    let used = store.agenda.reasons.by_reason.get(waking::OWN).map_or(String::new(), |own| {
        format!("So far you had {} such times; something of {} was used.", own.asked, own.used)
    });
    let facts = [(NEWS, news_for(kind, news)), (OFFERS, offers_for(store, kind))];
    let facts = facts.into_iter().filter(|(_, facts)| !facts.is_empty());
    let facts: String =
        facts.map(|(what, facts)| format!("\n\n{what}: {}", text::head(&facts, MOST_NEWS))).collect();
    format!("{general}\n\n{}{facts}\n\n{used}", brief(kind))
}

/// News for a look of this kind, in others' words, a line each, the newest first.
fn news_for(kind: Kind, news: &[String]) -> String {
    match kind {
        Kind::Sources => news.iter().rev().cloned().collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// Lists what the records of a week show to be slow, dear or failing; only for a look of kind `Growth`.
fn offers_for(store: &Store, kind: Kind) -> String {
    if kind != Kind::Growth {
        return String::new();
    }
    let (now, zone) = (store.clock.now(), &store.rules.time_zone);
    let Some(week) = span::read("1w", now, zone) else { return String::new() };
    match examine::examine(&store.house, &store.agenda, week, zone) {
        Ok(week) => examine::worth_looking_at(&week.sums, zone).join("\n"),
        Err(fault) => format!("they cannot be read: {}", fault.error),
    }
}

/// Returns the brief for a look of this kind.
fn brief(kind: Kind) -> String {
    let heading = format!("\n## {}\n", kind.name());
    let text =
        BRIEFS.split_once(&heading).map_or("", |(_, rest)| rest.split("\n## ").next().unwrap_or_default());
    text.trim().to_owned()
}

/// A name without the number it ends with, the same for all of a numbered row.
fn unnumbered(what: &str) -> &str {
    what.trim_end_matches(|c: char| c.is_ascii_digit() || "-_. ".contains(c))
}

/// Whether arguments name something, as a whole: `goal-1` is not in `goal-12`.
fn names(args: &str, what: &str) -> bool {
    args.match_indices(what).any(|(at, _)| {
        let after = args.get(at + what.len()..).and_then(|rest| rest.chars().next());
        after.is_none_or(|next| !next.is_alphanumeric())
    })
}
