//! Kinds of looks: what the creature can look at in its own time. Pure.

use crate::items;
use serde::{Deserialize, Serialize};

/// Kind of a look, by what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Reads its sources.
    Sources,
    /// Reviews its goals, or makes one.
    Goals,
    /// Makes something of what it read.
    Writing,
    /// Looks for what would be worth doing.
    Opportunities,
    /// Improves itself, for a reason that stands in its records.
    Growth,
    /// Answers where it is spoken of.
    Mentions,
}

impl Kind {
    pub const ALL: [Kind; 6] =
        [Kind::Sources, Kind::Goals, Kind::Writing, Kind::Opportunities, Kind::Growth, Kind::Mentions];

    /// Names the kind in one word, as it is kept.
    pub fn name(self) -> String {
        items::name(self)
    }

    pub fn read(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Names the line of the stack that stands for it.
    pub fn line(self) -> String {
        format!("own-{}", self.name())
    }

    /// The kind of look that a line of the stack stands for.
    pub fn of_line(id: &str) -> Option<Self> {
        Self::read(id.trim_start_matches("own-"))
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Kind::Sources => "read what your sources say",
            Kind::Goals => "review a goal, or make one",
            Kind::Writing => "make something of what you read",
            Kind::Opportunities => "look for what would be worth doing",
            Kind::Growth => "be a little better built",
            Kind::Mentions => "answer where you are spoken of",
        }
    }
}
