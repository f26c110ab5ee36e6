//! The agenda on instinct: works the first ready line that it knows how to, and says how that went. Pure.

use super::state::{Job, Origin};
use super::text::clip;
use super::turn::Turn;
use super::{tasks, understand};
use agenda::stack::{self, Line};
use serde_json::{Value, json};

pub fn drive(turn: &mut Turn) {
    let moment = turn.moment;
    if moment.owner {
        // Its own plans wait until the owner is answered.
        return;
    }
    let now = turn.now();
    let mut lines = stack::ready(&moment.stack, now).peekable();
    // Only the line a wake begins with counts as looked at, and so only that one asks: a day later again.
    if let Some(line) = lines.peek().filter(|line| line.awaits() && moment.round == 0) {
        return ask(line, turn);
    }
    let able = |line: &Line| Some((line.id.clone(), understand::task(&line.next)?));
    let Some((id, task)) = lines.find_map(able) else { return };
    turn.does(format!("agenda: {id}"), format!("On my agenda: {id}."));
    if let Err(why) = tasks::begin(&task, Origin::Line(id.clone()), turn) {
        mark(&id, Err(why), turn);
    }
}

/// Marks a line by what came of its call.
pub fn settled(id: &str, job: &Job, result: &Value, turn: &mut Turn) {
    turn.intend("bring the agenda up to date");
    if let Some(outcome) = tasks::finish(job, result, turn) {
        mark(id, outcome, turn);
    }
}

fn mark(id: &str, outcome: Result<String, String>, turn: &mut Turn) {
    let failed = outcome.as_ref().err().map(|why| clip(why, 240));
    turn.say(match &outcome {
        Ok(outcome) => format!("{id}: {outcome}."),
        Err(why) => format!("{id} failed: {why}."),
    });
    match (id.starts_with("goal-"), failed) {
        (true, None) => turn.call("goal.checkpoint", json!({"id": id, "status": "done"})),
        (true, Some(why)) => {
            turn.call("goal.checkpoint", json!({"id": id, "status": "failed", "reason": why}));
        }
        (false, failed) => turn.call("task.done", json!({"id": id, "failed": failed})),
    }
}

/// Asks the owner for what needs a yes.
fn ask(line: &Line, turn: &mut Turn) {
    let (id, title, why) = (&line.id, clip(&line.title, 200), &line.why);
    turn.does("ask the owner", format!("{id} needs my owner's yes, and I ask for it."));
    let words = format!("{title}: {why}. Say `approve {id}` to let me go on with it.");
    turn.call("owner.message", json!({"kind": "approval", "text": words}));
}
