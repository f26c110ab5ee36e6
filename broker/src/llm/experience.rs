//! Lessons of earlier calls: the figures of each model's calls, and which name for a reply's limit a server wants.
//!
//! Absent on purpose: the disk. After a restart the broker assumes usual figures for a model until it has answered.

use super::bill::Like;
use crate::money::prices::Usage;
use house::mutex::lock;
use ring::digest::{SHA256, digest};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

/// Calls of a model that are remembered.
const CALLS: usize = 16;
/// Most models that are remembered; beyond that all are forgotten and learned again. The same number of servers.
const MODELS: usize = 64;

/// Quarters of a request that the conversation's next request begins with too: cache marks are near the end, and
/// move.
const SAME_QUARTERS: usize = 3;
/// Shorter requests, in bytes, are not read from a cache.
const SHORT_BYTES: usize = 2_000;

#[derive(Default)]
pub struct Experience {
    learned: Mutex<Learned>,
}

#[derive(Default)]
struct Learned {
    models: BTreeMap<String, Model>,
    /// Servers that want `max_completion_tokens` instead of `max_tokens`.
    new_limit: Vec<String>,
}

#[derive(Default)]
struct Model {
    calls: VecDeque<Like>,
    /// The last call's beginning, if it was read from a cache: a call that begins the same probably is too.
    cached: Option<Cached>,
}

struct Cached {
    head: Head,
    tokens: u64,
}

/// The beginning of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    bytes: usize,
    hash: [u8; 32],
}

impl Head {
    pub fn of(body: &[u8]) -> Option<Self> {
        let bytes = body.len() / 4 * SAME_QUARTERS;
        Some(Self { bytes, hash: hash(body.get(..bytes)?)? }).filter(|head| head.bytes >= SHORT_BYTES)
    }

    fn begins(&self, body: &[u8]) -> bool {
        body.get(..self.bytes).and_then(hash) == Some(self.hash)
    }
}

fn hash(bytes: &[u8]) -> Option<[u8; 32]> {
    digest(&SHA256, bytes).as_ref().try_into().ok()
}

impl Experience {
    fn learned(&self) -> MutexGuard<'_, Learned> {
        lock(&self.learned)
    }

    /// The highest figures of a model's latest calls.
    pub fn of(&self, model: &str) -> Option<Like> {
        let learned = self.learned();
        let calls = learned.models.get(model)?.calls.iter();
        calls.copied().reduce(|one, other| Like {
            input_permille: one.input_permille.max(other.input_permille),
            output_tokens: one.output_tokens.max(other.output_tokens),
        })
    }

    /// Tokens of a request that are probably read from a cache: those of the last one, if both begin the same.
    pub fn cached_tokens(&self, model: &str, body: &[u8]) -> u64 {
        let learned = self.learned();
        let cached = learned.models.get(model).and_then(|model| model.cached.as_ref());
        cached.filter(|cached| cached.head.begins(body)).map_or(0, |cached| cached.tokens)
    }

    /// Learns from a call that was answered.
    pub fn learn(&self, model: &str, like: Like, head: Option<&Head>, usage: &Usage) {
        let mut learned = self.learned();
        if learned.models.len() >= MODELS && !learned.models.contains_key(model) {
            learned.models.clear();
        }
        let model = learned.models.entry(model.to_owned()).or_default();
        model.calls.push_back(like);
        while model.calls.len() > CALLS {
            model.calls.pop_front();
        }
        let tokens = usage.prompt().saturating_sub(usage.input);
        let was_read = usage.cache_read > usage.prompt() / 2;
        model.cached = head.filter(|_| was_read).map(|head| Cached { head: head.clone(), tokens });
    }

    pub fn wants_new_limit(&self, server: &str) -> bool {
        self.learned().new_limit.iter().any(|known| known == server)
    }

    /// Learns from the error of a server that did not accept a chat: it names the limit it wants, or the one it does
    /// not know.
    pub fn refused(&self, server: &str, status: u16, body: &[u8]) {
        let says = |word: &[u8]| body.windows(word.len()).any(|text| text == word);
        if matches!(status, 400 | 422) && says(b"max_completion_tokens") {
            let mut learned = self.learned();
            if !add(&mut learned.new_limit, server) {
                learned.new_limit.retain(|known| known != server);
            }
        }
    }
}

fn add(servers: &mut Vec<String>, server: &str) -> bool {
    let is_new = !servers.iter().any(|known| known == server);
    if is_new {
        servers.truncate(MODELS);
        servers.push(server.to_owned());
    }
    is_new
}
