//! A model in a dream: one question about facts and pulse, and what of its answer is done.
//!
//! Invariant: only the acts below, on what it was shown, and never more than half of it; anything else is refused and said.

use super::night::Night;
use super::{facts_text, keep_facts};
use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::life::{Leaving, Life};
use crate::mind::llm::{self, ModelMind};
use crate::mind::thought::ToolCall;
use crate::mind::{Mind, Outcome, context, prompt};
use crate::tools::Toolbox;
use agenda::Change;
use agenda::pulse::{Concern, PulseChange};
use knowledge::facts::{self, Fact};
use memory::snapshot;
use serde::Deserialize;
use serde_json::json;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::Duration;

const DREAM: &str = include_str!("../../prompts/dream.md");

/// Characters of facts, of the pulse and of the snapshot that are shown.
const MOST_FACTS: usize = 12_000;
const MOST_PULSE: usize = 6_000;
const MOST_SNAPSHOT: usize = 4_000;

/// What may be done in a dream; the names are those of tools, as a thought calls them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
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

impl Life {
    /// Asks the model, and does what it says; none where the life was asked to leave meanwhile.
    pub(super) async fn asked(
        &mut self,
        night: &mut Night,
        leaving: &mut impl Leaving,
    ) -> Result<Option<String>, Fault> {
        let Mind::Model(mind) = &self.mind else {
            return Ok(Some("no model: instinct dreams without words".to_owned()));
        };
        let (text, pulse) = (facts_text(&self.told.house)?, open(&self.toolbox));
        let facts = facts::list(&text);
        if facts.len() < 2 && pulse.is_empty() {
            return Ok(Some("nothing to ask about".to_owned()));
        }
        let said = shown(&facts, &pulse);
        let mark = mark(&said);
        if mark == night.asked {
            return Ok(Some("nothing changed since it was last asked".to_owned()));
        }
        let other = match (&self.settings.dream.model, &self.told.broker) {
            (Some(name), Some(broker)) => {
                let hint = "look at [dream] model in owner.toml";
                let named = llm::named(broker, &self.offer, &self.settings.model, Some(name));
                Some(named.map_err(|why| Fault::new(why, hint))?)
            }
            _ => None,
        };
        let mind: &ModelMind = other.as_ref().unwrap_or(mind);
        let remembered = snapshot::latest(&self.told.house.snapshots()).ok().flatten();
        let remembered =
            remembered.map(|found| context::shorten(&found.text, MOST_SNAPSHOT)).unwrap_or_default();
        self.heart.stage(Stage::Thinking, mind.patience() + Duration::from_secs(10));
        let system = DREAM.replace("{{shape}}", &prompt::shape(mind.wire()));
        let outcome = tokio::select! {
            biased;
            () = leaving.asked() => return Ok(None),
            outcome = mind.say(system, format!("# What you remember\n\n{remembered}\n"), said, true) => outcome,
        };
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        let (thought, usage) = match outcome {
            Outcome::Thought { thought, usage } => (thought, usage),
            Outcome::Garbled { error, usage, .. } => {
                self.remember("dream", json!({"garbled": error, "usage": usage}))?;
                return Err(Fault::new(
                    format!("read the model's answer: {error}"),
                    "the next night asks again",
                ));
            }
            Outcome::Down { error, hint, .. } => return Err(Fault::new(error, hint)),
        };
        let (wanted, mut refused) = acts(&thought.tool_calls);
        let (done, more) = act(
            &mut self.toolbox,
            &facts,
            &pulse.iter().map(|it| it.id.clone()).collect::<Vec<_>>(),
            wanted,
        )?;
        refused.extend(more);
        let monologue = context::shorten(&thought.monologue, 2_000);
        let told = json!({"monologue": monologue, "done": done, "refused": refused, "usage": usage});
        self.remember("dream", told)?;
        night.asked = mark_now(&self.toolbox)?;
        Ok(Some(format!("{} acts done, {} refused", done.len(), refused.len())))
    }
}

/// Reads acts strictly; what is none is said.
fn acts(calls: &[ToolCall]) -> (Vec<Act>, Vec<String>) {
    let (mut acts, mut refused) = (Vec::new(), Vec::new());
    for call in calls {
        match serde_json::from_value(json!({"tool": call.tool, "args": call.args})) {
            Ok(act) => acts.push(act),
            Err(error) => refused.push(context::shorten(&format!("{}: {error}", call.tool), 300)),
        }
    }
    (acts, refused)
}

/// Does acts on the facts and concerns that were shown; what was done, and what was refused and why.
fn act(
    tools: &mut Toolbox,
    shown: &[Fact],
    pulse: &[String],
    acts: Vec<Act>,
) -> Result<(Vec<String>, Vec<String>), Fault> {
    let mut text = facts_text(&tools.house)?;
    let before = text.clone();
    let (mut fewer, mut closed) = (shown.len() / 2, pulse.len().div_ceil(2));
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    for act in acts {
        let came: Result<String, String> = match &act {
            Act::Merge { facts: numbers, .. } if numbers.len() > fewer + 1 => {
                Err("half of the facts are merged: the rest is for another night".to_owned())
            }
            Act::Merge { facts: numbers, text: words } => merge(&text, shown, numbers, words).map(|merged| {
                fewer -= numbers.len() - 1;
                text = merged;
                format!("facts {numbers:?} are one")
            }),
            Act::Update { id, .. } | Act::Close { id, .. } if !pulse.contains(id) => {
                Err(format!("no {id} was shown"))
            }
            Act::Close { .. } if closed == 0 => Err("half of the concerns are closed".to_owned()),
            Act::Update { id, text } => {
                let text = Some(text.clone());
                changed(tools, PulseChange::Update { id: id.clone(), text, every_s: None })
                    .map(|()| format!("{id} updated"))
            }
            Act::Close { id, why } => changed(tools, PulseChange::Close { id: id.clone(), why: why.clone() })
                .map(|()| {
                    closed -= 1;
                    format!("{id} closed")
                }),
        };
        match came {
            Ok(said) => done.push(said),
            Err(why) => refused.push(context::shorten(&why, 300)),
        }
    }
    if text != before {
        keep_facts(&tools.house, &text)?;
    }
    Ok((done, refused))
}

fn changed(tools: &mut Toolbox, change: PulseChange) -> Result<(), String> {
    tools.change(&Change::Pulse(change)).map(|_| ()).map_err(|fault| fault.error)
}

fn open(tools: &Toolbox) -> Vec<Concern> {
    tools.desk.agenda.pulse.open().cloned().collect()
}

/// Numbers are of the facts as they were shown; an earlier merge may have moved them, or taken one away.
fn merge(text: &str, shown: &[Fact], numbers: &[usize], words: &str) -> Result<String, String> {
    let now = facts::list(text);
    let place = |number: &usize| {
        let fact = shown.get(number.checked_sub(1)?)?;
        now.iter().position(|other| other == fact).map(|at| at + 1)
    };
    let places: Option<Vec<usize>> = numbers.iter().map(place).collect();
    let places = places.ok_or_else(|| format!("{numbers:?} are not all there"))?;
    facts::unite(text, &places, words).map(|merged| merged.text)
}

fn shown(facts: &[Fact], pulse: &[Concern]) -> String {
    let numbered =
        facts.iter().enumerate().map(|(at, fact)| format!("{}. {} [{}]", at + 1, fact.text, fact.date));
    let concerns = pulse.iter().map(|it| format!("- {} (thread {}): {}", it.id, it.thread, it.text));
    format!(
        "# Facts, by number\n\n{}\n# Pulse, by id\n\n{}\nAnswer with the one JSON object.",
        newest(numbered.collect(), MOST_FACTS),
        newest(concerns.collect(), MOST_PULSE)
    )
}

/// The last lines that fit, and how many did not.
fn newest(lines: Vec<String>, most: usize) -> String {
    let (mut room, mut kept) = (most, Vec::new());
    for line in lines.iter().rev() {
        let size = line.chars().count() + 1;
        if size > room {
            break;
        }
        room -= size;
        kept.push(line.as_str());
    }
    let left = lines.len() - kept.len();
    kept.reverse();
    let note = if left > 0 { format!("({left} older ones are not shown)\n") } else { String::new() };
    note + &kept.join("\n") + "\n"
}

fn mark_now(tools: &Toolbox) -> Result<String, Fault> {
    Ok(mark(&shown(&facts::list(&facts_text(&tools.house)?), &open(tools))))
}

fn mark(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
