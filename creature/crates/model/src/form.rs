//! Parts of a request that a server may not accept, and which to leave out when it refuses them. Pure.

use crate::{Error, Kind, Talk, Wire};

/// A part of a request that some servers refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Schema,
    /// The limit's old name, `max_tokens`; without it, `max_completion_tokens`.
    OldLimit,
    Strict,
    /// News as messages of the role `system`.
    SystemNews,
    StreamUsage,
    Parallel,
    /// Thinking shown as a summary.
    Summary,
    /// Encrypted reasoning, which only reasoning models have.
    Encrypted,
}

/// The parts that a refusal names, and by which words of it.
const NAMED: [(Part, &str); 7] = [
    (Part::SystemNews, "role 'system'"),
    (Part::StreamUsage, "stream_options"),
    (Part::Parallel, "parallel_tool_calls"),
    (Part::Strict, "strict"),
    (Part::Encrypted, "encrypted content is not supported"),
    (Part::Summary, "summar"),
    (Part::Summary, "adaptive"),
];

/// What a server is taken to accept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    without: u8,
    /// The server has answered a request with a schema before.
    schema_is_proven: bool,
}

impl Form {
    pub(crate) fn has(self, part: Part) -> bool {
        self.without & bit(part) == 0
    }

    /// The form, once the server has answered a request in it.
    pub(crate) fn proven(self, talk: &Talk<'_>) -> Form {
        let sent = self.has(Part::Schema) && talk.tools.is_empty() && talk.schema.is_some();
        Form { schema_is_proven: sent || (self.schema_is_proven && self.has(Part::Schema)), ..self }
    }

    fn changed(self, part: Part) -> Form {
        Form { without: self.without ^ bit(part), ..self }
    }

    /// What to try when this form is refused: each part is changed once, the one the server names first.
    pub(crate) fn simpler(self, known: Form, wire: Wire, talk: &Talk<'_>, error: &Error) -> Option<Form> {
        let has_schema = self.has(Part::Schema) && talk.tools.is_empty() && talk.schema.is_some();
        let without_schema = has_schema.then(|| self.changed(Part::Schema));
        // Some servers fall over a schema instead of refusing it.
        if error.status == Some(500) && !self.schema_is_proven {
            return without_schema;
        }
        if error.kind != Kind::BadRequest || !matches!(error.status, Some(400 | 422)) {
            return None;
        }
        let said = error.message.to_lowercase();
        // Both names of the limit end in `_tokens`.
        let swapped = self.has(Part::OldLimit) != known.has(Part::OldLimit);
        if wire == Wire::Chat && said.contains("_tokens") && !swapped {
            return Some(self.changed(Part::OldLimit));
        }
        let named = NAMED.iter().find(|(part, words)| self.has(*part) && said.contains(words));
        named.map(|(part, _)| self.changed(*part)).or(without_schema)
    }
}

fn bit(part: Part) -> u8 {
    1 << part as u8
}
