//! State of the house in a few sentences: the same for window, page, `mind`, `budget` and `status`. Pure.

mod read;

pub use read::{due, small};

use crate::bounds::{NAME_CHARS, brief, short};
use crate::moments::{self, Place};
use crate::printable::flat;
use crate::records::{text, view::field};
use crate::terminal::STARTS;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::time::Duration;

/// Characters of a name, and of a due item.
const SHORT_CHARS: usize = 40;
/// Characters of one thing in the status lines.
const TOLD_CHARS: usize = 160;
/// Longest time between the end of a rest and the due item that cut the rest short.
const DUE_WITH_IT: SignedDuration = SignedDuration::from_secs(2);
const RESTING: [&str; 2] = ["parked", "resting"];

/// Facts read from the files; null or empty where the files lack them.
#[derive(Default, PartialEq)]
pub struct Known {
    /// Whether a guardian runs here.
    pub runs: bool,
    /// `guardian.json`, the heartbeat, `budget.json`.
    pub told: Value,
    pub beat: Value,
    pub budget: Value,
    /// Ids of the asks that wait.
    pub asks: Vec<String>,
    /// The end of the thought under way.
    pub thinking: String,
    /// Its last wake: its number, when, why, and whether the owner's word woke it, as its own feed tells.
    pub wake: Option<u64>,
    pub woke: Option<Timestamp>,
    pub why: Vec<String>,
    pub is_for_owner: bool,
    /// The newest word of the owner's that is not answered yet, where that is known.
    pub said: Option<Timestamp>,
    /// USD spent since it woke, as far as that was seen.
    pub spent_usd: f64,
    /// End of its rest, and the reason.
    pub rests_until: Option<Timestamp>,
    pub why_rests: String,
    /// Its last act before it rested.
    pub last: String,
    pub paused: String,
    /// Cause of its mind's last failure: `model`, `budget` …
    pub failed: String,
    /// Time of the next due item, and its text.
    pub due: Option<(Timestamp, String)>,
    /// The guardian's line on a build under way.
    pub building: String,
}

/// A piece of the status lines, and the code of its colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    pub text: String,
    pub paint: &'static str,
}

fn piece(paint: &'static str, text: &str) -> Piece {
    Piece { text: flat(&brief(text, TOLD_CHARS)), paint }
}

/// Reason why the mind is not asked now, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// The provider refuses until the owner mends something.
    Stopped,
    /// Money for work of its own; the owner's words are answered.
    Spent(Timestamp),
    /// The owner's money of this day or week.
    Capped(Timestamp),
    /// The model does not answer.
    Down(Timestamp),
}

impl Known {
    fn phase(&self) -> &str {
        text(&self.told, "phase")
    }

    /// Whether a life runs, as guardian and heartbeat tell alike.
    pub fn lives(&self) -> bool {
        self.runs && ["probation", "settled"].contains(&self.phase()) && self.is_of_this_life()
    }

    /// Whether the heartbeat is of the life that the guardian tells of.
    fn is_of_this_life(&self) -> bool {
        let life = |value| field::<Option<u64>>(value, "life");
        life(&self.beat).is_some() && life(&self.beat) == life(&self.told)
    }

    /// The thought as it streams; empty while none does.
    pub fn streams(&self) -> &str {
        if self.lives() && text(&self.beat, "stage") == "thinking" { self.thinking.trim() } else { "" }
    }

    /// Returns since when it works for the owner's word, while it does.
    pub fn answers_since(&self) -> Option<Timestamp> {
        let works = ["sensing", "thinking", "acting", "remembering"].contains(&text(&self.beat, "stage"));
        let newest = self.said.filter(|said| self.woke.is_none_or(|woke| *said > woke));
        // Its feed says that it rests before its heart does.
        let woke = self.woke.filter(|_| self.is_for_owner && self.rests_until.is_none());
        newest.or(woke).filter(|_| works && self.lives())
    }

    /// Says in one piece what goes on. Work under way comes before any earlier trouble.
    pub fn headline(&self, now: Timestamp, place: &Place) -> Piece {
        if !self.runs {
            return piece("33", &format!("no guardian runs here; `{STARTS}` starts one"));
        }
        if !self.building.is_empty() {
            return piece("36", &self.building);
        }
        if self.told.is_null() {
            return piece("36", "the guardian is starting");
        }
        if !self.lives() {
            return self.lifeless();
        }
        let mind = brief(text(&self.beat, "mind"), SHORT_CHARS);
        let why = if self.why.is_empty() { String::new() } else { format!(" on: {}", self.why.join("; ")) };
        let rests = self.rests_until.is_some_and(|until| until > now);
        match (text(&self.beat, "stage"), self.answers_since()) {
            (_, Some(since)) => piece("36", &self.answering(now, since)),
            ("thinking", None) => piece("36", &format!("{mind} thinks{why}")),
            ("acting", None) => piece("36", &format!("{mind} acts{why}")),
            _ if self.held(now).is_some() => piece("33", &self.matter(now, place).unwrap_or_default()),
            // The next beat says that it rests; its feed says so at once.
            ("sensing", _) if rests => self.resting(&mind, now, place),
            ("waiting", _) => piece("36", "waits for its tests before it acts on anything outside"),
            ("resting", _) => self.resting(&mind, now, place),
            (stage, _) => piece("36", &format!("{} ({mind})", brief(stage, SHORT_CHARS))),
        }
    }

    /// `answering you … 3 s, $0.02`.
    fn answering(&self, now: Timestamp, since: Timestamp) -> String {
        let seconds = now.duration_since(since).as_secs().max(0).unsigned_abs();
        let cost = if self.spent_usd < 0.005 { String::new() } else { format!(", ${:.2}", self.spent_usd) };
        format!("answering you … {}{cost}", moments::span(Duration::from_secs(seconds)))
    }

    fn held(&self, now: Timestamp) -> Option<Held> {
        let again: Timestamp = text(&self.beat, "next_try").parse().ok().filter(|at| *at > now)?;
        let is_spent = self.beat.get("spent") == Some(&Value::Bool(true));
        Some(match self.failed.as_str() {
            _ if is_spent => Held::Spent(again),
            _ if self.is_stopped() => Held::Stopped,
            "budget" => Held::Capped(again),
            _ => Held::Down(again),
        })
    }

    /// Whether the broker lets nothing through until the owner mends something.
    fn is_stopped(&self) -> bool {
        ["closed", "stopped"].iter().any(|name| !self.budget.get(name).is_none_or(Value::is_null))
    }

    /// Says in a sentence what keeps it from asking its mind; `None` while nothing does, or while it works anyway.
    pub fn matter(&self, now: Timestamp, place: &Place) -> Option<String> {
        let works = ["thinking", "acting"].contains(&text(&self.beat, "stage"));
        let held = self.held(now).filter(|_| self.lives() && !works)?;
        let mind = brief(text(&self.beat, "mind"), SHORT_CHARS);
        Some(match held {
            Held::Spent(until) => format!(
                "its own money is spent until {}; a word of yours is answered",
                when(place, now, until)
            ),
            Held::Stopped => {
                let stopped = self.budget.get("stopped").unwrap_or(&Value::Null);
                let (who, hint) = (text(stopped, "provider"), text(stopped, "hint"));
                let told = if who.is_empty() { text(&self.budget, "closed") } else { hint };
                format!("no model is asked: {}", brief(told, NAME_CHARS))
            }
            Held::Capped(until) => {
                let resets = text(&self.budget, "resets_at").parse().ok();
                let until = resets.filter(|at| *at > until).unwrap_or(until);
                format!("{}; back at {}, or raise [budget]", self.spent_caps(), when(place, now, until))
            }
            Held::Down(until) => {
                format!("{mind} does not answer; asked again at {}", when(place, now, until))
            }
        })
    }

    /// `today's $0.30 are spent`, of the cap that has least left.
    fn spent_caps(&self) -> String {
        let caps: &[Value] = field(&self.budget, "caps");
        let usd = |cap: &Value, name: &str| field::<f64>(cap, name);
        let left = |cap: &&Value| ((usd(cap, "cap_usd") - usd(cap, "spent_usd")) * 1e6) as i64;
        match caps.iter().min_by_key(left) {
            Some(cap) => {
                let span = match text(cap, "span") {
                    "day" => "today".to_owned(),
                    span => format!("this {span}"),
                };
                format!("{span}'s ${:.2} are spent (${:.2})", usd(cap, "cap_usd"), usd(cap, "spent_usd"))
            }
            None => "the money is spent".to_owned(),
        }
    }

    /// Says that it rests, until when and why; or what holds it.
    fn resting(&self, mind: &str, now: Timestamp, place: &Place) -> Piece {
        if !self.paused.is_empty() {
            return piece("33", &format!("paused: {}", self.paused));
        }
        let until = self.rests_until.filter(|until| *until > now).map(|until| {
            let why = self.why_rest(until);
            let why = if why.is_empty() { why } else { format!(": {why}") };
            format!(" until {}{why}", soon(place, now, until))
        });
        piece("32", &format!("rests{} ({mind})", until.unwrap_or_default()))
    }

    /// Says why it rests until then: the item due then, else the reason its own feed gives.
    fn why_rest(&self, until: Timestamp) -> String {
        let is_then = |at: Timestamp| at.duration_since(until).abs() <= DUE_WITH_IT;
        match self.due.as_ref().filter(|(at, _)| is_then(*at)) {
            Some((_, what)) => format!("then {}", brief(what, SHORT_CHARS)),
            None => brief(&self.why_rests, SHORT_CHARS),
        }
    }

    /// Says what goes on where nothing lives, and why.
    fn lifeless(&self) -> Piece {
        let last = field::<&[Value]>(&self.told, "ends").last();
        let last = last.filter(|_| RESTING.contains(&self.phase())).map(|end| text(end, "cause"));
        let cause =
            last.map(|cause| format!("; it died of {}", brief(cause, NAME_CHARS))).unwrap_or_default();
        let paint = if ["building", "booting"].contains(&self.phase()) { "36" } else { "33" };
        piece(paint, &format!("{}{cause}", text(&self.told, "note")))
    }

    /// Returns the pieces beside the headline, weightiest first.
    pub fn pieces(&self, now: Timestamp, place: &Place) -> Vec<Piece> {
        let all = [self.waiting(), self.money(), self.due(now, place), self.last(now), self.life()];
        all.into_iter().flatten().collect()
    }

    /// Names its last act, while it rests.
    fn last(&self, now: Timestamp) -> Option<Piece> {
        let rests = self.lives() && self.rests_until.is_some_and(|until| until > now);
        (rests && !self.last.is_empty())
            .then(|| piece("90", &format!("last: {}", brief(&self.last, NAME_CHARS))))
    }

    /// Says what is due next.
    pub fn due(&self, now: Timestamp, place: &Place) -> Option<Piece> {
        let (at, what) = self.due.as_ref()?;
        let when = if *at <= now { "now".to_owned() } else { when(place, now, *at) };
        Some(piece("0", &format!("next {when} {}", brief(what, SHORT_CHARS))))
    }

    fn waiting(&self) -> Option<Piece> {
        match self.asks.as_slice() {
            [] => None,
            [one] => Some(piece("1;33", &format!("ask {one} waits: /yes {one}"))),
            [first, ..] => {
                Some(piece("1;33", &format!("{} asks wait: /asks, /yes {first}", self.asks.len())))
            }
        }
    }

    /// Says how much of the day's money is left.
    pub fn money(&self) -> Option<Piece> {
        if self.is_stopped() {
            return Some(piece("33", "calls are stopped: /status"));
        }
        let caps = self.budget.get("caps")?.as_array()?;
        let day = caps.iter().find(|cap| text(cap, "span") == "day")?;
        let usd = |name: &str| field::<Option<f64>>(day, name);
        let left = (usd("cap_usd")? - usd("spent_usd")?).max(0.0);
        let paint = if text(&self.budget, "warning").is_empty() { "0" } else { "33" };
        Some(piece(paint, &format!("${left:.2} left today")))
    }

    /// Names the life and its commit, and how far it is trusted.
    pub fn life(&self) -> Option<Piece> {
        let number = field::<Option<u64>>(&self.told, "life").filter(|_| self.runs)?;
        let commit = short(text(&self.told, "commit"));
        let trust = match field(&self.told, "safe") {
            Some(true) => " in safe mode",
            _ if self.phase() == "probation" => " not yet trusted",
            _ => "",
        };
        let walls = brief(text(&self.told, "walls"), SHORT_CHARS);
        let walls = if walls.is_empty() { String::new() } else { format!(", walls {walls}") };
        Some(piece("90", &format!("life {number} at {commit}{trust}{walls}")))
    }
}

/// `14:05`.
fn clock(place: &Place, at: Timestamp) -> String {
    place.time(at).chars().take(5).collect()
}

/// `14:05`, or `14:05:30` where it is less than two minutes ahead.
fn soon(place: &Place, now: Timestamp, at: Timestamp) -> String {
    let is_near = at.duration_since(now) < SignedDuration::from_secs(120);
    if is_near { place.time(at).chars().take(8).collect() } else { clock(place, at) }
}

/// `14:05`, or `2026-11-22 14:05` on another day.
fn when(place: &Place, now: Timestamp, at: Timestamp) -> String {
    if place.day(now) == place.day(at) {
        clock(place, at)
    } else {
        place.whole(at).chars().take(16).collect()
    }
}
