//! Turns the index into things to draw, tell and export: each with its time, its words, its link and its weight.

use super::index::reason::Class;
use super::index::rows::{Asked, Entry, Fall, Kind, Lived, Mark, MarkKind, Wake};
use super::index::seen::{Seen, bound};
use super::{Life, Span};
use crate::plain;
use house::bounds::short;
use house::clock::Millis;
use house::moments;
use std::time::Duration;

/// Something that happened. Its words hold text of the creature's as it is: spell and escape them before showing.
#[derive(Clone, Debug)]
pub struct Thing {
    pub from_ms: u64,
    pub to_ms: u64,
    pub class: String,
    pub href: String,
    pub words: String,
}

/// A thing by its place in the index: its words are made only when it is shown.
#[derive(Clone, Copy)]
pub enum What<'a> {
    Life(&'a Lived),
    Fall(&'a Fall),
    Wake(&'a Wake),
    Ask(&'a Asked),
    Mark(&'a Mark),
}

impl What<'_> {
    /// When it began and was over.
    pub fn span(self, life: &Seen) -> (u64, u64) {
        match self {
            What::Life(lived) => (lived.from_ms, life.end_ms(lived)),
            What::Fall(fall) => (fall.at_ms, fall.at_ms),
            What::Wake(wake) => (wake.from_ms, wake.to_ms),
            What::Ask(ask) => (ask.asked_ms, ask.closed_ms.unwrap_or(u64::MAX)),
            What::Mark(mark) => (life.mark_from(mark), mark.at_ms),
        }
    }

    pub fn thing(self, life: &Seen) -> Thing {
        match self {
            What::Life(lived) => life.life_thing(lived),
            What::Fall(fall) => life.fall_thing(fall),
            What::Wake(wake) => life.wake_thing(wake),
            What::Ask(ask) => life.ask_thing(ask),
            What::Mark(mark) => life.mark_thing(mark),
        }
    }
}

/// Returns the link to a span.
pub fn span_link(from_ms: u64, to_ms: u64) -> String {
    format!("/life?from={from_ms}&to={}", to_ms.max(from_ms + 1_000))
}

/// `1 thought`, `12 thoughts`.
pub fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

pub fn usd(micro: u64) -> String {
    let dollars = micro as f64 / 1e6;
    if micro > 0 && micro < 10_000 { format!("${dollars:.4}") } else { format!("${dollars:.2}") }
}

fn lasted(from_ms: u64, to_ms: u64) -> String {
    moments::span(Duration::from_millis(to_ms.saturating_sub(from_ms)))
}

fn named(text: &str, beginning: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{beginning}{text}") }
}

/// A self-edit that was refused before it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub at_ms: u64,
    pub stage: String,
    pub summary: String,
    pub href: String,
}

/// Longest time from the last record of a wake to the commit of its work.
const MADE_LATER_MS: u64 = 10 * 60_000;

impl Life {
    /// The self-edits that were refused, the oldest first.
    pub fn refused_edits(&self) -> Vec<Refused> {
        let seen = self.seen(0, Millis::MAX);
        let refused = seen.marks.iter().filter(|mark| mark.kind == MarkKind::EditFailed);
        let refused = refused.map(|mark| Refused {
            at_ms: mark.at_ms,
            stage: mark.about.clone(),
            summary: mark.text.clone(),
            href: seen.record_link(mark.file, mark.offset, mark.at_ms),
        });
        refused.collect()
    }

    /// Returns when the wake began that made something at this time.
    pub fn woke_for(&self, at_ms: u64) -> Option<u64> {
        let last = "SELECT * FROM wake WHERE from_ms <= ?1 ORDER BY from_ms DESC, row DESC LIMIT 1";
        let wake: Wake = self.index.as_ref()?.one(last, [bound(at_ms)]).ok()??;
        (at_ms <= wake.to_ms.saturating_add(MADE_LATER_MS)).then_some(wake.from_ms)
    }
}

impl Seen<'_> {
    /// Every thing of a span but single thoughts, acts and calls.
    pub(super) fn things(&self, span: &Span) -> Vec<What<'_>> {
        let lives = self.lives.values().map(What::Life).chain(self.falls.iter().map(What::Fall));
        let wakes = self.wakes.iter().map(What::Wake).chain(self.asks.iter().map(What::Ask));
        let all = lives.chain(wakes).chain(self.marks.iter().map(What::Mark));
        let is_in = |(begun_ms, over_ms): (u64, u64)| over_ms >= span.from_ms() && begun_ms <= span.to_ms();
        all.filter(|what| is_in(what.span(self))).collect()
    }

    /// Returns the link to a whole record; else to the span it is in.
    pub(super) fn record_link(&self, file: u16, offset: u64, at_ms: u64) -> String {
        match self.file(file) {
            Some(name) => format!("/record/{name}/{offset}"),
            None => span_link(at_ms, at_ms),
        }
    }

    /// Returns the end of a life; a life that goes on ends with the last thing known.
    pub(super) fn end_ms(&self, life: &Lived) -> u64 {
        let last = self.lives.last_key_value().map(|(number, _)| *number);
        let goes_on = life.death_ms.is_none() && last == Some(life.number);
        let end_ms = life.death_ms.unwrap_or(if goes_on { self.last_ms } else { life.to_ms });
        // One lives at a time, whatever a record says.
        let next = self.lives.range(life.number.saturating_add(1)..).next();
        next.map_or(end_ms, |(_, next)| end_ms.min(next.from_ms)).max(life.from_ms)
    }

    pub(super) fn life_thing(&self, life: &Lived) -> Thing {
        let to_ms = self.end_ms(life);
        let commit = named(short(&life.commit), " of commit ");
        let blessed = if life.blessed_ms.is_some() { ", proved" } else { "" };
        let safe = if life.safe { ", in safe mode" } else { "" };
        let (ended, examined) = (named(&life.ended, ", "), named(&life.examined, "; tests "));
        let (number, lasted) = (life.number, lasted(life.from_ms, to_ms));
        let words = format!("life {number}{commit}, {lasted}{blessed}{safe}{ended}{examined}");
        let class = if life.blessed_ms.is_some() { "life blessed" } else { "life" }.to_owned();
        Thing { from_ms: life.from_ms, to_ms, class, href: format!("/lives/{number}"), words }
    }

    pub(super) fn fall_thing(&self, fall: &Fall) -> Thing {
        let (from, to) = (short(&fall.from_commit), short(&fall.to_commit));
        let words =
            format!("fall of life {}, from {from} back to {to}{}", fall.life, named(&fall.told, ": "));
        let href = format!("/lives/{}", fall.life);
        Thing { from_ms: fall.at_ms, to_ms: fall.at_ms, class: "fall".into(), href, words }
    }

    pub(super) fn wake_thing(&self, wake: &Wake) -> Thing {
        let failed =
            if wake.failed > 0 { format!(", {} of them failed", wake.failed) } else { String::new() };
        let why = plain::reasons(&wake.why.split("; ").filter(|why| !why.is_empty()).collect::<Vec<_>>());
        // Its class says that already.
        let why = if why == "your message" { String::new() } else { why };
        let words = format!(
            "wake {} of life {}, {}: {}, {}{failed}; {}{}",
            wake.number,
            wake.life,
            lasted(wake.from_ms, wake.to_ms),
            count(wake.thoughts.into(), "thought"),
            count(wake.acts.into(), "act"),
            wake.class.told(),
            named(&why, ": "),
        );
        let (from_ms, to_ms, class) = (wake.from_ms, wake.to_ms, format!("wake {}", wake.class.name()));
        let href = match wake.first {
            0 => span_link(from_ms, to_ms),
            first => format!("/thought/{first}"),
        };
        Thing { from_ms, to_ms, class, href, words }
    }

    /// Returns the class that colours the thoughts of a time: that of the wake they are in.
    pub(super) fn class_at(&self, at_ms: u64) -> Class {
        let after = self.wakes.partition_point(|wake| wake.from_ms <= at_ms);
        let wake = after.checked_sub(1).and_then(|at| self.wakes.get(at));
        wake.filter(|wake| at_ms <= wake.to_ms).map_or(Class::Other, |wake| wake.class)
    }

    pub(super) fn entry_thing(&self, entry: &Entry) -> Thing {
        let record = || self.record_link(entry.file, entry.offset, entry.at_ms);
        let tool = || self.tool(entry);
        let of_wake = || self.class_at(entry.at_ms).name();
        let (number, from_ms, to_ms) = (entry.number, entry.begun_ms(), entry.at_ms);
        let (class, words) = match entry.kind {
            Kind::Thought => {
                let words = format!("thought {number}, {}, {} tokens", lasted(from_ms, to_ms), entry.value);
                (format!("thought {}", of_wake()), words)
            }
            Kind::Garbled => {
                (format!("thought many {}", of_wake()), "a reply that could not be read".to_owned())
            }
            Kind::Act => ("act".into(), format!("{} of thought {number}", tool())),
            Kind::ActFailed => ("act-failed".into(), format!("{} of thought {number} failed", tool())),
            Kind::Money => ("money".into(), format!("{} for you", usd(entry.value))),
            Kind::MoneyOwn => ("money".into(), format!("{} on its own", usd(entry.value))),
        };
        let href = if entry.kind == Kind::Thought { format!("/thought/{number}") } else { record() };
        Thing { from_ms, to_ms, class, href, words }
    }

    pub(super) fn ask_thing(&self, ask: &Asked) -> Thing {
        let (id, event) = (&ask.id, &ask.event);
        let is_open = ask.closed_ms.is_none();
        let came = if is_open { "waits for your answer".to_owned() } else { event.clone() };
        let to_ms = ask.closed_ms.unwrap_or(self.last_ms).max(ask.asked_ms);
        let class = if is_open { "ask-open" } else { "ask-closed" };
        let after = if is_open { String::new() } else { format!(" after {}", lasted(ask.asked_ms, to_ms)) };
        let words = format!("ask {id}, {}: {came}{after}", ask.what);
        Thing { from_ms: ask.asked_ms, to_ms, class: class.into(), href: format!("/asks/{id}"), words }
    }

    /// Tells a commit's outcome: fell, proved, lived, or was of papers.
    fn outcome(&self, commit: &str) -> &'static str {
        let mut lives = self.lives.values().filter(|life| life.commit == commit);
        if self.falls.iter().any(|fall| fall.from_commit == commit) {
            return ", fell";
        }
        match lives.next() {
            None => ", of papers",
            Some(first) if first.blessed_ms.is_some() || lives.any(|life| life.blessed_ms.is_some()) => {
                ", proved"
            }
            Some(_) => ", lived",
        }
    }

    pub(super) fn mark_thing(&self, mark: &Mark) -> Thing {
        let (text, about) = (&mark.text, &mark.about);
        let mut href = self.record_link(mark.file, mark.offset, mark.at_ms);
        let (class, words) = match mark.kind {
            MarkKind::Edit => ("edit", format!("self-edit, {about}: {text}")),
            MarkKind::EditFailed => ("edit-failed", format!("self-edit refused at {about}: {text}")),
            MarkKind::Commit => {
                let is_name = about.len() >= 7 && about.bytes().all(|byte| byte.is_ascii_hexdigit());
                if is_name {
                    href = format!("/commit/{about}");
                }
                let words = format!("commit {}{}: {text}", short(about), self.outcome(about));
                ("edit commit", words)
            }
            MarkKind::Rescued => ("edit-failed", format!("unfinished edits kept as {text}")),
            MarkKind::Dream => {
                ("dream", format!("dream, {}: {text}", lasted(self.mark_from(mark), mark.at_ms)))
            }
            MarkKind::Reminder => ("reminder", format!("reminder: {text}")),
            MarkKind::Word => ("word", format!("you said: {text}")),
            MarkKind::Said => ("word many", format!("it said: {text}")),
        };
        Thing { from_ms: self.mark_from(mark), to_ms: mark.at_ms, class: class.into(), href, words }
    }

    pub(super) fn mark_from(&self, mark: &Mark) -> u64 {
        mark.at_ms.saturating_sub(u64::from(mark.length_ms))
    }
}
