//! The outbox: which messages to the owner go now, which wait for a summary, and which are chatter.
//!
//! Invariant: never more messages an hour than the rules allow; an urgent message taken in is never dropped.
//! A message is taken in (`Say`), handed out (`due`), and struck off once it was told (`Delivered`).

use crate::directive::Directives;
use crate::items::{self, later};
use crate::text::{self, words};
use crate::{Agenda, Refusal, Rules, When, spoken, yes};
use jiff::Timestamp;
use jiff::civil::{Time, Weekday};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Messages that may wait; of more, the oldest that are not urgent are dropped and counted.
const MOST_WAITING: usize = 200;

/// Characters of one message, and of a summary of several.
pub const MOST_CHARS: usize = 1_000;
pub const MOST_SUMMARY: usize = 4_000;

/// Seconds for which a text is not said again, and texts remembered for that.
const FRESH_S: u64 = 86_400;
const MOST_SAID: usize = 100;

const HOUR_S: u64 = 3_600;

/// Hour of the owner's at which the week is summed up, on Mondays.
const WEEKLY: Time = Time::constant(9, 0, 0, 0);

/// Phrases without content; a message with one needs five other words.
const CHATTER: &str = "just checking in, checking in, nothing new, nothing to report, no news, no updates, \
    no update, all quiet, all good, all is well, everything is fine, still here, still working, \
    hope you are well, good morning, have a nice day";

/// Kind of a message, by what it is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// News that the owner asked to be told when it happens.
    AskedFor,
    Revenue,
    Approval,
    Milestone,
    Broken,
    WeeklySummary,
    /// The first word to the owner of a new house.
    Greeting,
    /// News at the sources, once a day.
    Digest,
    /// An answer to the owner's words; it goes at once, not through the outbox.
    Answer,
    /// Chatter, or a kind of a newer self.
    #[default]
    #[serde(other)]
    Other,
}

impl Kind {
    /// Whether the owner must hear of it sooner or later.
    pub fn urgent(self) -> bool {
        matches!(self, Kind::AskedFor | Kind::Approval | Kind::Broken)
    }

    /// The kind of this name, however it is written.
    pub fn named(name: &str) -> Kind {
        let name = name.trim().to_lowercase().replace([' ', '-'], "_");
        serde_json::from_value(Value::String(name)).unwrap_or(Kind::Other)
    }

    pub fn name(self) -> String {
        items::name(self)
    }
}

/// Everything that goes to the owner unasked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Outbox {
    /// Oldest first.
    pub waiting: Vec<Waiting>,
    /// Times of the messages of the last hour, oldest first.
    pub sent: Vec<Timestamp>,
    /// Texts said in the last day: when, and the hash of each.
    pub said: Vec<(Timestamp, u64)>,
    /// Messages dropped for want of room since the last summary.
    pub dropped: u64,
    /// End of the running week; none before the first week began.
    pub weekly_at: Option<Timestamp>,
}

/// Message on its way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Waiting {
    pub id: String,
    pub at: Timestamp,
    pub kind: Kind,
    pub text: String,
    pub thread: String,
}

/// Message that may go out now: a single message, or several gathered.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    pub ids: Vec<String>,
    pub kind: Kind,
    pub text: String,
    pub thread: String,
}

/// State of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Week {
    Running,
    /// No week ever began: begin one with `WeekBegan`.
    Unbegun,
    /// Time to sum the week up: with `Say` of kind `weekly_summary`, or `WeekBegan` where there is nothing to say.
    Over,
}

/// A change of the outbox.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum OutboxChange {
    Say { kind: Kind, text: String },
    Delivered { ids: Vec<String> },
    WeekBegan,
}

impl Outbox {
    /// Lists messages that may go now, the urgent first: singly where one waits on a thread, gathered where several do.
    pub fn due(&self, directives: &Directives, rules: &Rules, now: Timestamp) -> Vec<Delivery> {
        let room = (rules.messages_per_hour as usize).saturating_sub(self.recent(now).count());
        let mut open: Vec<&Waiting> = self.waiting.iter().collect();
        open.retain(|waiting| directives.lets_through(waiting.kind, &waiting.text, now));
        open.sort_by_key(|waiting| !waiting.kind.urgent());
        let mut due = Vec::new();
        while let (Some(first), true) = (open.first().copied(), due.len() < room) {
            let (mine, others): (Vec<&Waiting>, Vec<&Waiting>) =
                open.into_iter().partition(|waiting| waiting.thread == first.thread);
            let (delivery, mut left) = gathered(first, &mine, self.dropped);
            due.push(delivery);
            left.extend(others);
            open = left;
        }
        due
    }

    fn recent(&self, now: Timestamp) -> impl Iterator<Item = Timestamp> {
        self.sent.iter().copied().filter(move |sent| now < later(*sent, HOUR_S))
    }

    /// Tells the state of the week.
    pub fn week(&self, now: Timestamp) -> Week {
        match self.weekly_at {
            None => Week::Unbegun,
            Some(at) if at <= now => Week::Over,
            Some(_) => Week::Running,
        }
    }

    /// The earliest moment at which there is room for a waiting message, or the week is over.
    pub fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        let room = self.recent(now).map(|sent| later(sent, HOUR_S)).next();
        let room = room.filter(|_| !self.waiting.is_empty());
        [room, self.weekly_at].into_iter().flatten().min()
    }
}

impl Directives {
    /// Whether a message of this kind and text may go to the owner now; none may in a pause.
    pub fn lets_through(&self, kind: Kind, text: &str, now: Timestamp) -> bool {
        let wanted = |topic| kind == Kind::AskedFor || concerns(topic, kind, text);
        self.paused(now).is_none() && self.quiet(now).is_none_or(wanted)
    }
}

/// Whether a message is about the topic: by its kind, or by a word in common.
fn concerns(topic: &str, kind: Kind, text: &str) -> bool {
    let says: Vec<String> = words(text).collect();
    words(topic).any(|word| match word.as_str() {
        "money" | "revenue" | "income" | "earnings" | "sales" | "payments" => {
            matches!(kind, Kind::Revenue | Kind::Approval)
        }
        "approval" | "approvals" | "decisions" => kind == Kind::Approval,
        "broken" | "wrong" | "breakage" | "problems" | "errors" | "failures" => kind == Kind::Broken,
        "urgent" | "important" | "emergencies" | "emergency" => matches!(kind, Kind::Broken | Kind::Approval),
        "milestones" | "progress" | "goals" => kind == Kind::Milestone,
        "summary" | "summaries" => kind == Kind::WeeklySummary,
        // Words of up to three letters are too common to count.
        word => word.chars().count() > 3 && says.iter().any(|said| said == word),
    })
}

pub(crate) fn apply(agenda: &mut Agenda, change: &OutboxChange, when: When) -> Result<Value, Refusal> {
    let now = when.now;
    match change {
        OutboxChange::Say { kind, text } => say(agenda, *kind, text, when),
        OutboxChange::Delivered { ids } => {
            let outbox = &mut agenda.outbox;
            let had = outbox.waiting.len();
            outbox.waiting.retain(|waiting| !ids.contains(&waiting.id));
            if outbox.waiting.len() < had {
                outbox.sent = outbox.recent(now).collect();
                outbox.sent.push(now);
                if ids.len() > 1 {
                    outbox.dropped = 0;
                }
            }
            Ok(json!({"delivered": had - outbox.waiting.len(), "waiting": outbox.waiting.len()}))
        }
        OutboxChange::WeekBegan => {
            agenda.outbox.weekly_at = monday(now, &when.rules.time_zone);
            Ok(json!({"weekly_at": agenda.outbox.weekly_at}))
        }
    }
}

fn say(agenda: &mut Agenda, kind: Kind, text: &str, when: When) -> Result<Value, Refusal> {
    let (now, text) = (when.now, text.trim());
    worth(kind, text)?;
    let hash = text::hash(text);
    let outbox = &mut agenda.outbox;
    outbox.said.retain(|(said, _)| now < later(*said, FRESH_S));
    if outbox.said.iter().any(|(_, said)| *said == hash) {
        let hint = "it is on its way or was told; go on";
        return Err(Refusal::new("say the same to the owner twice in a day", hint));
    }
    if outbox.waiting.len() >= MOST_WAITING {
        let Some(at) = outbox.waiting.iter().position(|waiting| !waiting.kind.urgent()) else {
            let error = format!("take in another message: {MOST_WAITING} urgent ones wait already");
            return Err(Refusal::new(error, "the owner reads them first; keep this in your notes"));
        };
        outbox.waiting.remove(at);
        outbox.dropped = outbox.dropped.saturating_add(1);
    }
    let over = (outbox.said.len() + 1).saturating_sub(MOST_SAID);
    outbox.said.drain(..over);
    outbox.said.push((now, hash));
    if kind == Kind::WeeklySummary {
        outbox.weekly_at = monday(now, &when.rules.time_zone);
    }
    let id = agenda.name("message");
    let (mut text, thread) = (text.to_owned(), when.thread.to_owned());
    if kind == Kind::Approval {
        text = asked(agenda, text);
    }
    agenda.outbox.waiting.push(Waiting { id: id.clone(), at: now, kind, text, thread });
    let due = agenda.outbox.due(&agenda.directives, when.rules, now);
    let goes_now = due.iter().any(|delivery| delivery.ids.contains(&id));
    Ok(json!({"id": id, "goes": if goes_now { "now" } else { "later, with what else waits" }}))
}

/// Appends the items named, with prices: a yes is to these, whatever the text says; notes `asked_usd` of each.
fn asked(agenda: &mut Agenda, text: String) -> String {
    let ids = yes::items_named(&text);
    for one in agenda.opportunities.items.list.iter_mut().filter(|one| ids.contains(&one.id)) {
        one.asked_usd = one.amount_usd;
    }
    let prices: Vec<String> = ids.iter().filter_map(|id| agenda.price(id)).collect();
    if prices.is_empty() { text } else { format!("{text} [{}]", prices.join("; ")) }
}

/// Refuses a message that an owner would not want to be disturbed for.
fn worth(kind: Kind, text: &str) -> Result<(), Refusal> {
    let refused = |error: &str, hint: &str| Err(Refusal::new(error, hint));
    if kind == Kind::Other {
        let hint = "a kind is asked_for, revenue, approval, milestone, broken or weekly_summary; anything else belongs in your notes";
        return refused("message the owner without a reason: that is chatter", hint);
    }
    if kind == Kind::Answer {
        let hint = "answer the owner's words with memory.append of kind message";
        return refused("send an answer unasked", hint);
    }
    let sums_up = matches!(kind, Kind::Digest | Kind::WeeklySummary);
    let most = if sums_up { MOST_SUMMARY } else { MOST_CHARS };
    if text.chars().count() > most {
        let error = format!("send more than {most} characters");
        return refused(&error, "say what matters, and where the rest is");
    }
    let mut plain = words(text).collect::<Vec<_>>().join(" ");
    let mut needed = 2;
    for phrase in CHATTER.split(", ") {
        if plain.contains(phrase) {
            plain = plain.replace(phrase, " ");
            needed = 5;
        }
    }
    if plain.split_whitespace().count() < needed {
        let hint = "only what the owner can use goes out: what happened, how much, what is to be decided";
        return refused("send the owner chatter: this says nothing", hint);
    }
    Ok(())
}

/// Gathers as many messages as fit into one, and returns those that did not fit.
fn gathered<'a>(first: &Waiting, waiting: &[&'a Waiting], dropped: u64) -> (Delivery, Vec<&'a Waiting>) {
    let (kind, thread) = (first.kind, first.thread.clone());
    if let [one] = waiting {
        return (Delivery { ids: vec![one.id.clone()], kind, text: one.text.clone(), thread }, Vec::new());
    }
    let (mut ids, mut text, mut left) = (Vec::new(), String::new(), Vec::new());
    for one in waiting {
        let line = format!("\n- {}: {}", one.kind.name().replace('_', " "), one.text);
        if text.chars().count() + line.chars().count() < MOST_SUMMARY {
            text += &line;
            ids.push(one.id.clone());
        } else {
            left.push(*one);
        }
    }
    let gone = if dropped > 0 { format!("; {dropped} older ones found no room") } else { String::new() };
    let text = format!("{} messages gathered{gone}:{text}", ids.len());
    (Delivery { ids, kind, text, thread }, left)
}

/// The next Monday on which a week is summed up.
fn monday(now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let today = zone.to_datetime(now).date().yesterday().ok()?;
    let mondays = (1..=2).filter_map(|nth| today.nth_weekday(nth, Weekday::Monday).ok());
    mondays.filter_map(|day| spoken::instant(day.to_datetime(WEEKLY), zone)).find(|at| *at > now)
}
