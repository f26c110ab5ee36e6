//! Wakes: what comes due by itself is done, whether this wake needs a thought is decided, and how long the rest is.
//!
//! Invariant: a model is called for a reason that stands in the wake's record; instinct costs nothing and looks at
//! every wake. What is due by the clock is done here, without either.

use crate::fault::Fault;
use crate::life::dream;
use crate::life::emptied::Emptied;
use crate::life::looks::Looks;
use crate::life::{Leaving, Life, Next};
use crate::mind::instinct::checklist;
use crate::mind::{Mind, context};
use crate::senses::{budget, cursors::Interrupted, papers};
use crate::store::Store;
use crate::store::caller::Caller;
use crate::store::feed::Event;
use agenda::outbox::Kind;
use agenda::repeat::Repeats;
use agenda::rest::{self, Bounds, Situation};
use agenda::stack::{self, Category, Line};
use agenda::waking::{self, Found};
use jiff::Timestamp;
use serde_json::json;
use std::time::Duration;

/// Seconds between looks at a checklist that has open items.
const CHECKLIST_S: i64 = 300;

/// Wakes in a row that may ask a model before each rests as long as one with a ready checkpoint.
const MOST_RESTLESS: u32 = 10;

/// Characters of a text that go into an event.
const MOST_CHARS: usize = 300;

/// How the wakes of this life go; lost with it, at no more cost than a thought.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// A thought of this life was completed.
    pub proven: bool,
    /// Why this wake thinks.
    pub why: Vec<String>,
    /// What an autonomous thought meant to do, while it wants another round.
    pub busy: Option<String>,
    /// The rounds of the last wake were not enough; how often in a row.
    pub overran: u32,
    /// The thread of the owner's whose request wants another round.
    pub on: Option<String>,
    /// Wakes in a row that thought nothing.
    pub quiet: u64,
    /// Until then the mind is not asked, unless by the owner's word.
    pub down_until: Option<Timestamp>,
    pub purpose_changed: bool,
    /// The budget is nearly gone.
    pub poor: bool,
    /// Mark of the checklist the thought under way was shown.
    pub checklist: String,
    /// Events it was shown.
    pub shown: usize,
    /// The first ready line of the stack it was shown, once a wake.
    pub line: Option<Line>,
    /// Papers of knowledge that another changed.
    pub changed: Vec<String>,
    /// The mind failed in this wake: its rest stands, whatever waits.
    pub setback: bool,
    /// The last thought chose its rest itself.
    pub chose: bool,
    /// And said that its work is done: only what is new or due comes sooner.
    pub ended: bool,
    pub emptied: Emptied,
    /// The owner's pause was told in the feed.
    pub held: bool,
    /// Wakes in a row that asked a model with nobody waiting for it.
    pub restless: u32,
    /// How the way to a model was when it was last looked at.
    pub way: Option<String>,
    /// Instinct answers in the mind's place.
    pub stands_in: bool,
    /// The owner's word stopped sub-sessions.
    pub stopped: bool,
    /// The owner is answered while a call of its own work runs: no other work meanwhile.
    pub beside: bool,
    /// When a thought last had the unfinished draft before it.
    pub draft_seen: Option<Timestamp>,
    /// What earlier looks left and this wake read, until something is made of it.
    pub read: Vec<String>,
    /// What the look under way was paid so far.
    pub own_usd: f64,
    /// The dream is due and cannot be had: no wake comes sooner for it.
    pub dreamless: bool,
    pub looks: Looks,
}

impl Life {
    /// Does what came due and takes what was said; none of it needs a mind.
    pub(crate) async fn tick(&mut self) -> Result<(), Fault> {
        self.caller = Caller::own();
        (self.course.setback, self.course.ended) = (false, false);
        self.watch.know();
        self.hear()?;
        self.hear_outcomes()?;
        self.notice()?;
        if self.told.safe {
            return Ok(());
        }
        self.settle_in();
        self.attend_hour()?;
        self.put_old_draft_away().await?;
        self.course.changed = dream::changed(&self.told.house);
        self.scan().await
    }

    /// Looks at what stands still for long: the purpose, and how the money is.
    pub(crate) fn notice(&mut self) -> Result<(), Fault> {
        let house = self.told.house.clone();
        let money = budget::read(&house.budget());
        self.course.poor = money.poor;
        self.observe("budget", &money.alarm)?;
        self.tell_of_money(&money.warning)?;
        let purpose = papers::read(&house.purpose());
        let mark = purpose.mark();
        if mark != self.cursors.purpose {
            if !self.cursors.purpose.is_empty() {
                self.course.purpose_changed = true;
                let text = "PURPOSE.md changed";
                self.remember("observation", json!({"about": "purpose", "text": text, "mark": mark}))?;
            }
            self.cursors.purpose = mark;
        }
        self.observe("purpose", &purpose.odd)
    }

    /// The owner hears that the money runs short, once a day.
    fn tell_of_money(&mut self, warning: &str) -> Result<(), Fault> {
        let today: String = self.told.clock.text().chars().take(10).collect();
        let now = self.told.clock.now();
        let wanted = self.store.agenda.directives.lets_through(Kind::Approval, warning, now);
        if warning.is_empty() || self.cursors.money_told == today || !wanted {
            return Ok(());
        }
        self.cursors.money_told = today;
        let data = json!({"from": "creature", "kind": "money", "thread": "main", "text": warning});
        self.remember("message", data)?;
        self.save()
    }

    /// How things stand for whoever asks whether to think.
    pub(crate) fn found(&self, now: Timestamp) -> Found {
        let paper = papers::read(&self.told.house.checklist());
        Found {
            newborn: !self.course.proven,
            // A word that was told why waits for the next try.
            words: if self.is_down() { self.untold() } else { self.cursors.words.len() },
            events: self.cursors.news.len() + usize::from(self.cursors.interrupted.is_some()),
            purpose_changed: self.course.purpose_changed,
            checklist_changed: paper.mark() != self.cursors.checklist
                && !(paper.text.trim().is_empty() && self.cursors.checklist.is_empty()),
            items_due: self.items_due(&paper.text, now),
            line: stack::ready(&self.stack(), now)
                .next()
                .map(|line| format!("{} {}", line.id, context::shorten(&line.title, 100))),
            draft: self.draft_due().filter(|(at, _)| *at <= now).map(|(_, line)| line),
            unfinished: self.course.overran > 0 || self.course.on.is_some(),
            paused: self.paused(),
            down: self.is_down(),
        }
    }

    /// Whether the owner said something that no thought has seen.
    pub(crate) fn unheard(&self) -> bool {
        self.cursors.words.iter().any(|waiting| waiting.seen == 0)
    }

    /// Decides whether this wake thinks, and says why in its record.
    pub(crate) fn woken(&mut self) -> Result<bool, Fault> {
        let now = self.told.clock.now();
        let (found, instinct) = (self.found(now), matches!(self.mind, Mind::Instinct(_)));
        let mut why = waking::reasons(&found);
        if self.course.emptied.holds(&why, now).is_some() && !self.unheard() {
            why.clear();
        }
        if found.words > 0 || why != self.course.why {
            // The same answer to other words, or the same look for another turn of a task, is no repeat.
            self.repeats = Repeats::default();
        }
        self.course.why = why;
        let looks = instinct && self.course.why.is_empty() && !found.paused && !found.down;
        if looks {
            self.course.why.push("instinct looks around".to_owned());
        }
        self.course.looks.wake(looks, now);
        let why = &self.course.why;
        let beat = json!({"wake": self.cursors.wakes, "thoughts": self.cursors.thoughts, "why": why});
        self.store.feed.tell(Event::Wakeup, beat.clone());
        // A quiet wake is no death: what it could not write is seen where it is missed.
        let booked = if self.course.looks.dull { Ok(()) } else { self.store.book("heartbeat", beat) };
        self.observe(
            "bookkeeping",
            &booked.err().map_or(String::new(), |fault| format!("failed to {}", fault.error)),
        )?;
        self.course.quiet = if self.course.why.is_empty() { self.course.quiet + 1 } else { 0 };
        Ok(!self.course.why.is_empty())
    }

    /// Recurring items of the checklist whose time has come.
    fn items_due(&self, checklist: &str, now: Timestamp) -> Vec<String> {
        let due = |line: &str| self.cursors.items.get(line).is_none_or(|next_s| *next_s <= now.as_second());
        let items =
            checklist::open(checklist, self.reads()).into_iter().filter(|item| item.every_s.is_some());
        items.filter(|item| due(&item.line)).map(|item| context::shorten(&item.text, 160)).collect()
    }

    /// A thought was completed: what it was shown is not told again. One that answers the owner leaves the rest be.
    pub(crate) fn seen(&mut self) {
        (self.course.proven, self.course.down_until) = (true, None);
        if self.caller.owner {
            return;
        }
        self.course.purpose_changed = false;
        self.course.draft_seen = Some(self.told.clock.now());
        self.cursors.take_news(std::mem::take(&mut self.course.shown));
        self.cursors.checklist = std::mem::take(&mut self.course.checklist);
        match self.course.line.take() {
            Some(line) if line.category == Category::Own => self.began_look(&line.id),
            Some(line) => _ = self.made(&line.looked()),
            None => {}
        }
        let now_s = self.told.clock.now().as_second();
        let items = checklist::open(&papers::read(&self.told.house.checklist()).text, self.reads());
        self.cursors.items.retain(|line, _| items.iter().any(|item| item.line == *line));
        for item in items {
            let Some(every_s) = item.every_s else { continue };
            let next_s = self.cursors.items.entry(item.line).or_insert(now_s);
            if *next_s <= now_s {
                *next_s = now_s.saturating_add(every_s);
            }
        }
    }

    /// The owner speaks: what was being done by itself waits, and is taken up again once the word is answered.
    pub(crate) fn interrupted(&mut self) -> Result<(), Fault> {
        let Some(what) = self.course.busy.take() else { return Ok(()) };
        let said = self.cursors.words.iter().map(|waiting| context::shorten(&waiting.word.text, MOST_CHARS));
        let (said, what) = (said.collect(), context::shorten(&what, MOST_CHARS));
        self.store.feed.tell(Event::Paused, json!({"why": "the owner's word", "what": what}));
        self.cursors.interrupted = Some(Interrupted { at: self.told.clock.text(), what, said });
        self.save()
    }

    /// Takes up again what the owner's word interrupted; what happened meanwhile is an event.
    pub(crate) fn resumed(&mut self) {
        let Some(Interrupted { at, what, said }) = self.cursors.interrupted.take() else { return };
        self.store.feed.tell(Event::Resumed, json!({"what": what, "since": at}));
        let said = said.join("\" and \"");
        self.cursors.tell(format!(
            "Your owner's word interrupted you at {at} while you meant to: {what}. Your owner said \"{said}\", and was \
             answered. Go on, unless the word changed it."
        ));
    }

    /// Whether the owner's word is that it pauses.
    pub(crate) fn paused(&self) -> bool {
        self.store.agenda.directives.paused(self.told.clock.now()).is_some()
    }

    /// The stack as it is now.
    pub(crate) fn stack(&self) -> Vec<Line> {
        if self.told.safe {
            return Vec::new();
        }
        let Store { agenda, rules, .. } = &self.store;
        stack::stack(agenda, rules, &self.around(), self.told.clock.now())
    }

    /// Nothing is done now that nobody asked for.
    fn held(&self, now: Timestamp) -> bool {
        self.told.safe || self.paused() || self.course.down_until.is_some_and(|until| now < until)
    }

    /// The mind is left alone for now.
    pub(crate) fn is_down(&self) -> bool {
        self.course.down_until.is_some_and(|until| self.told.clock.now() < until)
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

    /// The night has its dream, and what runs apart its turns, when the wake's own thoughts are done.
    pub(crate) async fn apart(&mut self, rest: Duration, leaving: &mut impl Leaving) -> Result<Next, Fault> {
        let now = self.told.clock.now();
        if !self.told.safe && !self.paused() {
            self.dream_if_due(leaving).await?;
            self.course.dreamless = self.next_dream(now) <= now;
        }
        if self.held(now) {
            return Ok(Next::Rest(rest));
        }
        if std::mem::take(&mut self.course.stopped) {
            self.store.feed.tell(Event::Resumed, json!({"what": "sub-sessions"}));
        }
        match self.work_sessions(leaving).await? {
            None => Ok(Next::Rest(rest)),
            Some(Next::Rest(wait)) if wait.is_zero() => {
                self.course.stopped = true;
                self.store
                    .feed
                    .tell(Event::Paused, json!({"why": "the owner's word", "what": "sub-sessions"}));
                Ok(Next::Rest(rest))
            }
            Some(Next::Rest(wait)) => {
                (self.course.down_until, self.course.setback) = (now.checked_add(wait).ok(), true);
                Ok(Next::Rest(wait.max(rest)))
            }
            Some(end) => Ok(end),
        }
    }

    pub(crate) fn bounds(&self) -> Bounds {
        let rest = &self.settings.rest;
        Bounds { shortest_s: rest.shortest_s, longest_s: rest.longest_s, quiet_s: rest.quiet_s }
    }

    /// The rest a thought chose, or the one that befits how things stand.
    pub(crate) fn chosen(&mut self, said: Option<u64>) -> Next {
        self.course.chose = said.is_some();
        Next::Rest(Duration::from_secs(self.situation().rest_s(said, self.bounds())))
    }

    /// The rest this wake ends with: none where something waits, and never past what comes due.
    pub(crate) fn resting(&mut self, rest: Duration) -> Duration {
        let now = self.told.clock.now();
        let held = self.held(now);
        let words = match self.cursors.words.is_empty() {
            // The owner is answered: what waited for it is looked at again.
            true => self.caller.owner && !self.course.ended,
            false => !self.is_down() && self.unheard(),
        };
        let interrupted = self.cursors.interrupted.is_some() && !self.course.ended;
        let events = !self.cursors.news.is_empty() || interrupted;
        let rest = match (words || (events && !held)) && !self.course.setback {
            true => rest.min(Duration::from_secs(self.settings.rest.shortest_s)),
            false => {
                let rest_s = rest.as_secs() + u64::from(rest.subsec_nanos() > 0);
                rest::cut(rest_s, self.next_due(now, held), now, self.bounds()).min(rest)
            }
        };
        let rest = rest.max(self.least_rest(words, now));
        self.store.feed.tell(Event::Sleep, json!({"rest_ms": rest.as_millis() as u64}));
        rest
    }

    /// A mind that makes itself work without end is slowed to the pace of a ready checkpoint; a reminder is not late.
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

    /// The next moment at which something is due by the clock; while it is held, only what is done without a mind.
    fn next_due(&self, now: Timestamp, held: bool) -> Option<Timestamp> {
        let hour = self.store.agenda.next_at(now);
        if held {
            return hour.into_iter().chain(self.course.down_until).filter(|at| *at > now).min();
        }
        let items = checklist::items(&papers::read(&self.told.house.checklist()).text);
        let after = |wait_s: i64| now.checked_add(jiff::SignedDuration::from_secs(wait_s)).ok();
        let look = (!items.is_empty()).then(|| after(CHECKLIST_S)).flatten();
        let recurring = self.cursors.items.values().filter_map(|at_s| Timestamp::from_second(*at_s).ok());
        // A thought that had the stack before it and chose its rest meant it.
        let (ready, draft) = match self.course.chose || self.situation() == Situation::Poor {
            true => (None, None),
            false => (stack::next_ready(&self.stack(), now), self.draft_due().map(|(at, _)| at)),
        };
        let emptied = self.course.emptied.holds(&waking::reasons(&self.found(now)), now);
        let dream = (!self.course.dreamless).then(|| self.next_dream(now));
        let all =
            recurring.filter(|at| *at > now).chain(look).chain(ready).chain(draft).chain(self.next_look());
        all.chain(self.next_session(now)).chain(hour).chain(dream).chain(emptied).min()
    }

    pub(crate) fn clamped(&self, wanted_s: u64) -> Duration {
        let rest = &self.settings.rest;
        Duration::from_secs(wanted_s.clamp(rest.shortest_s, rest.longest_s))
    }
}
