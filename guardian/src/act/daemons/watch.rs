//! Watches the files by which the owner's daemons are configured: a change counts once it is saved completely.

use house::House;
use house::clock::Millis;
use house::files::{self, Mark};

/// A file unchanged for this long counts as saved completely.
const SAVED_MS: Millis = 100;

/// Watches `owner.toml` and `.env`.
pub struct Watch {
    taken: [Option<Mark>; 2],
    /// Marks of files that are changing, and since when; a save may still be under way.
    changing: Option<([Option<Mark>; 2], Millis)>,
}

impl Watch {
    pub fn new(house: &House) -> Self {
        Self { taken: marks(house), changing: None }
    }

    /// Whether the files have changed and then stayed the same for `SAVED_MS`; true once for each change.
    pub fn changed(&mut self, house: &House, now: Millis) -> bool {
        let marks = marks(house);
        let since = self.changing.filter(|(seen, _)| *seen == marks).map_or(now, |(_, since)| since);
        self.changing = (marks != self.taken).then_some((marks, since));
        let saved = self.changing.is_some() && now.saturating_sub(since) >= SAVED_MS;
        if saved {
            *self = Self { taken: marks, changing: None };
        }
        saved
    }

    /// When to look again at files that are changing.
    pub fn due(&self) -> Option<Millis> {
        self.changing.map(|(_, since)| since + SAVED_MS)
    }
}

fn marks(house: &House) -> [Option<Mark>; 2] {
    [files::mark_of_any(&house.owner_settings()), files::mark_of_any(&house.secrets())]
}
