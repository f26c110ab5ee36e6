//! Instinct: the mind that needs no model; of its ranked drives the first that wants to act gives the thought.
//!
//! Invariant: it decides from the moment and its own state alone; the same two give the same thought.
//! Absent on purpose: chance, feelings, and any claim to understand what it reads.

mod agenda;
pub mod change;
pub mod checklist;
pub mod digest;
pub mod drafts;
mod facts;
pub mod feeds;
mod found;
mod idle;
pub mod likeness;
mod lists;
pub mod offer;
mod pace;
mod parts;
mod reminders;
mod score;
pub mod sources;
pub mod state;
mod table;
mod task;
mod tasks;
pub mod text;
mod turn;
mod understand;
mod words;

use ground::paths::House;
use mind::Outcome;
use mind::moment::Moment;
use mind::thought::Thought;
pub use pace::Pace;
use serde_json::{Value, json};
use state::{Origin, State};
use std::path::PathBuf;
use turn::Turn;
use understand::Heard;
pub use understand::is_known as knows;

/// A drive adds to the thought what it wants; after the first that leaves something to do no other is asked. By rank: news,
/// results of earlier calls and the owner's words come before any of them.
const DRIVES: [fn(&mut Turn); 6] =
    [checklist::drive, agenda::drive, sources::drive, digest::drive, drafts::drive, change::drive];

pub struct Instinct {
    path: PathBuf,
    pace: Pace,
    state: State,
    /// Text of the file, so that an unchanged state costs no write.
    written: String,
}

impl Instinct {
    /// Instinct with the state this house keeps, at this pace.
    pub fn load(house: &House, pace: Pace) -> Instinct {
        let path = house.instinct();
        let mut state = State::read(&path);
        state.before.clone_from(&state.taken);
        Instinct { state, path, pace, written: String::new() }
    }

    /// Decides, then keeps its state; a state that cannot be kept costs repetition, not the thought.
    pub fn think(&mut self, moment: &Moment) -> Outcome {
        let thought = decide(Turn::new(moment, self.pace, &mut self.state));
        self.kept(thought)
    }

    /// Answers the owner's words alone, in the place of a model that is away. `first`: in a wake's first round.
    pub fn stand_in(&mut self, moment: &Moment, first: bool) -> Outcome {
        if first {
            // A life that ended before it acted may have noted words as dealt with.
            self.state.dealt_with.clear();
            self.state.taken.clear();
            self.state.before.clear();
        }
        let thought = stand_in(Turn::new(moment, self.pace, &mut self.state));
        self.kept(thought)
    }

    fn kept(&mut self, thought: Thought) -> Outcome {
        self.state.bound();
        let text = serde_json::to_string(&self.state).unwrap_or_default();
        if text != self.written {
            match memory::replace(&self.path, text.as_bytes()) {
                Ok(()) => self.written = text,
                Err(error) => tracing::warn!("failed to {error}"),
            }
        }
        Outcome::Thought { thought, usage: Value::Null }
    }
}

/// Names of the abilities that words ask for, and of those they may mean instead where that is not certain.
pub fn means(said: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let names = |all: Vec<&'static table::Ability>| all.into_iter().map(|one| one.name.as_str()).collect();
    match understand::hear(said) {
        Heard::Certain(all) => (names(all.iter().map(|one| one.ability).collect()), Vec::new()),
        Heard::Unsure(choices) => (Vec::new(), names(choices)),
        Heard::Slip(_) | Heard::Unknown(_) => (Vec::new(), Vec::new()),
    }
}

/// Whether instinct can do this when it comes due.
pub fn can_do(what: &str) -> bool {
    understand::task(what).is_some()
}

fn stand_in(mut turn: Turn) -> Thought {
    if !turn.moment.safe {
        settle(&mut turn, |origin| matches!(origin, Origin::Owner));
    }
    words::drive(&mut turn);
    turn.into_thought(1)
}

/// Decides one thought. Pure.
fn decide(mut turn: Turn) -> Thought {
    let (moment, safe) = (turn.moment, turn.moment.safe);
    if turn.state.born_at_s.is_none() && moment.thoughts_before <= offer::YOUNG {
        turn.state.born_at_s = Some(turn.now_s);
    }
    // News, and words without a time, that are no longer shown need not be remembered as dealt with: they may come again.
    let mut shown = words::hashes(moment);
    shown.extend(moment.news.iter().map(text::hash));
    turn.state.dealt_with.retain(|hash| shown.contains(hash));
    if moment.purpose_changed {
        let first = moment.purpose.lines().find(|line| !line.trim().is_empty());
        let first = text::clip(first.unwrap_or("nothing"), 160);
        turn.say(format!("PURPOSE.md changed; it now begins: \"{first}\"."));
        turn.state.idle_wakes = 0;
    }
    tell_news(&mut turn);
    if !safe {
        change::follow_up(&mut turn);
        settle(&mut turn, |_| true);
        digest::settled(&mut turn);
        offer::kept(&mut turn);
    }
    words::drive(&mut turn);
    if !safe {
        offer::greet(&mut turn);
    }
    for drive in DRIVES {
        if !safe && !turn.acts() {
            drive(&mut turn);
        }
    }
    change::count(&mut turn);
    if turn.acts() {
        turn.state.idle_wakes = 0;
        return turn.into_thought(moment.rest_s.0.max(1));
    }
    let rest_s = idle::rest(&mut turn);
    turn.into_thought(rest_s)
}

/// Gives the results of jobs that are `mine` to whom they are for. A call without a result was cut off by a death.
fn settle(turn: &mut Turn, mine: impl Fn(&Origin) -> bool) {
    let cut_off = json!({"ok": false, "error": words::CUT_OFF});
    for job in std::mem::take(&mut turn.state.jobs) {
        if turn.is_nearly_full() || !mine(&job.origin) {
            turn.state.jobs.push(job);
            continue;
        }
        let result = turn.result(&job).unwrap_or(&cut_off);
        match &job.origin {
            Origin::Owner => words::settled(&job, result, turn),
            Origin::Item(line) => checklist::settled(line, &job, result, turn),
            Origin::Line(id) => agenda::settled(id, &job, result, turn),
            Origin::Source(url) => sources::settled(url, &job, result, turn),
            Origin::Link(link) => sources::settled_link(link, result, turn),
            Origin::Draft => drafts::settled(result, turn),
            Origin::Change => change::settled(result, turn),
        }
    }
}

/// Says the news of deaths, falls and the owner's decisions, and keeps them in the diary.
fn tell_news(turn: &mut Turn) {
    let mut news = Vec::new();
    for told in &turn.moment.news {
        if turn.state.mark_dealt_with(text::hash(told)) {
            // The end of a log in it may be long.
            let told = text::clip(told, 700);
            turn.say(format!("I am told: {}.", told.trim_end_matches('.')));
            news.push(told);
        }
    }
    if !news.is_empty() {
        turn.does("write the news into the diary", "That goes into my diary.");
        turn.diary(&format!("- {}", news.join("\n- ")));
    }
}
