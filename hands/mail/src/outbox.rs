//! Notes of the mails that are sent, on disk before anything leaves, with the fate of each, so that none is sent twice.
//!
//! Invariant: a note says `sending` before the first byte of its mail leaves, and its mail lies beside it until it lies
//! in the folder of sent mails, was refused, or is given up.
#![allow(clippy::disallowed_methods, reason = "the folder is its own: nobody else puts links or pipes there")]

use crate::outgoing::Outgoing;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Notes kept of mails that are done with.
const MOST_NOTES: usize = 500;
/// Time in which the same mail is not sent again, in seconds.
pub const SAME_S: u64 = 24 * 3_600;

/// How far a mail is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nothing of it has left.
    Ready,
    /// It is leaving: whether the server took it is known only from its answer.
    Sending,
    /// The server took it; a copy among the sent mails is still due.
    Taken,
    /// Done with: the server took it.
    Sent,
    /// Done with: the server took it not.
    Refused,
    /// Whether the server took it cannot be known; it is never sent again by itself.
    Unknown,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Note {
    /// Its Message-ID, without brackets.
    pub id: String,
    pub state: State,
    pub to: Vec<String>,
    pub subject: String,
    pub fingerprint: String,
    /// Seconds since 1970.
    pub at: u64,
    /// The server's last words.
    #[serde(default)]
    pub said: String,
    /// Whether a caller was told that it is unknown.
    #[serde(default)]
    pub told: bool,
}

/// The folder of notes.
pub struct Outbox(PathBuf);

impl Outbox {
    pub fn open(folder: &Path) -> Result<Self, String> {
        fs::create_dir_all(folder)
            .map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
        Ok(Self(folder.to_owned()))
    }

    /// Notes a mail that is to be sent, with all of it.
    pub fn begin(&self, mail: &Outgoing) -> Result<Note, String> {
        let note = Note {
            id: mail.id.clone(),
            state: State::Ready,
            to: mail.to.iter().map(ToString::to_string).collect(),
            subject: mail.subject.clone(),
            fingerprint: mail.fingerprint.clone(),
            at: now(),
            said: String::new(),
            told: false,
        };
        self.write(&self.mail(&note.id), &mail.bytes)?;
        self.save(&note)?;
        Ok(note)
    }

    /// Writes what a mail has come to; once done with, its bytes go.
    pub fn set(&self, note: &mut Note, state: State, said: &str) -> Result<(), String> {
        (note.state, note.said) = (state, said.to_owned());
        self.save(note)?;
        if matches!(state, State::Sent | State::Refused) {
            let _ = fs::remove_file(self.mail(&note.id));
        }
        Ok(())
    }

    pub fn save(&self, note: &Note) -> Result<(), String> {
        let text = serde_json::to_vec_pretty(note).map_err(|error| error.to_string())?;
        self.write(&self.note(&note.id), &text)
    }

    /// All notes, oldest first. A file that is no note is passed over.
    pub fn notes(&self) -> Vec<Note> {
        let read = |entry: fs::DirEntry| -> Option<Note> {
            let path = entry.path();
            (path.extension()? == "json").then_some(())?;
            serde_json::from_slice(&fs::read(path).ok()?).ok()
        };
        let mut notes: Vec<Note> =
            fs::read_dir(&self.0).into_iter().flatten().flatten().filter_map(read).collect();
        notes.sort_by(|one, other| (one.at, &one.id).cmp(&(other.at, &other.id)));
        notes
    }

    /// The newest note of the same mail within a day that was sent, or may have been.
    pub fn same(&self, fingerprint: &str) -> Option<Note> {
        let counts = |note: &Note| {
            note.fingerprint == fingerprint
                && note.at + SAME_S > now()
                && !matches!(note.state, State::Refused | State::Ready)
        };
        self.notes().into_iter().rev().find(counts)
    }

    /// The bytes of a mail that is not done with.
    pub fn bytes(&self, note: &Note) -> Result<Vec<u8>, String> {
        fs::read(self.mail(&note.id)).map_err(|error| format!("its copy cannot be read: {error}"))
    }

    /// Removes the oldest notes that are done with.
    pub fn tidy(&self) {
        let done: Vec<Note> = self
            .notes()
            .into_iter()
            .filter(|note| matches!(note.state, State::Sent | State::Refused) || note.told)
            .collect();
        for note in done.iter().take(done.len().saturating_sub(MOST_NOTES)) {
            let _ = fs::remove_file(self.mail(&note.id));
            let _ = fs::remove_file(self.note(&note.id));
        }
    }

    fn note(&self, id: &str) -> PathBuf {
        self.0.join(format!("{}.json", stem(id)))
    }

    /// Path of the bytes of a mail.
    pub fn mail(&self, id: &str) -> PathBuf {
        self.0.join(format!("{}.eml", stem(id)))
    }

    /// Replaces a file so that after any stop the old or the new one is there, whole.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), String> {
        let new = path.with_extension("new");
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&new)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&new, path)?;
            File::open(&self.0)?.sync_all()
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&new);
            format!("{} cannot be written: {error}; nothing is sent without a note of it", path.display())
        })
    }
}

/// The first part of a Message-ID, as a name of a file.
fn stem(id: &str) -> String {
    id.chars().take_while(char::is_ascii_alphanumeric).take(64).collect()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
