//! A model in a dream: one question about facts and pulse, and what of its answer is done.
//!
//! Invariant: only the acts below, on what was shown, at most half of it merged or closed; others are refused.

use crate::config::{Settings, Told};
use crate::dream::facts::{facts_text, keep_facts};
use crate::fault::Fault;
use crate::mind::offered::Minds;
use crate::mind::reach;
use crate::store::Store;
use crate::store::caller::Caller;
use agenda::Change;
use agenda::items::Item;
use agenda::pulse::{Concern, PulseChange};
use ground::{papers, text};
use knowledge::facts::{self, Fact};
use memory::snapshot;
use mind::llm::{self, ModelMind};
use mind::thought::ToolCall;
use mind::{Down, Outcome, prompt, thought};
use serde::Deserialize;
use serde_json::json;

/// Prompt of a dream, unless `self/prompts/dream.md` says it, and the form of what it may do.
const DREAM: &str = include_str!("../../../prompts/dream.md");
const FORM: &str = include_str!("../../../prompts/dream_form.md");

/// Characters of facts, of the pulse and of the snapshot that are shown.
const MOST_FACTS: usize = 12_000;
const MOST_PULSE: usize = 6_000;
const MOST_SNAPSHOT: usize = 4_000;

/// Act that may be done in a dream; the names are those of tools, as a thought calls them.
#[derive(Deserialize)]
#[serde(tag = "tool", content = "args", deny_unknown_fields)]
enum Act {
    /// Several facts become one.
    #[serde(rename = "facts.merge")]
    Merge { facts: Vec<usize>, text: String },
    #[serde(rename = "pulse.update")]
    Update { id: String, text: String },
    #[serde(rename = "pulse.close")]
    Close { id: String, why: String },
}

/// Question about facts and concerns, as a model is shown them.
pub(super) struct Question {
    facts: Vec<Fact>,
    pulse: Vec<Item<Concern>>,
    said: String,
}

/// Makes the question; else says in words why there is none. `asked` is the mark of the last one.
pub(super) fn question(store: &Store, asked: &str) -> Result<Result<Question, String>, Fault> {
    let (text, pulse) = (facts_text(&store.house)?, open(store));
    let facts = facts::list(&text);
    if facts.len() < 2 && pulse.is_empty() {
        return Ok(Err("nothing to ask about".to_owned()));
    }
    let said = shown(&facts, &pulse);
    if mark(&said) == asked {
        return Ok(Err("nothing changed since it was last asked".to_owned()));
    }
    Ok(Ok(Question { facts, pulse, said }))
}

/// The owner's model for dreams, else the quick one, else the mind's own; whether it is another than the last.
pub(super) fn dreamer(
    minds: &mut Minds,
    settings: &Settings,
    told: &Told,
) -> Result<Option<(ModelMind, bool)>, Fault> {
    let now = told.clock.now();
    if let (Some(name), Some(broker)) = (&settings.dream.model, &told.broker) {
        let reach = reach(broker, &settings.model, told, &minds.configured);
        let named = llm::other(&reach, &minds.offer, Some(name));
        let named = named.map_err(|why| Fault::new(why, "look at [dream] model in owner.toml"))?;
        return Ok(Some((named, true)));
    }
    let quick = minds.quick.as_mut().map(|quick| (quick.beside(now), true));
    Ok(quick.or_else(|| minds.now.talk().map(|mind| (mind.beside(now), false))))
}

/// Asks a model the question of this dream.
pub(super) fn ask<A: Fn() + Send + Sync>(
    (mut mind, is_other): (ModelMind, bool),
    told: &Told,
    dream: &str,
    question: &Question,
    alive: A,
) -> impl Future<Output = Result<Outcome, Fault>> + use<A> {
    let (house, life, now) = (told.house.clone(), told.life, told.clock.now());
    let (name, said) = (format!("dream-{dream}"), question.said.clone());
    async move {
        if let Err(outcome) = mind.learn(now, true).await {
            return Ok(outcome);
        }
        let purpose = papers::prompt(&house.prompt("dream"), DREAM);
        let words = format!("{purpose}\n\n{}", FORM.replace("{{shape}}", &prompt::shape(mind.wire())));
        // The mind's own model is asked within its usual frame, which a cache holds.
        let (frame, part) = match is_other {
            true => (mind.framed(&words, "", &|_| false), String::new()),
            false => (mind.frame.clone(), words + "\n"),
        };
        let latest = snapshot::latest(&house.snapshots()).ok().flatten();
        let remembered = latest.map_or(String::new(), |found| text::shorten(&found.text, MOST_SNAPSHOT));
        let opening = || format!("{part}# What you remember\n\n{remembered}\n");
        let talk = mind.apart(&frame, &name, None, opening, &said, (life, now));
        let mut talk = talk.map_err(|cause| {
            Fault::caused("keep the conversation of a dream", &cause, "is the disk full?")
        })?;
        alive();
        Ok(mind.turn(&frame, &mut talk, true, now, &alive).await)
    }
}

/// Does what the model said; what that came to, and the mark of what there is now.
pub(super) fn answered(
    store: &mut Store,
    caller: &Caller,
    question: &Question,
    outcome: Outcome,
) -> Result<(String, String), Fault> {
    let (thought, usage) = match in_json(outcome) {
        Outcome::Thought { thought, usage } => (thought, usage),
        other => {
            if let Outcome::Garbled { error, usage, .. } = &other {
                store.record("dream", json!({"garbled": error, "usage": usage}))?;
            }
            return Err(unanswered(other));
        }
    };
    let (done, mut refused) = act(store, caller, &question.facts, &question.pulse, &thought.tool_calls)?;
    refused.extend(thought.not_run());
    let monologue = text::shorten(&thought.monologue, 2_000);
    let told = json!({"monologue": monologue, "done": done, "refused": refused, "usage": usage});
    store.record("dream", told)?;
    let facts = facts::list(&facts_text(&store.house)?);
    let said = format!("{} acts done, {} refused", done.len(), refused.len());
    Ok((said, mark(&shown(&facts, &open(store)))))
}

/// Reads the words of a thought as the JSON thought that was asked for.
fn in_json(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Thought { thought, usage } if thought.tool_calls.is_empty() && thought.delivers => {
            match thought::read(&thought.monologue) {
                Ok((thought, _)) => Outcome::Thought { thought, usage },
                Err(error) => Outcome::Garbled { error, text: thought.monologue, usage },
            }
        }
        other => other,
    }
}

fn unanswered(outcome: Outcome) -> Fault {
    match outcome {
        Outcome::Down(Down { error, hint, .. }) => Fault::new(error, hint),
        Outcome::Garbled { error, .. } => {
            Fault::new(format!("read the model's answer: {error}"), "the next night asks again")
        }
        Outcome::Thought { .. } => Fault::new("ask the model", "the next night asks again"),
    }
}

/// Does acts on the facts and concerns that were shown; what was done, and what was refused and why.
fn act(
    store: &mut Store,
    caller: &Caller,
    shown: &[Fact],
    pulse: &[Item<Concern>],
    calls: &[ToolCall],
) -> Result<(Vec<String>, Vec<String>), Fault> {
    let before = facts_text(&store.house)?;
    let mut text = before.clone();
    let (mut fewer, mut closed) = (shown.len() / 2, pulse.len().div_ceil(2));
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    for call in calls {
        let act = serde_json::from_value(json!({"tool": call.tool, "args": call.args}));
        let act = act.map_err(|error| format!("{}: {error}", call.tool));
        let came: Result<String, String> = act.and_then(|act| match act {
            Act::Merge { facts: numbers, .. } if numbers.len() > fewer + 1 => {
                Err("half of the facts are merged: the rest is for another night".to_owned())
            }
            Act::Merge { facts: numbers, text: words } => {
                text = merge(&text, shown, &numbers, &words)?;
                fewer -= numbers.len() - 1;
                Ok(format!("facts {numbers:?} are one"))
            }
            Act::Update { id, .. } | Act::Close { id, .. } if pulse.iter().all(|shown| shown.id != id) => {
                Err(format!("no {id} was shown"))
            }
            Act::Update { id, text } => {
                let done = format!("{id} updated");
                changed(store, caller, PulseChange::Update { id, text: Some(text), every_s: None })
                    .map(|()| done)
            }
            Act::Close { .. } if closed == 0 => Err("half of the concerns are closed".to_owned()),
            Act::Close { id, why } => {
                let done = format!("{id} closed");
                changed(store, caller, PulseChange::Close { id, why })?;
                closed -= 1;
                Ok(done)
            }
        });
        match came {
            Ok(said) => done.push(said),
            Err(why) => refused.push(text::shorten(&why, 300)),
        }
    }
    if text != before {
        keep_facts(&store.house, &text)?;
    }
    Ok((done, refused))
}

fn changed(store: &mut Store, caller: &Caller, change: PulseChange) -> Result<(), String> {
    store.change(caller, &Change::Pulse(change)).map(|_| ()).map_err(|fault| fault.error)
}

fn open(store: &Store) -> Vec<Item<Concern>> {
    store.agenda.pulse.open().cloned().collect()
}

/// Makes one fact of several. Numbers are of the facts as shown; an earlier merge may have moved or removed some.
fn merge(text: &str, shown: &[Fact], numbers: &[usize], words: &str) -> Result<String, String> {
    let now = facts::list(text);
    let place = |number: &usize| {
        let fact = shown.get(number.checked_sub(1)?)?;
        now.iter().position(|other| other == fact).map(|at| at + 1)
    };
    let places: Option<Vec<usize>> = numbers.iter().map(place).collect();
    let places = places.ok_or_else(|| format!("{numbers:?} are not all there"))?;
    facts::unite(text, &places, words)
}

fn shown(facts: &[Fact], pulse: &[Item<Concern>]) -> String {
    let numbered =
        facts.iter().enumerate().map(|(at, fact)| format!("{}. {} [{}]", at + 1, fact.text, fact.date));
    let concerns = pulse.iter().map(|it| format!("- {} (thread {}): {}", it.id, it.thread, it.about));
    format!(
        "# Facts, by number\n\n{}\n# Pulse, by id\n\n{}\nAnswer with the one JSON object.",
        newest(numbered.collect(), MOST_FACTS),
        newest(concerns.collect(), MOST_PULSE)
    )
}

/// A hash of the text.
fn mark(text: &str) -> String {
    text::hash(text).to_string()
}

/// The last lines that fit, and how many did not.
fn newest(lines: Vec<String>, most: usize) -> String {
    let mut chars = 0;
    let fits = |line: &&String| {
        chars += line.chars().count() + 1;
        chars <= most
    };
    let left = lines.len() - lines.iter().rev().take_while(fits).count();
    let note = if left > 0 { format!("({left} older ones are not shown)\n") } else { String::new() };
    note + &lines.get(left..).unwrap_or_default().join("\n") + "\n"
}
