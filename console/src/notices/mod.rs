//! Tells the owner what happened, while the guardian runs: notices by a program of the owner's, and the morning report.
//!
//! Started by the guardian with its settings; killed at any moment it loses at most what it was just handing over, which
//! the next one counts.

pub mod send;
pub mod sources;
pub mod state;

use crate::life::DAY_MS;
use crate::report::{self, kept};
use anyhow::{Context, Result};
use house::bounds::brief;
use house::clock::Millis;
use house::settings::notices::{Notices, Way};
use house::{House, clock, moments, terminal};
use serde_json::json;
use sources::Sources;
use state::{Notice, State, What};
use std::time::Duration;

/// The variable that the guardian hands the settings over in.
pub const SETTINGS: &str = "FERAL_NOTICES";
const LOOK: Duration = Duration::from_secs(1);
/// Lines of a morning report that its notice has.
const HEAD: usize = 6;
const HEAD_CHARS: usize = 160;
/// Rest after a failure to write.
const REST_MS: Millis = 60_000;

/// Tells until the guardian ends this process.
pub fn run(house: &House) -> Result<()> {
    let told = "the guardian starts this by itself, where owner.toml has [notify] or [report]";
    let settings = std::env::var(SETTINGS).ok().context(told)?;
    let settings: Notices = serde_json::from_str(&settings).context(told)?;
    let mut teller = Teller::new(house, settings);
    loop {
        teller.look();
        std::thread::sleep(LOOK);
    }
}

/// Sender of notices to the owner: settings, way, state and sources.
struct Teller<'h> {
    house: &'h House,
    settings: Notices,
    way: Way,
    state: State,
    sources: Sources,
    /// Whether the state has changed since it was kept.
    owes: bool,
    /// Time before which nothing that failed is tried again, and why it failed.
    rests_until: Millis,
    complaint: String,
}

impl<'h> Teller<'h> {
    fn new(house: &'h House, settings: Notices) -> Self {
        let (way, mut state) = (settings.way(), State::load(&house.notices()));
        if way == Way::None {
            state.forget();
        }
        let sources = Sources::default();
        Self { house, settings, way, state, sources, owes: true, rests_until: 0, complaint: String::new() }
    }

    fn look(&mut self) {
        let now = clock::wall_ms();
        if now < self.rests_until && self.rests_until - now <= REST_MS {
            return;
        }
        if let Err(error) = self.tell(now) {
            // What was not kept is read again from where it was: told now, it would be told again after an end.
            (self.state, self.sources) = (State::load(&self.house.notices()), Sources::default());
            self.rests_until = now + REST_MS;
            let told = format!("nothing is told until this is mended: {error:#}");
            if self.complaint != told {
                row("warning", &told);
                self.complaint = told;
            }
        }
    }

    fn tell(&mut self, now: Millis) -> Result<()> {
        if self.way != Way::None {
            self.owes |= self.sources.look(self.house, self.settings.warn_percent, &mut self.state);
        }
        let report = self.report(now)?;
        let notify = &self.settings.notify;
        let sending = self.state.take(now, notify.gather_s * 1_000, notify.per_hour);
        if self.owes || sending.is_some() || report.is_some() {
            self.state.save(&self.house.notices())?;
            self.owes = false;
        }
        if let Some(text) = report {
            row("report", &text);
        }
        if let Some(sending) = sending {
            let failure = send::send(self.house, &self.settings, self.way, &sending);
            if let Some(failure) = self.state.ended(&sending, failure) {
                row("warning", &format!("a notice could not be told: {failure}"));
            }
            self.owes = self.state.save(&self.house.notices()).is_err();
        }
        Ok(())
    }

    /// Makes the morning report where it is due: its file and its notice; returns its text.
    fn report(&mut self, now: Millis) -> Result<Option<String>> {
        let Some(at) = &self.settings.report.at else { return Ok(None) };
        let day = moments::Place::here().last_day_at(at, moments::now());
        let day = day.with_context(|| format!("{at} is no time of day"))?;
        match &self.state.reported {
            Some(reported) if *reported >= day => return Ok(None),
            Some(_) => {}
            // The first one is made when the clock next shows its hour.
            None => {
                self.state.reported = Some(day);
                self.owes = true;
                return Ok(None);
            }
        }
        let before = self.state.reported_at.as_deref().and_then(moments::ms);
        let since = clock::stamp_of(before.unwrap_or(now.saturating_sub(DAY_MS)));
        let text = kept::text(&report::lines(self.house, &since, kept::COLUMNS));
        kept::keep(self.house, &day, &text)?;
        let place = format!(".self/reports/{day}.md");
        let head = text.lines().filter(|line| !line.starts_with(' ')).take(HEAD);
        let head: Vec<String> = head.map(|line| brief(line, HEAD_CHARS)).collect();
        let notice = Notice {
            at: clock::stamp_of(now),
            what: What::Report,
            name: day.clone(),
            text: format!("{}\n{place}", head.join("\n")),
            own: format!("the morning report: {place}"),
            times: 1,
        };
        if self.way != Way::None {
            self.state.add(notice, now);
        }
        (self.state.reported, self.state.reported_at) = (Some(day), Some(clock::stamp_of(now)));
        Ok(Some(text))
    }
}

/// Says something to the guardian's screen, as it takes it: a line of JSON.
fn row(kind: &str, text: &str) {
    terminal::json_line(&json!({"row": kind, "text": text}));
}
