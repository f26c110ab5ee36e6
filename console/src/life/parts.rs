//! Turns the index into things to draw, tell and export: each with its time, its words, its link and its weight.

use super::Life;
use super::index::entry::{Entry, Kind};
use super::index::known::{Asked, Fall, Lived, Mark, MarkKind, Stand, Wake};
use super::index::reason::Class;
use crate::plain;
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
        let refused = self.known.marks.iter().filter(|mark| mark.kind == MarkKind::EditFailed);
        let refused = refused.map(|mark| Refused {
            at_ms: mark.at_ms,
            stage: self.text(mark.about).to_owned(),
            summary: self.text(mark.text).to_owned(),
            href: self.record_link(mark.stand, mark.at_ms),
        });
        refused.collect()
    }

    /// Returns when the wake began that made something at this time.
    pub fn woke_for(&self, at_ms: u64) -> Option<u64> {
        let after = self.known.wakes.partition_point(|wake| wake.from_ms <= at_ms);
        let wake = after.checked_sub(1).and_then(|at| self.known.wakes.get(at))?;
        (at_ms <= wake.to_ms.saturating_add(MADE_LATER_MS)).then_some(wake.from_ms)
    }

    pub(super) fn text(&self, number: u32) -> &str {
        self.known.texts.of(number)
    }

    pub(super) fn short_commit(&self, number: u32) -> String {
        house::bounds::short(self.text(number)).to_owned()
    }

    /// Returns the link to a whole record; else to the span it is in.
    pub(super) fn record_link(&self, stand: Stand, at_ms: u64) -> String {
        let source = self.sources.get(usize::from(stand.file)).filter(|source| !source.name.is_empty());
        match source {
            Some(source) => format!("/record/{}/{}", source.name, stand.offset),
            None => span_link(at_ms, at_ms),
        }
    }

    /// Returns the end of a life; a life that goes on ends with the last thing known.
    pub(super) fn end_ms(&self, life: &Lived) -> u64 {
        let last = self.known.lives.last_key_value().map(|(number, _)| *number);
        let goes_on = life.death_ms.is_none() && last == Some(life.number);
        let end_ms = life.death_ms.unwrap_or(if goes_on { self.known.last_ms } else { life.to_ms });
        // One lives at a time, whatever a record says.
        let next = self.known.lives.range(life.number.saturating_add(1)..).next();
        next.map_or(end_ms, |(_, next)| end_ms.min(next.from_ms)).max(life.from_ms)
    }

    pub(super) fn life_thing(&self, life: &Lived) -> Thing {
        let to_ms = self.end_ms(life);
        let commit = named(&self.short_commit(life.commit), " of commit ");
        let blessed = if life.blessed_ms.is_some() { ", proved" } else { "" };
        let safe = if life.safe { ", in safe mode" } else { "" };
        let (ended, examined) =
            (named(self.text(life.ended), ", "), named(self.text(life.examined), "; tests "));
        let words = format!(
            "life {}{commit}, {}{blessed}{safe}{ended}{examined}",
            life.number,
            lasted(life.from_ms, to_ms)
        );
        let class = if life.blessed_ms.is_some() { "life blessed" } else { "life" };
        Thing {
            from_ms: life.from_ms,
            to_ms,
            class: class.into(),
            href: format!("/lives/{}", life.number),
            words,
        }
    }

    pub(super) fn fall_thing(&self, fall: &Fall) -> Thing {
        let (from, to) = (self.short_commit(fall.from_commit), self.short_commit(fall.to_commit));
        let words = format!(
            "fall of life {}, from {from} back to {to}{}",
            fall.life,
            named(self.text(fall.told), ": ")
        );
        let href = format!("/lives/{}", fall.life);
        Thing { from_ms: fall.at_ms, to_ms: fall.at_ms, class: "fall".into(), href, words }
    }

    pub(super) fn wake_thing(&self, wake: &Wake) -> Thing {
        let failed =
            if wake.failed > 0 { format!(", {} of them failed", wake.failed) } else { String::new() };
        let why = plain::reasons(
            &self.text(wake.why).split("; ").filter(|why| !why.is_empty()).collect::<Vec<_>>(),
        );
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
        let href = if wake.first > 0 {
            format!("/thought/{}", wake.first)
        } else {
            span_link(wake.from_ms, wake.to_ms)
        };
        Thing {
            from_ms: wake.from_ms,
            to_ms: wake.to_ms,
            class: format!("wake {}", wake.class.name()),
            href,
            words,
        }
    }

    /// Returns the class that colours the thoughts of a time: that of the wake they are in.
    pub(super) fn class_at(&self, at_ms: u64) -> Class {
        let after = self.known.wakes.partition_point(|wake| wake.from_ms <= at_ms);
        let wake = after.checked_sub(1).and_then(|at| self.known.wakes.get(at));
        wake.filter(|wake| at_ms <= wake.to_ms).map_or(Class::Other, |wake| wake.class)
    }

    pub(super) fn entry_thing(&self, entry: &Entry) -> Thing {
        let stand = Stand { file: entry.file, offset: entry.offset };
        let record = || self.record_link(stand, entry.at_ms);
        let tool = || self.text(entry.value);
        let number = entry.number;
        let (class, words, href) = match entry.kind {
            Kind::Thought => {
                let words = format!(
                    "thought {number}, {}, {} tokens",
                    lasted(entry.begun_ms(), entry.at_ms),
                    entry.value
                );
                (
                    format!("thought {}", self.class_at(entry.at_ms).name()),
                    words,
                    format!("/thought/{number}"),
                )
            }
            Kind::Garbled => {
                let class = format!("thought many {}", self.class_at(entry.at_ms).name());
                (class, "a reply that could not be read".into(), record())
            }
            Kind::Act => ("act".into(), format!("{} of thought {number}", tool()), record()),
            Kind::ActFailed => {
                ("act-failed".into(), format!("{} of thought {number} failed", tool()), record())
            }
            Kind::Money => ("money".into(), format!("{} for you", usd(entry.value.into())), record()),
            Kind::MoneyOwn => ("money".into(), format!("{} on its own", usd(entry.value.into())), record()),
        };
        Thing { from_ms: entry.begun_ms(), to_ms: entry.at_ms, class, href, words }
    }

    pub(super) fn ask_thing(&self, ask: &Asked) -> Thing {
        let (id, event) = (self.text(ask.id), self.text(ask.event));
        let is_open = ask.closed_ms.is_none();
        let came = if is_open { "waits for your answer".to_owned() } else { event.to_owned() };
        let to_ms = ask.closed_ms.unwrap_or(self.known.last_ms).max(ask.asked_ms);
        let class = if is_open { "ask-open" } else { "ask-closed" };
        let words =
            format!("ask {id}, {}: {came} after {}", self.text(ask.what), lasted(ask.asked_ms, to_ms));
        let words = if is_open { format!("ask {id}, {}: {came}", self.text(ask.what)) } else { words };
        Thing { from_ms: ask.asked_ms, to_ms, class: class.into(), href: format!("/asks/{id}"), words }
    }

    /// Tells a commit's outcome: fell, proved, lived, or was of papers.
    fn outcome(&self, commit: u32) -> &'static str {
        let mut lives = self.known.lives.values().filter(|life| life.commit == commit);
        if self.known.falls.iter().any(|fall| fall.from_commit == commit) {
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
        let (text, about) = (self.text(mark.text), self.text(mark.about));
        let mut href = self.record_link(mark.stand, mark.at_ms);
        let (class, words) = match mark.kind {
            MarkKind::Edit => ("edit", format!("self-edit, {about}: {text}")),
            MarkKind::EditFailed => ("edit-failed", format!("self-edit refused at {about}: {text}")),
            MarkKind::Commit => {
                let is_name = about.len() >= 7 && about.bytes().all(|byte| byte.is_ascii_hexdigit());
                if is_name {
                    href = format!("/commit/{about}");
                }
                let words =
                    format!("commit {}{}: {text}", self.short_commit(mark.about), self.outcome(mark.about));
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
