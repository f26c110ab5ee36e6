//! `say`: keeps the owner's word in the inbox, and waits for the creature's answer to that very word.
//!
//! Invariant: what is once in the inbox stays there, however the waiting ends.
//! An answer is told by the thread alone, so a word has a thread of its own unless the owner names one.

use crate::commands::options;
use crate::feed::Feed;
use anyhow::{Context, Result};
use house::clock::{self, Anchor, Clock};
use house::records::memory::Record;
use house::records::text;
use house::terminal::{self, typed};
use house::{House, files, instance, interrupt};
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use std::io::Read;
use std::time::Duration;

/// The thread of words said without one: there a plain yes is heard as the answer to a question.
pub const MAIN: &str = "main";
/// Exit status when no answer came within the time, and when the owner ended the waiting.
const SILENT: u8 = 3;
const INTERRUPTED: u8 = 130;
/// Most characters of a word and of a thread's name: the creature takes no more of either.
const MOST_CHARS: usize = 8_000;
const MOST_THREAD: usize = 64;
/// Most bytes of the standard input: more can be no word.
const MOST_BYTES: u64 = 64 << 10;
/// Time between two looks at memory, and how many of them come between two at the guardian.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS: u32 = 20;
/// Most waits for another `say` that is just writing.
const TURNS: u32 = 40;

/// A word of the owner's, and how an answer to it is told.
pub struct Word {
    pub text: String,
    pub at: String,
    thread: String,
    /// Whether the creature has heard it: what it said on a thread before that is no answer.
    is_heard: bool,
}

pub enum Reply {
    Answer {
        text: String,
        at: String,
    },
    /// Why the word waits for the model.
    Waits(String),
}

/// End of the waiting.
enum End {
    Answered {
        text: String,
        at: String,
    },
    Silent,
    /// Nobody lives to hear it, and why.
    Unheard(String),
    Interrupted,
}

/// Keeps the word and waits for its answer; returns the exit status. The word `-` is taken from the standard input.
pub fn say(house: &House, words: &str, wanted: &options::Say) -> Result<u8> {
    let said = match words {
        "-" => standard_input(),
        words => Ok(words.to_owned()),
    };
    let mut word = match said.and_then(|said| Word::new(&said, wanted.thread.as_deref())) {
        Ok(word) => word,
        Err(wrong) => {
            terminal::error(&format!("guardian: {wrong}"));
            return Ok(2);
        }
    };
    // From here on Ctrl-C ends the waiting, never the writing.
    interrupt::listen(&[SIGINT, SIGTERM, SIGHUP, SIGUSR1])?;
    // Opened before the word is there: the answer cannot have been passed over.
    let mut feed = Feed::from_end(house.memory());
    files::in_time(|| keep(house, &word))?;
    let end = match wanted.wait_s {
        0 => End::Silent,
        wait_s => wait(house, &mut word, &mut feed, wait_s),
    };
    let (answer, at) = match &end {
        End::Answered { text, at } => (Some(text), Some(at)),
        End::Silent | End::Unheard(_) | End::Interrupted => (None, None),
    };
    if wanted.json {
        terminal::json_line(&json!({"word": word.text, "answer": answer, "at": at, "thread": word.thread}));
    } else if let Some(answer) = answer {
        terminal::words(answer);
    }
    let (status, told) = match end {
        End::Answered { .. } => (0, String::new()),
        End::Silent if wanted.wait_s == 0 => {
            let why = nobody(house, false).map(|why| format!("nobody lives here now: {why}; "));
            (0, format!("kept; {}{}", why.unwrap_or_default(), word.place()))
        }
        End::Silent => {
            (SILENT, format!("no answer within {} s; the word is kept, {}", wanted.wait_s, word.place()))
        }
        End::Unheard(why) => {
            (1, format!("nobody lives here now: {why}. The word is kept for when it does; {}", word.place()))
        }
        End::Interrupted => {
            (INTERRUPTED, format!("not waited for any longer; the word stays kept, {}", word.place()))
        }
    };
    match (wanted.json, status) {
        _ if told.is_empty() => {}
        (false, 0) => terminal::line(&told),
        (true, 0) => {}
        _ => terminal::error(&format!("guardian: {told}")),
    }
    Ok(status)
}

impl Word {
    /// The word as the creature will take it, letter by letter, or what is wrong with it; without a thread's name on
    /// one of its own.
    pub fn new(said: &str, thread: Option<&str>) -> Result<Self, String> {
        let text = said.trim();
        let length = text.chars().count();
        if text.is_empty() {
            return Err("the message is empty; nothing is kept".into());
        }
        if length > MOST_CHARS {
            return Err(format!(
                "a word has at most {MOST_CHARS} characters, this one {length}; nothing is kept"
            ));
        }
        if let Some(odd) = text.chars().find(|letter| letter.is_control() && !"\n\r\t".contains(*letter)) {
            return Err(format!(
                "the control character {} is no part of a word; nothing is kept",
                odd.escape_unicode()
            ));
        }
        let plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
        let is_name =
            |name: &str| (1..=MOST_THREAD).contains(&name.chars().count()) && name.chars().all(plain);
        if thread.is_some_and(|name| !is_name(name)) {
            return Err(format!(
                "--thread wants at most {MOST_THREAD} letters, digits, - _ or .; nothing is kept"
            ));
        }
        // Nobody has spoken on a thread of its own before.
        let is_heard = thread.is_none();
        let own = || format!("say-{}-{}", clock::name(), std::process::id());
        let thread = thread.map_or_else(own, str::to_owned);
        Ok(Self { text: text.to_owned(), at: clock::stamp(), thread, is_heard })
    }

    /// Returns the reply to this word that a record of memory holds.
    pub fn reply(&mut self, record: &Value) -> Option<Reply> {
        let message = Record(record).message().filter(|message| message.thread() == self.thread)?;
        self.is_heard |= message.is_owners() && message.at() == self.at;
        if !message.is_creatures() || !self.is_heard {
            return None;
        }
        let (said, at) = (message.text().to_owned(), Record(record).at().to_owned());
        match message.kind() {
            // Work on what was asked goes on: that is no answer to it.
            "answer" if message.done() == Some(false) => Some(Reply::Waits(said)),
            "answer" => Some(Reply::Answer { text: said, at }),
            // So an older creature answers.
            "" if message.reminder().is_none() => Some(Reply::Answer { text: said, at }),
            "waiting" => Some(Reply::Waits(said)),
            _ => None,
        }
    }

    /// Says where the answer will stand.
    fn place(&self) -> String {
        let (feed, thread) = (typed("feed"), &self.thread);
        format!("its answer will be shown by `{feed}` and stand in .self/memory.jsonl, on thread {thread}")
    }
}

fn standard_input() -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("the standard input cannot be read: {error}; nothing is kept"))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("a word has at most {MOST_CHARS} characters; nothing is kept"));
    }
    String::from_utf8(bytes).map_err(|_| "the standard input is no text in UTF-8; nothing is kept".into())
}

/// Appends the word to the inbox, whole and synced.
pub fn keep(house: &House, word: &Word) -> Result<()> {
    keep_line(house, &json!({"at": word.at, "text": word.text, "thread": word.thread}).to_string())
}

/// Appends a line to the inbox, whole and synced.
pub fn keep_line(house: &House, line: &str) -> Result<()> {
    let inbox = house.inbox();
    let folder = house.state_folder();
    std::fs::create_dir_all(&folder).with_context(|| format!("failed to make {}", folder.display()))?;
    // A line that cannot be written is cut off again, and would take one with it that came meanwhile. Whoever holds the
    // folder for longer than a moment is no `say`, and keeps no word from the inbox.
    let turn = files::open_folder(&folder).with_context(|| format!("failed to open {}", folder.display()))?;
    for _ in 0..TURNS {
        if fs2::FileExt::try_lock_exclusive(&turn).is_ok() {
            break;
        }
        std::thread::sleep(LOOK);
    }
    let is_new = !inbox.exists();
    files::append_line(&inbox, line)?;
    if is_new {
        files::sync_folder(&inbox).context("failed to sync the folder of the inbox")?;
    }
    Ok(())
}

/// Waits until the word is answered, the time is over, nobody lives any more, or the owner does not want to wait.
fn wait(house: &House, word: &mut Word, feed: &mut Feed, wait_s: u64) -> End {
    let clock = Clock::start(Anchor::default());
    let until = clock.now().saturating_add(wait_s.saturating_mul(1_000));
    let mut unheard = None;
    for look in 0_u32.. {
        let seen = feed.look(|record| Record(&record).message().is_some().then_some(record));
        for record in &seen.shown {
            match word.reply(record) {
                Some(Reply::Answer { text, at }) => return End::Answered { text, at },
                Some(Reply::Waits(why)) => {
                    terminal::error(&format!("guardian: still waiting; it says: {why}"))
                }
                None => {}
            }
        }
        if interrupt::check().is_err() {
            return End::Interrupted;
        }
        // Memory was looked at once more since: its last words may have been the answer.
        if let Some(why) = unheard.take_if(|_| !seen.more) {
            return End::Unheard(why);
        }
        if clock.now() >= until {
            return End::Silent;
        }
        if look.is_multiple_of(LOOKS) {
            unheard = nobody(house, look == 0);
        }
        if !seen.more {
            std::thread::sleep(LOOK);
        }
    }
    End::Silent
}

/// Says why no creature lives here and none will by itself; `at_first`, prints that one is about to.
fn nobody(house: &House, at_first: bool) -> Option<String> {
    let Some(pid) = instance::holder(house) else {
        return Some("no guardian runs; `cargo run -p guardian` starts one".into());
    };
    let told = pid.and_then(|pid| instance::published(house, pid))?;
    let note = text(&told, "note");
    match text(&told, "phase") {
        "paused" => return Some(format!("it is paused; `{}` ends that", typed("resume"))),
        "parked" => return Some(format!("it rests after deaths ({note}); `{}` ends that", typed("resume"))),
        "done" => return Some("the guardian has just left".into()),
        _ => {}
    }
    if at_first && told.get("creature_pid").is_none_or(Value::is_null) {
        terminal::error(&format!(
            "nobody lives here just now ({note}); the word is kept, and heard as soon as it does"
        ));
    }
    None
}
