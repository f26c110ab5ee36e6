//! Tells the creature that the owner is typing a word, in `.self/typing`: until when, as one moment.

use house::{House, files};
use jiff::{SignedDuration, Timestamp};

/// How long the creature waits after a key.
const WAIT: SignedDuration = SignedDuration::from_secs(60);
/// Remaining wait below which a key says it anew: not every key writes a file.
const LEAST: SignedDuration = SignedDuration::from_secs(50);

/// Whether the text at the prompt is a word in the making, and no command.
pub fn is_word(text: &str) -> bool {
    !text.trim().is_empty() && !text.trim_start().starts_with('/')
}

/// The claim this window wrote last: the owner types until then.
#[derive(Default)]
pub struct Typing {
    until: Option<Timestamp>,
}

impl Typing {
    /// After a key: says that the owner types while `text` is a word in the making, and takes it back when it is not.
    /// Ignores failures: the creature goes on, and hears the word when it is said.
    pub fn key(&mut self, house: &House, text: &str, now: Timestamp) {
        if !is_word(text) {
            return self.end(house);
        }
        if self.until.is_some_and(|until| until.duration_since(now) > LEAST && until <= now + WAIT) {
            return;
        }
        let until = now + WAIT;
        if files::replace_unsynced(&house.typing(), format!("{until}\n").as_bytes()).is_ok() {
            self.until = Some(until);
        }
    }

    /// Takes back this window's claim; a newer claim of another window stays.
    pub fn end(&mut self, house: &House) {
        let Some(until) = self.until.take() else { return };
        let said = files::read_small(&house.typing()).ok().flatten().unwrap_or_default();
        if String::from_utf8_lossy(&said).trim() == until.to_string() {
            let _ = std::fs::remove_file(house.typing());
        }
    }
}
