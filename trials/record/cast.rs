//! A recording of a terminal in the form of asciinema (version 2: docs.asciinema.org/manual/asciicast/v2), so that its player shows it too.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// What a terminal of this size was sent, and when.
pub struct Cast {
    pub columns: u16,
    pub rows: u16,
    /// Milliseconds since the start, and the text that came then.
    pub events: Vec<(u64, String)>,
}

impl Cast {
    /// From raw bytes and the places where each piece of them ends. A letter that two pieces share goes with the later.
    pub fn of(raw: &[u8], came: &[(Duration, usize)], (columns, rows): (u16, u16)) -> Self {
        let (mut events, mut from) = (Vec::new(), 0);
        for (at, end) in came {
            let bytes = &raw[from..*end];
            let whole = match std::str::from_utf8(bytes) {
                Ok(_) => bytes.len(),
                Err(cut) if cut.error_len().is_none() => cut.valid_up_to(),
                Err(error) => panic!("the terminal was sent no text: {error}"),
            };
            events.push((at.as_millis() as u64, String::from_utf8_lossy(&bytes[..whole]).into_owned()));
            from += whole;
        }
        Self { columns, rows, events }
    }

    pub fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("{}: {error}; record first: scripts/record", path.display()));
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let head = lines.next().expect("the recording has a head");
        let size = |name: &str| u16::try_from(head[name].as_u64().unwrap()).unwrap();
        let event = |line: Value| {
            ((line[0].as_f64().unwrap() * 1_000.0).round() as u64, line[2].as_str().unwrap().to_owned())
        };
        Self { columns: size("width"), rows: size("height"), events: lines.map(event).collect() }
    }

    pub fn write(&self, path: &Path) {
        let mut text = json!({"version": 2, "width": self.columns, "height": self.rows}).to_string() + "\n";
        for (at_ms, came) in &self.events {
            text.push_str(&json!([*at_ms as f64 / 1_000.0, "o", came]).to_string());
            text.push('\n');
        }
        fs::write(path, text).unwrap();
    }
}
