//! Rests: how long this life rests after a wake, and what cuts it short.

use crate::life::{Life, Next};
use crate::mind::Mind;
use crate::store::caller::Caller;
use crate::store::feed::Event;
use agenda::rest::{self, Bounds, Situation};
use agenda::stack::{self, Category};
use agenda::waking::{self};
use ground::papers;
use instinct::checklist;
use jiff::Timestamp;
use mind::thought::Thought;
use serde_json::json;
use std::time::Duration;

/// Seconds between looks at a checklist that has open items.
const CHECKLIST_S: i64 = 300;

/// Wakes in a row that may ask a model before each rests as long as one with a ready checkpoint.
const MOST_RESTLESS: u32 = 10;

impl Life {
    /// The rest a thought ends with, after its calls (`unrun`: not all ran); none where it has another round.
    pub(super) fn rested(&mut self, thought: Thought, unrun: bool, caller: &Caller) -> Option<Next> {
        let ended = std::mem::take(&mut self.toolbox.completed);
        let again = thought.sleep_s == 0 || unrun;
        if let Some(rest) = self.emptied(&thought) {
            if !caller.owner {
                self.ended_look(None);
            }
            return Some(rest);
        }
        self.course.busy = (again && !ended && !caller.owner).then_some(thought.intent);
        self.course.owner_thread = (again && !ended && caller.owner).then(|| caller.thread.clone());
        if again && !ended {
            return None;
        }
        self.course.overran = 0;
        let rest_s = (thought.said && !again).then_some(thought.sleep_s);
        self.course.said_done = ended && rest_s.is_some();
        if !caller.owner {
            self.ended_look(rest_s);
        }
        Some(self.chosen(rest_s))
    }

    /// The rest a thought chose, in seconds, or the usual one for the situation; both within the owner's bounds.
    pub(crate) fn chosen(&mut self, said: Option<u64>) -> Next {
        self.course.chose_rest = said.is_some();
        Next::Rest(Duration::from_secs(self.situation().rest_s(said, self.bounds())))
    }

    /// The rest this wake ends with: the shortest where something waits, and never past what comes due.
    pub(crate) fn resting(&mut self, rest: Duration) -> Duration {
        let now = self.told.clock.now();
        let held = self.held(now);
        let words = match self.cursors.words.is_empty() {
            // The owner was answered: work that waited for that is looked at again at once.
            true => self.caller.owner && !self.course.said_done,
            false => !self.is_down() && self.unheard(),
        };
        let interrupted = self.cursors.interrupted.is_some() && !self.course.said_done;
        let events = !self.cursors.news.is_empty() || interrupted;
        let is_short = (words || (events && !held)) && !self.course.setback;
        let cut = match is_short {
            true => rest.min(Duration::from_secs(self.settings.rest.shortest_s)),
            false => {
                let rest_s = rest.as_secs() + u64::from(rest.subsec_nanos() > 0);
                rest::cut(rest_s, self.next_due(now, held), now, self.bounds()).min(rest)
            }
        };
        let why = match (is_short, cut < rest) {
            (true, _) => "there is more to do",
            (false, true) => "something is due then",
            (false, false) => self.why_rest(),
        };
        let rest = cut.max(self.least_rest(words, now));
        self.store.feed.tell(Event::Sleep, json!({"rest_ms": rest.as_millis() as u64, "why": why}));
        rest
    }

    /// Why a rest that nothing cuts short is as long as it is, in words for the owner.
    fn why_rest(&self) -> &'static str {
        match self.situation() {
            Situation::Poor => "little of its money is left",
            _ if self.course.chose_rest => "as its last thought chose",
            Situation::Checkpoint => "a step of a goal is next",
            Situation::Lead => "an opportunity is next",
            Situation::Normal => "its next work can wait",
            Situation::Quiet(_) => "nothing waits to be done",
        }
    }

    /// The least rest of a mind that makes itself work without end: that of a checkpoint, cut to a due reminder.
    fn least_rest(&mut self, words: bool, now: Timestamp) -> Duration {
        let apart = self.store.sessions.running().next().is_some();
        let busy = matches!(self.mind, Mind::Model(_)) && (apart || !self.course.why.is_empty()) && !words;
        self.course.restless = if busy { self.course.restless.saturating_add(1) } else { 0 };
        if self.course.restless <= MOST_RESTLESS {
            return Duration::ZERO;
        }
        let least = Situation::Checkpoint.usual_s().clamp(self.bounds().shortest_s, self.bounds().longest_s);
        let due = self.store.agenda.reminders.next_at(now);
        rest::cut(least, due, now, self.bounds())
    }

    /// The next moment at which something is due by the clock; while work is `held`, only what needs no mind.
    fn next_due(&self, now: Timestamp, held: bool) -> Option<Timestamp> {
        let hour = self.store.agenda.next_at(now);
        if held {
            let ends = [hour, self.course.down_until, self.typing_until()];
            return ends.into_iter().flatten().filter(|at| *at > now).min();
        }
        let items = checklist::items(&papers::read(&self.told.house.checklist()).text);
        let after = |wait_s: i64| now.checked_add(jiff::SignedDuration::from_secs(wait_s)).ok();
        let look = (!items.is_empty()).then(|| after(CHECKLIST_S)).flatten();
        let recurring = self.cursors.items.values().filter_map(|at_s| Timestamp::from_second(*at_s).ok());
        // A thought that chose its rest had seen stack and draft: they do not shorten that rest.
        let (ready, draft) = match self.course.chose_rest || self.situation() == Situation::Poor {
            true => (None, None),
            false => (stack::next_ready(&self.stack(), now), self.draft_due().map(|(at, _)| at)),
        };
        let emptied = self.course.emptied.holds(&waking::reasons(&self.found(now)), now);
        let dream = (!self.course.dreamless).then(|| self.next_dream(now));
        let all =
            recurring.filter(|at| *at > now).chain(look).chain(ready).chain(draft).chain(self.next_look());
        all.chain(self.next_session(now)).chain(hour).chain(dream).chain(emptied).min()
    }

    fn situation(&self) -> Situation {
        let (lines, now) = (self.stack(), self.told.clock.now());
        match stack::ready(&lines, now).next().map(|line| line.category) {
            _ if self.course.poor && matches!(self.mind, Mind::Model(_)) => Situation::Poor,
            _ if self.paused() => Situation::Quiet(self.course.quiet),
            Some(Category::Goals) => Situation::Checkpoint,
            Some(Category::Opportunities) => Situation::Lead,
            Some(_) => Situation::Normal,
            None => Situation::Quiet(self.course.quiet),
        }
    }

    pub(crate) fn bounds(&self) -> Bounds {
        let rest = &self.settings.rest;
        Bounds { shortest_s: rest.shortest_s, longest_s: rest.longest_s, quiet_s: rest.quiet_s }
    }

    pub(crate) fn clamped(&self, wanted_s: u64) -> Duration {
        let rest = &self.settings.rest;
        Duration::from_secs(wanted_s.clamp(rest.shortest_s, rest.longest_s))
    }
}
