//! A form with a file, as RFC 7578 has it: reqwest's own would have the whole house compile it once more.

use bytes::Bytes;

/// Fields and a file on their way.
pub struct Upload {
    boundary: String,
    body: Vec<u8>,
}

impl Upload {
    /// A form whose parts are divided by what stands nowhere in them.
    pub fn new(fields: &[(&str, &str)], file: &[u8]) -> Self {
        let is_within = |mark: &str| {
            let is_in = |part: &[u8]| part.windows(mark.len()).any(|letters| letters == mark.as_bytes());
            is_in(file) || fields.iter().any(|(_, text)| is_in(text.as_bytes()))
        };
        let marks = (0..).map(|nth| format!("feral-part-{nth}-of-a-form"));
        let boundary = { marks }.find(|mark| !is_within(mark)).unwrap_or_default();
        let mut form = Self { boundary, body: Vec::with_capacity(file.len() + 4_096) };
        for (name, text) in fields {
            form.begin(&format!("name=\"{}\"", escaped(name)));
            form.body.extend_from_slice(text.as_bytes());
        }
        form
    }

    /// Ends it with the file; returns its kind, for the head, and all of it.
    pub fn file(mut self, field: &str, name: &str, bytes: &[u8]) -> (String, Bytes) {
        self.begin(&format!("name=\"{}\"; filename=\"{}\"", escaped(field), escaped(name)));
        self.body.extend_from_slice(bytes);
        self.body.extend_from_slice(format!("\r\n--{}--\r\n", self.boundary).as_bytes());
        (format!("multipart/form-data; boundary={}", self.boundary), self.body.into())
    }

    fn begin(&mut self, what: &str) {
        let end = if self.body.is_empty() { "" } else { "\r\n" };
        let head = format!("{end}--{}\r\nContent-Disposition: form-data; {what}\r\n\r\n", self.boundary);
        self.body.extend_from_slice(head.as_bytes());
    }
}

/// A name within quotes: HTML Standard, "Multipart form data", which escapes these three.
fn escaped(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
