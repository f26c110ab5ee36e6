//! The guardian's report to people: rows and the bar of a build at a terminal, plain log lines elsewhere.
//!
//! Invariant: no failure here stops the guardian: a closed terminal is no error.

use house::bounds::{TOLD_CHARS, brief};
use house::clock::Millis;
use house::terminal::{Row, Screen, typed};
use house::{printable, records};
use serde_json::Value;

/// Width of the bar of a build, in characters.
const BAR: usize = 16;
/// Most letters of a crate's name: the longest wording fits 80 columns with any, so that it does not come and go.
const NAME: usize = 20;
/// Time between two frames of the build bar.
const FRAME_MS: Millis = 150;

/// Progress of a build.
pub struct Progress<'a> {
    pub done: usize,
    /// The most it can come to.
    pub most: usize,
    /// The crate that was compiled last.
    pub last: &'a str,
    pub passed_ms: Millis,
}

/// The bar in several wordings, the longest first: for a terminal of any width.
pub fn bar(progress: &Progress) -> [String; 3] {
    let Progress { done, most, last, passed_ms } = progress;
    let most = (*most).max(*done).max(1);
    let filled = done * BAR / most;
    let bar = format!("[{}{}]", "=".repeat(filled), ".".repeat(BAR - filled));
    let left = left(*done, most, *passed_ms);
    let last: String = last.chars().take(NAME).collect();
    let last = if last.is_empty() { last } else { format!(": {last}") };
    let short = format!("{done}/{most}, {left}");
    [format!("{bar} {done} of {most} crates, {left}{last}"), format!("{bar} {short}"), short]
}

/// The time left, if all crates take equally long; not said before some are done.
fn left(done: usize, most: usize, passed_ms: Millis) -> String {
    let seconds = passed_ms / 1_000;
    if done < most / 10 || done == 0 {
        return format!("{seconds} s");
    }
    let rest = passed_ms.saturating_mul((most - done) as Millis) / done as Millis / 1_000;
    format!("{} s left", rest.max(1))
}

pub struct Report {
    pub screen: Screen,
    /// The most crates the build under way can come to, and when it began.
    building: Option<(usize, Millis)>,
    /// The last warning, so that it is not repeated.
    said: String,
    /// Whether the first facts were shown.
    pub facts_shown: bool,
    /// Mistake in the owner's changed settings while the older ones stay in force; else empty.
    pub mistake: String,
    /// Why the creature's part of the settings is not written as it should be; else empty.
    pub unhanded: String,
    /// Why `PURPOSE.md` cannot be read now; else empty.
    pub purpose_unread: String,
    /// Advice on the owner's edits while nothing is started over them; else empty.
    pub edits_told: String,
}

impl Report {
    pub fn open() -> Self {
        Self {
            screen: Screen::open(),
            building: None,
            said: String::new(),
            facts_shown: false,
            mistake: String::new(),
            unhanded: String::new(),
            purpose_unread: String::new(),
            edits_told: String::new(),
        }
    }

    pub fn say(&mut self, text: &str) {
        if self.screen.is_terminal() { self.tell("guardian", "1", text) } else { tracing::info!("{text}") }
    }

    pub fn warn(&mut self, text: &str) {
        if self.screen.is_terminal() { self.tell("warning", "33", text) } else { tracing::warn!("{text}") }
    }

    fn tell(&mut self, tag: &'static str, paint: &'static str, text: &str) {
        self.screen.show(&Row::now(tag, paint, &printable::without_codes(text)));
    }

    /// Warns, unless the last warning was the same.
    pub fn once(&mut self, text: &str) {
        if self.said != text {
            self.said = text.to_owned();
            self.warn(text);
        }
    }

    pub fn build_begins(&mut self, commit: &str, packages: usize, now: Millis) {
        if self.screen.is_terminal() {
            self.building = Some((packages, now));
        } else {
            tracing::info!(%commit, "building the creature; the first build takes some minutes");
        }
    }

    pub fn build_frame_ms(&self) -> Option<Millis> {
        self.building.as_ref().map(|_| FRAME_MS)
    }

    pub fn building(&mut self, done: usize, last: &str, now: Millis) {
        let Some((most, began)) = self.building else { return };
        let bar = bar(&Progress { done, most, last, passed_ms: now.saturating_sub(began) });
        self.screen.frame(&bar.each_ref().map(String::as_str));
    }

    pub fn build_over(&mut self) {
        if self.building.take().is_some() {
            self.screen.clear_frame();
        }
    }

    pub fn lives(&mut self, life: u64, commit: &str, kept: bool, safe: bool) {
        self.said.clear();
        let how = if kept { "from its kept binary" } else { "as just built" };
        let safe = if safe { ", in safe mode: no memory, no tools but talking" } else { "" };
        self.say(&format!("life {life} begins at {commit}, {how}{safe}"));
    }

    pub fn commit(&mut self, who: &str, commit: &str, summary: &str, stat: (usize, usize, usize)) {
        let (files, added, removed) = stat;
        self.say(&format!("commit {commit} by {who}: {summary} ({files} files, +{added} -{removed})"));
    }

    pub fn death(&mut self, end: &Value) {
        let [ended, cause, blame] = ["ended", "cause", "blame"].map(|name| records::text(end, name));
        let life = end.get("life").and_then(Value::as_u64).unwrap_or_default();
        self.warn(&format!("life {life} ended: {} ({cause}; blamed on {blame})", ended.replace('_', " ")));
        let tail = records::text(end, "log_tail").lines().rev().take(6).collect::<Vec<_>>();
        for line in tail.into_iter().rev() {
            self.warn(&format!("  | {line}"));
        }
    }

    /// `is_asked`: the owner ordered it.
    pub fn fall(&mut self, message: &str, is_asked: bool, fallen: Option<&str>, rescued: Option<&str>) {
        let kept = fallen.map(|name| format!("; what fell is kept as {name}")).unwrap_or_default();
        let work = rescued.map(|name| format!("; unfinished edits as {name}")).unwrap_or_default();
        let told = format!("{}{kept}{work}", message.trim_start_matches("guardian: "));
        if is_asked { self.say(&told) } else { self.warn(&told) }
    }

    /// Shows a request that waits for the owner's yes or no, set apart and in a colour of its own.
    pub fn ask(&mut self, id: &str, line: &str) {
        if self.screen.is_terminal() {
            let commands = [("look", "asks"), ("yes", "yes"), ("no", "no")];
            let commands =
                commands.map(|(word, command)| format!("{word}: {}", typed(&format!("{command} {id}"))));
            self.screen.gap();
            self.tell(house::asks::ASKS, "1;7;33", &format!("{line}\n{}", commands.join("\n")));
            self.screen.gap();
        } else {
            tracing::warn!("ask {line} waits for your yes or no: {}", typed(&format!("asks {id}")));
        }
    }

    /// Shows the morning report, whole at a terminal; elsewhere each of its lines is a line of the log.
    fn morning(&mut self, text: &str) {
        if self.screen.is_terminal() {
            self.screen.gap();
            self.tell("report", "1;36", text);
            self.screen.gap();
        } else {
            text.lines().for_each(|line| tracing::info!("report: {line}"));
        }
    }

    /// Shows a line of the process that tells the owner.
    pub fn notices(&mut self, line: &str) {
        let told: Value = serde_json::from_str(line).unwrap_or_default();
        let text = told.get("text").and_then(Value::as_str);
        match (told.get("row").and_then(Value::as_str), text) {
            (Some("report"), Some(text)) => self.morning(text),
            (_, Some(text)) => self.warn(&brief(text, TOLD_CHARS)),
            (_, None) => self.warn(&format!("notices: {}", brief(line, TOLD_CHARS))),
        }
    }
}
