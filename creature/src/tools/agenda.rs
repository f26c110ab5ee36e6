//! `goal.*`, `opportunity.*`, `task.*`, `gap.*`, `presence.*` and `agenda.*`: what it means to do, and how that stands.

use super::Toolbox;
use super::arguments::Arguments;
use crate::fault::Fault;
use crate::feed::Event;
use agenda::directive::DirectiveChange;
use agenda::gaps::GapChange;
use agenda::goals::{GoalChange, GoalStatus, Status};
use agenda::opportunities::{Move, OpportunityChange, Stage};
use agenda::presence::PresenceChange;
use agenda::tasks::TaskChange;
use agenda::{Change, items, stack};
use jiff::civil::DateTime;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// The furthest a task can be put off, in seconds: ten years.
const FURTHEST_S: usize = 3_650 * 86_400;

/// Lines of the stack in one answer.
const MOST_LINES: usize = 20;

pub fn goal_add(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let (title, cost_usd) = (args.words("title")?.to_owned(), usd(args, "cost_usd")?.unwrap_or(0.0));
    tools.change(&Change::Goal(GoalChange::Add { title, checkpoints: texts(args, "checkpoints")?, cost_usd }))
}

pub fn goal_extend(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let (id, checkpoints) = (id(args)?, texts(args, "checkpoints")?);
    tools.change(&Change::Goal(GoalChange::Extend { id, checkpoints }))
}

pub fn goal_checkpoint(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let status =
        one_of(args, "status", &Status::ALL, Status::name)?.ok_or_else(|| args.fault("needs `status`"))?;
    let number = maybe_number(args, "checkpoint", items::MOST)?;
    let reason = args.maybe_text("reason")?.unwrap_or_default().to_owned();
    tools.change(&Change::Goal(GoalChange::Checkpoint { id: id(args)?, number, status, reason }))
}

pub fn opportunity_add(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let (title, amount_usd) = (args.words("title")?.to_owned(), usd(args, "amount_usd")?.unwrap_or(0.0));
    let next = args.maybe_text("next")?.unwrap_or_default().to_owned();
    tools.change(&Change::Opportunity(OpportunityChange::Add { title, amount_usd, next }))
}

pub fn opportunity_move(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let (id, earned_usd) = (id(args)?, usd(args, "earned_usd")?);
    let to = Move {
        stage: one_of(args, "stage", &Stage::ALL, Stage::name)?,
        amount_usd: usd(args, "amount_usd")?,
        earned_usd,
        next: args.maybe_text("next")?.map(str::to_owned),
        not_before: maybe_number(args, "wait_s", FURTHEST_S)?.map(|wait_s| after(tools, wait_s)),
    };
    let mut came = tools.change(&Change::Opportunity(OpportunityChange::Move { id: id.clone(), to }))?;
    if let (Some(earned_usd), Some(fields)) = (earned_usd.filter(|usd| *usd > 0.0), came.as_object_mut()) {
        let totals = tools.desk.agenda.opportunities.totals();
        tools.feed.tell(Event::Revenue, json!({"id": id, "earned_usd": earned_usd, "totals": totals}));
        fields.insert("totals".to_owned(), json!(totals));
    }
    Ok(came)
}

pub fn task_add(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let text = args.words("text")?.to_owned();
    let at = match (args.maybe_text("at")?, maybe_number(args, "in_s", FURTHEST_S)?) {
        (Some(at), None) => time(tools, at).ok_or_else(|| {
            args.fault("takes a time as `at`, like 2026-05-28T09:00 where your owner lives, or with Z in UTC")
        })?,
        (None, in_s) => after(tools, in_s.unwrap_or(0)),
        (Some(_), Some(_)) => return Err(args.fault("takes `at` or `in_s`, not both")),
    };
    let every_s = maybe_number(args, "every_s", FURTHEST_S)?.and_then(|every_s| i64::try_from(every_s).ok());
    tools.change(&Change::Task(TaskChange::Add { text, at, every_s }))
}

pub fn task_done(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let (id, failed) = (id(args)?, args.maybe_text("failed")?.map(str::to_owned));
    match kind(&id) {
        "directive" => tools.change(&Change::Directive(DirectiveChange::Did { id })),
        _ => tools.change(&Change::Task(TaskChange::Done { id, failed })),
    }
}

pub fn gap_note(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    tools.change(&Change::Gap(GapChange::Note { what: args.words("what")?.to_owned() }))
}

pub fn presence_note(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let days = maybe_number(args, "every_days", 366)?.and_then(|days| u32::try_from(days).ok());
    seen(tools, args.words("place")?, args.maybe_text("text")?.unwrap_or_default(), days)
}

/// Keeps that it posted there.
pub fn seen(tools: &mut Toolbox, place: &str, last: &str, every_days: Option<u32>) -> Result<Value, Fault> {
    let (place, last) = (place.to_owned(), last.to_owned());
    tools.change(&Change::Presence(PresenceChange::Note { place, last, every_days }))
}

pub fn close(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let (id, reason) = (id(args)?, args.words("reason")?.to_owned());
    let ends = [GoalStatus::Done, GoalStatus::Failed, GoalStatus::Dropped];
    let status = one_of(args, "outcome", &ends, GoalStatus::name)?.unwrap_or(GoalStatus::Dropped);
    let change = match kind(&id) {
        "goal" => Change::Goal(GoalChange::Close { id, status, reason }),
        "opportunity" => Change::Opportunity(OpportunityChange::Close { id, reason }),
        "task" => Change::Task(TaskChange::Close { id, reason }),
        "gap" => Change::Gap(GapChange::Close { id, reason }),
        _ => return Err(args.fault("closes goals, opportunities, tasks and gaps, by an id like goal-7")),
    };
    tools.change(&change)
}

pub fn approve(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let id = id(args)?;
    let change = match kind(&id) {
        "goal" => Change::Goal(GoalChange::Approve { id }),
        "opportunity" => Change::Opportunity(OpportunityChange::Approve { id }),
        _ => return Err(args.fault("is for goals and opportunities, by an id like goal-7")),
    };
    tools.change(&change)
}

pub fn list(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let (agenda, rules) = (&tools.desk.agenda, &tools.desk.rules);
    let listed = match args.maybe_text("kind")?.unwrap_or("stack") {
        "stack" => {
            let lines = stack::stack(agenda, rules, &[], tools.clock.now());
            json!({"of": lines.len(), "stack": lines.iter().take(MOST_LINES).collect::<Vec<_>>()})
        }
        "goals" => json!({"goals": agenda.goals.lines()}),
        "opportunities" => {
            let open: Vec<_> =
                agenda.opportunities.list.iter().filter(|one| one.ended_at.is_none()).collect();
            json!({"totals": agenda.opportunities.totals(), "opportunities": open})
        }
        "tasks" => {
            json!({"tasks": agenda.tasks.list.iter().filter(|task| task.ended_at.is_none()).collect::<Vec<_>>()})
        }
        "gaps" => {
            json!({"gaps": agenda.gaps.list.iter().filter(|gap| gap.ended_at.is_none()).collect::<Vec<_>>()})
        }
        "presence" => json!({"presence": agenda.presence.places}),
        _ => return Err(args.fault("lists stack, goals, opportunities, tasks, gaps or presence")),
    };
    Ok(listed)
}

fn id(args: &Arguments) -> Result<String, Fault> {
    Ok(args.words("id")?.trim().to_owned())
}

/// What an item is, by its name.
fn kind(id: &str) -> &str {
    id.split_once('-').map_or("", |(kind, _)| kind)
}

/// A time with its zone, or a local one where the owner lives.
fn time(tools: &Toolbox, at: &str) -> Option<Timestamp> {
    let local = |at: &str| at.parse::<DateTime>().ok()?.to_zoned(tools.desk.rules.time_zone.clone()).ok();
    at.trim().parse().ok().or_else(|| Some(local(at.trim())?.timestamp()))
}

fn after(tools: &Toolbox, seconds: usize) -> Timestamp {
    let seconds = SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX));
    tools.clock.now().checked_add(seconds).unwrap_or(Timestamp::MAX)
}

fn maybe_number(args: &Arguments, name: &str, most: usize) -> Result<Option<usize>, Fault> {
    args.value(name).map(|_| args.number(name, 0, 0..=most)).transpose()
}

/// Dollars, as a number or as people write them.
fn usd(args: &Arguments, name: &str) -> Result<Option<f64>, Fault> {
    let read = match args.value(name) {
        None => return Ok(None),
        Some(Value::String(text)) => text.replace(['$', ',', ' '], "").parse().ok(),
        Some(other) => other.as_f64(),
    };
    read.map(Some).ok_or_else(|| args.fault(format!("takes US dollars as `{name}`")))
}

/// A list of texts; one text is taken as its lines.
fn texts(args: &Arguments, name: &str) -> Result<Vec<String>, Fault> {
    let wrong = || args.fault(format!("takes a list of texts as `{name}`"));
    match args.value(name) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(text.lines().map(str::to_owned).collect()),
        Some(Value::Array(list)) => {
            list.iter().map(|one| one.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}

/// The one that is called so.
fn one_of<T: Copy>(
    args: &Arguments,
    name: &str,
    all: &[T],
    called: fn(T) -> &'static str,
) -> Result<Option<T>, Fault> {
    let Some(said) = args.maybe_text(name)? else { return Ok(None) };
    let found = all.iter().copied().find(|one| called(*one) == said.trim());
    let names = || all.iter().map(|one| called(*one)).collect::<Vec<_>>().join(", ");
    found.map(Some).ok_or_else(|| args.fault(format!("takes one of {} as `{name}`", names())))
}
