//! A model in a dream: one question about facts and pulse, and what of its answer is done.
//!
//! Invariant: only the acts below, on what it was shown, and never more than half of it; anything else is refused and said.

use super::night::Night;
use super::{facts_text, keep_facts};
use crate::config::ModelSettings;
use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::life::{Leaving, Life};
use crate::mind::instinct::text::number;
use crate::mind::llm::{self, ModelMind};
use crate::mind::thought::ToolCall;
use crate::mind::{Down, Mind, Outcome, context, prompt};
use crate::tools::Toolbox;
use agenda::Change;
use agenda::pulse::{Concern, PulseChange};
use knowledge::facts::{self, Fact};
use memory::snapshot;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

const DREAM: &str = include_str!("../../prompts/dream.md");

/// Characters of facts, of the pulse and of the snapshot that are shown.
const MOST_FACTS: usize = 12_000;
const MOST_PULSE: usize = 6_000;
const MOST_SNAPSHOT: usize = 4_000;

/// What may be done in a dream; the names are those of tools, as a thought calls them.
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
        if mark(&said) == night.asked {
            return Ok(Some("nothing changed since it was last asked".to_owned()));
        }
        let other;
        let named = self.settings.dream.model.as_deref();
        let quick = self.offer.get("quick").filter(|quick| quick.is_object() && named.is_none());
        let mind: &ModelMind = match (&self.told.broker, named.is_some() || quick.is_some()) {
            (Some(broker), true) => {
                let (offer, house) = (quick.unwrap_or(&self.offer), &self.told.house);
                let settings = ModelSettings { effort: String::new(), ..self.settings.model.clone() };
                other = llm::named(broker, offer, &settings, house, named)
                    .map_err(|why| Fault::new(why, "look at [dream] model in owner.toml"))?;
                &other
            }
            _ => mind,
        };
        let latest = snapshot::latest(&self.told.house.snapshots()).ok().flatten();
        let remembered = latest.map_or(String::new(), |found| context::shorten(&found.text, MOST_SNAPSHOT));
        // Nobody hears its bytes: an hour is what the longest reply may take.
        self.heart.stage(Stage::Thinking, mind.patience() * 12 + Duration::from_secs(10));
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
                let error = format!("read the model's answer: {error}");
                return Err(Fault::new(error, "the next night asks again"));
            }
            Outcome::Down(Down { error, hint, .. }) => return Err(Fault::new(error, hint)),
        };
        let (done, mut refused) = act(&mut self.toolbox, &facts, &pulse, &thought.tool_calls)?;
        refused.extend(thought.not_run());
        let monologue = context::shorten(&thought.monologue, 2_000);
        let told = json!({"monologue": monologue, "done": done, "refused": refused, "usage": usage});
        self.remember("dream", told)?;
        let facts = facts::list(&facts_text(&self.told.house)?);
        night.asked = mark(&shown(&facts, &open(&self.toolbox)));
        Ok(Some(format!("{} acts done, {} refused", done.len(), refused.len())))
    }
}

/// Does acts on the facts and concerns that were shown; what was done, and what was refused and why.
fn act(
    tools: &mut Toolbox,
    shown: &[Fact],
    pulse: &[Concern],
    calls: &[ToolCall],
) -> Result<(Vec<String>, Vec<String>), Fault> {
    let before = facts_text(&tools.house)?;
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
                changed(tools, PulseChange::Update { id, text: Some(text), every_s: None }).map(|()| done)
            }
            Act::Close { .. } if closed == 0 => Err("half of the concerns are closed".to_owned()),
            Act::Close { id, why } => {
                let done = format!("{id} closed");
                changed(tools, PulseChange::Close { id, why })?;
                closed -= 1;
                Ok(done)
            }
        });
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
    facts::unite(text, &places, words)
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

/// The same for the same text.
fn mark(text: &str) -> String {
    number(text).to_string()
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
