//! The fields of a posted form: bounded, text alone; and forms as they stand in a page, each with the token of its act.

use crate::page::Server;
use maud::{Markup, html};

/// Largest form: a paper of the creature's, every letter of it written as three.
pub const MOST_BYTES: usize = 1 << 20;
/// The same of whoever was not let in yet.
pub const STRANGERS_BYTES: usize = 16 << 10;
const MOST_FIELDS: usize = 16;

/// Fields of a posted form.
#[derive(Clone, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    pub fn read(bytes: &[u8]) -> Self {
        let fields = form_urlencoded::parse(bytes).take(MOST_FIELDS);
        Self(fields.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// A field's text, with the line ends of a text; empty where it is not there.
    pub fn text(&self, name: &str) -> String {
        let found = self.0.iter().find(|(given, _)| given == name);
        found.map(|(_, value)| value.replace("\r\n", "\n")).unwrap_or_default()
    }

    /// Every field but the token of the act, as it was given.
    pub fn others(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter(|(name, _)| name != "act").map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Hidden fields of a form: the token of its act, and the others.
pub fn hidden(server: &Server, path: &str, fields: &[(&str, &str)]) -> Markup {
    html! {
        input type="hidden" name="act" value=(server.act(path));
        @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
    }
}

/// A button that does one act.
pub fn button(server: &Server, path: &str, label: &str, fields: &[(&str, &str)]) -> Markup {
    html! {
        form.act method="post" action=(path) {
            (hidden(server, path, fields))
            button type="submit" { (label) }
        }
    }
}
