//! A finding of the doctor's: its subject, how serious it is, and how to mend it.

use house::printable;
use serde_json::{Value, json};
use std::borrow::Cow;

/// How serious a finding is.
#[derive(Clone, Copy, PartialEq)]
pub enum Grade {
    Good,
    Odd,
    Bad,
}

pub struct Finding {
    pub grade: Grade,
    pub about: &'static str,
    pub found: String,
    pub mend: Cow<'static, str>,
}

impl Grade {
    pub fn word(self) -> &'static str {
        match self {
            Grade::Good => "ok",
            Grade::Odd => "odd",
            Grade::Bad => "BAD",
        }
    }
}

impl Finding {
    pub fn new(
        grade: Grade,
        about: &'static str,
        found: impl Into<String>,
        mend: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { grade, about, found: printable::without_codes(&found.into()), mend: mend.into() }
    }

    pub fn as_json(&self) -> Value {
        json!({"grade": self.grade.word(), "about": self.about, "found": self.found, "mend": self.mend})
    }
}
