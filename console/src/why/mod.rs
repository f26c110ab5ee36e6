//! `why`: a thought: its reason to wake, its input, words and acts, its cost, and where each is recorded.

pub mod conversation;
pub mod found;

use crate::feed;
use crate::report::gather::{self, Paid};
use anyhow::{Result, bail};
use found::Found;
use house::bounds::brief;
use house::printable::flat;
use house::records::memory::{Action, Record, Thought};
use house::records::{text, view::field};
use house::terminal::{self, typed};
use house::{House, moments};
use serde_json::{Value, json};
use std::path::Path;

/// Characters shown of an input, of the texts given to the model, and of a call's arguments.
const SEEN_CHARS: usize = 400;
const PUT_CHARS: usize = 2_000;
const ARGS_CHARS: usize = 300;
/// Things it saw that are shown.
const MOST_SEEN: usize = 20;

/// The number that is meant by `38`, `last` or `last-1`.
fn meant(house: &House, which: Option<&str>) -> Result<u64> {
    let which = which.unwrap_or("last");
    if let Ok(number) = which.parse() {
        return Ok(number);
    }
    let back = match which.strip_prefix("last") {
        Some("") => Some(0),
        Some(rest) => rest.strip_prefix('-').and_then(|back| back.parse::<u64>().ok()),
        None => None,
    };
    let Some(back) = back else {
        bail!("`{}` is no thought: give its number, or last, last-1 …", flat(&brief(which, 80)));
    };
    let Some(last) = found::last(house) else {
        bail!("no thought is on record yet: .self/memory.jsonl has none");
    };
    match last.checked_sub(back).filter(|number| *number > 0) {
        Some(number) => Ok(number),
        None => bail!("there are {last} thoughts, and so none {back} before the last"),
    }
}

pub fn show(house: &House, which: Option<&str>, as_json: bool) -> Result<u8> {
    let wanted = meant(house, which)?;
    let Some(found) = found::thought(house, wanted) else {
        let last = found::last(house).map_or("none is".into(), |last| format!("the last is {last}"));
        bail!("thought {wanted} is not in memory; {last}, see {}", typed("feed -n 20"));
    };
    let facts = facts(house, wanted, &found);
    if as_json {
        terminal::json(&facts);
    } else {
        tell(&facts, &found);
    }
    Ok(0)
}

/// All that is known of a thought, as one document.
pub fn facts(house: &House, number: u64, found: &Found) -> Value {
    let record = if found.thought.is_null() { found.garbled.last() } else { Some(&found.thought) };
    let record = Record(record.unwrap_or(&Value::Null));
    let data = record.raw_data().unwrap_or(&Value::Null);
    let wake = Thought(data).wake();
    let put = conversation::put(house, record, &found.since);
    let name = |path: &Path| path.strip_prefix(house.root()).unwrap_or(path).display().to_string();
    let Paid { micro, calls, models } = cost(house, &found.since, record.at());
    let mut evidence = vec![format!("{} (\"thought\":{number})", name(&found.path))];
    evidence.extend(put.as_ref().map(|put| name(&put.path)));
    evidence.extend(wake.map(|wake| format!(".self/mind/bookkeeping.jsonl (\"wake\":{wake})")));
    evidence.extend((calls > 0).then(|| ".self/ledger.jsonl".to_owned()));
    let life = record.life();
    evidence.extend(life.map(|life| format!(".self/log/life-{life}.log")));
    json!({
        "thought": number, "at": record.at(), "life": life, "mind": data.get("mind"), "wake": wake,
        "round": data.get("round"), "for_the_owner": data.get("owner"),
        "why": wake.map(|wake| found::reasons(house, wake)).unwrap_or_default(),
        "saw": found.before, "put_to_the_model": put.as_ref().map(|put| json!({"path": name(&put.path), "texts": put.texts})),
        "garbled": found.garbled, "monologue": data.get("monologue"), "intent": data.get("intent"),
        "state": data.get("state"), "calls": data.get("tool_calls"), "did": found.after, "sleep_s": data.get("sleep_s"),
        "cost": {"usage": data.get("usage"), "usd": micro as f64 / 1e6, "calls": calls, "models": models},
        "evidence": evidence,
    })
}

/// Sums the calls settled between the thought before and this one, those that ran beside it included.
fn cost(house: &House, since: &str, at: &str) -> Paid {
    let until = gather::settled_by(at).filter(|_| !since.is_empty());
    until.map(|until| gather::paid(house, since, &until)).unwrap_or_default()
}

fn tell(facts: &Value, found: &Found) {
    let said = |name: &str| text(facts, name);
    let number = |name: &str| field::<u64>(facts, name);
    let whose = match field(facts, "for_the_owner") {
        Some(true) => ", for your words",
        Some(false) => ", on its own",
        None => "",
    };
    terminal::field(
        "thought",
        &format!("{} at {}, by {}{whose}", number("thought"), moments::near(said("at")), said("mind")),
    );
    terminal::below(
        1,
        &format!("life {}, wake {}, round {}", number("life"), number("wake"), number("round") + 1),
    );
    let why: Vec<&str> = field(facts, "why");
    // A wake that a word cut in upon has no reason of its own on record.
    let why = match (why.as_slice(), whose) {
        ([], ", for your words") => "your words".to_owned(),
        ([], _) => "not on record".to_owned(),
        (why, _) => why.join("; "),
    };
    terminal::field("woke for", &why);
    saw(facts, found);
    terminal::field("thought", "");
    for garbled in &found.garbled {
        let error = Record(garbled).thought().unwrap_or_default().error();
        terminal::below(1, &format!("a reply that could not be read: {error}"));
    }
    said("monologue")
        .lines()
        .filter(|line| !line.trim().is_empty())
        .for_each(|line| terminal::below(1, line));
    let more = feed::more(said("monologue"), said("intent"));
    if !more.is_empty() {
        terminal::field("meant to", more);
    }
    did(field(facts, "calls"), &found.after);
    let sleep_s = number("sleep_s");
    if sleep_s > 0 {
        terminal::field("then", &format!("rest {}", moments::span(std::time::Duration::from_secs(sleep_s))));
    }
    tell_cost(facts.get("cost").unwrap_or(&Value::Null));
    terminal::field("evidence", "");
    field::<Vec<&str>>(facts, "evidence").iter().for_each(|place| terminal::below(1, place));
}

/// Prints its input: the texts given to the model, or else the records since the thought before.
fn saw(facts: &Value, found: &Found) {
    let put = facts.get("put_to_the_model").filter(|put| put.is_object());
    let rows: Vec<_> = found.before.iter().filter_map(feed::row).collect();
    let what = if rows.is_empty() && put.is_none() { "nothing new on record" } else { "" };
    terminal::field("saw", what);
    if rows.len() > MOST_SEEN {
        terminal::below(1, &format!("… {} records before", rows.len() - MOST_SEEN));
    }
    for row in rows.iter().skip(rows.len().saturating_sub(MOST_SEEN)) {
        terminal::below(1, &format!("{}: {}", row.tag, brief(&row.text, SEEN_CHARS)));
    }
    let Some(put) = put else { return };
    let whole = field::<Vec<&str>>(put, "texts").join("\n\n");
    let chars = whole.chars().count();
    terminal::below(1, &format!("put to the model, {chars} characters, in {}:", text(put, "path")));
    let lines = brief(&whole, PUT_CHARS);
    lines.lines().filter(|line| !line.trim().is_empty()).for_each(|line| terminal::below(2, line));
}

/// Prints its acts: each call with its result, and its messages.
fn did(calls: &[Value], after: &[Value]) {
    let done: Vec<_> = after.iter().filter_map(|record| Some((record, feed::row(record)?))).collect();
    let what = if done.is_empty() && calls.is_empty() { "nothing" } else { "" };
    terminal::field("did", what);
    for (record, row) in &done {
        terminal::below(1, &format!("{}: {}", row.tag, row.text));
        let args = Record(record).action().and_then(Action::args);
        let args = args.filter(|args| args.as_object().is_some_and(|args| !args.is_empty()));
        args.into_iter().for_each(|args| terminal::below(2, &brief(&args.to_string(), ARGS_CHARS)));
    }
    // A call without a record was cut short by the end of its life, or is under way.
    let ran = done.iter().filter(|(record, _)| Record(record).action().is_some()).count();
    for call in calls.iter().skip(ran) {
        let tool = text(call, "tool");
        let answered = done.iter().any(|(record, _)| Record(record).message().is_some());
        if !(answered && matches!(tool, "owner.message" | "memory.append")) {
            terminal::below(1, &format!("{tool}: no result on record"));
        }
    }
}

fn tell_cost(cost: &Value) {
    let usage = cost.get("usage").and_then(Value::as_object);
    let tokens = usage.into_iter().flatten().filter_map(|(name, count)| {
        let count = count.as_u64().filter(|count| *count > 0)?;
        Some(format!("{} {count}", brief(name, 40).replace('_', " ")))
    });
    let tokens = tokens.collect::<Vec<_>>().join(", ");
    let calls: u64 = field(cost, "calls");
    let models = field::<Vec<&str>>(cost, "models").join(", ");
    let usd: f64 = field(cost, "usd");
    let money = (calls > 0)
        .then(|| format!("${usd:.4} for {calls} calls settled since the thought before ({models})"));
    let told: Vec<String> = money.into_iter().chain((!tokens.is_empty()).then_some(tokens)).collect();
    terminal::field("cost", &if told.is_empty() { "nothing on record".to_owned() } else { told.join("; ") });
}
