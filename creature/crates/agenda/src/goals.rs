//! Goals and their checkpoints: what is tried, how often, and what is parked with its reason.

use crate::items::{self, Item, ItemKind, Items, LONGEST_REASON, LONGEST_TITLE, Tries};
use crate::text;
use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Steps of a request in phases, and characters of one step.
const MOST_PHASES: usize = 8;
const LONGEST_PHASE: usize = 200;

/// Checkpoints of one goal.
pub const MOST_CHECKPOINTS: usize = 32;

/// Ended goals that `lines` still lists.
const ENDED_TOLD: usize = 5;

/// All goals, the oldest first.
pub type Goals = Items<Goal>;

/// Something to reach, by checkpoints in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Goal {
    #[serde(deserialize_with = "items::lenient")]
    pub status: GoalStatus,
    pub cost_usd: f64,
    pub checkpoints: Vec<Checkpoint>,
    /// Time before which its next step is not worked on.
    pub not_before: Option<Timestamp>,
}

impl ItemKind for Goal {
    const NAME: &'static str = "goal";
    const FIELDS: &'static [(&'static str, &'static str)] = &[("about", "title"), ("outcome", "reason")];

    fn ended_at(goal: &Item<Goal>) -> Option<Timestamp> {
        (!matches!(goal.status, GoalStatus::Open | GoalStatus::Awaiting)).then_some(goal.changed_at)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalStatus {
    Open,
    /// Too costly to begin without the owner's yes; also stands for a status that only a newer self knows.
    #[default]
    Awaiting,
    Done,
    Failed,
    Dropped,
}

/// Checkpoint: a step of a goal, and its tries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checkpoint {
    pub text: String,
    #[serde(deserialize_with = "items::lenient")]
    pub status: Status,
    #[serde(flatten)]
    pub tries: Tries,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    Active,
    Done,
    /// The last try failed; it is tried again.
    Failed,
    /// Parked until it is made pending again; also stands for a status that only a newer self knows.
    #[default]
    Blocked,
}

/// A change of the goals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum GoalChange {
    /// Without checkpoints, the title is the only one.
    Add {
        title: String,
        #[serde(default)]
        checkpoints: Vec<String>,
        #[serde(default)]
        cost_usd: f64,
    },
    Extend {
        id: String,
        checkpoints: Vec<String>,
    },
    /// `checkpoint` counts from 1; without it the next one is meant.
    Checkpoint {
        id: String,
        checkpoint: Option<usize>,
        status: Status,
        #[serde(default)]
        reason: String,
    },
    /// The goal's next step is not worked on before this time.
    Wait {
        id: String,
        not_before: Timestamp,
    },
    /// The owner's yes.
    Approve {
        id: String,
    },
    Close {
        id: String,
        #[serde(default)]
        outcome: GoalStatus,
        reason: String,
    },
}

impl Items<Goal> {
    /// A line per goal: the open ones, oldest first, then the newest few that ended.
    pub fn lines(&self) -> Vec<String> {
        let ended = self.list.iter().rev().filter(|goal| !goal.is_open()).take(ENDED_TOLD);
        self.open().chain(ended).map(Item::<Goal>::line).collect()
    }
}

impl Goal {
    /// The checkpoint to work on and its index, from 0; none where all are done or parked.
    pub fn next(&self) -> Option<(usize, &Checkpoint)> {
        let left = |step: &&Checkpoint| !matches!(step.status, Status::Done | Status::Blocked);
        self.checkpoints.iter().enumerate().find(|(_, step)| left(step))
    }

    fn extend(&mut self, checkpoints: &[String]) -> Result<(), Refusal> {
        if self.checkpoints.len() + checkpoints.len() > MOST_CHECKPOINTS {
            let error = format!("a goal has at most {MOST_CHECKPOINTS} checkpoints");
            return Err(Refusal::new(error, "make two goals of it"));
        }
        let step = |text: &String| {
            let text = items::needed(text, "a checkpoint", LONGEST_TITLE)?;
            Ok(Checkpoint { text, status: Status::Pending, tries: Tries::default() })
        };
        // All are checked before one is added: a refusal leaves the goal as it was.
        self.checkpoints.extend(checkpoints.iter().map(step).collect::<Result<Vec<_>, _>>()?);
        Ok(())
    }
}

impl Item<Goal> {
    /// The goal and how each of its checkpoints stands, in one line.
    pub fn line(&self) -> String {
        let mut line = format!("{} ({}) {}", self.id, items::name(self.status), self.about);
        if !self.is_open() {
            return if self.outcome.is_empty() { line } else { format!("{line} ({})", self.outcome) };
        }
        for (number, step) in (1..).zip(&self.checkpoints) {
            line += &format!("; {number} {}: {}", items::name(step.status), text::clip(&step.text, 120));
            if !step.tries.reason.is_empty() {
                let why = text::clip(&step.tries.reason, 120);
                line += &format!(" (tried {} times: {why})", step.tries.attempts);
            }
        }
        line
    }

    /// Sets the status of checkpoint `number`, from 1, else of the next; a goal with all of them done is done.
    fn mark(
        &mut self,
        number: Option<usize>,
        status: Status,
        reason: &str,
        now: Timestamp,
    ) -> Result<Value, Refusal> {
        let next = self.next().map(|(at, _)| at);
        let at = number.map_or(next, |number| number.checked_sub(1));
        let count = self.checkpoints.len();
        let Some((at, step)) = at.and_then(|at| Some((at, self.checkpoints.get_mut(at)?))) else {
            let hint = format!("name one from 1 to {count}; what is parked is not next by itself");
            return Err(Refusal::new(format!("{} has no such checkpoint", self.id), hint));
        };
        let before = step.clone();
        if matches!(status, Status::Failed | Status::Blocked) {
            items::needed(reason, "the reason", LONGEST_REASON)?;
        } else if before.status == Status::Blocked {
            step.tries.forgive();
        }
        step.status = status;
        match status {
            Status::Done => step.tries.succeed(),
            Status::Blocked => {
                step.tries.forgive();
                step.tries.reason = text::clip(reason, LONGEST_REASON);
            }
            Status::Failed if step.tries.fail(reason, now) => step.status = Status::Blocked,
            _ => {}
        }
        let (status, attempts) = (step.status, step.tries.attempts);
        if *step != before {
            self.changed_at = now;
        }
        if self.checkpoints.iter().all(|step| step.status == Status::Done) {
            self.status = GoalStatus::Done;
        }
        let next = self.next().map(|(at, step)| json!({"number": at + 1, "text": step.text}));
        Ok(json!({
            "id": self.id, "checkpoint": at + 1, "status": status, "attempts": attempts,
            "goal": self.status, "next": next,
        }))
    }
}

/// Verbs that begin a request for something to be made.
const MAKE: [&str; 5] = ["build", "make", "write", "create", "draft"];

/// Words that follow such a verb.
const MADE: [&str; 7] = ["me", "us", "a", "an", "the", "my", "your"];

/// The steps of a request in phases, as in "first read it, then write a note" or "build me a page, then share it"; none
/// where it is no such request.
pub fn phases(text: &str) -> Option<Vec<String>> {
    let text = text.trim().trim_end_matches('.');
    let (first, rest) = text.split_once([' ', ',', ':'])?;
    let first = first.to_lowercase();
    // "first" belongs to no step; the verb of "build me a shop, then advertise it" does.
    let rest = match first.as_str() {
        "first" => rest,
        verb if MAKE.contains(&verb) && rest.split(' ').next().is_some_and(|word| MADE.contains(&word)) => {
            text
        }
        _ => return None,
    };
    if text.contains(['\n', '?', '"']) {
        return None;
    }
    let ways = [", and then ", " and then ", "; then ", ". Then ", ", then "];
    let steps = ways.iter().fold(rest.to_owned(), |steps, way| steps.replace(way, " then "));
    let steps: Vec<String> =
        steps.split(" then ").map(|step| step.trim_matches([' ', ',']).to_owned()).collect();
    let said = |step: &String| step.contains(' ') && step.chars().count() <= LONGEST_PHASE;
    ((2..=MOST_PHASES).contains(&steps.len()) && steps.iter().all(said)).then_some(steps)
}

pub(crate) fn apply(agenda: &mut Agenda, change: &GoalChange, when: When) -> Result<Value, Refusal> {
    let now = when.now;
    match change {
        GoalChange::Add { title, checkpoints, cost_usd } => add(agenda, title, checkpoints, *cost_usd, when),
        GoalChange::Extend { id, checkpoints } => {
            let goal = begun(agenda, id)?;
            goal.extend(checkpoints)?;
            goal.changed_at = now;
            Ok(json!({"id": id, "checkpoints": goal.checkpoints.len()}))
        }
        GoalChange::Checkpoint { id, checkpoint, status, reason } => {
            let goal = begun(agenda, id)?;
            let marked = goal.mark(*checkpoint, *status, reason, now)?;
            goal.not_before = None;
            Ok(marked)
        }
        GoalChange::Wait { id, not_before } => {
            begun(agenda, id)?.not_before = Some(*not_before);
            Ok(json!({"id": id, "not_before": not_before}))
        }
        GoalChange::Approve { id } => {
            let goal = agenda.goals.find(id)?;
            items::owners_yes(id, when)?;
            goal.status = GoalStatus::Open;
            goal.changed_at = now;
            Ok(json!({"id": id, "status": goal.status}))
        }
        GoalChange::Close { id, outcome, reason } => {
            let goal = agenda.goals.find(id)?;
            if matches!(outcome, GoalStatus::Open | GoalStatus::Awaiting) {
                return Err(Refusal::new("that is no end", "a goal ends as done, failed or dropped"));
            }
            goal.status = *outcome;
            goal.end(reason, now);
            Ok(json!({"id": id, "status": outcome}))
        }
    }
}

fn add(
    agenda: &mut Agenda,
    title: &str,
    steps: &[String],
    cost_usd: f64,
    when: When,
) -> Result<Value, Refusal> {
    let title = items::needed(title, "the title", LONGEST_TITLE)?;
    let cost_usd = items::checked_usd(cost_usd)?;
    let awaits = cost_usd > when.rules.goal_cost_usd;
    let status = if awaits { GoalStatus::Awaiting } else { GoalStatus::Open };
    let mut goal = Goal { status, cost_usd, ..Goal::default() };
    goal.extend(if steps.is_empty() { std::slice::from_ref(&title) } else { steps })?;
    let goal = agenda.goals.add(&mut agenda.next, title, goal, when)?;
    Ok(json!({"id": goal.id, "status": goal.status, "checkpoints": goal.checkpoints.len()}))
}

/// The open goal of this id; refused where it still awaits the owner's yes.
fn begun<'a>(agenda: &'a mut Agenda, id: &str) -> Result<&'a mut Item<Goal>, Refusal> {
    let goal = agenda.goals.find(id)?;
    if goal.status == GoalStatus::Awaiting { Err(items::awaits(id)) } else { Ok(goal) }
}
