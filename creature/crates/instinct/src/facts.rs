//! What instinct tells of itself at once: how things stand, what it does, has, spends and can. Pure.

use super::text::{clip, span};
use super::turn::Turn;
use super::{abilities, idle, sources, tasks};
use agenda::stack::{Category, Line};
use jiff::Timestamp;
use serde_json::Value;

/// Lines of one kind that are told.
const MOST_TOLD: usize = 5;

/// Intents that are no work of instinct's own.
const NO_WORK: [&str; 4] = ["rest", "answer the owner", "tell the owner what came of it", "ask the owner"];

/// A question that instinct can answer at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    Status,
    Goals,
    Tasks,
    Orders,
    Asks,
    Doing,
    Spent,
    Who,
    Time,
    Help,
    Hello,
    Thanks,
    Fine,
    Bye,
    YesOrNo,
    /// A reminder without a time.
    NoTime,
}

impl Fact {
    /// Part of a talk rather than a question: whoever the owner talks with answers it.
    pub fn is_of_talk(self) -> bool {
        matches!(self, Fact::Hello | Fact::Thanks | Fact::Fine | Fact::Bye | Fact::YesOrNo)
    }
}

/// The answer, for the owner.
pub fn told(fact: Fact, turn: &Turn) -> String {
    match fact {
        Fact::Status => idle::facts(turn),
        Fact::Goals => counted("goal", turn.moment.goals.lines().map(str::to_owned).collect()),
        Fact::Tasks => {
            // Directives are told of as orders.
            let is_task = |line: &&Line| line.category == Category::Tasks && !line.id.starts_with("directive-");
            let mine = turn.moment.stack.iter().filter(is_task);
            counted("task", mine.map(|line| format!("{} {} ({})", line.id, line.title, line.why)).collect())
        }
        Fact::Orders => match counted("order", turn.moment.directives.clone()) {
            none if turn.moment.directives.is_empty() => none,
            some => format!("{some} `cancel directive-…` ends one, `cancel task-…` what it has already become."),
        },
        Fact::Asks => asks(turn),
        Fact::Doing => doing(turn),
        Fact::Spent => spent(turn),
        Fact::Who => who(turn),
        Fact::Time => {
            let now = Timestamp::from_second(turn.now_s).unwrap_or_default().to_zoned(turn.zone());
            format!("It is {}.", now.strftime("%Y-%m-%d %H:%M %Z"))
        }
        Fact::Help => abilities::help(),
        Fact::Hello => {
            "Hello. I live on instinct, without a model that reads; `help` tells what I can do.".to_owned()
        }
        Fact::Thanks => "You are welcome.".to_owned(),
        Fact::Fine => "All right.".to_owned(),
        Fact::Bye => "Until then. I go on meanwhile; `quiet` keeps me still.".to_owned(),
        Fact::YesOrNo => format!("I asked nothing that a yes or a no answers. {}", asks(turn)),
        Fact::NoTime => "I see no time in that. Say it as in `remind me in 20 min to look`, `remind me tomorrow at 9:00 to \
            call`, `remind me daily 08:30 to stretch`."
            .to_owned(),
    }
}

fn counted(what: &str, lines: Vec<String>) -> String {
    let shown: Vec<String> = lines.iter().take(MOST_TOLD).map(|line| clip(line, 300)).collect();
    let more = match lines.len().saturating_sub(MOST_TOLD) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    match lines.len() {
        0 => format!("I have no {what}."),
        1 => format!("1 {what}: {}.", shown.join("").trim_end_matches('.')),
        count => format!("{count} {what}s: {}{more}.", shown.join("; ").trim_end_matches('.')),
    }
}

fn asks(turn: &Turn) -> String {
    let mut told = match turn.moment.asks_waiting {
        0 => "No act waits for your yes.".to_owned(),
        count => format!("{count} acts wait for your yes: `cargo run -p guardian -- asks` shows them."),
    };
    for line in turn.moment.stack.iter().filter(|line| line.awaits()).take(MOST_TOLD) {
        told += &format!(" {} ({}): say `approve {}`.", line.id, clip(&line.title, 120), line.id);
    }
    told
}

/// What it last did by itself, and what comes next.
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
    let mine = moment.stack.iter().find(|line| tasks::parse(&line.next).is_some());
    let others = moment.stack.iter().find(|line| tasks::parse(&line.next).is_none());
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

fn spent(turn: &Turn) -> String {
    let budget = turn.moment.budget.trim();
    let mine = match turn.moment.outage.is_empty() {
        true => "On instinct I call no model, which costs nothing.",
        false => "What I do in the model's place costs nothing.",
    };
    match budget {
        "" => format!("{mine} No budget is kept here."),
        budget => format!("{mine} {budget}"),
    }
}

fn who(turn: &Turn) -> String {
    let moment = turn.moment;
    let lines = moment.purpose.lines().map(|line| line.trim_start_matches('#').trim());
    let purpose = lines.filter(|line| !line.is_empty() && *line != "Purpose").take(1).next();
    let purpose = purpose.map_or("I have no purpose yet: PURPOSE.md is empty".to_owned(), |line| {
        format!("My purpose begins: \"{}\"", clip(line, 160))
    });
    format!(
        "I am Feral, a program that keeps itself running and may edit itself; life {} on commit {}. I live on instinct: I know a \
         few words by name and understand nothing else. {purpose}.",
        moment.life,
        turn.commit()
    )
}
