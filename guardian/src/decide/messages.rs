//! What cargo's messages tell of a build: how far it came, whose crates failed, and the compiler's own words. Pure.
//!
//! A macro of the creature's can print messages of its own between them. It can take none back, so what excuses a build
//! counts only as long as nothing of the creature's may have run.

use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Most of the compiler's errors that are kept for the evidence, in bytes.
const MOST_SAID_BYTES: usize = 64 << 10;

#[derive(Debug, Default)]
pub struct Told {
    pub crates: usize,
    pub executable: Option<PathBuf>,
    /// It came to compiling: every manifest was read, every version chosen, everything fetched.
    pub began: bool,
    /// The compiler refused source of the creature's own, and named the place.
    pub refused: bool,
    /// The compiler's errors, as it words them.
    pub said: String,
    own_failed: bool,
    own_ran: bool,
    other_failed: bool,
    /// Packages from elsewhere whose build scripts began and have not ended well.
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

#[derive(Deserialize)]
struct Target {
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
    /// Takes in one message; what of it is for people.
    pub fn hear(&mut self, line: &[u8]) -> Option<String> {
        let message: Message = serde_json::from_slice(line).ok()?;
        self.began = true;
        // Whatever is named by a path lies in creature/.
        let own = message.package_id.starts_with("path+");
        match (message.reason.as_str(), message.message) {
            ("compiler-artifact", _) => {
                self.crates += 1;
                self.executable = message.executable.or(self.executable.take());
                let kinds = message.target.map(|target| target.kind).unwrap_or_default();
                let is = |wanted: &str| kinds.iter().any(|kind| kind == wanted);
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

    /// Only crates from elsewhere failed, and no code of the creature's ran that could have made it look so.
    pub fn is_foreign(&self) -> bool {
        (self.other_failed || !self.scripts.is_empty()) && !self.own_failed && !self.own_ran
    }
}
