//! A rehearsal: one canned thought lived in a copy of the house, before this source is born.
//!
//! Invariant: every organ a life needs is used once (senses, memory, context, prompt, the reading of a
//! reply, tools, instinct); any that fails is an error, and the self-edit does not happen.

use crate::config::Told;
use crate::fault::Fault;
use crate::life::Leaving;
use crate::life::birth::birth;
use crate::life::passed::{Done, Reasons, Sensed};
use crate::pace;
use crate::store::caller::Caller;
use crate::tools::catalogue::LIST;
use instinct::Instinct;
use mind::{Outcome, context, prompt, situation, thought};
use model::Wire;
use serde_json::{Value, json};

/// A reply as a model may send it: in a code fence, with arguments as text, so that the repair is tried.
const CANNED: &str = r#"```json
{"monologue": "This is a rehearsal: I try each of my organs once on a copy of my house.",
 "intent": "remember, write, read, look back",
 "tool_calls": [
  {"tool": "memory.append", "args": {"kind": "observation", "data": {"about": "rehearsal", "text": "it can remember"}}},
  {"tool": "files.write", "args_json": "{\"path\": \"rehearsed.txt\", \"text\": \"it can write\"}"},
  {"tool": "notes.read", "args": {"name": "scratch"}}
 ],
 "sleep_s": 2}
```"#;

/// Nobody asks a rehearsal to leave; it is ended from outside.
struct Undisturbed;

impl Leaving for Undisturbed {
    async fn asked(&mut self) {
        std::future::pending().await
    }
}

/// Lives one canned thought; an error names the organ that failed.
pub async fn rehearse(told: Told) -> Result<(), Fault> {
    let told = Told { rehearsal: true, safe: false, ..told };
    let house = told.house.clone();
    let mut life = birth(told).await?;
    let sensed = life.sense(0, &Reasons::default())?;
    let moment = &sensed.moment;
    let parts = context::choose(moment, &context::Caps::default(), &LIST);
    let said = situation::standing(&parts).text + &situation::opening(moment, &parts).text;
    let in_json = |wire| prompt::in_json(wire, &LIST.lines(&|_| true));
    for answer in [prompt::NATIVE.to_owned(), in_json(Wire::Anthropic), in_json(Wire::Chat)] {
        let system = prompt::system(prompt::MIND, &answer, life.toolbox.most_shown);
        if system.is_empty() || said.is_empty() {
            return Err(Fault::new(
                "the prompt is empty",
                "look at prompt.rs and situation.rs of crates/mind",
            ));
        }
    }
    if LIST.native(&|_| true).is_empty() {
        return Err(Fault::new("there are no tools", "look at tools/catalogue.rs"));
    }
    match Instinct::load(&house, pace::BUILT).think(moment) {
        Outcome::Thought { .. } => {}
        other => {
            return Err(Fault::new(format!("instinct had no thought: {other:?}"), "look at crates/instinct"));
        }
    }
    let (canned, how) = thought::read(CANNED).map_err(|why| {
        Fault::new(format!("the canned reply cannot be read: {why}"), "look at crates/mind/src/thought.rs")
    })?;
    let calls = canned.tool_calls.len();
    life.thought(
        Sensed { caller: Caller::own(), ..sensed },
        canned,
        json!({"repaired": how}),
        Done::default(),
        &mut Undisturbed,
    )
    .await?;
    let tail = memory::tail(&house.memory(), calls + 8, 1 << 20)
        .map_err(|cause| Fault::caused("read back memory", &cause, "look at crates/memory"))?;
    let life_number = life.told.life;
    let acts = tail.records.iter().rev().filter(|r| r.kind == "action" && r.life == life_number).take(calls);
    let mut done = 0;
    for act in acts {
        let result = act.data.get("result").cloned().unwrap_or(Value::Null);
        if result.get("ok") != Some(&Value::Bool(true)) {
            let tool = act.data.get("tool").cloned().unwrap_or(Value::Null);
            return Err(Fault::new(format!("the tool {tool} failed: {result}"), "look at tools/"));
        }
        done += 1;
    }
    if done < calls {
        return Err(Fault::new(format!("{done} of {calls} actions stand in memory"), "look at life.rs"));
    }
    Ok(())
}
