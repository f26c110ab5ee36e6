//! Changes of `owner.toml` and `.env` while the guardian runs: checked, then taken over or refused.
//!
//! Invariant: settings with a mistake change nothing, and each refused change is reported once.

use crate::act::daemons::around::{Around, Came};
use crate::act::daemons::keep::Daemons;
use crate::act::executor::Executor;
use crate::settings;
use house::records;
use house::settings::handed;
use serde_json::json;

impl Executor {
    /// Has the daemons do something, given their surroundings, and takes up their news.
    pub fn with_daemons<T>(&mut self, does: impl FnOnce(&mut Daemons, &mut Around) -> T) -> T {
        let mut around = Around {
            house: &self.house,
            limits: &self.limits,
            notices: &self.settings.notices,
            report: &mut self.report,
            now: self.clock.now(),
            phase: &self.decided.phase,
            lives: self.living.life.is_some(),
            builds: self.builder.build.is_some(),
            fetched: &self.state.fetched,
        };
        let done = does(&mut self.daemons, &mut around);
        let came = std::mem::take(&mut self.daemons.came);
        if came.iter().any(|came| matches!(came, Came::Changed)) {
            self.publish();
        }
        for came in came {
            match came {
                Came::Changed => {}
                Came::Judged(Ok(())) => self.take_over(),
                Came::Judged(Err(mistake)) => self.keep_settings(&mistake),
                Came::Fetched { missing, well } => self.fetched(missing, well),
            }
        }
        done
    }

    /// At each look: tends the daemons, checks changed settings, announces new asks.
    pub fn tend_daemons(&mut self) {
        self.daemons.turn_away();
        self.with_daemons(Daemons::tend);
        if self.daemons.has_news(&self.house, self.clock.now()) {
            self.settings_changed();
        }
        self.look_at_asks();
    }

    /// Checks changed settings: here at once, then by the broker, in a process of its own.
    fn settings_changed(&mut self) {
        if let Err(error) = settings::load(&self.house) {
            return self.keep_settings(&format!("{error:#}"));
        }
        match self.daemons.begin_check(&self.house, self.clock.now()) {
            Ok(true) if self.daemons.broker_is_to_come() => {
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
        self.report.mistake = format!("the owner's change is not taken over: {mistake}");
        self.report.warn(&format!("{}. What was valid before goes on", self.report.mistake));
        records::tell(&self.house, "settings_refused", json!({"told": mistake}));
        self.publish();
    }

    /// Limits apply from now on; walls and extra folders from the guardian's next start.
    pub fn take_over(&mut self) {
        let Ok(settings) = settings::load(&self.house) else { return };
        let later = {
            let former = &self.settings.asked;
            (settings.asked.choice, &settings.asked.more) != (former.choice, &former.more)
        };
        self.limits = settings.limits;
        (self.settings.text, self.settings.risky) = (settings.text, settings.risky);
        self.settings.packages = settings.packages;
        let notices_changed = self.settings.notices != settings.notices;
        self.settings.notices = settings.notices;
        self.report.mistake.clear();
        self.hand_over();
        let number = self.state.life;
        self.living.life.iter_mut().for_each(|life| life.watched.allow_rests(&self.house, number));
        let note = if later { ", walls and sandbox from the guardian's next start on" } else { "" };
        self.report.say(&format!("the owner's settings have changed and are taken over; the creature takes up its part as soon as it wakes{note}"));
        records::tell(&self.house, "settings_changed", json!({}));
        self.with_daemons(|daemons, around| daemons.settings_changed(around, notices_changed));
        self.publish();
    }

    /// Writes the creature's part of the settings, at each start of a life and after each change; again each round
    /// until it succeeds. Without any a creature does nothing outward.
    pub fn hand_over(&mut self) {
        let unhanded = match handed::hand_over(&self.house, self.state.life, &self.settings.text) {
            Ok(()) => String::new(),
            Err(error) => format!("the creature is not handed its settings: {error:#}"),
        };
        if unhanded == self.report.unhanded {
            return;
        }
        match unhanded.as_str() {
            "" => self.report.say("the creature is handed its settings"),
            unhanded => self.report.warn(unhanded),
        }
        self.report.unhanded = unhanded;
        self.publish();
    }
}
