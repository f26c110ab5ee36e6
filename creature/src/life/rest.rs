//! Rests: how long this life rests after a wake, and what cuts it short.

mod emptied;

use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::life::carried::ChosenRest;
use crate::life::passed::{Done, Ends, Next, Reasons, Rest, Round};
use crate::life::requests::{self, WakeEnd};
use crate::life::{Leaving, Life};
use crate::senses::cursors::Waiting;
use crate::store::caller::Caller;
use crate::store::feed::Event;
use crate::tools::wake::Rests;
use agenda::own::LONGEST_CHOSEN_S;
use agenda::rest::{self, Bounds, Situation};
use agenda::stack::{self, Category, Line};
use agenda::waking::{self, Found};
use ground::checklist;
use ground::papers;
use jiff::Timestamp;
use mind::thought::Thought;
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

/// Wakes in a row that may ask a model before each rests as long as one with a ready checkpoint.
const MOST_RESTLESS: u32 = 10;

/// Longest time that sub-sessions go on where no rest has an end.
const LONGEST: Duration = Duration::from_secs(3_600);

impl Life {
    /// Rests while sub-sessions go on, until the time is over or something cuts it short; without a time, as long as one
    /// of them has a step under way and no thought is told. The end of the life that must follow now, if any.
    pub async fn rest(
        &mut self,
        rest: Option<Duration>,
        leaving: &mut impl Leaving,
    ) -> Result<Option<Next>, Fault> {
        let (began, shortest) = (Instant::now(), Duration::from_secs(self.settings.rest.shortest_s));
        let mut until = rest.map(|rest| began + rest);
        loop {
            self.advance_apart().await?;
            let told = self.report_apart()?;
            if let Some(summary) = self.acts.rebirth.take() {
                return Ok(Some(Next::Reborn(summary)));
            }
            until = match until {
                None if told || !self.steps.any() => return Ok(None),
                Some(end) if told && self.resting.restless <= MOST_RESTLESS => {
                    Some(end.min(began + shortest))
                }
                until => until,
            };
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            self.heart.stage(Stage::Resting, left.unwrap_or(LONGEST) + Duration::from_secs(15));
            let now = self.told.clock.now();
            let next =
                self.next_session(now).filter(|at| *at > now).map(|at| at.duration_since(now).unsigned_abs());
            let ended = tokio::select! {
                biased;
                () = leaving.asked() => return Ok(Some(Next::Leave)),
                ended = self.steps.ended() => ended,
                () = tokio::time::sleep(next.unwrap_or_default()), if next.is_some() => continue,
                () = self.toolbox.jobs.end() => {
                    tracing::info!("rest cut short: a job has ended");
                    return Ok(None);
                }
                () = self.toolbox.watches.heard.notified() => return Ok(None),
                () = self.watch.cut(left) => return Ok(None),
            };
            self.step_ended(ended).await?;
        }
    }

    /// The rest a thought ends with, after its calls (`unrun`: not all ran), or another round. `beside`: a call of another
    /// thought runs.
    pub(super) fn rested(
        &mut self,
        thought: Thought,
        unrun: bool,
        done: Done,
        caller: &Caller,
        beside: bool,
    ) -> Round {
        let again = thought.sleep_s == 0 || unrun;
        if let Some(rest) = self.emptied(&thought, beside) {
            if !caller.owner {
                self.end_look(None);
            }
            return Round::Ends(Ends::Rest(rest));
        }
        let goes_on = again && !done.completed;
        self.unfinished.busy = (goes_on && !caller.owner).then(|| thought.intent.clone());
        if caller.owner {
            self.unfinished.goes_on(&caller.thread, goes_on);
        }
        if goes_on {
            return Round::Again(done);
        }
        self.unfinished.rested();
        let rest_s = (thought.said && !again).then_some(thought.sleep_s);
        let rest = self.chosen(rest_s);
        match caller.owner {
            true => {
                let chosen = self.resting.until().filter(|_| rest_s.is_some());
                let end =
                    WakeEnd { began: self.wakes.began, next: &thought.intent, rest: chosen, done: &done };
                requests::rested(&mut self.store, &self.toolbox.jobs, caller, end);
            }
            false => self.end_look(rest_s),
        }
        Round::Ends(Ends::Rest(Rest { said_done: done.completed && rest_s.is_some(), ..rest }))
    }

    /// The rest after a thought that wants another round without having acted; none where it may have that round.
    fn emptied(&mut self, thought: &Thought, beside: bool) -> Option<Rest> {
        let (span_s, now) = (self.resting.emptied.span_after(thought)?, self.told.clock.now());
        let found = self.found(now);
        let reasons_left = waking::reasons(&Found { request: found.request.filter(|_| !beside), ..found });
        self.resting.emptied.leave(reasons_left, span_s, now);
        self.unfinished.stopped();
        let lasts = self.chosen(None).lasts.max(Duration::from_secs(span_s));
        Some(Rest { lasts, setback: true, ..Rest::default() })
    }

    /// The rest a thought chose, in seconds, or the usual one for the situation; both within the owner's bounds.
    pub(crate) fn chosen(&mut self, said: Option<u64>) -> Rest {
        let now = self.told.clock.now();
        if let (None, Some(rest)) = (said, self.resting.chosen(now)) {
            // What interrupted the rest is done: it goes on.
            let lasts = rest.until.duration_since(now).unsigned_abs();
            return Rest { lasts, ..Rest::default() };
        }
        let lasts = Duration::from_secs(self.situation().rest_s(said, self.bounds()));
        let until = now.checked_add(lasts).ok();
        self.resting.chosen =
            said.and(until).filter(|until| *until > now).map(|until| ChosenRest { began: now, until });
        Rest { lasts, ..Rest::default() }
    }

    /// The rest this wake ends with: the shortest where something waits, and never past what comes due, such as a look
    /// at a source.
    pub(crate) fn resting(
        &mut self,
        rest: Rest,
        reasons: &Reasons,
        dreamless: bool,
        look: Option<Timestamp>,
    ) -> Duration {
        let Rest { lasts: rest, said_done, setback } = rest;
        let now = self.told.clock.now();
        let (held, is_spent) = (self.held(now), self.access.spent_until(now).is_some());
        let words = match self.cursors.owner.words.is_empty() {
            // The owner was answered: work that waited for that is looked at again at once.
            true => self.caller.owner && !said_done && self.resting.chosen(now).is_none() && !is_spent,
            false => !self.is_down() && (self.cursors.owner.is_unseen() || self.is_amid_another()),
        };
        let interrupted = self.cursors.owner.interrupted.is_some() && !said_done;
        let asked = words || self.ready_request().is_some();
        let events = !self.cursors.events.news.is_empty() || interrupted;
        let has_reason = || !said_done && self.has_reason(now);
        let is_short = (asked || ((events || has_reason()) && !held)) && !setback;
        let cut = match is_short {
            true => rest.min(Duration::from_secs(self.settings.rest.shortest_s)),
            false => {
                let rest_s = rest.as_secs() + u64::from(rest.subsec_nanos() > 0);
                rest::cut(rest_s, self.next_due(now, held, dreamless, look), now, self.bounds()).min(rest)
            }
        };
        let why = match (is_short, cut < rest) {
            (true, _) => "there is more to do",
            _ if is_spent => "its own money is spent",
            (false, true) => "something is due then",
            (false, false) => self.why_rest(),
        };
        let rest = cut.max(self.least_rest(words || reasons.why.is_empty(), now));
        let last = &self.acts.last;
        let sleep = json!({"rest_ms": rest.as_millis() as u64, "why": why, "last_action": last});
        self.store.feed.tell(Event::Sleep, sleep);
        rest
    }

    /// Says, for the owner, why a rest that nothing cuts short is as long as it is.
    fn why_rest(&self) -> &'static str {
        match self.situation() {
            Situation::Poor => "little of its money is left",
            Situation::Spent => "its own money is spent",
            _ if self.resting.chosen.is_some() => "as its last thought chose",
            Situation::Checkpoint => "a step of a goal is next",
            Situation::Lead => "an opportunity is next",
            Situation::Normal => "its next work can wait",
            Situation::Quiet(_) => "nothing waits to be done",
        }
    }

    /// The least rest of a mind that makes itself work without end: that of a checkpoint, cut to a due reminder.
    fn least_rest(&mut self, is_asked: bool, now: Timestamp) -> Duration {
        let busy = self.minds.can_read() && !is_asked;
        self.resting.restless = if busy { self.resting.restless.saturating_add(1) } else { 0 };
        if self.resting.restless <= MOST_RESTLESS {
            return Duration::ZERO;
        }
        let least = Situation::Checkpoint.usual_s().clamp(self.bounds().shortest_s, self.bounds().longest_s);
        let due = self.store.agenda.reminders.next_due();
        rest::cut(least, due, now, self.bounds())
    }

    /// The next moment at which something is due by the clock; while work is `held`, only what needs no mind.
    fn next_due(
        &self,
        now: Timestamp,
        held: bool,
        dreamless: bool,
        source: Option<Timestamp>,
    ) -> Option<Timestamp> {
        let hour = self.store.agenda.next_at(now);
        if held {
            let spent = self.access.spent_until(now).filter(|_| !self.is_stopped());
            let (hour, requests) = match spent {
                Some(_) => (self.store.agenda.told_at(now), self.request_at(now)),
                None => (hour, None),
            };
            let ends = [hour, requests, spent, self.access.down_until(), self.typing_until()];
            return ends.into_iter().flatten().filter(|at| *at > now).min();
        }
        let items = checklist::items(&self.checklist().text);
        let checklist_s = i64::try_from(self.settings.agenda.checklist_s).unwrap_or(i64::MAX);
        let after = |wait_s: i64| now.checked_add(jiff::SignedDuration::from_secs(wait_s)).ok();
        let look = (!items.is_empty()).then(|| after(checklist_s)).flatten();
        let recurring =
            self.cursors.papers.items.values().filter_map(|at_s| Timestamp::from_second(*at_s).ok());
        // A thought that chose its rest had seen stack and draft: they do not shorten that rest.
        let (ready, draft) = match self.resting.chosen(now).is_some() || self.situation() == Situation::Poor {
            true => (None, None),
            false => (stack::next_ready(&self.stack(), now), self.draft_due().map(|(at, _)| at)),
        };
        let ready = ready.into_iter().chain(self.look_at(now));
        let emptied = self.resting.emptied.holds(&waking::reasons(&self.found(now)), now);
        let dream = (!dreamless).then(|| self.next_dream(now));
        let all = recurring.filter(|at| *at > now).chain(look).chain(ready).chain(draft).chain(source);
        // Sub-sessions at work go on in the rest.
        let begins = self.next_session(now).filter(|at| *at > now);
        all.chain(begins).chain(hour).chain(dream).chain(emptied).min()
    }

    /// Returns the time at which the owner's next request is ready.
    fn request_at(&self, now: Timestamp) -> Option<Timestamp> {
        let mut lines = self.stack();
        lines.retain(|line| line.category == Category::Requests);
        stack::next_ready(&lines, now)
    }

    fn situation(&self) -> Situation {
        let (lines, now) = (self.stack(), self.told.clock.now());
        match stack::ready(&lines, now).next().map(|line| line.category) {
            _ if self.access.poor && self.minds.can_read() => Situation::Poor,
            _ if self.access.spent_until(now).is_some() => Situation::Spent,
            _ if self.paused() => Situation::Quiet(self.wakes.quiet),
            Some(Category::Goals) => Situation::Checkpoint,
            Some(Category::Opportunities) => Situation::Lead,
            Some(_) => Situation::Normal,
            None => Situation::Quiet(self.wakes.quiet),
        }
    }

    /// The owner's bounds; with own time a thought may choose a day.
    pub(crate) fn bounds(&self) -> Bounds {
        let rest = &self.settings.rest;
        let chosen_s = if self.has_own_time() { LONGEST_CHOSEN_S } else { 0 };
        Bounds {
            shortest_s: rest.shortest_s,
            longest_s: rest.longest_s,
            chosen_s: chosen_s.max(rest.longest_s),
            quiet_s: rest.quiet_s,
        }
    }

    /// Whether something is a reason to think in spite of the rest that the last thought chose: it was not seen by it.
    fn has_reason(&self, now: Timestamp) -> bool {
        let purpose = || papers::read(&self.told.house.purpose()).mark() != self.cursors.papers.purpose;
        self.resting.chosen(now).is_some() && (purpose() || !waking::reasons(&self.found(now)).is_empty())
    }

    /// Whether the last thought about a word of another thread asked for another round: no rest chosen here puts it off.
    fn is_amid_another(&self) -> bool {
        let is_other = |thread: &String| !self.caller.owner || *thread != self.caller.thread;
        let goes_on = |word: &Waiting| {
            let thread = &word.word.thread;
            self.unfinished.is_amid(thread) && is_other(thread) && !self.is_put_off(word)
        };
        self.cursors.owner.words.iter().any(goes_on)
    }

    /// Returns the time of its next own look while there is news at its sources: the rest that it chose ends then.
    fn look_at(&self, now: Timestamp) -> Option<Timestamp> {
        let allowance = self.allowance().filter(|allowance| allowance.news > 0)?;
        Some(self.store.agenda.own.due_at(&allowance, now)).filter(|at| *at > now)
    }

    /// Returns the bounds of a rest that a thought chooses now, and what ends it, the earliest first; no request of the
    /// owner's while the owner is answered `beside` a call.
    pub(super) fn rest_ends(&self, caller: &Caller, beside: bool) -> Rests {
        let now = self.told.clock.now();
        let mut due = self.store.agenda.due(now);
        for (line, at_s) in &self.cursors.papers.items {
            let item = checklist::items(line).into_iter().next().map(|item| item.text);
            due.extend(Timestamp::from_second(*at_s).ok().zip(item).filter(|(at, _)| *at > now));
        }
        let is_other = |line: &Line| {
            let mut open = self.store.agenda.requests.open();
            open.any(|one| one.id == line.id && !(caller.owner && one.thread == caller.thread))
        };
        let others = self.ready_request().filter(|line| !beside && is_other(line));
        due.extend(others.map(|line| (now, format!("{} {}", line.id, line.title))));
        due.extend(self.look_at(now).map(|at| (at, "news at your sources".to_owned())));
        if self.cursors.owner.is_unseen() || self.is_amid_another() {
            due.push((now, "a word of your owner's".to_owned()));
        } else if !(self.cursors.events.news.is_empty() && self.cursors.owner.interrupted.is_none()) {
            due.push((now, "news, or work that your owner's word interrupted".to_owned()));
        }
        due.sort();
        Rests { bounds: self.bounds(), due }
    }

    pub(crate) fn clamped(&self, wanted_s: u64) -> Duration {
        let rest = &self.settings.rest;
        Duration::from_secs(wanted_s.clamp(rest.shortest_s, rest.longest_s))
    }
}
