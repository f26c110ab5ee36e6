//! The autonomous state: the owner's orders and the work of the loop, as one short block for a thought.
//!
//! Invariant: at most 1,500 characters, the same for the same input, and no secret of anybody's in it.
//! The oldest and the resolved lines are left out first, and are counted; the latest failure is always shown.

mod redaction;
mod secrets;
mod statements;

pub use crate::text::sentences;
pub use redaction::{redact, redact_prose};
pub use statements::actionable;

use crate::Refusal;
use crate::items::{self, later};
use crate::text::clip;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use statements::Statement;

/// Characters of the owner's side, the loop's side and the footer, line ends included.
pub const OWNER: usize = 900;
pub const LOOP: usize = 400;
pub const FOOTER: usize = 200;

const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 24 * HOUR_S;

/// Seconds for which an input of each kind is fresh; a composed state is for an hour.
const STATEMENT_S: i64 = 7 * DAY_S;
const COMMITMENT_S: i64 = 14 * DAY_S;
const IDENTITY_S: i64 = 90 * DAY_S;
const OUTCOME_S: i64 = DAY_S;

/// Items and identities that are shown.
const MOST_PENDING: usize = 8;
const MOST_IDENTITIES: usize = 3;

/// Characters of one line; those read of a text; and those read of the owner's words.
const MOST_LINE: usize = 200;
const MOST_TEXT: usize = 500;
const MOST_SAID: usize = 2_000;

/// Texts of a kind that are read, the newest: only a few lines are shown.
const MOST_TEXTS: usize = 24;

/// Mode of a creature that acts by itself: how it should treat the work under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Continue,
    Resume,
    Pause,
    AwaitConfirmation,
}

/// The state as a block of text, and the same as data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Standing {
    /// The block as a thought is shown it.
    pub text: String,
    pub mode: Mode,
    pub owner_summary: String,
    pub loop_summary: String,
    pub pending_items: Vec<String>,
    pub confidence: Confidence,
}

/// Confidence in the state: how far it can be relied on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    #[default]
    Low,
    Medium,
    High,
}

impl Confidence {
    /// Rates confidence by `doubt`, the weight of all that leaves a doubt.
    fn with(doubt: u8) -> Self {
        match doubt {
            0..20 => Self::High,
            20..45 => Self::Medium,
            45.. => Self::Low,
        }
    }

    pub fn name(self) -> String {
        items::name(self)
    }
}

/// A text with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Dated {
    pub at: Timestamp,
    pub text: String,
    /// Whether it was answered, kept or done; texts that were not go first.
    pub resolved: bool,
    /// Time from which it is void, where that is sooner than its kind's usual age.
    pub until: Option<Timestamp>,
}

/// Input that a state is composed of; in any order, of any length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    pub now: Timestamp,
    /// Words of the owner's.
    pub said: Vec<Dated>,
    /// The owner's directives that hold now, newest first.
    pub directives: Vec<String>,
    /// Commitments of the creature's.
    pub commitments: Vec<Dated>,
    /// Identities: who the owner is, and as whom the creature acts.
    pub identities: Vec<Dated>,
    /// Outcomes of the loop.
    pub outcomes: Vec<Dated>,
    pub failure: Option<Dated>,
    /// Time until which the creature tries nothing more.
    pub cooling_until: Option<Timestamp>,
    /// Open items; the first goes first.
    pub open: Vec<String>,
    /// The unfinished draft of the creature's source, in a line; empty where there is none.
    pub draft: String,
    /// Acts that wait for the owner's yes.
    pub awaiting: u64,
    /// Whether the owner said pause, and it holds.
    pub paused: bool,
    /// Whether the owner spoke, and the creature has done nothing by itself since.
    pub interrupted: bool,
}

impl Input {
    /// An input that knows only the time.
    pub fn at(now: Timestamp) -> Self {
        Self { now, ..Self::default() }
    }
}

impl Standing {
    /// The state that a thought is shown where none can be composed.
    pub fn fallback() -> Self {
        let text = "How things stand with your owner could not be gathered: go on by the stack, and begin \
            nothing that cannot be undone.";
        Self { text: text.to_owned(), ..Self::default() }
    }
}

/// Composes the state; refused where an input is dated more than a day ahead: then fresh cannot be told from old.
pub fn compose(input: &Input) -> Result<Standing, Refusal> {
    let all = [&input.said, &input.commitments, &input.identities, &input.outcomes];
    let tomorrow = later(input.now, DAY_S);
    if all.into_iter().flatten().chain(&input.failure).any(|dated| dated.at > tomorrow) {
        let error = "compose the state: records are of after tomorrow";
        return Err(Refusal::new(error, "the clock was set back; it passes"));
    }
    let statements = statements::standing(&fresh(&input.said, input.now, STATEMENT_S, MOST_SAID));
    let (owner_summary, owner_left) = owner_side(input, &statements);
    let (loop_summary, loop_left) = loop_side(input);
    let open = input.open.iter().take(MOST_PENDING);
    let mut pending_items: Vec<String> = open.map(|item| gist(item, 120)).collect();
    if input.awaiting > 0 {
        pending_items.push(format!("{} acts wait for the owner's yes", input.awaiting));
    }
    let mode = mode(input);
    let newest = statements.first().map(|statement| statement.at);
    let doubts = [
        (newest.is_none() && input.directives.is_empty(), 40),
        (newest.is_some_and(|at| seconds(input.now, at) > DAY_S), 10),
        (statements.iter().any(|statement| statement.replaced.is_some()), 20),
        (owner_left + loop_left > 0, 10),
        (input.failure.is_some(), 10),
    ];
    let doubt: u8 = doubts.iter().filter(|(is, _)| *is).map(|(_, weight)| weight).sum();
    let confidence = Confidence::with(doubt);
    let footer = footer(input, mode, confidence);
    let text = format!("{owner_summary}\n{loop_summary}\n{footer}");
    Ok(Standing { text, mode, owner_summary, loop_summary, pending_items, confidence })
}

fn owner_side(input: &Input, statements: &[Statement]) -> (String, usize) {
    let now = input.now;
    let said = |statement: &Statement| {
        let replaced = match &statement.replaced {
            Some(older) => format!(" [conflict: the last word wins; not: {}]", clip(older, 60)),
            None => String::new(),
        };
        format!("- {}: {}{replaced}", age(now, statement.at), clip(&statement.text, MOST_LINE))
    };
    let mut lines: Vec<String> = statements.iter().filter(|s| !s.resolved).map(said).collect();
    lines.extend(input.directives.iter().map(|word| format!("- holds: {}", gist(word, 120))));
    let promised =
        fresh(&input.commitments, now, COMMITMENT_S, MOST_TEXT).into_iter().filter(|dated| !dated.resolved);
    lines.extend(promised.map(|kept| format!("- you promised, {}: {}", age(now, kept.at), kept.text)));
    let known = fresh(&input.identities, now, IDENTITY_S, MOST_TEXT).into_iter().take(MOST_IDENTITIES);
    lines.extend(known.map(|known| format!("- who, {}: {}", age(now, known.at), clip(&known.text, 90))));
    lines.extend(statements.iter().filter(|s| s.resolved).map(|s| said(s) + " (answered)"));
    if lines.is_empty() {
        lines.push("- no order of theirs that is still fresh".to_owned());
    }
    fit("Your owner:", &lines, OWNER)
}

fn loop_side(input: &Input) -> (String, usize) {
    let now = input.now;
    let mut lines = Vec::new();
    if !input.draft.is_empty() {
        lines.push(format!("- {}", gist(&input.draft, 150)));
    }
    if let Some(failure) = &input.failure {
        let (age, what) = (age(now, failure.at), gist(&failure.text, 150));
        lines.push(format!("- latest failure, {age}: {what}"));
    }
    if let Some(until) = input.cooling_until.filter(|until| *until > now) {
        lines.push(format!("- cooling down until {until:.0}"));
    }
    let outcomes = fresh(&input.outcomes, now, OUTCOME_S, MOST_TEXT);
    let (done, open): (Vec<&Dated>, Vec<&Dated>) = outcomes.iter().partition(|outcome| outcome.resolved);
    let told = |outcome: &Dated| format!("- {}: {}", age(now, outcome.at), clip(&outcome.text, 100));
    lines.extend(open.into_iter().chain(done).map(told));
    if lines.is_empty() {
        lines.push("- nothing done yet".to_owned());
    }
    fit("Your work:", &lines, LOOP)
}

fn mode(input: &Input) -> Mode {
    match () {
        () if input.paused => Mode::Pause,
        () if input.awaiting > 0 && input.open.is_empty() => Mode::AwaitConfirmation,
        () if input.interrupted && !input.open.is_empty() => Mode::Resume,
        () => Mode::Continue,
    }
}

fn footer(input: &Input, mode: Mode, confidence: Confidence) -> String {
    let first = input.open.first().map(|item| gist(item, 48));
    let hint = match (mode, first) {
        (Mode::Pause, _) => "pause: begin nothing until your owner says resume".to_owned(),
        (Mode::AwaitConfirmation, _) => "await confirmation: nothing else is open".to_owned(),
        (Mode::Resume, Some(item)) => format!("resume {item}"),
        (_, Some(item)) => format!("continue with {item}"),
        (_, None) => "continue; with nothing worth it, rest".to_owned(),
    };
    let (now, until) = (input.now, later(input.now, HOUR_S));
    let sure = confidence.name();
    let line = format!("Hint: {hint}. Confidence {sure}; as of {now:.0}, void after {until:.0}.");
    clip(&line, FOOTER)
}

/// Returns the texts younger than `good_s`, cleaned, newest first; of two of one time the later in the list is newer.
fn fresh(all: &[Dated], now: Timestamp, good_s: i64, most: usize) -> Vec<Dated> {
    let holds = |dated: &&Dated| {
        seconds(now, dated.at) < good_s
            && dated.until.is_none_or(|until| until > now)
            && !dated.text.is_empty()
    };
    let mut good: Vec<&Dated> = all.iter().rev().filter(holds).collect();
    good.sort_by_key(|dated| std::cmp::Reverse(dated.at));
    good.truncate(MOST_TEXTS);
    good.into_iter().map(|dated| Dated { text: clean(&dated.text, most), ..dated.clone() }).collect()
}

/// The beginning of a text, without secrets, in at most `most` characters.
fn gist(text: &str, most: usize) -> String {
    clip(&clean(text, MOST_TEXT), most)
}

/// The first `most` characters of a text, on one line and without secrets.
fn clean(text: &str, most: usize) -> String {
    let printed = |letter: &char| !letter.is_control() || letter.is_whitespace();
    let mut letters = text.chars().filter(printed);
    let mut head: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() {
        // A key that is cut in two would no longer look like one.
        let is_token = |letter: char| letter.is_ascii_alphanumeric() || "_-.+/=~:@".contains(letter);
        head.truncate(head.trim_end_matches(is_token).len());
    }
    redact_prose(&head)
}

/// The title with the first lines that fit in `most` characters, and how many do not; the first is always shown.
fn fit(title: &str, lines: &[String], most: usize) -> (String, usize) {
    let (mut text, mut shown) = (title.to_owned(), 0);
    // 25 characters are kept for the note of what is left out, and the line end.
    let room = most.saturating_sub(25);
    for line in lines {
        if shown > 0 && text.chars().count() + line.chars().count() + 1 > room {
            break;
        }
        text += &format!("\n{}", clip(line, room.saturating_sub(title.len() + 1)));
        shown += 1;
    }
    let left = lines.len() - shown;
    if left > 0 {
        text += &format!("\n({left} more left out)");
    }
    (text, left)
}

fn seconds(now: Timestamp, at: Timestamp) -> i64 {
    now.duration_since(at).as_secs()
}

fn age(now: Timestamp, at: Timestamp) -> String {
    match seconds(now, at) {
        ..60 => "just now".to_owned(),
        s @ 60..HOUR_S => format!("{} min ago", s / 60),
        s if s < 2 * DAY_S => format!("{} h ago", s / HOUR_S),
        s => format!("{} d ago", s / DAY_S),
    }
}
