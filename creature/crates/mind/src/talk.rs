//! Thinks once within a conversation: continues or begins it, tells it what is new, and keeps the model's reply.
//!
//! Invariant: nothing is put to a model that does not stand in the conversation's file; a thought is written down before
//! any of its calls is made.

use super::context::{self, Caps};
use super::conversation::{self, Called, Conversation, Entry, Head};
use super::live::Live;
use super::llm::{self, Form, Frame, ModelMind};
use super::moment::Moment;
use super::talks::{self, DAY_S, ENDED, SHORT_TOKENS};
use super::thought::{self, MOST_CALLS, ToolCall};
use super::{Down, Outcome, Why, handover, native, situation};
use agenda::standing::redact;
use ground::files;
use jiff::Timestamp;
use model::{Error, Kind, Reply, Talk, Turn, Wire};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Seconds a provider's cache keeps a conversation.
const CACHED_S: [(Wire, i64); 3] = [(Wire::Anthropic, 300), (Wire::Responses, 1_800), (Wire::Chat, 1_800)];

impl ModelMind {
    /// Thinks once. `alive` is called with every sign of life of the model.
    pub async fn think(&mut self, moment: &Moment, alive: &(dyn Fn() + Sync)) -> Outcome {
        if let Err(outcome) = self.learn(now(moment), !moment.answers()).await {
            return outcome;
        }
        match self.thought(moment, alive).await {
            Ok(outcome) => outcome,
            Err(error) => {
                self.current = None;
                unkept(&error)
            }
        }
    }

    async fn thought(&mut self, moment: &Moment, alive: &(dyn Fn() + Sync)) -> io::Result<Outcome> {
        self.ready(moment)?;
        if let Some(outcome) = self.shortened(moment, alive).await? {
            return Ok(outcome);
        }
        let (mut without_thinking, mut anew) = (false, false);
        let hour = self.rhythm.asked(now_s(moment));
        self.client.keep_an_hour(hour);
        loop {
            let Some(mut current) = self.current.take() else { return Err(io::Error::other("it is gone")) };
            let (live, turns) = ((alive, Some(self.live.as_path())), current.turns.len());
            let asked =
                self.ask(&self.frame, &current.turns, !moment.answers(), without_thinking, live).await;
            if asked.is_ok() {
                self.answered(now(moment));
            }
            let taken = asked
                .map(|reply| self.took(&mut current, &reply, now_s(moment)).map(|came| self.priced(came)));
            self.server_oddity = taken.as_ref().map_or(String::new(), |_| current.server_oddity.clone());
            let is_kept = current.turns.len() > turns;
            self.current = Some(current);
            if self.seems_too_long(&taken, is_kept) && !anew {
                (without_thinking, anew) = (false, true);
                self.begin(moment, None, "")?;
                continue;
            }
            let error = match taken {
                Ok(outcome) => return outcome,
                Err(error) => error,
            };
            match error.kind {
                // Old thinking is signed for another conversation: the request is sent once without it.
                Kind::Signature if !without_thinking => without_thinking = true,
                Kind::Signature | Kind::TooLong | Kind::Filtered if !anew => {
                    if error.kind == Kind::TooLong {
                        self.narrow_window();
                    }
                    (without_thinking, anew) = (false, true);
                    // What was refused by a filter must not be told again.
                    self.begin(moment, (error.kind == Kind::Filtered).then_some(handover::FILTERED), "")?;
                }
                Kind::Withheld if !anew && self.would_fit(error.fits_tokens) => {
                    anew = true;
                    self.begin(moment, None, "")?;
                }
                _ if self.may_be_simpler(&error) => {
                    (without_thinking, anew) = (false, false);
                    self.simplify(&error);
                    self.begin(moment, None, "")?;
                }
                _ => {
                    self.refused_as_well(&error);
                    return Ok(llm::failed(&error));
                }
            }
        }
    }

    /// Continues this moment's conversation or begins it, and tells it what is new.
    fn ready(&mut self, moment: &Moment) -> io::Result<()> {
        let head = self.head(moment);
        let path = conversation::file(&self.folder, head.thread.as_deref());
        if self.current.as_ref().is_none_or(|current| current.head.thread != head.thread) {
            self.current = Conversation::load(&path);
        }
        let goes_on = self.current.as_ref().is_some_and(|kept| self.goes_on(kept, &head, moment));
        if !goes_on {
            self.keep_ended(&path);
            return self.begin(moment, None, "");
        }
        let Some(current) = &mut self.current else { return Ok(()) };
        current.close()?;
        let wake = moment.round == 0 || !current.is_turn_of_model() || current.life != moment.life;
        let said = situation::news(moment, &current.shown, wake, current.at_s, self.tools);
        self.tell(said, moment)
    }

    /// Copies a long finished talk aside that is not summed up yet, for another takes its file.
    fn keep_ended(&self, path: &Path) {
        let Some(old) = self.current.as_ref().filter(|old| old.head.thread.is_some()) else { return };
        if old.is_unfinished() || !talks::is_long(old) || talks::summary(&self.talks, old).is_some() {
            return;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let kept = self.folder.join(format!("{ENDED}{}-{name}", old.at_s));
        let copied = files::copy(path, &kept, conversation::MOST_BYTES);
        let _ = copied.inspect_err(|error| tracing::warn!("failed to keep {}: {error}", path.display()));
    }

    fn head(&self, moment: &Moment) -> Head {
        self.head_of(moment.answers().then(|| moment.thread().to_owned()), &self.frame)
    }

    pub(super) fn head_of(&self, thread: Option<String>, frame: &Frame) -> Head {
        Head {
            thread,
            model: self.name(),
            fingerprint: frame.fingerprint.clone(),
            head_bytes: frame.bytes,
            taken_up: false,
            json: self.form == Some(Form::Json),
        }
    }

    fn goes_on(&self, kept: &Conversation, head: &Head, moment: &Moment) -> bool {
        let idle_s = now_s(moment).saturating_sub(kept.at_s);
        let cached_s =
            CACHED_S.iter().find(|(wire, _)| *wire == self.wire).map_or(0, |(_, cached_s)| *cached_s);
        let fresh = (0..cached_s).contains(&idle_s);
        let talk = head.thread.is_some() && kept.tokens() < SHORT_TOKENS && (0..DAY_S).contains(&idle_s);
        kept.head.fingerprint == head.fingerprint && (fresh || talk || kept.is_unfinished())
    }

    /// Begins this moment's conversation anew; what the one before came to is handed over, with its `last` messages.
    pub(super) fn begin(&mut self, moment: &Moment, summary: Option<&str>, last: &str) -> io::Result<()> {
        let old = self.current.take();
        let handed =
            old.as_ref().filter(|old| summary.is_some() || old.is_unfinished() || old.head.thread.is_some());
        let kept = || old.as_ref().and_then(|old| talks::summary(&self.talks, old));
        let summary = summary.map(str::to_owned).or_else(kept);
        let handed =
            handed.map(|old| handover::hand_over(summary.as_deref(), last, &old.turns, moment, self.tools));
        let mut handed = handed.unwrap_or_default();
        let head = self.head(moment);
        let path = conversation::file(&self.folder, head.thread.as_deref());
        let none = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
        if old.is_none() && !path.symlink_metadata().is_err_and(none) {
            tracing::warn!("{} cannot be gone on with: a conversation begins anew", path.display());
            handed = handover::LOST.to_owned();
        }
        let head = Head { taken_up: !handed.is_empty(), ..head };
        let untold = old.as_ref().filter(|_| !handed.is_empty()).map(|old| handover::untold(moment, old));
        let parts = context::choose(untold.as_ref().unwrap_or(moment), &Caps::default(), self.tools);
        let mut opening = situation::opening(moment, &parts);
        if !handed.is_empty() {
            opening.text = format!("{handed}\n{}", opening.text);
        }
        // Two turns: the first is the same for every conversation, and is read from the cache for all.
        let first = [situation::standing(&parts), opening].into_iter().filter_map(|said| put(said, moment));
        self.current = Some(Conversation::begin(path, head, first.collect())?);
        self.begun = true;
        Ok(())
    }

    pub(super) fn tell(&mut self, said: situation::Said, moment: &Moment) -> io::Result<()> {
        match (&mut self.current, put(said, moment)) {
            (Some(current), Some(entry)) => current.add(entry),
            _ => Ok(()),
        }
    }

    pub(super) async fn ask(
        &self,
        frame: &Frame,
        turns: &[Turn],
        autonomous: bool,
        without_thinking: bool,
        (alive, live): (&(dyn Fn() + Sync), Option<&Path>),
    ) -> Result<Reply, Error> {
        let schema = (self.form == Some(Form::Json)).then_some(&self.schema);
        let Frame { system, tools, .. } = frame;
        let talk = Talk { system, tools, turns, media: &[], schema, autonomous, without_thinking };
        let mut live = Live::begin(live);
        self.client
            .say(&talk, &mut |heard| {
                alive();
                live.take(heard);
            })
            .await
    }

    /// Keeps what the model gave, and reads it as a thought.
    pub(super) fn took(&self, current: &mut Conversation, reply: &Reply, now_s: i64) -> io::Result<Outcome> {
        let before = current.tokens();
        let prompt =
            reply.usage.input_tokens + reply.usage.cache_read_tokens + reply.usage.cache_write_tokens;
        current.server_oddity = match prompt > 0 && before > 6_000 && prompt < before / 3 {
            true => format!(
                "{} counted {prompt} tokens where about {before} were sent: it cuts what does not fit its window; \
                 set its context, or [model] context_tokens in owner.toml",
                self.client.name()
            ),
            false => String::new(),
        };
        let (mut thought, usage) = match self.form {
            // A model that was told so and writes no JSON again has answered in its own words, and may go on so.
            Some(Form::Json) => match (llm::json_thought(reply), thought::of_words(&reply.text)) {
                (Outcome::Thought { thought, usage }, _) => {
                    current.misread = false;
                    (thought, usage)
                }
                (_, Some(thought)) if current.misread => (thought, llm::usage(reply)),
                (other, _) => {
                    misread(current, reply, &other, now_s)?;
                    return Ok(other);
                }
            },
            _ if reply.calls.is_empty() && reply.text.trim().is_empty() && reply.stop != "end_turn" => {
                return Ok(llm::garbled(reply, "the reply is empty"));
            }
            _ => (native::thought(reply, self.tools), llm::usage(reply)),
        };
        thought.tool_calls.iter_mut().for_each(|call| self.tools.unfold(call));
        let turn = current.turns.len();
        if self.form == Some(Form::Json) {
            for (at, call) in thought.tool_calls.iter_mut().enumerate() {
                call.id = format!("{}#{turn}.{}", call.tool, at + 1);
            }
        }
        current.note = thought.not_run().map(|not_run| format!("\n\n({not_run})")).unwrap_or_default();
        let called = |call: &ToolCall| Called { id: call.id.clone(), tool: call.tool.clone() };
        let mut calls: Vec<Called> = thought.tool_calls.iter().map(called).collect();
        let over = reply.calls.iter().skip(MOST_CALLS);
        calls.extend(over.map(|call| Called { id: call.id.clone(), tool: call.name.clone() }));
        let (raw, tokens) = (reply.raw.clone(), llm::tokens(reply, before));
        // A turn without words or calls cannot be sent back and is not kept: our next words follow our last ones.
        if !(calls.is_empty() && reply.text.trim().is_empty()) {
            current.add(Entry::Thought { raw, calls, tokens, at_s: now_s })?;
        }
        for call in reply.calls.iter().skip(MOST_CALLS) {
            let text = format!("not run: {MOST_CALLS} calls are run at once; call it again");
            current.add(Entry::Done { id: call.id.clone(), text, failed: true })?;
        }
        let has_words = !reply.text.trim().is_empty();
        thought.delivers |= self.form == Some(Form::Native)
            && (thought.tool_calls.is_empty() || (has_words && thought.only_ends()));
        Ok(Outcome::Thought { thought, usage })
    }

    /// Writes into the conversation. After a failure its file is read anew, its call of unknown outcome.
    fn keep(&mut self, write: impl FnOnce(&mut Conversation) -> io::Result<()>) {
        if let Some(Err(error)) = self.current.as_mut().map(write) {
            tracing::warn!("failed to keep a conversation: {error}");
            self.current = None;
        }
    }

    /// Writes down that a call begins.
    pub fn began(&mut self, id: &str) {
        self.keep(|talk| talk.began(id));
    }

    /// Writes down a call's result, as the model reads it.
    pub fn done(&mut self, id: &str, shown: &str, failed: bool) {
        self.keep(|talk| talk.done(id, shown, failed));
    }

    /// Writes down that the last thought rests: nothing waits to be continued.
    pub fn rested(&mut self) {
        self.keep(|talk| talk.add(Entry::Rested));
    }

    /// Writes down that the owner stopped the last thought on this thread: nothing waits to be continued.
    pub fn stopped(&mut self, thread: Option<&str>, text: &str, life: u64, now_s: i64) {
        // The thought that was cut had the conversation.
        let path = conversation::file(&self.folder, thread);
        self.current = self.current.take().or_else(|| Conversation::load(&path));
        self.keep(|talk| {
            talk.close()?;
            let text = redact(text);
            talk.add(Entry::Said { text, life, at_s: now_s, shown: BTreeMap::new() })?;
            talk.add(Entry::Rested)
        });
    }

    /// Puts the conversation aside while another is held; `take_up` continues it.
    pub fn park(&mut self) -> Option<Conversation> {
        self.current.take()
    }

    pub fn take_up(&mut self, parked: Option<Conversation>) {
        self.current = parked;
    }

    /// Has the conversation on this thread (none: that of its own work) summed up when it next goes on.
    pub fn compact(&mut self, thread: Option<&str>) {
        self.to_compact.insert(thread.map(str::to_owned));
    }

    /// Drops the conversation, for another mind is to write its file: this one reads it anew.
    pub fn let_go(&mut self) {
        self.current = None;
    }

    /// Whether a conversation was begun since the last call: the model no longer sees what was shown before.
    pub fn began_since_asked(&mut self) -> bool {
        std::mem::take(&mut self.begun)
    }

    /// Returns the oddity of the server, for the owner; empty where all is well.
    pub fn server_oddity(&self) -> &str {
        &self.server_oddity
    }
}

/// An entry of our words, without what looks like a secret; none where there are none.
fn put(said: situation::Said, moment: &Moment) -> Option<Entry> {
    let text = redact(said.text.trim_end());
    let (life, at_s, shown) = (moment.life, now_s(moment), said.shown);
    Some(Entry::Said { text, life, at_s, shown }).filter(|_| !said.text.trim().is_empty())
}

/// Keeps a reply that cannot be read as it came, and tells the model what it should have been.
fn misread(talk: &mut Conversation, reply: &Reply, outcome: &Outcome, now_s: i64) -> io::Result<()> {
    let Outcome::Garbled { error, .. } = outcome else { return Ok(()) };
    if reply.text.trim().is_empty() {
        return Ok(());
    }
    talk.misread = true;
    let tokens = llm::tokens(reply, talk.tokens());
    talk.add(Entry::Thought { raw: reply.raw.clone(), calls: Vec::new(), tokens, at_s: now_s })?;
    let text = format!(
        "Your last reply could not be read, and nothing of it was done: {error}. Answer one JSON object."
    );
    let life = talk.life;
    talk.add(Entry::Said { text, life, at_s: now_s, shown: BTreeMap::new() })
}

pub(super) fn unkept(error: &io::Error) -> Outcome {
    let error = format!("failed to keep the conversation: {error}");
    let hint = "is the disk full, or .self/mind not writable?".to_owned();
    Outcome::Down(Down { cause: error.clone(), error, hint, why: Why::Unkept, asked_s: None })
}

fn now(moment: &Moment) -> Timestamp {
    moment.now.parse().unwrap_or(Timestamp::UNIX_EPOCH)
}

fn now_s(moment: &Moment) -> i64 {
    now(moment).as_second()
}
