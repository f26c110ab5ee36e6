//! Judges whether a conversation has grown too long, and continues it from a summary in a shorter one.
//!
//! Invariant: between two shortenings a conversation grows by a tenth of the window; two without gain end a wake.

use super::conversation::{Conversation, UNANSWERED};
use super::handover::{self, ASKED};
use super::llm::{self, ModelMind};
use super::moment::Moment;
use super::situation::Said;
use super::talks::SHORT_TOKENS;
use super::{Down, Outcome, Why, transcript};
use ground::papers;
use model::{Error, Kind};
use std::collections::BTreeMap;
use std::io;

/// Letters of a token, at least: the last messages are kept within a tenth of what a conversation may grow to.
const LETTERS_A_TOKEN: u64 = 2;

/// Tokens a handover is taken to need, before it is written.
const HANDOVER_TOKENS: u64 = 4_000;

/// Length of a conversation, against the model's window and the day's money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    Fits,
    /// A shorter conversation is to continue from its summary.
    TooLong,
    /// The conversation has no thought yet, and nothing to leave out.
    Hopeless,
}

/// `now`, `first`: tokens of the next request, and up to the end of the first thought. `round`: tokens whose
/// reading costs a fiftieth of what the creature may spend of its own accord in a day.
pub fn length(now: u64, first: Option<u64>, window: u64, round: Option<u64>) -> Length {
    let Some(first) = first else {
        return if now > window / 10 * 9 { Length::Hopeless } else { Length::Fits };
    };
    let most = most(window, round);
    if now > most && now >= first.saturating_add(window / 10) { Length::TooLong } else { Length::Fits }
}

fn most(window: u64, round: Option<u64>) -> u64 {
    (window / 10 * 7).min(round.map_or(u64::MAX, |round| round.max(SHORT_TOKENS)))
}

impl ModelMind {
    /// Continues in a shorter conversation where this one has grown too long. An outcome ends the wake.
    pub(super) async fn shortened(
        &mut self,
        moment: &Moment,
        alive: &(dyn Fn() + Sync),
    ) -> io::Result<Option<Outcome>> {
        let Some(current) = &self.current else { return Ok(None) };
        let before = current.tokens();
        let wanted = self.to_compact.remove(&current.head.thread) && current.first_tokens().is_some();
        match length(before, current.first_tokens(), self.window, self.round_tokens) {
            Length::Fits if !wanted => return Ok(None),
            Length::Hopeless => return Ok(Some(self.unfit(before))),
            Length::Fits | Length::TooLong => {}
        }
        let asking = handover::asking(&self.summary_prompt);
        let is_own = !papers::read(&self.summary_prompt).text.trim().is_empty();
        let lines = transcript::lines(&current.turns, self.tools);
        let quick = match &self.quick {
            Some(quick) => quick.sums_up(&lines, &asking, !moment.answers(), alive).await,
            None => None,
        };
        let summary = match quick {
            Some(summary) => summary,
            None => match self.sums_itself_up(moment, asking, alive).await? {
                Ok(summary) => summary,
                Err(outcome) => return Ok(Some(outcome)),
            },
        };
        let turns = self.current.as_ref().map_or(&[][..], |current| &current.turns);
        let summary = match summary.trim().is_empty() {
            true => summary,
            false => handover::kept(&summary, turns, is_own, self.tools),
        };
        let room = (most(self.window, self.round_tokens) / 10).saturating_mul(LETTERS_A_TOKEN);
        let last = handover::last(turns, usize::try_from(room).unwrap_or(usize::MAX), self.tools);
        self.begin(moment, Some(&summary), &last)?;
        if wanted {
            return Ok(None);
        }
        let after = self.current.as_ref().map_or(0, Conversation::tokens);
        let gained = after < most(self.window, self.round_tokens).min(before);
        self.gainless = if gained { 0 } else { self.gainless + 1 };
        Ok((self.gainless > 1).then(|| self.unfit(after)))
    }

    /// The model's own summary, asked for within the conversation; empty where an extract is handed over instead.
    async fn sums_itself_up(
        &mut self,
        moment: &Moment,
        asking: String,
        alive: &(dyn Fn() + Sync),
    ) -> io::Result<Result<String, Outcome>> {
        let asked = self.current.as_ref().and_then(|current| current.shown.get(ASKED));
        if asked.is_none_or(|mark| mark != UNANSWERED) {
            let shown = BTreeMap::from([(ASKED.to_owned(), UNANSWERED.to_owned())]);
            self.tell(Said { text: asking, shown }, moment)?;
        }
        let turns = self.current.as_ref().map_or(&[][..], |current| &current.turns);
        let live = (alive, Some(self.live.as_path()));
        Ok(match self.ask(&self.frame, turns, !moment.answers(), false, live).await {
            Ok(reply) => Ok(reply.text),
            Err(error) => match error.kind {
                // An extract is handed over instead.
                Kind::TooLong
                | Kind::Signature
                | Kind::Filtered
                | Kind::BadRequest
                | Kind::Form
                | Kind::Garbled => Ok(String::new()),
                Kind::Withheld if self.would_fit(error.fits_tokens) => Ok(String::new()),
                _ => Err(llm::failed(&error)),
            },
        })
    }

    /// Whether a refusal whose cause is not known is taken for one of a conversation that is too long: the second in a
    /// row of one that was answered before it grew. An empty reply, of which nothing `is_kept`, is such a refusal too; a page
    /// of something else between us and the model is none. The window stays as it is: this may be wrong.
    pub(super) fn seems_too_long(
        &mut self,
        taken: &Result<io::Result<Outcome>, Error>,
        is_kept: bool,
    ) -> bool {
        let is_refusal = match taken {
            Ok(Err(_)) => return false,
            Ok(Ok(Outcome::Thought { .. })) => {
                self.refusals = 0;
                return false;
            }
            Ok(Ok(_)) => !is_kept,
            // Status 500 is what some servers fall over with where they do not say it.
            Err(error) => match error.kind {
                Kind::Garbled => error.is_empty,
                Kind::BadRequest | Kind::Busy => matches!(error.status, Some(400 | 422 | 500)),
                _ => false,
            },
        };
        let grown = self
            .current
            .as_ref()
            .is_some_and(|current| current.first_tokens().is_some_and(|first| current.tokens() > first));
        self.refusals = if is_refusal && grown { self.refusals + 1 } else { self.refusals };
        let seems = self.refusals > 1;
        if seems {
            self.refusals = 0;
        }
        seems
    }

    /// Takes the length at which a conversation was refused for the model's window, where that leaves it room.
    pub(super) fn narrow_window(&mut self) {
        let Some(current) = &self.current else { return };
        let tokens = current.tokens();
        if current.first_tokens().is_some_and(|first| first.saturating_mul(2) < tokens) {
            self.window = self.window.min(tokens);
        }
    }

    /// Whether the conversation, begun anew, would be shorter and within the tokens the budget has room for.
    pub(super) fn would_fit(&self, fits_tokens: Option<u64>) -> bool {
        let sizes = fits_tokens.zip(self.current.as_ref());
        sizes.is_some_and(|(fits, current)| {
            let anew = current.first_tokens().unwrap_or(u64::MAX).saturating_add(HANDOVER_TOKENS);
            anew <= fits && anew < current.tokens()
        })
    }

    fn unfit(&self, need: u64) -> Outcome {
        let error =
            format!("failed to fit into the window of {}: {need} tokens of {}", self.name(), self.window);
        let hint = "use a model with a larger window; a local server may have loaded less than the model holds (docs/models.md says \
                    how to raise it), else set [model] context_tokens in owner.toml"
            .to_owned();
        Outcome::Down(Down { cause: error.clone(), error, hint, why: Why::Unfit, asked_s: None })
    }
}
