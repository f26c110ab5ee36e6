//! Reads cargo's messages about a build: how far it came, whose crates failed, and the compiler's own words. Pure.
//!
//! A macro of the creature's can print forged messages in between, but it cannot remove real ones. So an excuse
//! counts only as long as no code of the creature's can have run.

use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Most bytes of compiler errors kept as evidence.
const MOST_SAID_BYTES: usize = 64 << 10;
/// Most letters kept of a crate's name.
const MOST_NAME_CHARS: usize = 64;

#[derive(Debug, Default)]
pub struct Told {
    pub crates: usize,
    /// The crate compiled last.
    pub last: String,
    pub executable: Option<PathBuf>,
    /// It came to compiling: manifests were read, versions chosen, everything fetched.
    pub began: bool,
    /// The compiler rejected the creature's own source, and named the place.
    pub refused: bool,
    /// The compiler's errors, verbatim.
    pub said: String,
    own_failed: bool,
    own_ran: bool,
    other_failed: bool,
    /// Third-party packages whose build scripts began and have not ended successfully.
    scripts: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    package_id: String,
    target: Option<Target>,
    executable: Option<PathBuf>,
    message: Option<Diagnostic>,
}

#[derive(Default, Deserialize)]
struct Target {
    #[serde(default)]
    name: String,
    #[serde(default)]
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
    #[serde(default)]
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Span {
    is_primary: bool,
}

impl Told {
    /// Takes one message; returns its text for people, if it has one.
    pub fn hear(&mut self, line: &[u8]) -> Option<String> {
        let message: Message = serde_json::from_slice(line).ok()?;
        self.began = true;
        // All packages given by a path lie in creature/.
        let own = message.package_id.starts_with("path+");
        match (message.reason.as_str(), message.message) {
            ("compiler-artifact", _) => {
                self.crates += 1;
                self.executable = message.executable.or(self.executable.take());
                let target = message.target.unwrap_or_default();
                let is = |wanted: &str| target.kind.iter().any(|kind| kind == wanted);
                if !is("custom-build") {
                    self.last = target.name.chars().take(MOST_NAME_CHARS).collect();
                }
                self.own_ran |= own && (is("custom-build") || is("proc-macro"));
                if !own && is("custom-build") {
                    self.scripts.insert(message.package_id);
                }
                None
            }
            ("build-script-executed", _) => {
                self.scripts.remove(&message.package_id);
                None
            }
            ("compiler-message", Some(diagnostic)) => self.judge(own, diagnostic),
            _ => None,
        }
    }

    fn judge(&mut self, own: bool, diagnostic: Diagnostic) -> Option<String> {
        if diagnostic.level.starts_with("error") {
            self.own_failed |= own;
            self.other_failed |= !own;
            self.refused |= own && diagnostic.spans.iter().any(|span| span.is_primary);
            let text = diagnostic.rendered.as_deref().unwrap_or_default();
            let room = MOST_SAID_BYTES.saturating_sub(self.said.len());
            self.said.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
        }
        diagnostic.rendered
    }

    /// Whether only third-party crates failed, and no code of the creature's ran that could have forged that.
    pub fn is_foreign(&self) -> bool {
        (self.other_failed || !self.scripts.is_empty()) && !self.own_failed && !self.own_ran
    }
}
