//! Facts that instinct tells of itself at once: how things stand, what it does, has, spends and can. Pure.

use super::sources;
use super::table::{self, Ability, TABLE, filled, text};
use super::text::{MOST_TOLD, clip, listed, span};
use super::turn::Turn;
use super::{idle, offer, understand};
use agenda::directive::{self, DirectiveChange, Wish};
use agenda::stack::{Category, Line};
use ground::checklist::Named;
use jiff::Timestamp;
use serde_json::Value;

/// Intents that are no work of instinct's own.
const NO_WORK: [&str; 4] = ["rest", "answer the owner", "tell the owner what came of it", "ask the owner"];

/// The answer to what is asked, for the owner who said it so.
pub fn answer(ability: &Ability, said: &str, turn: &Turn) -> String {
    let text = filled(&ability.answer, |name| fact(name, turn));
    if ability.beyond { text + &kept(said, turn) } else { text }
}

/// Returns the fact that an answer of the table names in braces.
fn fact(name: &str, turn: &Turn) -> String {
    let moment = turn.moment;
    match name {
        "status" => idle::facts(turn),
        "goals" => counted("goal", moment.goals.lines().map(str::to_owned).collect()),
        "tasks" => {
            // Directives are told of as orders.
            let is_task =
                |line: &&Line| line.category == Category::Tasks && !line.id.starts_with("directive-");
            let mine = moment.stack.iter().filter(is_task);
            counted("task", mine.map(|line| format!("{} {} ({})", line.id, line.title, line.why)).collect())
        }
        "orders" => match counted("order", moment.directives.clone()) {
            none if moment.directives.is_empty() => none,
            some => some + &text("orders_end", &[]),
        },
        "asks" => asks(turn),
        "asked" if turn.state.offer.open_since_s.is_none() => text("asked_nothing", &[]),
        "asked" => text("asked_once", &[("say", &offer::TAKE_ALL)]),
        "doing" => doing(turn),
        "costs" if moment.outage.is_empty() => "On instinct I call no model, which costs nothing.".to_owned(),
        "costs" => "What I do in the model's place costs nothing.".to_owned(),
        "budget" if moment.budget.is_empty() => "No budget is kept here.".to_owned(),
        "budget" => moment.budget.trim().to_owned(),
        "life" => moment.life.to_string(),
        "commit" => turn.commit().to_owned(),
        "thoughts" => moment.thoughts_before.to_string(),
        "born" => born(turn),
        "mind" if moment.outage.is_empty() => text("mind_none", &[]),
        "mind" => format!("I have a model, and it gives no answer now: {}.", moment.outage),
        "purpose" => purpose(turn),
        "following" => following(turn),
        "held" => nothing_held(turn),
        "now" => turn.now().to_zoned(turn.zone()).strftime("%Y-%m-%d %H:%M %Z, a %A").to_string(),
        "undo" => TABLE.named("undo").map_or(String::new(), |undo| undo.answer.clone()),
        "help" => table::help(false),
        "help_all" => table::help(true),
        name => text(name, &[]),
    }
}

/// Says that words are kept for a model, and how to drop them; empty where they are not.
pub fn kept(said: &str, turn: &Turn) -> String {
    let begin: String = said.trim().chars().take(40).collect();
    let request = turn.moment.requests.iter().find_map(|line| {
        let (id, rest) = line.strip_prefix("Open request ")?.split_once(' ')?;
        // What asks for no tool of the owner's ends with this answer.
        (rest.contains(&format!("\"{begin}")) && rest.contains(" allowed for it.")).then_some(id)
    });
    let told = |id| format!(" I keep it as {id}, for when I have a model; `cancel {id}` drops it.");
    request.map_or(String::new(), told)
}

/// Says what holds it still, or that nothing does.
pub fn nothing_held(turn: &Turn) -> String {
    let now = turn.now();
    let holds = turn.moment.directives.iter().find_map(|line| {
        let text = line.split('"').nth(1)?;
        let DirectiveChange::Set { wish, .. } = directive::understand(text, now, &turn.zone())?.change else {
            return None;
        };
        match wish {
            Wish::Quiet { topic } if !topic.is_empty() => Some((text, "message me again")),
            Wish::Pause | Wish::Quiet { .. } => Some((text, "resume")),
            _ => None,
        }
    });
    holds.map_or(text("held_none", &[]), |(said, word)| {
        text("held", &[("text", &clip(said, 80)), ("word", &word)])
    })
}

fn born(turn: &Turn) -> String {
    let born = turn.state.born_at_s.and_then(|at_s| Timestamp::from_second(at_s).ok());
    let shown = |born: Timestamp| born.to_zoned(turn.zone()).strftime("I first woke on %-d %B %Y at %H:%M");
    born.map_or("`./feral history` tells since when I run".to_owned(), |born| shown(born).to_string())
}

fn purpose(turn: &Turn) -> String {
    let lines = turn.moment.purpose.lines().map(|line| line.trim_start_matches('#').trim());
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty() && *line != "Purpose").take(2).collect();
    match lines.join(" ").as_str() {
        "" => text("purpose_none", &[]),
        lines => text("purpose", &[("begin", &clip(lines, 300))]),
    }
}

fn following(turn: &Turn) -> String {
    let all = turn.followed();
    let line = |named: &Named| {
        let fails = match turn.state.fails(&named.url) {
            0 => String::new(),
            fails => format!(", did not answer {fails} times in a row"),
        };
        format!("{} ({}{fails})", clip(&named.url, 200), if named.feed { "feed" } else { "page" })
    };
    let lines: Vec<String> = all.iter().map(line).collect();
    let next =
        sources::next_due(turn).map(|(due_s, host)| format!(" Next I look at {host}, in {}.", span(due_s)));
    let next = next.unwrap_or_default();
    match lines.len() {
        0 => text("following_none", &[]),
        count => text("following", &[("count", &count), ("names", &lines.join("; ")), ("next", &next)]),
    }
}

fn counted(what: &str, lines: Vec<String>) -> String {
    let lines: Vec<String> = lines.iter().map(|line| clip(line, 300)).collect();
    let shown = listed(&lines);
    match lines.len() {
        0 => format!("I have no {what}."),
        1 => format!("1 {what}: {}.", shown.trim_end_matches('.')),
        count => format!("{count} {what}s: {}.", shown.trim_end_matches('.')),
    }
}

fn asks(turn: &Turn) -> String {
    let mut told = match turn.moment.asks_waiting {
        0 => "No act waits for your yes.".to_owned(),
        count => format!("{count} acts wait for your yes: `./feral asks` shows them."),
    };
    for line in turn.moment.stack.iter().filter(|line| line.awaits()).take(MOST_TOLD) {
        told += &format!(" {} ({}): say `approve {}`.", line.id, clip(&line.title, 120), line.id);
    }
    told
}

/// Says what it last did by itself, and what comes next.
fn doing(turn: &Turn) -> String {
    let moment = turn.moment;
    let thoughts = moment.records.iter().rev().filter(|record| record.kind == "thought");
    let worked = thoughts.filter_map(|record| {
        let intent = record.data.get("intent").and_then(Value::as_str).filter(|intent| !intent.is_empty())?;
        let at = record.at.parse::<Timestamp>().ok()?;
        (!NO_WORK.contains(&intent)).then(|| (turn.now_s.saturating_sub(at.as_second()), clip(intent, 160)))
    });
    let last = match worked.take(1).next() {
        Some((ago_s, intent)) => format!("Last, {} ago: {intent}.", span(ago_s)),
        None => "I have done nothing by myself of late.".to_owned(),
    };
    let line = |line: &Line| format!("{} ({})", clip(&line.title, 160), line.id);
    let mine = moment.stack.iter().find(|line| understand::task(&line.next).is_some());
    let others = moment.stack.iter().find(|line| understand::task(&line.next).is_none());
    let next = match (mine, sources::next_due(turn)) {
        _ if moment.paused => "I am paused by your word; `resume` ends that.".to_owned(),
        (Some(mine), _) => format!("Next: {}.", line(mine)),
        (None, Some((due_s, host))) => format!("Next: a look at {host} in {}.", span(due_s)),
        (None, None) if others.is_some() => "I have nothing else that I could do by myself.".to_owned(),
        (None, None) => "Nothing waits to be done; PURPOSE.md and self/HEARTBEAT.md give me work.".to_owned(),
    };
    let waits =
        others.map_or(String::new(), |other| format!(" For a mind that reads waits: {}.", line(other)));
    format!("{last} {next}{waits}")
}
