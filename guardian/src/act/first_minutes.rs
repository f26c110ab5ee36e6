//! The first minutes at a terminal: what lives here, what it may and what comes next, said before the first build; and the bar below it.

use house::clock::Millis;
use house::terminal::{self, Screen};
use house::{House, files, makers};

const BAR: usize = 16;
/// Columns of the names before what is told.
const NAMES: usize = 11;
/// Most letters of a crate's name: the longest wording fits 80 columns with any, so that it does not come and go.
const NAME: usize = 20;

/// How far a build is.
pub struct Progress<'a> {
    pub done: usize,
    /// The most it can come to.
    pub most: usize,
    /// The crate that was compiled last.
    pub last: &'a str,
    pub passed_ms: Millis,
}

/// The bar in several wordings, the longest first: for a terminal of any width.
pub fn bar(progress: &Progress) -> [String; 3] {
    let Progress { done, most, last, passed_ms } = progress;
    let most = (*most).max(*done).max(1);
    let filled = done * BAR / most;
    let bar = format!("[{}{}]", "=".repeat(filled), ".".repeat(BAR - filled));
    let left = left(*done, most, *passed_ms);
    let last: String = last.chars().take(NAME).collect();
    let last = if last.is_empty() { last } else { format!(": {last}") };
    let short = format!("{done}/{most}, {left}");
    [format!("{bar} {done} of {most} crates, {left}{last}"), format!("{bar} {short}"), short]
}

/// The time left, if all crates take equally long; not said before some are done.
fn left(done: usize, most: usize, passed_ms: Millis) -> String {
    let seconds = passed_ms / 1_000;
    if done < most / 10 || done == 0 {
        return format!("{seconds} s");
    }
    let rest = passed_ms.saturating_mul((most - done) as Millis) / done as Millis / 1_000;
    format!("{} s left", rest.max(1))
}

/// What stands in the opening screen.
pub struct Opening<'a> {
    pub branch: &'a str,
    /// The walls in a word, and each of them.
    pub walls: (&'a str, &'a str),
    pub has_broker: bool,
    /// Whether the owner gave something that may be a key: the environment names one, or `.env` is there.
    pub may_have_key: bool,
}

/// The opening screen: at 80 columns it fits into 24 lines, with the bar below it.
pub fn opening(opening: &Opening) -> Vec<(&'static str, String)> {
    let (summary, walls) = opening.walls;
    let held = match summary {
        "off" => "the walls are off: it runs as you, and can read and change all you can".to_owned(),
        "full" => "read .env or your files elsewhere, or reach the network but through the broker, which \
                   holds keys, caps and your yes; push"
            .to_owned(),
        _ => "as far as the walls below hold: read .env or your files elsewhere, or reach the network but \
              through the broker"
            .to_owned(),
    };
    let thought = match (opening.may_have_key, opening.has_broker) {
        (false, true) => "on instinct, without a key",
        (false, false) => {
            "on instinct, without a key; then the broker, its way to models and the web, is built beside it"
        }
        (true, true) => "with a model where your .env or environment holds its key, else on instinct",
        (true, false) => {
            "on instinct; then the broker, its way to models and the web, is built beside it and takes up your key"
        }
    };
    let can = match opening.may_have_key {
        true => {
            "say in PURPOSE.md what it lives for, or put another key into .env: now or later, both count without a restart"
        }
        false => {
            "put a key for a model into .env by an editor (ANTHROPIC_API_KEY=…), or say in PURPOSE.md what it lives \
             for: now or later, both count without a restart"
        }
    };
    vec![
        ("", "A creature is about to live here: it thinks, remembers, acts, and rewrites itself.".to_owned()),
        ("may", format!("change creature/ and self/, run programs, commit here on {}", opening.branch)),
        ("may not", held),
        ("walls", walls.to_owned()),
        (
            "beware",
            "not protected: a flaw in the kernel; what it reads can steer it; it can fill the disk. All of it: \
             README.md, \"Not protected\""
                .to_owned(),
        ),
        ("next", format!("its first build, about a minute; its first thought, {thought}")),
        ("you can", can.to_owned()),
    ]
}

/// Whether a maker's key is named in the environment, or `.env` holds anything; what is in it the broker alone reads.
pub fn may_have_key(house: &House) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    makers::keys().any(is_set) || files::mark_of_any(&house.secrets()).is_some_and(|mark| mark.bytes > 0)
}

/// Shows names and what is told of them, apart from the rest; what has no text is left out.
pub fn show(screen: &mut Screen, rows: impl IntoIterator<Item = (&'static str, String)>) {
    screen.gap();
    for (name, text) in rows.into_iter().filter(|(_, text)| !text.is_empty()) {
        match name {
            "" => terminal::line(&format!("  {text}")),
            name => terminal::beside("1", &format!("  {name}"), NAMES, &text),
        }
    }
    screen.gap();
}
