//! Server-sent events: frames out of bytes that may be split anywhere. Pure.
//!
//! Invariant: a frame whose blank line has not come is no frame; what stands open at a stream's end is lost.

/// Event of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Empty where it has none.
    pub name: String,
    pub data: String,
}

/// Part of a stream that is not yet a frame.
#[derive(Default)]
pub(crate) struct Reader {
    line: Vec<u8>,
    name: String,
    data: Option<String>,
    after_return: bool,
    begun: bool,
}

impl Reader {
    /// The frames that end within a piece.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Vec<Frame> {
        let mut frames = Vec::new();
        for byte in piece {
            // CR LF is one end of a line, also where a split stands between them.
            let second_half = *byte == b'\n' && self.after_return;
            self.after_return = *byte == b'\r';
            match byte {
                _ if second_half => {}
                b'\r' | b'\n' => frames.extend(self.end_line()),
                other => self.line.push(*other),
            }
        }
        frames
    }

    fn end_line(&mut self) -> Option<Frame> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = if self.begun { &line } else { line.trim_start_matches('\u{feff}') };
        self.begun = true;
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            return Some(Frame { name, data: self.data.take()? });
        }
        // A comment is a field without a name.
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (field, &mut self.data) {
            ("event", _) => value.clone_into(&mut self.name),
            ("data", Some(data)) => data.extend(["\n", value]),
            ("data", none) => *none = Some(value.to_owned()),
            _ => {}
        }
        None
    }
}
