//! Conversations of sub-sessions and dreams: in the mind's own frame, which a cache holds, or in one of theirs.

use super::conversation::{Conversation, Entry};
use super::llm::{self, Frame, ModelMind};
use super::{Outcome, talk};
use agenda::standing::redact;
use jiff::Timestamp;
use model::Kind;
use std::collections::BTreeMap;
use std::io;

impl ModelMind {
    /// Copies this model without its conversation: for conversations apart that go on while this one thinks. Both know
    /// what they find out about the server.
    pub fn beside(&mut self, now: Timestamp) -> Self {
        self.learn_apart(now);
        let (current, quick) = (self.current.take(), self.quick.take());
        let beside = self.clone();
        (self.current, self.quick) = (current, quick);
        beside
    }

    /// The conversation of this name, ready for its next turn: known, read, or begun with `opening`. `hour` is
    /// said last, unless the model has results to answer.
    pub fn apart(
        &self,
        frame: &Frame,
        name: &str,
        known: Option<Conversation>,
        opening: impl FnOnce() -> String,
        hour: &str,
        (life, now): (u64, Timestamp),
    ) -> io::Result<Conversation> {
        let (path, at_s) = (self.folder.join(format!("apart-{name}.jsonl")), now.as_second());
        let known = known.or_else(|| Conversation::load(&path));
        let said = |text: String| Entry::Said { text: redact(&text), life, at_s, shown: BTreeMap::new() };
        let most = self.window / 10 * 7;
        let mut talk = match known.filter(|it| it.head.fingerprint == frame.fingerprint && it.tokens() < most)
        {
            Some(talk) => talk,
            None => {
                let head = self.head_of(Some(format!("apart {name}")), frame);
                Conversation::begin(path, head, vec![said(opening())])?
            }
        };
        talk.close()?;
        if !talk.is_turn_of_model() || talk.turns.len() == 1 {
            talk.add(said(hour.to_owned()))?;
        }
        Ok(talk)
    }

    /// Takes the model's next turn of a conversation other than the mind's own.
    pub async fn turn(
        &self,
        frame: &Frame,
        talk: &mut Conversation,
        autonomous: bool,
        now: Timestamp,
        alive: &(dyn Fn() + Sync),
    ) -> Outcome {
        let mut without_thinking = false;
        loop {
            let error = match self.ask(frame, &talk.turns, autonomous, without_thinking, (alive, None)).await
            {
                Ok(reply) => {
                    self.answered_apart();
                    let taken = self.took(talk, &reply, now.as_second());
                    return taken.map_or_else(|error| talk::unkept(&error), |came| self.priced(came));
                }
                Err(error) => error,
            };
            if error.kind != Kind::Signature || without_thinking {
                if self.may_be_simpler(&error) {
                    self.refused_apart(&error);
                }
                // A conversation that is refused for its length, or for what it holds, begins anew at its next turn.
                let is_refused = match error.kind {
                    Kind::TooLong | Kind::Filtered => true,
                    Kind::BadRequest => matches!(error.status, Some(400 | 422)),
                    _ => false,
                };
                if is_refused && talk.first_tokens().is_some() {
                    talk.head.fingerprint.clear();
                }
                return llm::failed(&error);
            }
            without_thinking = true;
        }
    }
}
