//! Prompt caches by the documented rules: marks, least length, look-back and life; or steps of a common beginning.

use super::rules::hash;
use std::collections::HashMap;

/// Positions a read looks back from a mark, itself included: Anthropic, prompt caching.
const LOOK_BACK: usize = 20;

/// Steps of an automatic cache, in tokens, and the shortest prefix it holds: OpenAI, prompt caching, as before GPT-5.6; newer
/// models match at marks alone (`PromptCacheOptionsParam` of openapi.yaml) and hold for 30 minutes (`PromptCacheTTLEnum`).
const STEP: usize = 128;
const LEAST: usize = 1_024;
const AUTOMATIC_LIFE_S: u64 = 1_800;

/// Tokens of a text, as they are estimated here.
pub fn tokens(bytes: usize) -> usize {
    bytes * 2 / 7
}

/// A block of the rendered prompt.
#[derive(Clone, Debug)]
pub struct Piece {
    pub text: String,
    /// What changes the prompt from here on without being read as text.
    pub salt: String,
    /// Life in seconds, where a mark stands.
    pub mark: Option<u64>,
    /// Blocks of one run count as one position.
    pub run: usize,
}

/// What one request read and wrote, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tokens {
    pub read: usize,
    pub written: usize,
    /// Of the written: for an hour.
    pub written_hour: usize,
    pub uncached: usize,
}

impl Tokens {
    pub fn total(&self) -> usize {
        self.read + self.written + self.uncached
    }
}

#[derive(Clone, Copy)]
struct Entry {
    until_s: u64,
    life_s: u64,
}

/// Prefixes that are held, by their hash.
#[derive(Default)]
pub struct Cache {
    entries: HashMap<u64, Entry>,
}

/// What a request would do to the cache, done once its answer streams.
#[derive(Clone, Default)]
pub struct Plan {
    pub tokens: Tokens,
    fresh: Vec<(u64, Entry)>,
}

impl Cache {
    /// A prompt with marks.
    pub fn marked(&self, pieces: &[Piece], least: usize, now_s: u64) -> Plan {
        let (mut hashes, mut lengths, mut length) = (Vec::new(), Vec::new(), 0);
        for piece in pieces {
            hashes.push(hash(&(hashes.last(), &piece.text, &piece.salt)));
            length += piece.text.len();
            lengths.push(tokens(length));
        }
        let alive = |hash: &u64| self.entries.get(hash).filter(|entry| entry.until_s > now_s);
        let mut plan = Plan::default();
        let mut read = None;
        let marks: Vec<(usize, u64)> =
            pieces.iter().enumerate().filter_map(|(at, piece)| Some((at, piece.mark?))).collect();
        for (mark, _) in &marks {
            let first = pieces[*mark].run.saturating_sub(LOOK_BACK - 1);
            let back = (0..=*mark).rev().take_while(|at| pieces[*at].run >= first);
            let hit = back.into_iter().find(|at| alive(&hashes[*at]).is_some());
            read = read.max(hit);
        }
        plan.tokens.read = read.map_or(0, |at| lengths[at]);
        let mut reached = plan.tokens.read;
        for (at, life_s) in &marks {
            let known = alive(&hashes[*at]).map_or(0, |entry| entry.life_s);
            if lengths[*at] < least {
                continue;
            }
            let life_s = known.max(*life_s);
            plan.fresh.push((hashes[*at], Entry { until_s: now_s + life_s, life_s }));
            let more = lengths[*at].saturating_sub(reached);
            reached += more;
            plan.tokens.written += more;
            plan.tokens.written_hour += if life_s > 300 { more } else { 0 };
        }
        if let Some((hash, entry)) = read.and_then(|at| Some((hashes[at], *alive(&hashes[at])?))) {
            plan.fresh.push((hash, Entry { until_s: now_s + entry.life_s, ..entry }));
        }
        plan.tokens.uncached = tokens(length) - reached;
        plan
    }

    /// A prompt whose beginning is held by itself.
    pub fn automatic(&self, salt: &str, text: &str, now_s: u64) -> Plan {
        let all = tokens(text.len());
        let mut plan = Plan::default();
        let (mut last, mut from) = (hash(&salt), 0);
        for step in 1..=all / STEP {
            let to = (step * STEP * 7 / 2).min(text.len());
            last = hash(&(last, &text.as_bytes()[from..to]));
            from = to;
            if step * STEP < LEAST {
                continue;
            }
            if self.entries.get(&last).is_some_and(|entry| entry.until_s > now_s) {
                plan.tokens.read = step * STEP;
            } else {
                plan.tokens.written = step * STEP - plan.tokens.read;
            }
            let life_s = AUTOMATIC_LIFE_S;
            plan.fresh.push((last, Entry { until_s: now_s + life_s, life_s }));
        }
        plan.tokens.uncached = all - plan.tokens.read - plan.tokens.written;
        plan
    }

    pub fn keep(&mut self, plan: Plan) {
        for (hash, entry) in plan.fresh {
            let held = self.entries.entry(hash).or_insert(entry);
            if held.until_s < entry.until_s {
                *held = entry;
            }
        }
    }
}
