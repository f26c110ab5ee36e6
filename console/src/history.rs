//! Events since a time, from the guardian's records, the creature's memory and the broker's ledger.

use crate::audit::{self, Audit, with_what};
use crate::feed::at_word;
use crate::owners::Owners;
use house::bounds::short;
use house::records::history::{Death, Event, Line, Said};
use house::records::memory::{Data, Message, Outcome, Record, SelfChange};
use house::records::view::field;
use house::records::{self, text};
use house::terminal::{self, Row, Screen};
use house::{House, moments};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Longest word between owner and creature shown here, in characters; the feed shows all of it.
const WORD_CHARS: usize = 600;

/// The sum of thoughts and actions.
#[derive(Default)]
pub struct Spend {
    thoughts: u64,
    actions: u64,
    tokens: BTreeMap<&'static str, u64>,
}

/// A source of events, in order of time.
type Told<'a> = &'a mut dyn FnMut() -> Option<Value>;

/// Tells every event since a time, merged in order from guardian, memory and broker. Each file is in order of time,
/// so nothing has to be held in memory; the sums are known at the end.
pub fn stream(house: &House, since: &str, mut tell: impl FnMut(Value)) -> (Spend, Audit) {
    let (mut spend, mut audit) = (Spend::default(), audit::read(house, since));
    let mut told = std::mem::take(&mut audit.events).into_iter();
    let mut history = records::of(&house.history()).since(since);
    let mut deaths = records::of(&house.deaths()).since(since);
    let memory = records::whole(&house.memory(), since);
    let mut owners = Owners::beside(&house.memory());
    let mut memory = memory.flat_map(|path| records::of(&path).since(since)).map(|it| owners.judged(it));
    let files: [Told; 4] = [
        &mut || history.next(),
        &mut || deaths.next().map(|death| with_what("death", death)),
        &mut || memory.find_map(|record| spend.take(&record)),
        &mut || told.next(),
    ];
    let mut files = files.map(|next| (next(), next));
    // An ask is in the ledger first, then in the record of the action that asked.
    let mut asked = BTreeSet::new();
    while let Some((next, go_on)) = earliest(&mut files) {
        let Some(event) = std::mem::replace(next, go_on()) else { continue };
        let is_ask = text(&event, "what") == "asked";
        let ask = match is_ask.then(|| text(&event, "ask")) {
            Some("") => text(&event, "call").trim_start_matches("ask-"),
            ask => ask.unwrap_or_default(),
        };
        if ask.is_empty() || asked.insert(ask.to_owned()) {
            tell(event);
        }
    }
    (spend, audit)
}

/// The source whose next event is earliest, if any has one.
fn earliest<'a, 'b>(
    files: &'a mut [(Option<Value>, Told<'b>)],
) -> Option<(&'a mut Option<Value>, &'a mut Told<'b>)> {
    fn at(next: &Option<Value>) -> &str {
        next.as_ref().map_or("", |event| text(event, "at"))
    }
    let waiting = files.iter_mut().filter(|(next, _)| next.is_some());
    waiting.min_by(|(one, _), (other, _)| at(one).cmp(at(other))).map(|(next, go_on)| (next, go_on))
}

impl Spend {
    /// Counts a record of memory; returns its event, if it is one.
    #[allow(clippy::wildcard_enum_match_arm)]
    fn take(&mut self, record: &Value) -> Option<Value> {
        let record = Record(record);
        match record.data() {
            Data::Thought(thought) => {
                self.thoughts += 1;
                for name in ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"] {
                    let sum = self.tokens.entry(name).or_default();
                    *sum = sum.saturating_add(field(thought.usage().0, name));
                }
                None
            }
            Data::Action(action) => {
                self.actions += 1;
                acted(record.at(), action.tool(), action.result()?)
            }
            Data::Message(said) => Some(json!({
                "at": record.at(), "what": "message", "from": said.from(), "kind": said.kind(), "text": said.text(),
            })),
            Data::Agenda(agenda) => self::agenda(record.at(), agenda.change()?),
            Data::SelfChange(change) => Some(json!({
                "at": record.at(), "what": "self_edit", "stage": change.stage(), "ok": change.0.get("ok"),
                "summary": change.summary(), "error": change.error(),
            })),
            _ => None,
        }
    }

    pub fn as_json(&self) -> Value {
        json!({"thoughts": self.thoughts, "actions": self.actions, "tokens": self.tokens})
    }
}

/// The event of an action that sent something, or meant to.
fn acted(at: &str, tool: &str, result: Outcome) -> Option<Value> {
    if !result.ok() {
        return None;
    }
    if let Some(ask) = result.asked() {
        return Some(json!({"at": at, "what": "asked", "tool": tool, "ask": ask}));
    }
    if !result.drafted().is_empty() {
        return Some(json!({"at": at, "what": "drafted", "tool": tool, "path": result.drafted()}));
    }
    let posts = matches!(tool, "x.post" | "x.reply");
    posts.then(|| json!({"at": at, "what": "posted", "tool": tool, "id": result.id()}))
}

/// The event of a change of a goal or of money earned or expected.
fn agenda(at: &str, change: &Value) -> Option<Value> {
    let (what, of) = change.as_object()?.iter().next()?;
    let earned: Option<f64> = field(of, "earned_usd");
    let what = match what.as_str() {
        "goal" => "goal",
        "opportunity" if earned.is_some() => "revenue",
        "opportunity" => "opportunity",
        _ => return None,
    };
    let amount = earned.or_else(|| field(of, "amount_usd"));
    let words = ["id", "title", "status", "stage", "outcome", "reason"].map(|name| text(of, name));
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    Some(json!({"at": at, "what": what, "do": text(of, "do"), "text": words.join(" "), "usd": amount}))
}

pub fn print(house: &House, since: &str, as_json: bool) {
    if as_json {
        return print_json(house, since);
    }
    let mut screen = Screen::open();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let (spend, audit) = stream(house, since, |event| {
        let at = text(&event, "at").parse().ok();
        screen.show(&Row {
            at,
            tag: tag(text(&event, "what")).to_owned(),
            paint: "1",
            text: sentence(&event),
        });
        let times: Option<u64> = field(&event, "count");
        *counts.entry(text(&event, "what").replace('_', " ")).or_default() += times.unwrap_or(1);
    });
    let told: Vec<String> = counts.iter().map(|(what, count)| format!("{what} {count}")).collect();
    let told = if told.is_empty() { "nothing happened".into() } else { told.join(", ") };
    terminal::line(&format!("since {}: {told}", moments::told(since)));
    terminal::line(&format!("thoughts {}, actions {}", spend.thoughts, spend.actions));
    let tokens = spend.tokens.iter().filter(|(_, count)| **count > 0);
    let tokens: Vec<String> =
        tokens.map(|(name, count)| format!("{} {count}", name.replace('_', " "))).collect();
    if !tokens.is_empty() {
        terminal::line(&format!("spend: {}", tokens.join(", ")));
    }
    audit.lines().iter().for_each(|line| terminal::line(line));
}

fn print_json(house: &House, since: &str) {
    let mut comma = "";
    terminal::own("{\"since\": ");
    terminal::json(&since.into());
    terminal::own(", \"events\": [\n");
    let (spend, audit) = stream(house, since, |event| {
        terminal::own(comma);
        terminal::json(&event);
        comma = ",";
    });
    terminal::own("], \"spend\": ");
    terminal::json(&spend.as_json());
    terminal::own(", \"broker\": ");
    terminal::json(&audit.sum());
    terminal::own("}\n");
}

/// Names the actor, as a tag.
fn tag(what: &str) -> &'static str {
    match what {
        "message" => "word",
        "asked" | "answered" | "refused" => "broker",
        "drafted" | "posted" | "self_edit" => "creature",
        "goal" | "opportunity" | "revenue" => "agenda",
        _ => "guardian",
    }
}

/// Describes an event in words.
pub fn sentence(event: &Value) -> String {
    let (line, said) = (Line(event), Said(event));
    let life = line.life().unwrap_or(0);
    match Event::of(event) {
        Event::Life(of) => format!("life {life} began at {}", short(of.commit())),
        Event::Examined(_) => format!("the tests of life {life} {}", said.told()),
        Event::Blessed(of) => format!("blessed {}", short(of.commit())),
        Event::Fall(_) => said.plainly().to_owned(),
        Event::Rescued(of) => format!("unfinished edits of life {life} kept as {}", of.reference()),
        Event::Commit(of) => format!(
            "{} committed {}: {} ({} files, +{} -{})",
            of.by(),
            short(of.commit()),
            of.summary(),
            of.files(),
            of.added(),
            of.removed()
        ),
        Event::BrokerEnded(of) => format!("the broker ended: {} {}", of.cause(), of.said()),
        Event::ChannelsEnded(of) => format!("the channels ended: {} {}", of.cause(), of.said()),
        Event::BegunAnew(of) => format!("the guardian began anew: {}", of.cause()),
        Event::BrokerMissing(of) => of.cause().to_owned(),
        Event::StateSetAside(of) | Event::Broken(of) => of.told().to_owned(),
        Event::SettingsChanged(_) => "the owner's settings were taken over".into(),
        Event::SettingsRefused(of) => format!("the owner's settings were not taken over: {}", of.told()),
        Event::Other(what) => of_others(what, event),
    }
}

/// Describes an event recorded by others than the guardian, in words.
fn of_others(what: &str, event: &Value) -> String {
    let said = |name: &str| text(event, name);
    match what {
        "death" => {
            let death = Death(event);
            let (life, ended) = (death.life(), death.ended().replace('_', " "));
            format!("life {life} ended: {ended} ({}; blamed on {})", death.cause(), death.blame())
        }
        "drafted" => format!("drafted {}", said("path")),
        "posted" => format!("posted by {}", said("tool")),
        "self_edit" => {
            let edit = SelfChange(event);
            let (stage, summary) = (edit.stage(), edit.summary());
            if edit.ok() {
                return format!("self-edit, {stage}: {summary}");
            }
            let error: String = edit.error().lines().next().unwrap_or_default().chars().take(100).collect();
            format!("self-edit refused at {stage}: {summary} ({error})")
        }
        "asked" if !said("tool").is_empty() => {
            format!("asked: {} waits for your word as ask {}", said("tool"), said("ask"))
        }
        "refused" | "asked" | "answered" => {
            let words = ["what", "method", "service", "path"].map(said).join(" ");
            let reason = [said("decision"), said("note")].join(" ");
            let again = match field::<u64>(event, "count") {
                0 => String::new(),
                count => format!(" ({count} times, until {})", moments::told(said("until"))),
            };
            format!("{words}: {}{again}", reason.trim())
        }
        "message" => {
            let message = Message(event);
            let kind = message.odd_kind().map(|kind| format!(" ({kind})")).unwrap_or_default();
            format!("{}{kind}: {}", message.from(), at_word(message.text(), WORD_CHARS))
        }
        "goal" | "opportunity" | "revenue" => {
            let usd: Option<f64> = field(event, "usd");
            let usd = usd.filter(|usd| *usd != 0.0).map(|usd| format!(", {usd:.2} USD")).unwrap_or_default();
            format!("{what} {}: {}{usd}", said("do"), said("text"))
        }
        other => format!("{other} {event}"),
    }
}
