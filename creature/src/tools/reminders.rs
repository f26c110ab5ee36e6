//! `reminder.add`, `reminder.list` and `pulse.list`: words, prompts and standing concerns that come at their time.

use super::arguments::Arguments;
use super::tool_context::ToolContext;
use crate::fault::Fault;
use agenda::Change;
use agenda::items::Item;
use agenda::pulse::Concern;
use agenda::reminder::{Reminder, ReminderChange, Schedule};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

pub fn add(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (text, when) = (args.text("text").to_owned(), args.text("when"));
    let zone = args.maybe_text("zone");
    let hours = match zone.map(TimeZone::get) {
        None => tools.store.rules.time_zone.clone(),
        Some(Ok(hours)) => hours,
        Some(Err(_)) => return Err(args.fault("knows time zones by names as in Europe/Berlin")),
    };
    let schedule = Schedule::read(when, tools.store.clock.now(), &hours).ok_or_else(|| {
        let hint = "`when` is as in: 2026-12-01 09:00 · in 20 min · tomorrow 9am · daily 09:00 · weekly mon,thu 09:00 · \
            monthly 31 09:00 · every 45 min 08:00-20:00";
        Fault::new("reminder.add cannot read `when`", hint)
    })?;
    let (prompt, zone) = (args.maybe_text("prompt").map(str::to_owned), zone.map(str::to_owned));
    tools.change(&Change::Reminder(ReminderChange::Add { text, prompt, schedule, zone }))
}

pub fn list(tools: &mut ToolContext<'_>, _: &Arguments) -> Result<Value, Fault> {
    let (now, usual) = (tools.store.clock.now(), &tools.store.rules.time_zone);
    let line = |reminder: &Item<Reminder>| {
        let Item { id, about: text, thread, of: Reminder { prompt, zone, next, .. }, .. } = reminder;
        let said = reminder.said(now, usual);
        json!({"id": id, "text": text, "next": next, "said": said, "zone": zone, "thread": thread, "prompt": prompt})
    };
    Ok(json!({"reminders": tools.store.agenda.reminders.open().map(line).collect::<Vec<_>>()}))
}

pub fn concerns(tools: &mut ToolContext<'_>, _: &Arguments) -> Result<Value, Fault> {
    let line = |concern: &Item<Concern>| {
        let Item { id, about: text, thread, of: Concern { every_s, next, last, said, mode }, .. } = concern;
        json!({
            "id": id, "text": text, "every_s": every_s, "next": next, "last": last, "said": said, "thread": thread,
            "mode": mode,
        })
    };
    Ok(json!({"concerns": tools.store.agenda.pulse.open().map(line).collect::<Vec<_>>()}))
}
