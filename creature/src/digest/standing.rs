//! Sentences of a snapshot on the purpose and on the agenda. Pure.

use agenda::Agenda;
use agenda::goals::{Goal, GoalStatus, Status};
use agenda::items::Item;
use ground::text::shorten;
use jiff::Timestamp;

/// Characters of the purpose, of a title and of a step or an outcome.
const MOST_PURPOSE: usize = 240;
const MOST_TITLE: usize = 80;
const MOST_STEP: usize = 100;

/// Open goals, requests and ended items that are told.
const GOALS: usize = 4;
const REQUESTS: usize = 3;
const ENDED: usize = 4;

/// Returns the beginning of the purpose: whole sentences of its first paragraph, as many as fit; else its heading.
pub fn purpose(text: &str) -> String {
    let (mut paragraph, mut comment) = (String::new(), false);
    for line in text.lines().map(str::trim) {
        comment |= line.starts_with("<!--");
        let skipped =
            comment || line.starts_with('#') || line.chars().all(|letter| !letter.is_alphanumeric());
        comment &= !line.contains("-->");
        match (skipped, paragraph.is_empty()) {
            (true, false) => break,
            (true, true) => {}
            (false, _) => {
                paragraph = format!("{paragraph} {}", line.trim_start_matches(['-', '*', '>', ' ']))
            }
        }
    }
    let paragraph = paragraph.trim();
    if paragraph.is_empty() {
        let heading = text.lines().map(|line| line.trim_start_matches(['#', ' ']).trim());
        let heading = heading.clone().find(|line| line.chars().any(char::is_alphanumeric));
        return heading.map_or("none yet".to_owned(), |heading| shorten(heading, MOST_PURPOSE));
    }
    let mut said = String::new();
    for sentence in paragraph.split_inclusive(['.', '!', '?']) {
        if !said.is_empty() && said.chars().count() + sentence.chars().count() > MOST_PURPOSE {
            break;
        }
        said += sentence;
    }
    shorten(said.trim(), MOST_PURPOSE)
}

/// Lists what is open, a sentence each: the owner's requests, the draft of the source, goals with their next step.
pub fn open(agenda: &Agenda, draft: Option<String>) -> Vec<String> {
    let requests = agenda.requests.open().take(REQUESTS);
    let requests = requests.map(|one| {
        format!("My owner's request {}, \"{}\", is open.", one.id, shorten(&one.about, MOST_TITLE))
    });
    let goals = agenda.goals.open().take(GOALS).map(goal);
    let draft = draft.map(|line| format!("My source is unfinished: {line}."));
    requests.chain(draft).chain(goals).collect()
}

fn goal(goal: &Item<Goal>) -> String {
    let (id, title) = (&goal.id, shorten(&goal.about, MOST_TITLE));
    if goal.status == GoalStatus::Awaiting {
        return format!("Goal {id}, \"{title}\", waits for my owner's yes.");
    }
    let done = goal.checkpoints.iter().filter(|step| step.status == Status::Done).count();
    let of = goal.checkpoints.len();
    let next = match goal.next() {
        None => "all that is left is blocked".to_owned(),
        Some((_, step)) => {
            let tried = match step.tries.attempts {
                0 => String::new(),
                times => format!(", tried {times} times"),
            };
            format!("next is \"{}\"{tried}", shorten(&step.text, MOST_STEP))
        }
    };
    format!("Goal {id}, \"{title}\": {done} of {of} steps are done, {next}.")
}

/// Lists what ended, the latest first: tasks and goals with what came of them.
pub fn ended(agenda: &Agenda) -> Vec<String> {
    let tasks = agenda.tasks.list.iter().filter_map(|task| {
        let outcome = if task.outcome.is_empty() { "done" } else { &task.outcome };
        let said = format!(
            "My task \"{}\" ended: {}.",
            shorten(&task.about, MOST_TITLE),
            shorten(outcome, MOST_STEP)
        );
        Some((task.ended_at?, said))
    });
    let goals = agenda.goals.list.iter().filter_map(|goal| {
        let how = match goal.status {
            GoalStatus::Done => "was reached",
            GoalStatus::Failed => "failed",
            GoalStatus::Dropped => "was dropped",
            GoalStatus::Open | GoalStatus::Awaiting => return None,
        };
        let why = if goal.outcome.is_empty() {
            String::new()
        } else {
            format!(": {}", shorten(&goal.outcome, MOST_STEP))
        };
        Some((goal.changed_at, format!("Goal \"{}\" {how}{why}.", shorten(&goal.about, MOST_TITLE))))
    });
    let mut ended: Vec<(Timestamp, String)> = tasks.chain(goals).collect();
    ended.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    ended.into_iter().take(ENDED).map(|(_, said)| said).collect()
}
