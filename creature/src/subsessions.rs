//! Sub-sessions at work: each a few thoughts of its own, beside one another, on the creature's budget.
//!
//! Invariant: every turn is written down before the next; between rounds the owner's word and a wish to leave are heard.

mod act;
pub mod review;
pub mod words;

use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::life::act::{MOST_ARGS, args};
use crate::life::patience::first_s;
use crate::life::{Leaving, Life, Next};
use crate::mind::Mind;
use agenda::sessions::{Mode, Origin, Report, Request, Session, Status};
use ground::papers;
use ground::text::shorten;
use jiff::Timestamp;
use memory::snapshot;
use mind::thought::{Thought, ToolCall};
use mind::{Down, Outcome};
use serde_json::{Value, json};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

/// Rounds of one wake; then the creature itself thinks again.
const MOST_ROUNDS: u32 = 8;

/// Most characters of a call's arguments where the call is named.
const MOST_CALL: usize = 300;

/// How an answer begins that says the objective cannot be reached.
const FAILED: &str = "[FAILED]";

impl Life {
    /// Spawns a sub-session for what came due by itself: a concern, a reminder, a quick look.
    pub fn spawn_session(&mut self, request: Request) -> Result<(), Fault> {
        self.lend(self.caller.clone()).spawn(vec![request]).map(drop)
    }

    /// Works on sub-sessions, in rounds; returns the rest or the end that must follow now, if any.
    pub async fn work_sessions(&mut self, leaving: &mut impl Leaving) -> Result<Option<Next>, Fault> {
        self.sum_up_talks(leaving).await?;
        // A call without a result at this point was cut off by the end of an earlier life.
        let cut = self.store.sessions.cut_off(self.told.clock.now());
        self.store.turned(&cut)?;
        for _ in 0..MOST_ROUNDS {
            // What one session found is thought about before the others go on.
            if self.turn_sessions()? {
                return Ok(None);
            }
            let at_once = usize::try_from(self.settings.sessions.at_once).unwrap_or(1);
            let running: Vec<Session> = self.store.sessions.running().take(at_once).cloned().collect();
            if running.is_empty() || !matches!(self.mind, Mind::Model(_)) {
                return Ok(None);
            }
            self.heart.stage(Stage::Thinking, self.mind.patience() + Duration::from_secs(10));
            let spoken = self.watch.spoken();
            let outcomes = tokio::select! {
                biased;
                () = leaving.asked() => return Ok(Some(Next::Leave)),
                () = spoken => {
                    self.hear_between(&running)?;
                    return Ok(Some(Next::Rest(Duration::ZERO)));
                }
                outcomes = self.ask_all(&running) => outcomes?,
            };
            let mut rest = None;
            for (session, outcome) in running.iter().zip(outcomes) {
                match outcome {
                    Outcome::Thought { thought, usage } => {
                        let ends = self.session_thought(session, thought, usage, leaving).await?;
                        if ends.is_some() {
                            return Ok(ends);
                        }
                    }
                    Outcome::Garbled { error, text, usage } => {
                        self.session_misread(&session.id, &error, &text, usage)?;
                    }
                    // For the rest of this wake the first model works in the quick one's place.
                    Outcome::Down(down) if self.is_quick(session) && down.is_of_server() => {
                        self.quick_is_away = true;
                    }
                    Outcome::Down(Down { error, why, asked_s, .. }) => {
                        self.observe("sessions", &format!("sub-sessions wait: {}", shorten(&error, 500)))?;
                        rest = Some(Duration::from_secs(first_s(why, asked_s)));
                    }
                }
            }
            self.heart.turn();
            self.heart.stage(Stage::Sensing, Duration::from_secs(30));
            self.hear_between(&running)?;
            self.save()?;
            if rest.is_some() || self.cursors.words.iter().any(|waiting| waiting.seen == 0) {
                self.turn_sessions()?;
                return Ok(Some(Next::Rest(rest.unwrap_or_default())));
            }
        }
        self.turn_sessions()?;
        Ok(None)
    }

    /// Takes the owner's words between two rounds, or in place of one; a stop ends the sessions at work.
    fn hear_between(&mut self, running: &[Session]) -> Result<(), Fault> {
        self.watch.know_word();
        self.course.works_for =
            running.iter().find(|session| session.owner).map(|session| session.thread.clone());
        self.hear()?;
        if let Some(mut stop) = self.course.stop.take() {
            let now = self.told.clock.now();
            for session in running {
                // One that ended with another of them is no failure.
                let ended = self.store.sessions.cancel(&session.id, now).unwrap_or_default();
                self.store.turned(&ended)?;
                // The owner, who stopped it, need not be told; and no thought is.
                ended.iter().filter(|_| session.owner).for_each(|id| self.store.sessions.reported(id));
                self.store.keep_sessions();
                stop.ended.push(format!("{} ({})", session.id, shorten(&session.objective, 60)));
            }
            self.course.stop = Some(stop);
            self.obey()?;
        }
        self.course.works_for = None;
        Ok(())
    }

    /// When sub-sessions want the next wake; on instinct they wait for a model.
    pub fn next_session(&self, now: Timestamp) -> Option<Timestamp> {
        matches!(self.mind, Mind::Model(_)).then(|| self.store.sessions.next_at(now)).flatten()
    }

    /// What a hop may cost, in millionths of a dollar: a fiftieth of the day's money, where that is known.
    fn hop_cost(&self) -> u64 {
        let cap_usd = self.offer.get("cap_usd").and_then(Value::as_f64).filter(|cap| *cap > 0.0);
        cap_usd.map_or(u64::MAX, |cap_usd| (cap_usd / 50.0 * 1e6) as u64)
    }

    /// Moves sub-sessions on by the clock: hops end, waiting ones begin, those that ended are reported.
    /// True where the next thought is told of one.
    fn turn_sessions(&mut self) -> Result<bool, Fault> {
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        let now = self.told.clock.now();
        let mut changed = self.store.sessions.tick(now, self.hop_cost());
        // Without a model none begins: its time would run out with nothing done.
        if matches!(self.mind, Mind::Model(_)) {
            let at_once = usize::try_from(self.settings.sessions.at_once).unwrap_or(1);
            changed.extend(self.store.sessions.begin(now, at_once));
        }
        self.store.turned(&changed)?;
        self.report_sessions()
    }

    /// Reports sub-sessions that ended, each once, over ends of lives too. True where the next thought is told.
    fn report_sessions(&mut self) -> Result<bool, Fault> {
        let mut told = false;
        for report in self.store.sessions.reports() {
            let worth = self.is_worth_telling(&report);
            if self.cursors.first_telling(report.key.clone()) {
                let closed = self.store.reviewed(&self.caller, &report);
                if worth || closed.is_some() {
                    told |= self.tell_report(&report, closed)?;
                }
            }
            // Told and saved before it counts as reported: the other way round a death would lose it.
            self.save()?;
            self.store.sessions.reported(&report.id);
            self.store.keep_sessions();
        }
        Ok(told)
    }

    /// Whether anybody is told of a report; a quick look that found nothing worth a dearer thought ends here.
    fn is_worth_telling(&mut self, report: &Report) -> bool {
        let Origin::Own(_) = report.origin else { return !report.silent };
        let ended = self.store.sessions.get(&report.id);
        let found = !report.silent && ended.is_some_and(|session| session.status == Status::Done);
        if !found {
            self.ended_look(None);
        }
        found
    }

    /// Tells the owner what a reminder came to; every other report is told to the next thought, then true.
    fn tell_report(&mut self, report: &Report, closed: Option<String>) -> Result<bool, Fault> {
        let what = match &report.origin {
            Origin::Reminder(id) => {
                let ran = self.store.sessions.get(&report.id);
                let said = json!({
                    "from": "creature", "kind": "reminder", "thread": report.thread,
                    "text": ran.map(reminded).unwrap_or_default(), "reminder": id, "at": self.told.clock.text(),
                });
                return self.store.record("message", said).map(|()| false);
            }
            Origin::Tool { .. } => "sub-session".to_owned(),
            Origin::Pulse(id) => match closed {
                Some(why) => format!("review of {id}, which it closed ({})", shorten(&why, 200)),
                None => format!("review of {id}"),
            },
            Origin::Checklist => "checklist".to_owned(),
            Origin::Dream => "dream".to_owned(),
            Origin::Own(kind) => {
                let found = self.store.sessions.get(&report.id).map_or("", |session| &session.answer);
                self.cursors.tell(format!("your quick look ({kind}) found: {found}"));
                return Ok(true);
            }
        };
        let thread = match report.thread.as_str() {
            "main" => String::new(),
            thread => format!("[thread {thread}] "),
        };
        self.cursors.tell(format!("{thread}{what}: {}", report.text));
        Ok(true)
    }

    /// Whether the quick model works on a session: on all but full ones, and on every look of own time.
    fn is_quick(&self, session: &Session) -> bool {
        let small = session.mode != Mode::Full || matches!(session.origin, Origin::Own(_));
        small && !self.quick_is_away && self.quick.is_some()
    }

    /// Asks a model for one thought of each session, all at once, each in its conversation.
    async fn ask_all(&mut self, running: &[Session]) -> Result<Vec<Outcome>, Fault> {
        let now = self.told.clock.now();
        let quick: Vec<bool> = running.iter().map(|session| self.is_quick(session)).collect();
        let Mind::Model(mind) = &mut self.mind else { return Ok(Vec::new()) };
        let autonomous = !running.iter().any(|session| session.owner);
        for (mind, used) in [(Some(&mut *mind), false), (self.quick.as_mut(), true)] {
            let Some(mind) = mind.filter(|_| quick.contains(&used)) else { continue };
            if let Err(outcome) = mind.learn(now, autonomous).await {
                return Ok(running.iter().map(|_| outcome.clone()).collect());
            }
        }
        let house = &self.told.house;
        let purpose = papers::read(&house.purpose()).text;
        let latest = snapshot::latest(&house.snapshots()).ok().flatten();
        let snapshot = latest.map_or(String::new(), |found| found.text);
        let (life, at) = (self.told.life, self.told.clock.text());
        let of = |is_quick: bool| self.quick.as_ref().filter(|_| is_quick).unwrap_or(mind);
        let mut talks = Vec::new();
        for (session, is_quick) in running.iter().zip(&quick) {
            let (mind, known) = (of(*is_quick), self.talks.remove(&session.id));
            let frame = match is_quick {
                true => mind.framed(&format!("{}\n{{{{answer}}}}", words::brief(session)), "", &|tool| {
                    words::may(session, tool)
                }),
                false => mind.frame.clone(),
            };
            let brief = if *is_quick { String::new() } else { words::brief_with_tools(session) };
            let opening = || brief + &words::task(session, &purpose, &snapshot);
            let talk =
                mind.apart(&frame, &session.id, known, opening, &words::now(session, &at), (life, now));
            let hint = "is the disk full, or .self/mind not writable?";
            let talk =
                talk.map_err(|cause| Fault::caused("keep the conversation of a sub-session", &cause, hint))?;
            talks.push((mind, frame, talk));
        }
        let (patience, heart) = (mind.patience() + Duration::from_secs(10), &self.heart);
        let alive = || heart.stage(Stage::Thinking, patience);
        let asked = running.iter().zip(&mut talks);
        let turns =
            asked.map(|(session, (mind, frame, talk))| mind.turn(frame, talk, !session.owner, now, &alive));
        let outcomes = together(turns).await;
        let talks = talks.into_iter().map(|(_, _, talk)| talk);
        self.talks.extend(running.iter().map(|session| session.id.clone()).zip(talks));
        Ok(outcomes)
    }

    fn session_misread(&mut self, id: &str, error: &str, text: &str, usage: Value) -> Result<(), Fault> {
        let (text, cost) = (shorten(text, MOST_ARGS), cost_of(&usage));
        let record = json!({"about": "session", "session": id, "garbled": true, "error": error, "text": text, "usage": usage});
        self.store.record("agenda", record)?;
        self.store.sessions.paid(id, cost);
        let changed = self.store.sessions.misread(id, error, self.told.clock.now());
        self.store.turned(&changed)
    }

    /// Remembers a thought of a session and does what it says; without calls it is the session's answer.
    async fn session_thought(
        &mut self,
        session: &Session,
        thought: Thought,
        usage: Value,
        leaving: &mut impl Leaving,
    ) -> Result<Option<Next>, Fault> {
        let (id, cost) = (session.id.as_str(), cost_of(&usage));
        let record = json!({
            "about": "session", "session": id, "thought": shorten(&thought.monologue, MOST_ARGS),
            "intent": shorten(&thought.intent, MOST_ARGS), "usage": usage,
        });
        self.paid_for_look(&record, matches!(session.origin, Origin::Own(_)));
        self.store.record("agenda", record)?;
        let now = self.told.clock.now();
        let sessions = &mut self.store.sessions;
        sessions.paid(id, cost);
        if thought.tool_calls.is_empty() {
            let said = if thought.monologue.is_empty() { &thought.intent } else { &thought.monologue };
            let changed = match said.trim_start().strip_prefix(FAILED) {
                Some(why) => sessions.failed(id, why.trim(), now),
                None => sessions.answered(id, said, now),
            };
            self.store.turned(&changed)?;
            return Ok(None);
        }
        sessions.thought(id, thought.tool_calls.iter().map(called).collect());
        self.store.keep_sessions();
        for call in &thought.tool_calls {
            // An earlier call, of this session or another, may have ended this session.
            if self.store.sessions.get(id).is_none_or(|session| session.status != Status::Running) {
                break;
            }
            if self.toolbox.rebirth.is_some() {
                self.store.sessions.stopped(id);
                break;
            }
            if self.session_act(session, call, leaving).await? {
                self.store.sessions.stopped(id);
                self.store.keep_sessions();
                return Ok(Some(Next::Leave));
            }
        }
        self.store.keep_sessions();
        Ok(self.toolbox.rebirth.take().map(|rebirth| Next::Reborn(rebirth.summary)))
    }
}

/// What a reply cost, in millionths of a dollar; 0 where nobody knows.
fn cost_of(usage: &Value) -> u64 {
    usage.get("cost_usd").and_then(Value::as_f64).map_or(0, |usd| (usd * 1e6).round() as u64)
}

/// A call in one line.
fn called(call: &ToolCall) -> String {
    format!("{} {}", call.tool, args(call, MOST_CALL))
}

/// What the owner reads of a reminder whose prompt ran as a sub-session.
fn reminded(session: &Session) -> String {
    let (objective, answer) = (&session.objective, &session.answer);
    match session.status {
        Status::Done => answer.clone(),
        _ => format!("Reminder: {objective} (what was to be done for it failed: {answer})"),
    }
}

/// Awaits all futures beside one another; their results in the same order.
async fn together<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut waiting: Vec<Pin<Box<_>>> = futures.map(Box::pin).collect();
    let mut done: Vec<Option<T>> = waiting.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in waiting.iter_mut().zip(&mut done).filter(|(_, done)| done.is_none()) {
            if let Poll::Ready(value) = future.as_mut().poll(context) {
                *done = Some(value);
            }
        }
        if done.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}
