//! What happened since a time, from the guardian's records, the creature's memory and the broker's ledger.

use crate::audit::{self, Audit, with_what};
use crate::feed;
use crate::feed::at_word;
use crate::owners::Owners;
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
    let mut history = records::of(&house.history()).filter(|event| text(event, "at") >= since);
    let mut deaths = records::of(&house.deaths()).filter(|death| text(death, "at") >= since);
    let memory = records::older(&house.memory(), since).into_iter().chain([house.memory()]);
    let memory = memory.flat_map(|path| records::of(&path));
    let mut owners = Owners::beside(&house.memory());
    let mut memory = memory.filter(|record| text(record, "at") >= since).map(|it| owners.judged(it));
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
    fn take(&mut self, record: &Value) -> Option<Value> {
        let (data, at) = (record.get("data")?, text(record, "at"));
        match text(record, "kind") {
            "thought" => {
                self.thoughts += 1;
                for name in ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"] {
                    let tokens = data.get("usage").and_then(|usage| usage.get(name)).and_then(Value::as_u64);
                    let sum = self.tokens.entry(name).or_default();
                    *sum = sum.saturating_add(tokens.unwrap_or(0));
                }
                None
            }
            "action" => {
                self.actions += 1;
                acted(at, text(data, "tool"), data.get("result")?)
            }
            "message" => Some(json!({
                "at": at, "what": "message", "from": text(data, "from"), "kind": text(data, "kind"), "text": text(data, "text"),
            })),
            "agenda" => agenda(at, data.get("change")?),
            "self_change" => Some(json!({
                "at": at, "what": "self_edit", "stage": text(data, "stage"), "ok": data.get("ok"),
                "summary": text(data, "summary"), "error": text(data, "error"),
            })),
            _ => None,
        }
    }

    pub fn as_json(&self) -> Value {
        json!({"thoughts": self.thoughts, "actions": self.actions, "tokens": self.tokens})
    }
}

/// The event of an action that sent something, or meant to.
fn acted(at: &str, tool: &str, result: &Value) -> Option<Value> {
    if result.get("ok").and_then(Value::as_bool) != Some(true) {
        return None;
    }
    if let Some(ask) = feed::asked(result) {
        return Some(json!({"at": at, "what": "asked", "tool": tool, "ask": ask}));
    }
    let drafted = text(result, "drafted");
    if !drafted.is_empty() {
        return Some(json!({"at": at, "what": "drafted", "tool": tool, "path": drafted}));
    }
    let posts = matches!(tool, "x.post" | "x.reply");
    posts.then(|| json!({"at": at, "what": "posted", "tool": tool, "id": result.get("id")}))
}

/// The event of a change of a goal or of money earned or expected.
fn agenda(at: &str, change: &Value) -> Option<Value> {
    let (what, of) = change.as_object()?.iter().next()?;
    let earned = of.get("earned_usd").and_then(Value::as_f64);
    let what = match what.as_str() {
        "goal" => "goal",
        "opportunity" if earned.is_some() => "revenue",
        "opportunity" => "opportunity",
        _ => return None,
    };
    let amount = earned.or_else(|| of.get("amount_usd").and_then(Value::as_f64));
    let words = ["id", "title", "status", "stage", "outcome", "reason"].map(|name| text(of, name));
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    Some(json!({"at": at, "what": what, "do": text(of, "do"), "text": words.join(" "), "usd": amount}))
}

pub fn print(house: &House, since: &str, as_json: bool) {
    if as_json {
        return print_json(house, since);
    }
    let mut screen = Screen::open();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let (spend, audit) = stream(house, since, |event| {
        let at = text(&event, "at").parse().ok();
        screen.show(&Row {
            at,
            tag: tag(text(&event, "what")).to_owned(),
            paint: "1",
            text: sentence(&event),
        });
        let times = event.get("count").and_then(Value::as_u64).and_then(|count| count.try_into().ok());
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

/// Who did it, as a tag.
fn tag(what: &str) -> &'static str {
    match what {
        "message" => "word",
        "asked" | "answered" | "refused" => "broker",
        "drafted" | "posted" | "self_edit" => "creature",
        "goal" | "opportunity" | "revenue" => "agenda",
        _ => "guardian",
    }
}

/// What happened, in words.
pub fn sentence(event: &Value) -> String {
    let short = |name: &str| text(event, name).chars().take(7).collect::<String>();
    let number = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or(0);
    match text(event, "what") {
        "life" => format!("life {} began at {}", number("life"), short("commit")),
        "death" => format!(
            "life {} ended: {} ({}; blamed on {})",
            number("life"),
            text(event, "ended").replace('_', " "),
            text(event, "cause"),
            text(event, "blame")
        ),
        "examined" => format!("the tests of life {} {}", number("life"), text(event, "told")),
        "blessed" => format!("blessed {}", short("commit")),
        "fall" => text(event, "told").trim_start_matches("guardian: ").to_owned(),
        "rescued" => format!("unfinished edits of life {} kept as {}", number("life"), text(event, "ref")),
        "commit" => format!(
            "{} committed {}: {} ({} files, +{} -{})",
            text(event, "by"),
            short("commit"),
            text(event, "summary").trim_start_matches("guardian: "),
            number("files"),
            number("added"),
            number("removed")
        ),
        "drafted" => format!("drafted {}", text(event, "path")),
        "posted" => format!("posted by {}", text(event, "tool")),
        "self_edit" if event.get("ok").and_then(Value::as_bool) == Some(true) => {
            format!("self-edit, {}: {}", text(event, "stage"), text(event, "summary"))
        }
        "self_edit" => {
            let error: String =
                text(event, "error").lines().next().unwrap_or_default().chars().take(100).collect();
            format!("self-edit refused at {}: {} ({error})", text(event, "stage"), text(event, "summary"))
        }
        "asked" if !text(event, "tool").is_empty() => {
            format!("asked: {} waits for your word as ask {}", text(event, "tool"), text(event, "ask"))
        }
        "refused" | "asked" | "answered" => {
            let words = ["what", "method", "service", "path"].map(|name| text(event, name)).join(" ");
            let reason = [text(event, "decision"), text(event, "note")].join(" ");
            let again = match number("count") {
                0 => String::new(),
                count => format!(" ({count} times, until {})", moments::told(text(event, "until"))),
            };
            format!("{words}: {}{again}", reason.trim())
        }
        "message" => {
            let kind = Some(text(event, "kind")).filter(|kind| !kind.is_empty() && *kind != "answer");
            let kind = kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
            format!("{}{kind}: {}", text(event, "from"), at_word(text(event, "text"), WORD_CHARS))
        }
        what @ ("goal" | "opportunity" | "revenue") => {
            let usd = event.get("usd").and_then(Value::as_f64).filter(|usd| *usd != 0.0);
            let usd = usd.map(|usd| format!(", {usd:.2} USD")).unwrap_or_default();
            format!("{what} {}: {}{usd}", text(event, "do"), text(event, "text"))
        }
        "broker_ended" => format!("the broker ended: {} {}", text(event, "cause"), text(event, "said")),
        "begun_anew" => format!("the guardian began anew: {}", text(event, "cause")),
        "broker_missing" => text(event, "cause").to_owned(),
        "state_set_aside" | "broken" => text(event, "told").to_owned(),
        "settings_changed" => "the owner's settings were taken over".into(),
        "settings_refused" => format!("the owner's settings were not taken over: {}", text(event, "told")),
        other => format!("{other} {event}"),
    }
}
