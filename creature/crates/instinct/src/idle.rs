//! Idleness: says that nothing was found, and rests until something is due, or ever longer. Pure.

use super::text::{host, span};
use super::turn::Turn;
use super::{digest, sources};
use ground::checklist;

/// Idle wakes in a row after which the rest grows by one more `idle_rest_s`.
const PATIENCE: u64 = 5;

/// Seconds to rest, when no drive wants to act.
pub fn rest(turn: &mut Turn) -> u64 {
    turn.idle = turn.is_empty();
    let (shortest, longest) = turn.moment.rest_s;
    let idle_wakes = turn.state.idle_wakes;
    let grown = turn.pace.idle_rest_s.saturating_mul(1 + idle_wakes / PATIENCE);
    // Where something comes due by the clock there is nothing to see before.
    let due_s =
        sources::next_due(turn).map(|(due_s, _)| due_s).into_iter().chain(digest::next_due(turn)).min();
    let due_s = due_s.and_then(|due_s| u64::try_from(due_s).ok());
    let rest_s = due_s.unwrap_or(grown).min(longest).max(shortest);
    // No rest at all would ask for another round.
    let rest_s = rest_s.max(1);
    if turn.moment.round == 0 {
        let idle_wakes = idle_wakes.saturating_add(1);
        turn.state.idle_wakes = idle_wakes;
        turn.say(format!("Nothing asks for me; idle wakes in a row: {idle_wakes}."));
    } else {
        turn.say("Nothing more to do in this wake.");
    }
    let tally = tally(turn);
    turn.say(format!("{tally} I rest {rest_s} s."));
    rest_s
}

/// Tells the owner how things stand.
pub fn facts(turn: &Turn) -> String {
    let (moment, commit) = (turn.moment, turn.commit());
    let (life, thoughts) = (moment.life, moment.thoughts_before);
    let tally = tally(turn);
    let mut facts = format!("Life {life} on commit {commit}, on instinct, {thoughts} thoughts. {tally}");
    let failing: Vec<_> = turn.state.sources.iter().filter(|(_, source)| source.fails > 0).collect();
    for (source, known) in failing.iter().take(4) {
        facts += &format!(" {} failed {} times.", host(source), known.fails);
    }
    if let Some(trial) = &turn.state.change.trial {
        facts += &format!(" On trial: {} from {} to {}.", trial.name, trial.from, trial.to);
    }
    let is_well = !moment.paused && failing.is_empty() && moment.outage.is_empty();
    let waiting = moment.asks_waiting;
    let more = [
        (moment.paused, " I am paused by your word; `resume` ends that.".to_owned()),
        (is_well, " Nothing is stuck and nothing fails.".to_owned()),
        (!moment.outage.is_empty(), format!(" I stand in for the model: {}.", moment.outage)),
        (!moment.budget.is_empty(), format!(" {}", moment.budget)),
        (waiting > 0, format!(" {waiting} acts wait for your yes (`./feral asks`).")),
    ];
    facts.extend(more.into_iter().filter(|(holds, _)| *holds).map(|(_, told)| told));
    facts
}

fn tally(turn: &Turn) -> String {
    let sources = turn.followed().len();
    let open = checklist::items(&turn.moment.checklist).len();
    let (notes, fresh) = (turn.state.notes, turn.state.fresh.len());
    let next = match sources::next_due(turn) {
        Some((due_s, host)) => format!("next look at {host} in {}", span(due_s)),
        None => "none named in PURPOSE.md".to_owned(),
    };
    format!("Sources: {sources}, {next}. Open items: {open}. Notes: {notes}, unused {fresh}.")
}
