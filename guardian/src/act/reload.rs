//! Changes of `owner.toml` and `.env` while the guardian runs: checked, then taken over or refused.
//!
//! Invariant: settings with a mistake change nothing, and each refused change is reported once.

use crate::act::executor::Executor;
use crate::decide::revival::Event;
use crate::settings;
use house::clock::Millis;
use house::files::{self, Mark};
use house::settings::handed;
use house::{House, records};
use serde_json::json;

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

impl Executor {
    /// At each look: checks changed settings, announces new asks, starts or ends the broker when due.
    pub fn tend_broker(&mut self) {
        self.broker.turn_away();
        self.tend_fetch();
        self.build_programs();
        self.broker_steps(Event::Tick);
        if self.broker.has_news(&self.house, self.clock.now()) {
            self.settings_changed();
        }
        self.look_at_asks();
    }

    /// Checks changed settings: here at once, then by the broker, in a process of its own.
    fn settings_changed(&mut self) {
        if let Err(error) = settings::load(&self.house) {
            return self.keep_settings(&format!("{error:#}"));
        }
        match self.broker.begin_check(&self.house, self.clock.now()) {
            Ok(true) if self.broker.is_to_come() => {
                self.report
                    .say("the owner's settings have changed; the broker judges them as soon as it is built");
            }
            Ok(true) => {}
            Ok(false) => self.take_over(),
            Err(error) => self.keep_settings(&format!("{error:#}")),
        }
    }

    /// Keeps the former settings, and reports the mistake.
    pub fn keep_settings(&mut self, mistake: &str) {
        self.mistake = format!("the owner's change is not taken over: {mistake}");
        self.report.warn(&format!("{}. What was valid before goes on", self.mistake));
        records::tell(&self.house, "settings_refused", json!({"told": mistake}));
        self.publish();
    }

    /// Limits apply from now on; walls and extra folders from the guardian's next start.
    pub fn take_over(&mut self) {
        let Ok(settings) = settings::load(&self.house) else { return };
        let later = settings.walls != self.settings.walls || settings.sandbox != self.settings.sandbox;
        self.limits = settings.limits;
        (self.settings.text, self.settings.risky) = (settings.text, settings.risky);
        self.settings.packages = settings.packages;
        if self.settings.notices != settings.notices {
            self.settings.notices = settings.notices;
            self.notices.change(&self.settings.notices);
        }
        self.mistake.clear();
        self.hand_over();
        let number = self.state.life;
        self.life.iter_mut().for_each(|life| life.watched.allow_rests(&self.house, number));
        let note = if later { ", walls and sandbox from the guardian's next start on" } else { "" };
        self.report.say(&format!("the owner's settings have changed and are taken over; the creature takes up its part as soon as it wakes{note}"));
        records::tell(&self.house, "settings_changed", json!({}));
        self.broker_steps(Event::Reload);
        self.publish();
    }

    /// Writes the creature's part of the settings, at each start of a life and after each change. Without it the
    /// creature reads the owner's file itself.
    pub fn hand_over(&self) {
        if let Err(error) = handed::hand_over(&self.house, self.state.life, &self.settings.text) {
            tracing::warn!("the creature is not handed its settings: {error:#}");
        }
    }
}
