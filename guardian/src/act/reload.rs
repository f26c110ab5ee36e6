//! Changes of `owner.toml` and `.env` while the guardian runs: checked, then taken over or refused.
//!
//! Invariant: settings with a mistake change nothing, and each refused change is reported once.

use crate::act::around::Around;
use crate::act::daemons::keep::Daemons;
use crate::act::living::Living;
use crate::settings::{self, Settings};
use house::records;
use house::settings::handed;
use serde_json::json;

/// Keeps the former settings, and reports the mistake.
pub fn keep_settings(around: &mut Around, mistake: &str) {
    around.report.mistake = format!("the owner's change is not taken over: {mistake}");
    around.report.warn(&format!("{}. What was valid before goes on", around.report.mistake));
    records::tell(&around.house, "settings_refused", json!({"told": mistake}));
    around.is_news = true;
}

/// Limits apply from now on; walls and extra folders from the guardian's next start.
pub fn take_over(around: &mut Around, daemons: &mut Daemons, living: &mut Living) {
    let Ok(settings) = settings::load(&around.house) else { return };
    let former = around.settings.clone();
    let later = (settings.asked.choice, &settings.asked.more) != (former.asked.choice, &former.asked.more);
    around.limits = settings.limits.clone();
    around.settings = Settings { asked: former.asked.clone(), ..settings };
    around.report.mistake.clear();
    hand_over(around);
    living.life.iter_mut().for_each(|life| life.watched.allow_rests());
    let note = if later { ", walls and sandbox from the guardian's next start on" } else { "" };
    around.report.say(&format!("the owner's settings have changed and are taken over; the creature takes up its part as soon as it wakes{note}"));
    records::tell(&around.house, "settings_changed", json!({}));
    daemons.settings_changed(around, &former);
    around.is_news = true;
}

/// Writes the creature's part of the settings, at each start of a life and after each change; again each round until it
/// succeeds. Without any a creature does nothing outward.
pub fn hand_over(around: &mut Around) {
    let unhanded = match handed::hand_over(&around.house, around.state.life, &around.settings.text) {
        Ok(()) => String::new(),
        Err(error) => format!("the creature is not handed its settings: {error:#}"),
    };
    if unhanded == around.report.unhanded {
        return;
    }
    match unhanded.as_str() {
        "" => around.report.say("the creature is handed its settings"),
        unhanded => around.report.warn(unhanded),
    }
    around.report.unhanded = unhanded;
    around.is_news = true;
}
