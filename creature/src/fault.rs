//! What failed and what to do next: the two sentences a mind needs of every refusal.

use std::error::Error;
use std::fmt;

/// A failure as a mind is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// A lowercase fragment that names the path, tool or argument.
    pub error: String,
    /// The next step.
    pub hint: String,
}

impl Fault {
    pub fn new(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { error: error.into(), hint: hint.into() }
    }

    /// A failed act on something named, with the whole chain of causes: this is the edge that prints it.
    pub fn caused(doing: impl fmt::Display, cause: &dyn Error, hint: impl Into<String>) -> Self {
        let mut error = format!("{doing}: {cause}");
        let mut next = cause.source();
        while let Some(deeper) = next {
            error.push_str(&format!(": {deeper}"));
            next = deeper.source();
        }
        Self::new(error, hint)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.error)
    }
}

impl Error for Fault {}
