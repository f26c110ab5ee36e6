//! Hears the owner's words and decisions; each is remembered once, over ends of lives too.

mod compact;
mod consent;
pub(super) mod settings;
pub(super) mod stop;

use crate::fault::Fault;
use crate::life::Life;
use crate::senses::cursors::{Heard, Waiting};
use crate::senses::{asks, inbox};
use crate::tools::product;
use ground::text;
use serde_json::{Value, json};

impl Life {
    /// Takes the owner's new words: each is remembered and waits for an answer.
    pub(crate) fn hear(&mut self) -> Result<(), Fault> {
        self.follow_settings()?;
        let heard = inbox::read(&self.told.house.inbox(), &mut self.cursors.owner.inbox);
        self.store.observe("inbox", &heard.problem)?;
        let mut known = std::mem::take(&mut self.heard);
        let mut taken = Vec::new();
        for (nth, word) in heard.words.into_iter().enumerate() {
            let before = known.iter().position(|known| known.is_same_if_equal && known.word == word);
            let before = before.map(|at| known.remove(at));
            if before.as_ref().is_some_and(|known| known.answered) {
                continue;
            }
            let name = || format!("{}-{}-{nth}", self.told.life, self.told.clock.now().as_millisecond());
            let id = before.as_ref().map(|known| known.id.clone()).filter(|id| !id.is_empty());
            let id = id.unwrap_or_else(name);
            taken.extend(before.map(|known| Heard { id: id.clone(), ..known }));
            self.cursors.owner.words.push(Waiting { id, ..Waiting::new(word) });
        }
        known.extend(taken);
        self.take_in(&known)
    }

    /// Takes in new words: saved with their ids first, then remembered under them, so that an end in between
    /// neither loses a word nor doubles it.
    fn take_in(&mut self, known: &[Heard]) -> Result<(), Fault> {
        let new: Vec<Waiting> =
            self.cursors.owner.words.iter().filter(|waiting| !waiting.id.is_empty()).cloned().collect();
        if new.is_empty() {
            return Ok(());
        }
        self.save()?;
        for Waiting { word, id, .. } in new {
            let before = known.iter().find(|known| known.id == id);
            if before.is_none() {
                tracing::info!("the owner says: {}", text::shorten(&word.text, 200));
                let said = json!({"from": "owner", "text": word.text, "at": word.at, "thread": word.thread, "id": id});
                self.store.record("message", said)?;
                self.used(product::MESSAGE);
            }
            let answered = before.is_some_and(|known| known.answered);
            if !answered && self.takes_stop(&word, &id) {
                continue;
            }
            let dropped = if answered { None } else { self.dropped(&word.text, &word.thread) };
            let reply = match (answered, dropped) {
                (false, None) => {
                    let compacted = self.compacted(&word.text, &word.thread);
                    compacted.or_else(|| self.directed(&word.text, &word.thread))
                }
                (_, dropped) => dropped,
            };
            if let Some(reply) = &reply {
                let data =
                    json!({"from": "creature", "kind": "answer", "thread": word.thread, "text": reply});
                self.store.record("message", data)?;
            }
            if answered || reply.is_some() {
                self.cursors.owner.words.retain(|waiting| waiting.id != id);
                continue;
            }
            let request = self.requested(&word, &id);
            if let Some(answered) = self.approved(&word)? {
                if answered {
                    self.request_answered(request, &word.thread);
                    self.cursors.owner.words.retain(|waiting| waiting.id != id);
                    continue;
                }
            } else if before.is_none() {
                self.goal_of_phases(&word.text, &word.thread);
            }
            let mine = self.cursors.owner.words.iter_mut().find(|waiting| waiting.id == id);
            mine.into_iter().for_each(|waiting| waiting.id.clear());
        }
        let over = match self.cursors.owner.pass_over() {
            0 => String::new(),
            over => format!(
                "{over} words waited for an answer and were too many; what they ask stands as requests"
            ),
        };
        self.store.observe("words", &over)?;
        self.save()
    }

    /// Takes what the owner decided: each is remembered and told to the next thought.
    pub(crate) fn hear_outcomes(&mut self) -> Result<(), Fault> {
        if self.told.safe {
            return Ok(());
        }
        let (outcomes, odd) = asks::read(&self.told.house.asks(), &mut self.cursors.events.asks);
        self.store.observe("asks", &odd)?;
        for outcome in outcomes {
            if self.cursors.events.first_telling(outcome.key) {
                tracing::info!("{}", text::shorten(&outcome.told, 200));
                if outcome.record.get("event") == Some(&json!("executed")) {
                    self.used(&format!(
                        "ask {}",
                        outcome.record.get("id").and_then(Value::as_str).unwrap_or("")
                    ));
                }
                self.cursors.events.tell(outcome.told);
                self.store.record("observation", outcome.record)?;
            }
        }
        Ok(())
    }
}
