//! Turns in the order every wire demands: a thought, the results of its calls, then what was said. Pure.
//!
//! Invariant: whatever the turns are, each call has one result, no result is without its call, no text is empty,
//! and no request ends with the model's own words; another turn changes nothing of the rounds before the last.

use std::borrow::Cow;

use serde_json::Value;

use crate::{Answer, Turn};

/// Said where nothing was said and something must be.
const GO_ON: &str = "Go on.";

/// The result of a call that has none.
const NOT_RUN: &str = "This call was not run.";

/// Stands for a result without words.
const NOTHING: &str = "(nothing)";

/// A thought, the results of its calls, and what was said before the next one; only the first has no thought.
pub(crate) struct Round<'a> {
    pub thought: Option<Value>,
    pub results: Vec<Cow<'a, Answer>>,
    pub said: Vec<&'a str>,
}

/// `fit` gives what of a thought is sent back, and the ids of its calls; none where nothing of it is.
pub(crate) fn rounds<'a>(
    turns: &'a [Turn],
    mut fit: impl FnMut(&Value) -> Option<(Value, Vec<String>)>,
) -> Vec<Round<'a>> {
    let mut rounds = Vec::new();
    let mut open = Round { thought: None, results: Vec::new(), said: Vec::new() };
    let (mut ids, mut answers) = (Vec::new(), Vec::new());
    for turn in turns {
        match turn {
            Turn::Said { text } if text.trim().is_empty() => {}
            Turn::Said { text } => open.said.push(text),
            Turn::Results { results } => answers.extend(results),
            Turn::Thought { raw } => {
                if let Some((thought, next)) = fit(raw) {
                    let begun = Round { thought: Some(thought), results: Vec::new(), said: Vec::new() };
                    rounds.push(closed(std::mem::replace(&mut open, begun), &ids, &answers));
                    (ids, answers) = (next, Vec::new());
                }
            }
        }
    }
    rounds.push(closed(open, &ids, &answers));
    rounds
}

fn closed<'a>(open: Round<'a>, ids: &[String], answers: &[&'a Answer]) -> Round<'a> {
    let answer = |id: &String| match answers.iter().find(|answer| answer.id == *id) {
        Some(answer) if answer.text.trim().is_empty() => {
            Cow::Owned(Answer { text: NOTHING.to_owned(), ..(*answer).clone() })
        }
        Some(answer) => Cow::Borrowed(*answer),
        None => Cow::Owned(Answer { id: id.clone(), text: NOT_RUN.to_owned(), failed: true }),
    };
    let results: Vec<_> = ids.iter().map(answer).collect();
    let said = if results.is_empty() && open.said.is_empty() { vec![GO_ON] } else { open.said };
    Round { results, said, ..open }
}
