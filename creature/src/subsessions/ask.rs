//! Thoughts of sub-sessions: which model has the next one, what it is asked, and what came of that.

use super::steps::{Asked, Asker, Doing};
use super::words;
use crate::fault::Fault;
use crate::life::Life;
use crate::life::act::{MOST_ARGS, args};
use crate::mind::{Mind, reach};
use crate::panic::caught;
use crate::paths::House;
use agenda::sessions::{Mode, Origin, Session};
use ground::papers;
use ground::text::shorten;
use jiff::Timestamp;
use knowledge::skills::{self, Skill};
use memory::snapshot;
use mind::context::{self, Caps};
use mind::conversation::Conversation;
use mind::llm::{self, ModelMind};
use mind::thought::{Thought, ToolCall};
use mind::{Down, Outcome, Why};
use serde_json::{Value, json};

/// Most characters of a call's arguments where the call is named.
const MOST_CALL: usize = 300;

/// Beginning of an answer that says the objective cannot be reached.
const FAILED: &str = "[FAILED]";

/// Question to a model for a session.
struct Question {
    session: Session,
    house: House,
    /// In the mind's own frame, which a cache holds; else in one of the session's own, with its tools alone.
    in_minds_frame: bool,
    life: u64,
    now: Timestamp,
    at: String,
}

impl Life {
    /// Begins the next thought of a session. One whose model is not to be had fails.
    pub(super) fn ask_apart(&mut self, session: &Session) -> Result<(), Fault> {
        let now = self.told.clock.now();
        let (mind, asker) = match self.asker(session, now) {
            Ok(Some(asker)) => asker,
            Ok(None) => return Ok(()),
            Err(why) => {
                let failed = self.store.sessions.failed(&session.id, &why, now);
                return self.store.turned(&failed);
            }
        };
        let question = Question {
            session: session.clone(),
            house: self.told.house.clone(),
            in_minds_frame: asker == Asker::Mind,
            life: self.told.life,
            now,
            at: self.told.clock.text(),
        };
        if !session.owner {
            self.steps.pace(now);
        }
        let known = self.talks.remove(&session.id);
        self.steps.begin(&session.id, Doing::Asks(asker), async move {
            let asked = caught("a thought apart", question.ask(mind, known)).await;
            let panicked = |fault: Fault| {
                let (error, text, usage) = (fault.error, String::new(), Value::Null);
                Asked { talk: None, outcome: Outcome::Garbled { error, text, usage } }
            };
            Some(asked.unwrap_or_else(panicked))
        });
        Ok(())
    }

    /// The model that has the next thought of a session; none where there is none just now, an error where the one it was
    /// given is no longer the owner's to give.
    fn asker(&mut self, session: &Session, now: Timestamp) -> Result<Option<(ModelMind, Asker)>, String> {
        if !(session.model.is_empty() && session.effort.is_empty()) {
            return self.model_named(session).map(|named| named.map(|mind| (mind, Asker::Named)));
        }
        if self.is_quick(session)
            && let Some(quick) = &mut self.minds.quick
        {
            return Ok(Some((quick.beside(now), Asker::Quick)));
        }
        let mind = match &mut self.minds.now {
            Mind::Model(mind) => Some(mind),
            Mind::Thinking(_) => self.steps.aside.as_mut(),
            Mind::Instinct(_) => None,
        };
        Ok(mind.map(|mind| (mind.beside(now), Asker::Mind)))
    }

    /// The model that a session was given, as much as the owner's settings allow.
    fn model_named(&self, session: &Session) -> Result<Option<ModelMind>, String> {
        let Some(broker) = &self.told.broker else { return Ok(None) };
        let Some(offer) = self.toolbox.models.offer(&session.model) else {
            return Err(format!("the model it was given, {}, is not offered any more", session.model));
        };
        let usual = self.toolbox.models.usual_effort(&session.model);
        let effort = if session.effort.is_empty() { usual } else { &session.effort };
        let reach = reach(broker, &self.settings.model, &self.told, &self.minds.configured);
        llm::apart(&reach, offer, effort).map(Some)
    }

    /// Whether the quick model works on a session: on all but full ones, and on every look of own time.
    fn is_quick(&self, session: &Session) -> bool {
        let small = session.mode != Mode::Full || matches!(session.origin, Origin::Own(_));
        small && !self.minds.quick_is_away && self.minds.quick.is_some()
    }

    /// Takes over what the model said that was asked for a session's thought.
    pub(super) fn asked_apart(&mut self, session: &Session, asker: Asker, asked: Asked) -> Result<(), Fault> {
        let id = session.id.clone();
        let is_simpler = self.minds.quick.as_ref().is_some_and(ModelMind::is_simpler_next);
        if let Some(talk) = asked.talk {
            self.talks.insert(id.clone(), talk);
        }
        match asked.outcome {
            Outcome::Thought { thought, usage } => self.session_thought(session, thought, usage),
            Outcome::Garbled { error, text, usage } => self.session_misread(&id, &error, &text, usage),
            // Its server takes a simpler form, in which it is asked next.
            Outcome::Down(_) if asker == Asker::Quick && is_simpler => Ok(()),
            // For the rest of this wake the first model works in the quick one's place.
            Outcome::Down(down) if asker == Asker::Quick && down.is_of_server() => {
                self.minds.quick_is_away = true;
                Ok(())
            }
            Outcome::Down(down) if asker == Asker::Named && down.is_of_server() => {
                let why = format!("the model it was given does not answer: {}", down.cause);
                let failed = self.store.sessions.failed(&id, &why, self.told.clock.now());
                self.store.turned(&failed)
            }
            Outcome::Down(down) if down.why == Why::Budget && !session.owner => self.spent(&down).map(drop),
            Outcome::Down(down) => {
                self.access.down_apart(&down, asker == Asker::Mind, self.told.clock.now());
                self.store.observe("sessions", &format!("sub-sessions wait: {}", shorten(&down.error, 500)))
            }
        }
    }

    fn session_misread(&mut self, id: &str, error: &str, text: &str, usage: Value) -> Result<(), Fault> {
        let (text, cost) = (shorten(text, MOST_ARGS), cost_of(&usage));
        let record = json!({"about": "session", "session": id, "garbled": true, "error": error, "text": text, "usage": usage});
        self.store.record("agenda", record)?;
        self.store.sessions.paid(id, cost);
        let changed = self.store.sessions.misread(id, error, self.told.clock.now());
        self.store.turned(&changed)
    }

    /// Remembers a thought of a session; without calls it is the session's answer, else they are made next.
    fn session_thought(&mut self, session: &Session, thought: Thought, usage: Value) -> Result<(), Fault> {
        let (id, cost) = (session.id.as_str(), cost_of(&usage));
        let record = json!({
            "about": "session", "session": id, "thought": shorten(&thought.monologue, MOST_ARGS),
            "intent": shorten(&thought.intent, MOST_ARGS), "usage": usage,
        });
        if let Origin::Own(_) = session.origin {
            self.own.paid(&record);
        }
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
            return self.store.turned(&changed);
        }
        sessions.thought(id, thought.tool_calls.iter().map(call_line).collect());
        self.store.keep_sessions();
        self.steps.set_calls(id, &thought.tool_calls);
        Ok(())
    }
}

impl Question {
    /// Asks the model; finds out first, once, which form its server takes.
    async fn ask(self, mut mind: ModelMind, known: Option<Conversation>) -> Asked {
        let (session, now) = (&self.session, self.now);
        if let Err(outcome) = mind.learn(now, !session.owner).await {
            return Asked { talk: known, outcome };
        }
        let frame = match self.in_minds_frame {
            true => mind.frame.clone(),
            false => mind.framed(&format!("{}\n{{{{answer}}}}", words::brief(session)), "", &|tool| {
                words::may(session, tool)
            }),
        };
        let brief = if self.in_minds_frame { words::brief_with_tools(session) } else { String::new() };
        let opening = || {
            let latest = snapshot::latest(&self.house.snapshots()).ok().flatten();
            let snapshot = latest.map_or(String::new(), |found| found.text);
            let found = skills::shelves(self.house.root());
            let lines = |skills: &[Skill]| skills.iter().map(Skill::line).collect::<Vec<_>>();
            let skills = context::skills(&lines(&found.owners), &lines(&found.own), Caps::default().skills);
            brief + &words::task(session, &papers::read(&self.house.purpose()).text, &skills, &snapshot)
        };
        let hour = words::now(session, &self.at);
        let mut talk = match mind.apart(&frame, &session.id, known, opening, &hour, (self.life, now)) {
            Ok(talk) => talk,
            Err(error) => {
                let error = format!("failed to keep the conversation of a sub-session: {error}");
                let hint = "is the disk full, or .self/mind not writable?".to_owned();
                let down = Down { cause: error.clone(), error, hint, why: Why::Unkept, asked_s: None };
                return Asked { talk: None, outcome: Outcome::Down(down) };
            }
        };
        let outcome = mind.turn(&frame, &mut talk, !session.owner, now, &|| {}).await;
        Asked { talk: Some(talk), outcome }
    }
}

/// Returns the cost of a reply, in millionths of a dollar; 0 where it is unknown.
fn cost_of(usage: &Value) -> u64 {
    usage.get("cost_usd").and_then(Value::as_f64).map_or(0, |usd| (usd * 1e6).round() as u64)
}

/// Returns a call in one line.
fn call_line(call: &ToolCall) -> String {
    format!("{} {}", call.tool, args(call, MOST_CALL))
}
