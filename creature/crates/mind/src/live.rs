//! Writes a reply into a file while it streams, so that it can be followed.

use ground::files;
use model::Heard;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// Bytes of one reply that are written.
const MOST_LIVE: usize = 1 << 20;

/// The file of one reply; none after a failed write.
pub(super) struct Live {
    file: Option<File>,
    written: usize,
    thinking: bool,
}

impl Live {
    pub(super) fn begin(path: Option<&Path>) -> Self {
        Self { file: path.and_then(|path| create(path).ok()), written: 0, thinking: false }
    }

    pub(super) fn take(&mut self, heard: Heard) {
        let (text, thinking) = match heard {
            Heard::Byte => return,
            Heard::Thinking(text) => (text.to_owned(), true),
            Heard::Text(text) => (text.to_owned(), false),
            Heard::Call(name) => (format!("\n→ {name}\n"), false),
        };
        let mark = if thinking != self.thinking { "\n" } else { "" };
        self.thinking = thinking;
        self.written = self.written.saturating_add(text.len());
        if let Some(file) = self.file.as_mut().filter(|_| self.written <= MOST_LIVE)
            && file.write_all(format!("{mark}{text}").as_bytes()).is_err()
        {
            self.file = None;
        }
    }
}

fn create(path: &Path) -> std::io::Result<File> {
    files::open_with(OpenOptions::new().write(true).create(true).truncate(true), path)
}
