//! The index takes in what guardian and broker keep: lives, blessings, commits, falls, deaths, asks, money.

use super::entry::{Entry, Kind};
use super::known::{Asked, Fall, Known, Mark, MarkKind, Stand};
use super::sources::Of;
use super::take::number;
use house::records::text;
use serde_json::Value;

/// How many asks back one is looked for that an answer names.
const ASKS_BACK: usize = 2_000;

impl Known {
    /// Takes in a record of a file; returns what is kept on disk of it.
    pub fn take(&mut self, of: Of, record: &Value, at_ms: u64, stand: Stand) -> Option<Entry> {
        match of {
            Of::Beats if text(record, "kind") == "heartbeat" => {
                self.beat(record.get("data").unwrap_or(&Value::Null), number(record, "life"), at_ms);
            }
            Of::Beats => {}
            Of::Events => self.told(record, at_ms),
            Of::History => self.guarded(record, at_ms, stand),
            Of::Deaths => self.died(record, at_ms),
            Of::Asks => self.asks_line(record, at_ms),
            Of::Memory => return self.remembered(record, at_ms, stand),
            Of::Ledger => return self.entered(record, at_ms, stand),
        }
        None
    }

    /// Takes in a line of the guardian's history.
    pub fn guarded(&mut self, event: &Value, at_ms: u64, stand: Stand) {
        let (what, number) = (text(event, "what"), number(event, "life"));
        let commit = self.texts.ours(text(event, "commit"));
        self.reaches(at_ms);
        self.newest_life = self.newest_life.max(number);
        match what {
            "life" => {
                if let Some(life) = self.life(number, at_ms) {
                    (life.commit, life.safe) = (commit, event.get("safe") == Some(&true.into()));
                }
            }
            "blessed" => {
                if let Some(life) = self.life(number, at_ms) {
                    life.blessed_ms = Some(at_ms);
                }
            }
            "examined" => {
                let told = self.texts.ours(&format!("{}: {}", text(event, "outcome"), text(event, "told")));
                if let Some(life) = self.life(number, at_ms) {
                    life.examined = told;
                }
            }
            "fall" => {
                let told = self.texts.ours(text(event, "told").trim_start_matches("guardian: "));
                let [from_commit, to_commit] =
                    ["from_commit", "to_commit"].map(|name| self.texts.ours(text(event, name)));
                self.fell(Fall { at_ms, life: number, from_commit, to_commit, told });
            }
            "commit" if text(event, "by") == "self" => {
                let text = self.texts.ours(text(event, "summary").trim_start_matches("guardian: "));
                self.mark(Mark { at_ms, length_ms: 0, kind: MarkKind::Commit, text, about: commit, stand });
            }
            "settings_changed" => self.caps.changed(at_ms),
            "rescued" => {
                let text = self.texts.ours(text(event, "ref"));
                self.mark(Mark { at_ms, length_ms: 0, kind: MarkKind::Rescued, text, about: 0, stand });
            }
            _ => {}
        }
    }

    /// Takes in a death.
    pub fn died(&mut self, death: &Value, at_ms: u64) {
        let lived_ms = death.get("lived_s").and_then(Value::as_f64).unwrap_or(0.0) * 1_000.0;
        let [ended, cause, blame, commit] =
            ["ended", "cause", "blame", "commit"].map(|name| text(death, name));
        let told = format!("{} ({cause}), blamed on {blame}", ended.replace('_', " "));
        let (told, commit) = (self.texts.ours(&told), self.texts.ours(commit));
        self.reaches(at_ms);
        let from_ms = at_ms.saturating_sub(lived_ms.clamp(0.0, 1e12) as u64);
        self.newest_life = self.newest_life.max(number(death, "life"));
        let is_new = !self.lives.contains_key(&number(death, "life"));
        if let Some(life) = self.life(number(death, "life"), at_ms) {
            (life.death_ms, life.ended) = (Some(at_ms), told);
            if is_new {
                (life.from_ms, life.commit) = (from_ms, commit);
            }
        }
    }

    /// Takes in a line of the broker's on an ask.
    pub fn asks_line(&mut self, line: &Value, at_ms: u64) {
        let id = line.get("id").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        let Some(id) = id.filter(|id| id.len() <= 64 && !id.is_empty() && id.chars().all(is_plain)) else {
            return;
        };
        self.reaches(at_ms);
        let (id, event) = (self.texts.ours(&id), self.texts.ours(text(line, "event")));
        let closed_ms = (text(line, "event") != "asked").then_some(at_ms);
        if let Some(ask) = self.asks.iter_mut().rev().take(ASKS_BACK).find(|ask| ask.id == id) {
            (ask.event, ask.closed_ms) = (event, ask.closed_ms.filter(|_| closed_ms.is_some()).or(closed_ms));
            return;
        }
        let what = match text(line, "kind") {
            "purpose" => "rewrite PURPOSE.md".to_owned(),
            _ => ["method", "service", "path"].map(|name| text(line, name)).join(" "),
        };
        let what = self.texts.ours(&what);
        self.asked(Asked { id, asked_ms: at_ms, closed_ms, event, what });
    }

    /// Takes in a line of the ledger; returns what is kept on disk of it.
    pub fn entered(&mut self, entry: &Value, at_ms: u64, stand: Stand) -> Option<Entry> {
        if text(entry, "event") != "settle" {
            return None;
        }
        let micro = entry.get("cost_micro_usd").and_then(Value::as_u64).unwrap_or(0);
        let is_own = text(entry, "class") == "autonomous";
        self.reaches(at_ms);
        if let Some(hour) = self.hour(at_ms) {
            hour.all_micro = hour.all_micro.saturating_add(micro);
            hour.own_micro = hour.own_micro.saturating_add(if is_own { micro } else { 0 });
        }
        let kind = if is_own { Kind::MoneyOwn } else { Kind::Money };
        let value = u32::try_from(micro).unwrap_or(u32::MAX);
        let (offset, file) = (stand.offset, stand.file);
        Some(Entry { at_ms, offset, number: number(entry, "life"), value, length_ms: 0, file, kind })
    }
}
