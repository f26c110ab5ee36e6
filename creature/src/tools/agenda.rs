//! Tools that change or list the agenda: `goal.*`, `opportunity.*`, `task.*`, `pulse.*`, `agenda.*` and others.
//!
//! Invariant: the arguments of a call are the fields of an `agenda::Change` as memory keeps it; only times (`at`,
//! `in_s`, `wait_s`) are converted.

use super::arguments::Arguments;
use super::tool_context::{ToolContext, with};
use crate::fault::Fault;
use crate::store::feed::Event;
use crate::subsessions::review;
use agenda::goals::GoalChange;
use agenda::presence::PresenceChange;
use agenda::{Change, stack};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

/// Lines of the stack in one answer.
const MOST_LINES: usize = 20;

/// Changes the agenda as a call says: `goal.add` is the change `add` of goals.
pub fn change(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let wait = after(tools, args, "wait_s").map(|wait| ("not_before", wait));
    changed(tools, args, wait, args.tool().split_once('.').unwrap_or_default())
}

/// Runs `change` for a goal; with `not_before` its next step waits until then.
pub fn goal(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let zone = tools.store.rules.time_zone.clone();
    let wrong = || args.fault("takes a time as `not_before`, like 2026-05-28T09:00 where your owner lives");
    let not_before = args.said("not_before").map(|at| moment(at, &zone).ok_or_else(wrong)).transpose()?;
    let done = change(tools, args)?;
    let id = done.get("id").and_then(Value::as_str).map(str::to_owned);
    if let (Some(not_before), Some(id)) = (not_before, id) {
        tools.change(&Change::Goal(GoalChange::Wait { id, not_before }))?;
    }
    Ok(with(done, json!({"not_before": not_before})))
}

/// A task is due at once unless the call says otherwise.
pub fn add_task(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let at = due(tools, args)?;
    changed(tools, args, Some(("at", at)), ("task", "add"))
}

/// Ends a task, or notes that a recurring order of the owner's (`directive-7`) was carried out.
pub fn end_task(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let did = if of(args) == "directive" { ("directive", "did") } else { ("task", "done") };
    changed(tools, args, None, did)
}

/// The kind of item that the argument `id` names: `goal` of `goal-7`, empty where there is none.
fn of(args: &Arguments) -> &str {
    args.text("id").trim().split_once('-').map_or("", |(kind, _)| kind)
}

fn changed(
    tools: &mut ToolContext<'_>,
    args: &Arguments,
    time: Option<(&str, Timestamp)>,
    (kind, verb): (&str, &str),
) -> Result<Value, Fault> {
    let mut fields: Map<String, Value> = args.given().clone();
    for value in fields.values_mut() {
        if let Value::String(text) = value {
            *text = text.trim().to_owned();
        }
    }
    fields.extend(time.map(|(name, at)| (name.to_owned(), json!(at))));
    let kind = if kind == "agenda" { of(args) } else { kind };
    if kind == "pulse" && verb != "add" {
        review::own(tools, args.text("id").trim())?;
    }
    fields.insert("do".to_owned(), json!(verb));
    let change = serde_json::from_value(json!({kind: fields}));
    let change = change.map_err(|error| args.fault(format!("is not understood: {error}")))?;
    tools.change(&change)
}

/// Runs `change` for a new opportunity, which is told in the feed as a lead.
pub fn opportunity_add(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let added = change(tools, args)?;
    let data =
        json!({"id": added.get("id"), "lead": args.value("title"), "amount_usd": args.value("amount_usd")});
    tools.store.feed.tell(Event::Revenue, data);
    Ok(added)
}

/// Runs `change` for an opportunity; tells in the feed what it newly earned.
pub fn opportunity_move(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let before = tools.store.agenda.opportunities.earned_usd;
    let moved = change(tools, args)?;
    let totals = tools.store.agenda.opportunities.totals();
    let earned_usd = ((totals.earned_usd - before) * 100.0).round() / 100.0;
    if earned_usd > 0.0 {
        let data = json!({"id": args.value("id"), "earned_usd": earned_usd, "totals": totals});
        tools.store.feed.tell(Event::Revenue, data);
    }
    Ok(with(moved, json!({"totals": totals})))
}

/// Notes on the agenda that the text `last` was posted at `place`.
pub fn seen(tools: &mut ToolContext<'_>, place: &str, last: &str) -> Result<Value, Fault> {
    let (place, last) = (place.to_owned(), last.to_owned());
    tools.change(&Change::Presence(PresenceChange::Note { place, last, every_days: None }))
}

pub fn list(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (agenda, rules) = (&tools.store.agenda, &tools.store.rules);
    Ok(match args.maybe_text("kind").unwrap_or("stack") {
        "stack" => {
            let around = stack::Around { talks: Some(Vec::new()), ..stack::Around::default() };
            let lines = stack::stack(agenda, rules, &around, tools.store.clock.now());
            let shown: Vec<_> = lines.iter().take(MOST_LINES).collect();
            json!({"of": lines.len(), "stack": shown})
        }
        "goals" => json!({"goals": agenda.goals.lines()}),
        "opportunities" => with(
            json!(agenda.opportunities.items.to_open()),
            json!({"totals": agenda.opportunities.totals()}),
        ),
        "requests" => json!(agenda.requests.to_open()),
        "tasks" => json!(agenda.tasks.to_open()),
        "gaps" => json!(agenda.gaps.to_open()),
        "presence" => json!(agenda.presence),
        _ => return Err(args.fault("lists stack, requests, goals, opportunities, tasks, gaps or presence")),
    })
}

/// Returns when a task is due: a time with its zone, a local one where the owner lives, or so many seconds from now.
fn due(tools: &ToolContext<'_>, args: &Arguments) -> Result<Timestamp, Fault> {
    let zone = &tools.store.rules.time_zone;
    match (args.maybe_text("at").map(str::trim), after(tools, args, "in_s")) {
        (Some(at), None) => moment(at, zone).ok_or_else(|| {
            args.fault("takes a time as `at`, like 2026-05-28T09:00 where your owner lives, or with Z in UTC")
        }),
        (None, at) => Ok(at.unwrap_or_else(|| tools.store.clock.now())),
        (Some(_), Some(_)) => Err(args.fault("takes `at` or `in_s`, not both")),
    }
}

fn after(tools: &ToolContext<'_>, args: &Arguments, name: &str) -> Option<Timestamp> {
    let seconds = i64::try_from(args.number(name)?).ok()?;
    tools.store.clock.now().checked_add(SignedDuration::from_secs(seconds)).ok()
}

/// Parses a moment; one written without a zone is taken to be in `zone`.
pub(super) fn moment(at: &str, zone: &TimeZone) -> Option<Timestamp> {
    let local = || Some(at.parse::<DateTime>().ok()?.to_zoned(zone.clone()).ok()?.timestamp());
    at.parse().ok().or_else(local)
}
