//! Reports of sub-sessions: each that ended is told by itself, at once; the last of those spawned together says so.

use super::{MOST_KEPT, clip};
use super::{NO_ACTION, NOTHING, Origin, Session, Sessions, Status};
use jiff::Timestamp;

/// Characters of all that is reported at once, and of one report at least and at most: they stand among a thought's news.
const MOST_REPORTS: usize = 1_600;
const REPORT: std::ops::RangeInclusive<usize> = 160..=900;

/// Characters of the names of those that came to nothing.
const MOST_NAMES: usize = 160;

/// One session that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The same for the same report, and for no other.
    pub key: String,
    pub id: String,
    pub thread: String,
    pub origin: Origin,
    /// What became of it, and that it was the last where it was.
    pub text: String,
    /// A review without anything to say: nobody is told.
    pub silent: bool,
}

impl Session {
    /// Whose children it was spawned with: those of one parent belong together, all others are by themselves.
    pub fn family(&self) -> &str {
        match &self.origin {
            Origin::Tool { parent } => parent,
            _ => &self.id,
        }
    }

    /// Whether it looked and found nothing to say.
    pub fn silent(&self) -> bool {
        let said = self.answer.trim_start();
        let quiet = match self.origin {
            Origin::Tool { .. } => false,
            Origin::Own(_) => is_nothing(said) || said.starts_with(NO_ACTION),
            _ => said.starts_with(NO_ACTION),
        };
        quiet && self.status == Status::Done
    }

    fn told(&self, most: usize) -> String {
        let whole = if self.answer.chars().count() > most {
            format!(" (whole: sessions.list {})", self.id)
        } else {
            String::new()
        };
        format!("{} {}: {}{whole}", self.id, self.status.name(), clip(&self.answer, most))
    }
}

/// Whether an answer begins with the word, however it is set off; one that begins with a longer word says something.
fn is_nothing(said: &str) -> bool {
    let rest = said.trim_start_matches(|letter: char| !letter.is_alphanumeric()).strip_prefix(NOTHING);
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

impl Sessions {
    /// Those that have ended and are not reported yet, the one that ended first first.
    pub fn reports(&self) -> Vec<Report> {
        let mut ended: Vec<&Session> = self.unreported().collect();
        ended.sort_by_key(|session| session.ended_at.unwrap_or(Timestamp::MIN));
        let share = MOST_REPORTS / ended.iter().filter(|session| !session.silent()).count().max(1);
        let share = share.clamp(*REPORT.start(), *REPORT.end());
        let told = |(at, session): (usize, &&Session)| {
            let before: Vec<&str> = ended.iter().take(at + 1).map(|session| session.id.as_str()).collect();
            let (family, own) = (session.family(), session.id.as_str());
            let families = [Some(family), Some(own).filter(|own| *own != family)];
            let closed = families.into_iter().flatten().filter_map(|family| self.closed(family, &before));
            Report {
                key: format!("{}@{}", session.id, session.spawned_at),
                id: session.id.clone(),
                thread: session.thread.clone(),
                origin: session.origin.clone(),
                text: closed.fold(session.told(share), |text, closed| text + &closed),
                silent: session.silent(),
            }
        };
        ended.iter().enumerate().map(told).collect()
    }

    /// Whether one waits to be reported.
    pub(super) fn unreported(&self) -> impl Iterator<Item = &Session> {
        self.all.iter().filter(|session| session.status.ended() && !session.reported)
    }

    /// That all of a family are told with these, and which of them came to nothing; none where one is left, or could be
    /// added by a parent that goes on, or where they are not several.
    fn closed(&self, family: &str, told: &[&str]) -> Option<String> {
        let is_told = |session: &Session| session.reported || told.contains(&session.id.as_str());
        let kin: Vec<&Session> = self.all.iter().filter(|session| session.family() == family).collect();
        let all_told = kin.iter().all(|session| is_told(session)) && self.get(family).is_none_or(is_told);
        if kin.len() < 2 || !all_told {
            return None;
        }
        let lost = kin.iter().filter(|session| session.status != Status::Done);
        let lost: Vec<&str> = lost.map(|session| session.id.as_str()).collect();
        let but = match lost.is_empty() {
            true => String::new(),
            false => format!(", but for {}", clip(&lost.join(", "), MOST_NAMES)),
        };
        Some(format!(" (That was the last: all that {family} spawned are done{but}.)"))
    }

    /// Takes this one for reported, and lets go of the oldest that nobody builds upon.
    pub fn reported(&mut self, id: &str) {
        for session in self.all.iter_mut().filter(|session| session.id == id) {
            session.reported = session.status.ended();
        }
        let kept = self.all.iter().filter(|session| session.reported).count();
        let mut over = kept.saturating_sub(MOST_KEPT);
        let waiting = self.all.iter().filter(|session| session.status == Status::Waiting);
        let needed: Vec<String> = waiting.flat_map(|session| session.depends_on.clone()).collect();
        self.all.retain(|session| {
            let goes = over > 0 && session.reported && !needed.contains(&session.id);
            over -= usize::from(goes);
            !goes
        });
    }
}
