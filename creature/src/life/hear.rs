//! Hears the owner's words and decisions; each is remembered once, over ends of lives too.

mod compact;
pub(super) mod consent;
mod directed;
pub(super) mod settings;
pub(super) mod stop;

use crate::config::Settings;
use crate::fault::Fault;
use crate::life::passed::Stop;
use crate::life::{Life, requests};
use crate::senses::cursors::{Heard, Waiting};
use crate::senses::{asks, inbox, news};
use crate::store::caller::Caller;
use crate::tools::product;
use agenda::directive;
use ground::text;
use mind::moment::Word;
use serde_json::{Value, json};

impl Life {
    /// Takes the owner's new words: each is remembered and waits for an answer; returns the one that means stop.
    /// `works_for` is the owner's thread whose work is under way.
    pub(super) fn hear(&mut self, works_for: Option<&str>) -> Result<Option<Stop>, Fault> {
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
        self.take_in(&known, works_for)
    }

    /// Takes in new words: saved with their ids first, then remembered under them, so that an end in between
    /// neither loses a word nor doubles it.
    fn take_in(&mut self, known: &[Heard], works_for: Option<&str>) -> Result<Option<Stop>, Fault> {
        let new: Vec<Waiting> =
            self.cursors.owner.words.iter().filter(|waiting| !waiting.id.is_empty()).cloned().collect();
        if new.is_empty() {
            return Ok(None);
        }
        self.save()?;
        let mut stop = None;
        for Waiting { word, id, .. } in new {
            let before = known.iter().find(|known| known.id == id);
            if before.is_none() {
                tracing::info!("the owner says: {}", text::shorten(&word.text, 200));
                let said = json!({"from": "owner", "text": word.text, "at": word.at, "thread": word.thread, "id": id});
                self.store.record("message", said)?;
                self.own.used(&mut self.store, product::MESSAGE);
            }
            let answered = before.is_some_and(|known| known.answered);
            let said = if answered { None } else { self.stop_said(&word, &id, works_for) };
            if let Some(said) = said {
                stop = Some(said.after(stop));
                continue;
            }
            let reply = if answered { None } else { self.plain_reply(&word) };
            if let Some(reply) = &reply {
                self.store.say("answer", &word.thread, reply)?;
            }
            if answered || reply.is_some() {
                self.cursors.owner.words.retain(|waiting| waiting.id != id);
                continue;
            }
            if !self.told.safe && self.plain_consent(&word, &id, before.is_none())? {
                self.cursors.owner.words.retain(|waiting| waiting.id != id);
                continue;
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
        self.save()?;
        Ok(stop)
    }

    /// Does what plain code understands of a word; the reply, none where the mind is to answer.
    fn plain_reply(&mut self, word: &Word) -> Option<String> {
        if self.told.safe {
            return None;
        }
        if let Some(reply) = requests::dropped(&mut self.store, &word.text, &word.thread) {
            return Some(reply);
        }
        if directive::compacts(&word.text) {
            let facts = self.facts();
            let (store, counts) = (&mut self.store, &mut self.cursors.counts);
            return Some(compact::compacted(store, counts, &mut self.minds, &facts, &word.thread));
        }
        let is_instinct = self.minds.are_instinct();
        directed::directed(&mut self.store, &mut self.cursors.events, is_instinct, word)
    }

    /// Keeps a word as an open request, until it is answered and done, and takes its yes; whether it needs no other answer.
    fn plain_consent(&mut self, word: &Word, id: &str, is_new: bool) -> Result<bool, Fault> {
        let kept = self.lend(Caller::owner(&word.thread)).requested(word, id);
        let request =
            kept.inspect_err(|fault| tracing::warn!("failed to {} ({})", fault.error, fault.hint)).ok();
        let (store, events) = (&mut self.store, &mut self.cursors.events);
        let approved = consent::approved(store, events, word)?;
        match approved {
            Some(true) => consent::request_answered(store, request, &word.thread),
            None if is_new && self.minds.are_instinct() => directed::goal_of_phases(store, events, word),
            _ => {}
        }
        Ok(approved == Some(true))
    }

    /// Takes up settings that the guardian handed over since they were last read; how a model is asked counts with the
    /// next one that is offered.
    fn follow_settings(&mut self) -> Result<(), Fault> {
        let (settings, odd) = match Settings::handed_anew(&self.told.house, &mut self.handed) {
            None => return Ok(()),
            Some(Ok(handed)) => handed,
            Some(Err(why)) => {
                let odd = settings::unread(&why, &self.toolbox);
                self.heart.odd(&odd);
                return self.store.observe("settings", &odd);
            }
        };
        self.settings = settings;
        self.toolbox.settings_unread = false;
        let unfollowed = settings::put(&self.settings, &mut self.store, &mut self.toolbox);
        let odd: Vec<String> = odd.into_iter().chain(unfollowed).collect();
        self.heart.odd(&odd.join("; "));
        self.store.observe("settings", &odd.join("; "))
    }

    /// Takes what the owner decided: each is remembered and told to the next thought.
    pub(crate) fn hear_outcomes(&mut self) -> Result<(), Fault> {
        if self.told.safe {
            return Ok(());
        }
        let (outcomes, odd) = asks::read_outcomes(&self.told.house.asks(), &mut self.cursors.events.asks);
        self.store.observe("asks", &odd)?;
        for outcome in outcomes {
            if self.cursors.events.first_telling(outcome.key) {
                tracing::info!("{}", text::shorten(&outcome.told, 200));
                if outcome.record.get("event") == Some(&json!("executed")) {
                    let id = outcome.record.get("id").and_then(Value::as_str).unwrap_or_default();
                    self.own.used(&mut self.store, &format!("ask {id}"));
                }
                self.cursors.events.tell(outcome.told);
                self.store.record("observation", outcome.record)?;
            }
        }
        Ok(())
    }

    /// Takes what MCP servers tell by themselves: each is remembered and told to the next thought.
    pub(crate) fn hear_servers(&mut self) -> Result<(), Fault> {
        if self.told.safe {
            return Ok(());
        }
        let (news, odd) = news::read_news(&self.told.house.news(), &mut self.cursors.events.servers);
        self.store.observe("news", &odd)?;
        for (key, told) in news {
            if self.cursors.events.first_telling(key) {
                self.cursors.events.tell(told.as_str());
                self.store.record("observation", json!({"about": "server", "text": told}))?;
            }
        }
        Ok(())
    }
}
