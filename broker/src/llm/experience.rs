//! What calls so far taught: what each model's are like, which provider is silent, and how it wants a limit named.
//!
//! Absent on purpose: the disk. A broker that begins anew takes a model for a usual one until it has answered.

use super::Wire;
use super::bill::Like;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Calls of a model that count.
const CALLS: usize = 16;
/// Models that are told apart; beyond that all is learned anew.
const MODELS: usize = 64;

#[derive(Default)]
pub struct Experience {
    learned: Mutex<Learned>,
}

#[derive(Default)]
struct Learned {
    models: BTreeMap<String, VecDeque<Like>>,
    silent: Vec<Wire>,
    /// Servers that want `max_completion_tokens`, and no `max_tokens`.
    new_limit: Vec<Wire>,
}

impl Experience {
    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The dearest of a model's latest calls.
    pub fn of(&self, model: &str) -> Option<Like> {
        let learned = self.learned();
        let calls = learned.models.get(model)?.iter();
        calls.copied().reduce(|one, other| Like {
            input_permille: one.input_permille.max(other.input_permille),
            output_tokens: one.output_tokens.max(other.output_tokens),
        })
    }

    /// A call of a model was answered, and was like this.
    pub fn learn(&self, model: &str, like: Like) {
        let mut learned = self.learned();
        if learned.models.len() >= MODELS && !learned.models.contains_key(model) {
            learned.models.clear();
        }
        let calls = learned.models.entry(model.to_owned()).or_default();
        calls.push_back(like);
        while calls.len() > CALLS {
            calls.pop_front();
        }
    }

    pub fn answered(&self, wire: Wire) {
        self.learned().silent.retain(|silent| *silent != wire);
    }

    /// No model answered; whether that is new since one last did.
    pub fn is_newly_silent(&self, wire: Wire) -> bool {
        add(&mut self.learned().silent, wire)
    }

    pub fn wants_new_limit(&self, wire: Wire) -> bool {
        self.learned().new_limit.contains(&wire)
    }

    /// What a server said to a request it did not accept: it names the limit it wants, or the one it does not know.
    pub fn refused(&self, wire: Wire, status: u16, body: &[u8]) {
        let says = |word: &[u8]| body.windows(word.len()).any(|text| text == word);
        if wire == Wire::OpenAi && matches!(status, 400 | 422) && says(b"max_completion_tokens") {
            let mut learned = self.learned();
            if !add(&mut learned.new_limit, wire) {
                learned.new_limit.retain(|known| *known != wire);
            }
        }
    }
}

fn add(wires: &mut Vec<Wire>, wire: Wire) -> bool {
    let is_new = !wires.contains(&wire);
    if is_new {
        wires.push(wire);
    }
    is_new
}
