//! Outages: why the mind gives no answer, since when, and what the owner is told of it meanwhile. Pure.

use crate::clock::hour;
use agenda::items::later;
use ground::text::shorten;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use mind::{Down, Why};

/// Characters of what a server said.
const MOST_CAUSE: usize = 240;

/// Letters by which one cause is told from another: request ids and counts differ each time.
const MOST_LETTERS: usize = 80;

/// Below this a full budget is one that calls under way hold.
const UNDER_WAY_S: u64 = 60;

/// Outage of the mind.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    pub why: Why,
    pub since: Timestamp,
    /// Time at which it is asked again.
    pub next: Timestamp,
    /// Time at which it ends by itself, where that is known.
    reset: Option<Timestamp>,
    cause: String,
    hint: String,
}

impl Outage {
    /// Makes a new outage, or the one before as it goes on.
    pub fn new(down: &Down, rest_s: u64, before: Option<&Outage>, now: Timestamp) -> Self {
        let long = down.asked_s.filter(|wait_s| down.why != Why::Budget || *wait_s > UNDER_WAY_S);
        Self {
            why: down.why,
            since: before.map_or(now, |before| before.since),
            next: later(now, rest_s),
            reset: long.map(|wait_s| later(now, wait_s.saturating_sub(1))),
            cause: shorten(&down.cause.replace(char::is_control, " "), MOST_CAUSE),
            hint: shorten(&down.hint.replace(char::is_control, " "), MOST_CAUSE),
        }
    }

    /// Returns the mark that tells it from another outage.
    pub fn mark(&self) -> String {
        let letters: String = self.cause.chars().filter(|c| c.is_alphabetic()).take(MOST_LETTERS).collect();
        format!("{:?} {letters}", self.why)
    }

    /// Whether asking the mind again may take a while, so that the owner hears of it before.
    pub fn is_slow(&self) -> bool {
        matches!(self.why, Why::Away | Why::UnknownLife | Why::Garbled)
    }

    /// Says in a sentence what is the matter; `asks`: the mind is asked again at once.
    pub fn sentence(&self, asks: bool, now: Timestamp, zone: &TimeZone) -> String {
        let (cause, hour) = (&self.cause, |at: Timestamp| hour(at, now, zone));
        let next = hour(self.next);
        let again = match asks {
            true if self.next <= now => "I try again now".to_owned(),
            true => format!("I try again now, and at {next} if need be"),
            false => format!("I try again at your next word, and at {next}"),
        };
        match (self.why, self.reset) {
            (Why::Budget, Some(reset)) if self.cause.contains("of its own accord") => {
                let until = hour(reset);
                format!(
                    "what I may spend of my own accord is used up until {until} ([autonomy] in owner.toml)"
                )
            }
            (Why::Budget, Some(reset)) => {
                let spent = self.spent().unwrap_or("the budget is used up");
                format!("{spent}; I am back at {}, or once [budget] in owner.toml is raised", hour(reset))
            }
            (Why::Budget, None) => {
                format!("the budget has no room for it ({cause}): raise [budget] in owner.toml; {again}")
            }
            (Why::Stopped, _) => format!("{}; {again}", self.hint),
            (Why::Key, _) => format!("the key is refused ({cause}): put a right one into .env; {again}"),
            (Why::Money, _) => {
                format!("no money or quota is left at the provider ({cause}): top up the account; {again}")
            }
            (Why::Unfit | Why::Settings | Why::Unkept, _) => {
                format!(
                    "the model's server does not take it ({cause}): look at [model] in owner.toml; {again}"
                )
            }
            (Why::Filtered, _) => {
                format!("a filter of the model's maker refuses what I put to it ({cause}); {again}")
            }
            (Why::Garbled, _) => {
                format!("the model's replies since {} cannot be read ({cause}); {again}", hour(self.since))
            }
            (Why::Away | Why::UnknownLife, _) => {
                format!(
                    "the model has not been reached since {} (upstream: {cause}); {again}",
                    hour(self.since)
                )
            }
        }
    }

    /// Reads from the cause what of a cap is spent, as the broker says it.
    fn spent(&self) -> Option<&str> {
        let said = self.cause.split(';').next()?;
        let at = ["today's $", "this week's $"].iter().find_map(|begins| said.find(begins))?;
        let at = if said.get(..at)?.ends_with("of ") { at - "of ".len() } else { at };
        said.get(at..)
    }

    /// Returns the answer to the owner about so many words that wait for the mind.
    pub fn answer(&self, words: usize, asks: bool, now: Timestamp, zone: &TimeZone) -> String {
        let what = match words {
            1 => "Your word waits".to_owned(),
            words => format!("Your {words} words wait"),
        };
        let then = if asks { "" } else { " What waits is answered then." };
        format!("{what} for the model: {}.{then}", self.sentence(asks, now, zone))
    }
}
