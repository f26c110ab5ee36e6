//! All that is shared between the channels of a house: their states, what is to be sent, the asks that were shown.
//!
//! Held by one thread: it is borrowed for a moment, and never while something is waited for.

use crate::buttons::Buttons;
use crate::channel::{Chat, Form, Heard, Known, Limits, Welcome};
use crate::inbox;
use crate::judge::{Verdict, judged};
use crate::outbox::{Item, Kind, Outbox, Step};
use crate::state::{Owner, State};
use crate::{format, pairing, places, split, thread};
use anyhow::Result;
use house::channels::{Pairing, Standing};
use house::files::{self, Mark};
use house::settings::channels::Channel as Settings;
use house::{House, clock, moments, terminal};
use redact::keys::Keys;
use serde_json::json;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;
use tokio::sync::Notify;

pub type Shared = Rc<RefCell<Switchboard>>;

/// Parts of a reply that are sent as text; a longer one is sent as a file.
const MOST_PARTS: usize = 4;
/// The same of an answer.
const MOST_ANSWER_PARTS: usize = 25;
/// Signs that an ask alone begins with, the first of them: no other message has any of them; and letters that turn the order of
/// others around.
const OURS: [char; 6] = [ASK_SIGN, '🔏', '🔒', '🔓', '\u{202d}', '\u{202e}'];
pub const ASK_SIGN: char = '🔐';

/// A channel of this house.
pub struct Line {
    pub name: String,
    pub settings: Settings,
    pub limits: Limits,
    pub state: State,
    /// Its name and id on the platform, once it was connected.
    pub known: Option<Known>,
    pub standing: Standing,
    /// How it receives, and why; and why nothing can be sent before the owner mends something: a platform may have a sign-in
    /// for each.
    inward: (String, String),
    unsent: String,
    /// Told when there is something to send, or somebody waits for an answer.
    pub wake: Rc<Notify>,
    /// Told when the owner said something.
    pub spoken: Rc<Notify>,
    /// Told when a word waits for files, and when the platform is reached.
    pub fetches: Rc<Notify>,
    /// Ids that stood in the inbox when this program began.
    pub in_the_inbox: HashSet<String>,
    /// When it was last heard, by the clock of this machine's boot.
    pub heard_boot_ms: Option<u64>,
    /// When many words were heard at once last, by the same clock.
    pub many_boot_ms: Option<u64>,
    /// Lines on acts that are still to be told, and when the last were.
    pub acts: Vec<String>,
    pub acts_ms: u64,
}

pub struct Switchboard {
    pub house: House,
    pub lines: BTreeMap<String, Line>,
    pub outbox: Outbox,
    pub buttons: Buttons,
    /// The asks as they were looked at last, and by the clock of this machine's boot when they are looked at again whatever
    /// they are; `None`: at once.
    pub asks: Option<(Option<Mark>, Option<u64>)>,
    pairing: (Option<Mark>, Pairing),
    keys: Keys,
    /// Rows that were said last by each channel: the same is not said twice in a row.
    rows: BTreeMap<String, String>,
}

/// A message that is to be kept for sending.
pub struct Saying<'a> {
    pub channel: &'a str,
    pub chat: &'a Chat,
    pub kind: Kind,
    /// Texts that make it another one than any before.
    pub of: &'a [&'a str],
    pub text: &'a str,
    pub is_plain: bool,
}

/// The text without the signs of an ask.
pub fn without_signs(text: &str) -> String {
    text.chars().filter(|letter| !OURS.contains(letter)).collect()
}

impl Line {
    pub fn new(name: &str, settings: Settings, limits: Limits, house: &House, state: State) -> Self {
        let standing = Standing { state: "connecting".into(), since: clock::stamp(), ..Standing::default() };
        Self {
            name: name.to_owned(),
            state,
            in_the_inbox: inbox::known(house, name),
            settings,
            limits,
            known: None,
            standing,
            inward: ("connecting".into(), String::new()),
            unsent: String::new(),
            wake: Rc::default(),
            spoken: Rc::default(),
            fetches: Rc::default(),
            heard_boot_ms: None,
            many_boot_ms: None,
            acts: vec![],
            acts_ms: 0,
        }
    }

    pub fn owner(&self) -> Option<&Owner> {
        self.state.owner.as_ref()
    }

    /// The chat of a thread, where the owner may still be heard in it.
    pub fn chat(&self, thread: &str) -> Option<&Chat> {
        self.state.chat(thread).filter(|chat| chat.is_private || self.settings.groups.contains(&chat.id))
    }

    pub fn is_connected(&self) -> bool {
        self.inward.0 == "connected"
    }

    pub fn verbosity(&self) -> &str {
        self.state.verbosity.as_deref().unwrap_or(&self.settings.verbosity)
    }

    /// Whether a message given to it now will leave before the owner mends something.
    pub fn is_gone(&self) -> bool {
        self.owner().is_none() || matches!(self.standing.state.as_str(), "revoked" | "missing" | "elsewhere")
    }

    /// Whether a Markdown text is within its limits, formatted and plain.
    pub fn fits(&self, text: &str) -> bool {
        let formatted = format::formatted(text, self.limits.form);
        format::length(&formatted, self.limits.unit) <= self.limits.text
            && self.fits_plainly(&format::formatted(text, Form::Plain))
    }

    pub fn fits_plainly(&self, text: &str) -> bool {
        format::length(&format::plainly(text, self.limits.form), self.limits.unit) <= self.limits.text
    }
}

impl Switchboard {
    pub fn open(house: &House, lines: Vec<Line>, keys: Keys) -> Result<Self> {
        let lines = lines.into_iter().map(|line| (line.name.clone(), line)).collect();
        let mut all = Self {
            house: house.clone(),
            lines,
            outbox: Outbox::load(places::outbox(house))?,
            buttons: Buttons::load(house)?,
            asks: None,
            pairing: (None, Pairing::default()),
            keys,
            rows: BTreeMap::new(),
        };
        all.look_at_pairings()?;
        Ok(all)
    }

    /// Reads again what the console wrote on pairings; takes back those that the owner took back.
    pub fn look_at_pairings(&mut self) -> Result<()> {
        let mark = files::mark(&self.house.pairing());
        if mark != self.pairing.0 {
            self.pairing = (mark, Pairing::read(&self.house));
        }
        // Each time: a state that could not be kept is read again, with the owner in it.
        let is_taken = |line: &&Line| {
            line.owner().is_some_and(|owner| self.pairing.1.is_taken_back(&line.name, &owner.since))
        };
        let taken: Vec<String> = self.lines.values().filter(is_taken).map(|line| line.name.clone()).collect();
        for name in taken {
            self.forget_owner(&name)?;
            self.save(&name)?;
            self.publish()?;
        }
        Ok(())
    }

    /// Forgets the owner of a channel, and what waits to be sent to them.
    pub fn forget_owner(&mut self, name: &str) -> Result<()> {
        let Some(line) = self.lines.get_mut(name) else { return Ok(()) };
        line.state.forget_owner();
        let waiting = self.outbox.waiting(name).filter(|entry| entry.item.kind != Kind::Refusal);
        let keys: Vec<String> = waiting.map(|entry| entry.item.key.clone()).collect();
        for key in keys {
            self.outbox.step(Step::Refused { key, why: "the pairing was taken back".to_owned() })?;
        }
        Ok(())
    }

    /// Tells a channel whom to let in: the owner, and anybody while a code is open.
    pub fn welcome(&self, name: &str) -> Welcome {
        let state = self.lines.get(name).map(|line| &line.state);
        let code = pairing::code(&self.pairing.1, name, moments::now());
        let is_open =
            state.zip(code.as_ref()).is_some_and(|(state, code)| pairing::is_open(&state.pairing, code));
        Welcome { owner: state.and_then(|state| Some(state.owner.as_ref()?.id.clone())), is_open }
    }

    /// Judges a happening.
    pub fn judge(&mut self, name: &str, heard: &Heard) -> Result<Verdict> {
        self.look_at_pairings()?;
        let Self { lines, pairing: (_, pairing), .. } = self;
        let Some(line) = lines.get_mut(name) else { return Ok(Verdict::Silent) };
        let code = pairing::code(pairing, name, moments::now());
        let own = line.known.as_ref().map_or("", |known| known.id.as_str());
        let groups = &line.settings.groups;
        Ok(judged(&mut line.state, groups, own, code.as_ref(), heard, clock::wall_ms()))
    }

    /// The channel for what belongs to no chat, and the owner's chat on it: the one that the owner named, else the first; none
    /// that is gone.
    pub fn home(&self) -> Option<(String, Chat)> {
        let there = || self.lines.values().filter(|line| !line.is_gone());
        let line = there().find(|line| line.settings.home).or_else(|| there().next())?;
        Some((line.name.clone(), line.owner()?.chat.clone()))
    }

    pub fn save(&mut self, name: &str) -> Result<()> {
        let Some(line) = self.lines.get(name) else { return Ok(()) };
        line.state.save(&self.house, name)
    }

    /// Keeps a message for sending, and wakes its channel. Keys of the house are struck from it.
    pub fn queue(&mut self, mut item: Item) -> Result<bool> {
        item.text = self.keys.scrub(&item.text);
        if item.kind != Kind::Ask {
            item.text = without_signs(&item.text);
        }
        let channel = item.channel.clone();
        let is_new = self.outbox.queue(item)?;
        if let Some(line) = self.lines.get(&channel) {
            line.wake.notify_one();
        }
        Ok(is_new)
    }

    /// Keeps a text for sending, in as many parts as its channel needs; a long reply goes as a file.
    pub fn say(&mut self, saying: &Saying) -> Result<bool> {
        let Some(line) = self.lines.get(saying.channel) else { return Ok(false) };
        let most = match saying.kind {
            Kind::Reply | Kind::Notice | Kind::Acts => MOST_PARTS,
            Kind::Answer => MOST_ANSWER_PARTS,
            Kind::Ask | Kind::Doubt | Kind::Refusal => usize::MAX,
        };
        // So much is not even looked at for where it could be split.
        let is_far_too_long = saying.text.len() / 4 > most.saturating_mul(line.limits.text);
        let parts = match saying.is_plain {
            _ if is_far_too_long => vec![],
            true => split::plain_parts(saying.text, &|part| line.fits_plainly(part)),
            false => split::parts(saying.text, &|part| line.fits(part)),
        };
        let mut is_new = false;
        if is_far_too_long || parts.len() > most {
            let name = format!("{}.txt", saying.kind.name());
            let text = self.keys.scrub(saying.text);
            let mut item = self.item(saying, 0, "It is long, and comes as a file.");
            item.enclosed = Some(crate::outbox::Enclosed::Text { name, text });
            return self.queue(item);
        }
        for (nth, part) in parts.iter().enumerate() {
            let item = self.item(saying, nth, part);
            is_new |= self.queue(item)?;
        }
        Ok(is_new)
    }

    /// A part of what is said, with a key of its own.
    pub fn item(&self, saying: &Saying, nth: usize, text: &str) -> Item {
        let nth = nth.to_string();
        let of: Vec<&str> = [saying.channel, &saying.chat.id, saying.kind.name()]
            .into_iter()
            .chain(saying.of.iter().copied())
            .chain([nth.as_str()])
            .collect();
        Item {
            key: thread::key(&of),
            channel: saying.channel.to_owned(),
            chat: saying.chat.clone(),
            kind: saying.kind,
            at: clock::stamp(),
            text: text.to_owned(),
            is_plain: saying.is_plain,
            buttons: vec![],
            enclosed: None,
            edits: None,
        }
    }

    /// Tells the owner something of a channel on the others that reach them; on none twice within an hour.
    pub fn tell_elsewhere(&mut self, of: &str, told: &str) -> Result<()> {
        let hour = (clock::wall_ms() / 3_600_000).to_string();
        let others = self.lines.values().filter(|line| line.name != of && !line.is_gone());
        let others: Vec<(String, Chat)> =
            others.filter_map(|line| Some((line.name.clone(), line.owner()?.chat.clone()))).collect();
        for (channel, chat) in others {
            let of = ["elsewhere", of, told, &hour];
            let (kind, text) = (Kind::Notice, told);
            self.say(&Saying { channel: &channel, chat: &chat, kind, of: &of, text, is_plain: true })?;
        }
        Ok(())
    }

    /// Notes how a channel receives.
    pub fn stands(&mut self, name: &str, state: &str, trouble: &str) -> Result<()> {
        let Some(line) = self.lines.get_mut(name) else { return Ok(()) };
        line.inward = (state.to_owned(), trouble.to_owned());
        self.tell_standing(name)
    }

    /// Notes why nothing can be sent on a channel before the owner acts; empty: something was.
    pub fn sends(&mut self, name: &str, unsent: &str) -> Result<()> {
        let Some(line) = self.lines.get_mut(name).filter(|line| line.unsent != unsent) else { return Ok(()) };
        unsent.clone_into(&mut line.unsent);
        self.tell_standing(name)
    }

    /// Tells how a channel stands, for the window; a change is said to the guardian's log too, and on the other channels where
    /// the owner has to act.
    fn tell_standing(&mut self, name: &str) -> Result<()> {
        let Some(line) = self.lines.get_mut(name) else { return Ok(()) };
        let (mut state, mut trouble) = line.inward.clone();
        if state == "connected" && !line.unsent.is_empty() {
            (state, trouble) = ("revoked".to_owned(), line.unsent.clone());
        }
        let trouble = self.keys.scrub(&trouble);
        let is_new = line.standing.state != state;
        if is_new {
            line.standing.since = clock::stamp();
            line.standing.state.clone_from(&state);
        }
        line.wake.notify_one();
        line.fetches.notify_one();
        line.standing.trouble.clone_from(&trouble);
        line.standing.name = line.known.as_ref().map(|known| known.name.clone()).unwrap_or_default();
        let told = if trouble.is_empty() {
            format!("{name}: {state}")
        } else {
            format!("{name}: {state}: {trouble}")
        };
        self.row(name, &told);
        let told = match state.as_str() {
            "revoked" => {
                format!("The sign-in of {name} counts no more: {trouble}. What is for you there waits.")
            }
            "elsewhere" => format!("Another program receives on {name} with the same sign-in: {trouble}."),
            _ => String::new(),
        };
        if is_new && !told.is_empty() {
            self.tell_elsewhere(name, &told)?;
        }
        self.publish()
    }

    /// Says something in the log, once in a row.
    pub fn row(&mut self, of: &str, told: &str) {
        let told = self.keys.scrub(told);
        if self.rows.get(of) != Some(&told) {
            terminal::json_line(&json!({"at": clock::stamp(), "row": "channels", "text": told}));
            self.rows.insert(of.to_owned(), told);
        }
    }

    /// Writes how each channel stands.
    pub fn publish(&mut self) -> Result<()> {
        let (_, pairing) = &self.pairing;
        for line in self.lines.values_mut() {
            let code = pairing::code(pairing, &line.name, moments::now());
            let is_over = code.is_some_and(|code| pairing::is_over(&line.state.pairing, &code));
            line.standing.code_over = if is_over { pairing.until.clone() } else { String::new() };
            line.standing.paired =
                line.state.owner.as_ref().map(|owner| owner.name.clone()).unwrap_or_default();
            line.standing.strangers = line.state.strangers;
        }
        let all: BTreeMap<&str, &Standing> =
            self.lines.values().map(|line| (line.name.as_str(), &line.standing)).collect();
        let text = format!("{:#}\n", serde_json::to_value(all)?);
        let path = self.house.channels_standing();
        if files::read_small(&path).ok().flatten().as_deref() == Some(text.as_bytes()) {
            return Ok(());
        }
        files::replace_unsynced(&path, text.as_bytes())
    }
}
