//! Talks with the owner that are over: a long one is summed up once, for the diary, memory and the next talk.
//!
//! Invariant: a talk is summed up once, over ends of lives too: a summary in memory is found by the talk's key.

use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::life::{Leaving, Life};
use crate::store::TOLD_BACK;
use crate::tools::catalogue::LIST;
use ground::text::shorten;
use ground::{files, papers};
use memory::state;
use mind::conversation::Conversation;
use mind::llm::ModelMind;
use mind::talks::{ENDED, Known, Over, Talks, key, over};
use mind::thought::ToolCall;
use mind::{extract, transcript};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

const ASKING: &str = include_str!("../../../prompts/talked.md");

/// Seconds between looks for talks that are over.
const LOOK_S: i64 = 600;

/// Most characters of a talk that are read, the latest, and of the summary that is kept.
const MOST_READ: usize = 24_000;
const MOST_KEPT: usize = 2_000;

/// Tries at one talk; at the last, where no model answers, plain code says what it can.
const MOST_TRIES: u32 = 6;

impl Life {
    /// Sums up one talk that is over, if there is one. A failure is told and costs nothing else.
    pub(crate) async fn sum_up_talks(&mut self, leaving: &mut impl Leaving) -> Result<(), Fault> {
        let (path, now_s) = (self.told.house.talks(), self.told.clock.now().as_second());
        if !self.minds.can_read() || self.access.poor || self.told.rehearsal {
            return Ok(());
        }
        let mut talks: Talks = state::read(&path).unwrap_or_default();
        // A clock put back delays no look by more than `LOOK_S`.
        if (0..=LOOK_S).contains(&talks.next_s.saturating_sub(now_s)) && talks.next_s > now_s {
            return Ok(());
        }
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        talks.next_s = now_s.saturating_add(LOOK_S);
        if let Some((name, talk)) = self.next_over(&mut talks, now_s) {
            let known = talks.files.entry(name.clone()).or_default();
            known.tries = known.tries.saturating_add(1);
            let last_try = known.tries >= MOST_TRIES;
            // The try is written down first: a talk that kills a life is not tried at every wake.
            state::keep(&path, &talks);
            if let Some(summary) = self.summed_up(&talk, last_try, leaving).await? {
                if let Some(known) = talks.files.get_mut(&name) {
                    (known.done, known.summary) = (true, summary);
                }
                if name.starts_with(ENDED) {
                    let _ = std::fs::remove_file(self.told.house.conversations().join(&name));
                }
            }
        }
        state::keep(&path, &talks);
        Ok(())
    }

    /// The next talk that is over and long; those that are over and short are noted as done.
    fn next_over(&self, talks: &mut Talks, now_s: i64) -> Option<(String, Conversation)> {
        let folder = self.told.house.conversations();
        let mut found = BTreeMap::new();
        for file in files::entries(&folder) {
            let name = file.file_name().to_string_lossy().into_owned();
            if name.starts_with("talk-") || name.starts_with(ENDED) {
                found.insert(name, file.metadata().map_or(0, |found| found.len()));
            }
        }
        talks.files.retain(|name, _| found.contains_key(name));
        for (name, bytes) in found {
            if talks.files.get(&name).is_some_and(|known| known.done && known.bytes == bytes) {
                continue;
            }
            let Some(read) =
                Conversation::load(&folder.join(&name)).filter(|read| read.head.thread.is_some())
            else {
                continue;
            };
            let over = if name.starts_with(ENDED) { Over::Long } else { over(&read, now_s) };
            let key = key(&read);
            let tries =
                talks.files.get(&name).filter(|known| known.key == key).map_or(0, |known| known.tries);
            let known = Known { bytes, key, tries, done: over == Over::Short, summary: String::new() };
            match over {
                Over::GoesOn => {}
                Over::Short => drop(talks.files.insert(name, known)),
                Over::Long => {
                    talks.files.insert(name.clone(), known);
                    return Some((name, read));
                }
            }
        }
        None
    }

    /// Returns the summary of a talk, remembered and in the diary; none without a model, or where the life is to leave.
    async fn summed_up(
        &mut self,
        talk: &Conversation,
        last_try: bool,
        leaving: &mut impl Leaving,
    ) -> Result<Option<String>, Fault> {
        let (key, thread) = (key(talk), talk.head.thread.clone().unwrap_or_default());
        let records = self.store.newest(TOLD_BACK);
        let known = records.iter().rev().find(|record| record.data.get("talk") == Some(&json!(key)));
        let known =
            known.and_then(|record| record.data.get("text")).and_then(Value::as_str).map(str::to_owned);
        let summary = match known {
            Some(known) => known,
            None => {
                let asked = self.ask_of(talk);
                let Some(asked) = self.beside_apart(asked, leaving).await? else { return Ok(None) };
                let plain =
                    || last_try.then(|| extract::extract(&transcript::lines(&talk.turns, &LIST), &LIST));
                let Some(said) = asked.or_else(plain) else { return Ok(None) };
                let said = shorten(said.trim(), MOST_KEPT);
                let data = json!({"about": "talk", "thread": thread, "talk": key, "text": said});
                self.store.record("observation", data)?;
                said
            }
        };
        let day: String = self.told.clock.text().chars().take(10).collect();
        let entry = format!("{day}, a talk with my owner ({thread}) is over: {summary}");
        let diary = papers::read(&self.told.house.papers().join("diary.md")).text;
        if !diary.contains(&summary) {
            let Value::Object(args) = json!({"name": "diary", "text": entry}) else {
                return Ok(Some(summary));
            };
            let call = ToolCall { tool: "notes.append".to_owned(), args, ..ToolCall::default() };
            let done = self.lend(self.caller.clone()).call(&call).await.result;
            let why = done.get("error").and_then(Value::as_str).unwrap_or_default();
            self.store.observe("talk", why)?;
        }
        Ok(Some(summary))
    }

    /// The summary of a talk by the quick model, or else by the mind; none where neither answers.
    fn ask_of(&mut self, talk: &Conversation) -> impl Future<Output = Option<String>> + use<> {
        let now = self.told.clock.now();
        let mut minds: Vec<ModelMind> = self.minds.quick().map(|mind| mind.beside(now)).into_iter().collect();
        minds.extend(self.minds.now.talk().map(|mind| mind.beside(now)));
        let lines = transcript::latest(transcript::lines(&talk.turns, &LIST), MOST_READ);
        let (stage, patience) = (self.heart.stages(), self.minds.now.patience() + Duration::from_secs(10));
        let asking = papers::prompt(&self.told.house.prompt("talked"), ASKING);
        async move {
            let alive = || stage(Stage::Thinking, patience);
            alive();
            for mind in &minds {
                let said = mind.sums_up(&lines, &asking, true, &alive).await;
                if said.is_some() {
                    return said;
                }
            }
            None
        }
    }
}
