//! The weekly summary: what the week came to, in a few sentences made without a model. Pure.

use agenda::Agenda;
use agenda::goals::{GoalStatus, Goals};
use agenda::outbox::MOST_SUMMARY;
use ground::text::shorten;
use jiff::{SignedDuration, Timestamp};

const WEEK: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Goals that are named, and the characters of each title.
const NAMED: usize = 4;
const LONGEST_TITLE: usize = 80;

/// Characters of what the creature did, which leave room for the goals.
const LONGEST_DID: usize = 2_000;

/// The summary of the week that ends at `now`; `did` tells what its records come to.
pub fn text(agenda: &Agenda, did: &str, now: Timestamp) -> String {
    let (reached, open) =
        (goals(&agenda.goals, GoalStatus::Done, now), goals(&agenda.goals, GoalStatus::Open, now));
    let (awaiting, money) = (goals(&agenda.goals, GoalStatus::Awaiting, now), agenda.opportunities.totals());
    let asked = match agenda.reasons.summary() {
        asked if asked.is_empty() => asked,
        asked => format!(" Of my own accord, {asked} ({}).", agenda.reasons.lines().join("; ")),
    };
    let text = format!(
        "The week to {}. Goals reached: {reached}. Open: {open}. Waiting for your yes: {awaiting}. Earned so far: {:.2} \
         USD; pending: {:.2} USD; in the pipeline: {:.2} USD.{asked} {}",
        now.strftime("%Y-%m-%d"),
        money.earned_usd,
        money.pending_usd,
        money.pipeline_usd,
        shorten(did, LONGEST_DID),
    );
    shorten(&text, MOST_SUMMARY)
}

/// Counts the goals of this status, done ones only if they ended this week, and names the first few by title.
fn goals(goals: &Goals, status: GoalStatus, now: Timestamp) -> String {
    let counts = |at: Timestamp| status != GoalStatus::Done || now.duration_since(at) <= WEEK;
    let all: Vec<&str> = goals
        .list
        .iter()
        .filter(|goal| goal.status == status && counts(goal.changed_at))
        .map(|goal| goal.about.as_str())
        .collect();
    match all.as_slice() {
        [] => "none".to_owned(),
        all => {
            let named: Vec<String> =
                all.iter().take(NAMED).map(|title| shorten(title, LONGEST_TITLE)).collect();
            format!("{} ({}{})", all.len(), named.join("; "), if all.len() > NAMED { "; …" } else { "" })
        }
    }
}
