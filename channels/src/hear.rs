//! Carries out whatever is heard on a channel: words are kept, commands answered, buttons pressed; then all of it is noted.
//!
//! Invariant: an effect is kept before the id of its happening is, and the id before the platform is told that it is kept.

use crate::channel::{Batch, Channel, Chat, Heard, Press, What, Word};
use crate::inbox::{self, MOST_CHARS};
use crate::judge::Verdict;
use crate::late;
use crate::order::{self, Meant};
use crate::received;
use crate::run_order;
use crate::state::{Owner, Said, State};
use crate::switchboard::Shared;
use crate::waiting::Waiting;
use anyhow::Result;
use house::bounds::brief;
use house::{clock, moments};

/// Characters of a word that is longer than the creature takes; all of it is a file.
const BEGINNING: usize = 4_000;
/// Characters of a word that are kept until it is answered.
const SAID_CHARS: usize = 200;
/// Ids of words in the inbox that are known beside those of the state.
const MOST_IDS: usize = 50_000;
/// Most words that wait for files, or behind such; one more, and none of them is waited for.
pub const MOST_WAITING: usize = 200;
/// Time within which many words after many are a flood: the creature would pass lines over.
const FLOOD_MS: u64 = 10_000;
/// Words that a late stop has at most.
const STOP_WORDS: usize = 4;
/// First words of what ends something: it acts however late it is heard.
const STOPS: [&str; 18] = [
    "stop",
    "pause",
    "halt",
    "abort",
    "cancel",
    "enough",
    "no",
    "deny",
    "don't",
    "quiet",
    "stopp",
    "hör",
    "pausiere",
    "arrête",
    "arrête-toi",
    "para",
    "detente",
    "nein",
];

/// Place of something that was said: the chat, and the happening.
pub struct Place<'a> {
    pub name: &'a str,
    pub channel: &'a dyn Channel,
    pub chat: &'a Chat,
    pub id: String,
    /// When it was said, where that is long ago, and how long.
    late: Option<(String, u64)>,
}

/// Takes a batch: all that follows of it is kept when this returns. Where that fails, it is heard as if it never was.
pub async fn batch(shared: &Shared, name: &str, channel: &dyn Channel, batch: Batch) -> Result<()> {
    let before = shared.borrow().lines.get(name).map(|line| line.state.clone());
    let taken = taken(shared, name, channel, &batch).await;
    if taken.is_err() {
        let mut all = shared.borrow_mut();
        // Where that cannot be read either, as it was: what was not kept must not count as heard.
        let before = State::load(&all.house, name).ok().or(before);
        if let (Some(line), Some(before)) = (all.lines.get_mut(name), before) {
            line.state = before;
        }
    }
    taken
}

async fn taken(shared: &Shared, name: &str, channel: &dyn Channel, batch: &Batch) -> Result<()> {
    let mut words = Vec::new();
    for heard in &batch.heard {
        let verdict = shared.borrow_mut().judge(name, heard)?;
        let (chat, key) = (&heard.chat, heard.id.as_str());
        match verdict {
            Verdict::Silent | Verdict::Stranger { told: false } => {}
            Verdict::Stranger { told: true } => refuse(shared, name, chat, key)?,
            // Once a chat for each reason.
            Verdict::Unread(why) => say_to_others(shared, name, chat, &why, &why)?,
            Verdict::Missed(left) => {
                let told = match left {
                    0 => "That is not the code, and it counts no more: the owner can make another one."
                        .to_owned(),
                    1 => "That is not the code; one try is left.".to_owned(),
                    left => format!("That is not the code; {left} tries are left."),
                };
                say_to_others(shared, name, chat, key, &told)?;
            }
            Verdict::Over => {
                let told = "That code counts no more: its ten minutes are over, or it was tried too often. \
                            Make another one where you made it.";
                say_to_others(shared, name, chat, key, told)?;
            }
            Verdict::Paired => {
                keep_words(shared, name, &mut words)?;
                paired(shared, name, heard)?;
            }
            Verdict::Owner => owners(shared, name, channel, heard, &mut words).await?,
        }
        // What is judged next must know what was judged before: the same happening may stand in a batch twice.
        if let Some(line) = shared.borrow_mut().lines.get_mut(name) {
            line.state.hear(&heard.id);
        }
    }
    keep_words(shared, name, &mut words)?;
    let mut all = shared.borrow_mut();
    if let Some(line) = all.lines.get_mut(name) {
        line.state.cursor = Some(batch.cursor.clone());
        line.heard_boot_ms = Some(clock::since_boot_ms());
        line.spoken.notify_one();
    }
    all.save(name)?;
    all.publish()
}

/// Keeps the words so far in the inbox, synced.
pub fn keep_words(shared: &Shared, name: &str, words: &mut Vec<inbox::Word>) -> Result<()> {
    let house = shared.borrow().house.clone();
    let words = std::mem::take(words);
    let mut is_flood = false;
    if let Some(line) = shared.borrow_mut().lines.get_mut(name).filter(|_| inbox::is_many(&words)) {
        let now = clock::since_boot_ms();
        let before = line.many_boot_ms.replace(now);
        is_flood = before.is_some_and(|then| now.saturating_sub(then) < FLOOD_MS);
    }
    for word in inbox::gathered(words, is_flood) {
        inbox::keep(&house, &word)?;
        // A batch that fails from here on is heard once more.
        if let Some(line) = shared.borrow_mut().lines.get_mut(name) {
            if line.in_the_inbox.len() > MOST_IDS {
                line.in_the_inbox.clear();
            }
            line.in_the_inbox.extend(word.ids);
        }
    }
    Ok(())
}

fn refuse(shared: &Shared, name: &str, chat: &Chat, key: &str) -> Result<()> {
    say_to_others(
        shared,
        name,
        chat,
        key,
        "I talk with my owner alone, and keep nothing of what others write here. Sorry!",
    )
}

fn say_to_others(shared: &Shared, name: &str, chat: &Chat, key: &str, text: &str) -> Result<()> {
    use crate::{outbox::Kind, switchboard::Saying};
    let saying = Saying { channel: name, chat, kind: Kind::Refusal, of: &[key], text, is_plain: true };
    shared.borrow_mut().say(&saying).map(drop)
}

fn paired(shared: &Shared, name: &str, heard: &Heard) -> Result<()> {
    let mut all = shared.borrow_mut();
    let whom = brief(&heard.from.name, 80);
    all.forget_owner(name)?;
    if let Some(line) = all.lines.get_mut(name) {
        line.state.refused.remove(&heard.from.id);
        line.state.spoke_in(name, &heard.chat);
        line.state.owner = Some(Owner {
            id: heard.from.id.clone(),
            name: whom.clone(),
            chat: heard.chat.clone(),
            since: clock::stamp(),
        });
    }
    all.save(name)?;
    all.row(name, &format!("{name}: paired with {whom}"));
    all.reply(
        name,
        &heard.chat,
        &[&heard.id],
        "Paired: I hear you here from now on, and nobody else. /help lists what there is.",
    )?;
    all.tell_elsewhere(
        name,
        &format!("{whom} is paired on {name} now. If that is not you: `channels unpair {name}` in a shell."),
    )?;
    all.asks = None;
    all.look_at_asks()
}

/// Takes something of the owner's.
async fn owners(
    shared: &Shared,
    name: &str,
    channel: &dyn Channel,
    heard: &Heard,
    words: &mut Vec<inbox::Word>,
) -> Result<()> {
    let place = {
        let all = shared.borrow();
        let quiet_ms = all.lines.get(name).and_then(|line| line.heard_boot_ms);
        let quiet_ms = quiet_ms.map(|then| clock::since_boot_ms().saturating_sub(then));
        let age_ms = late::age_ms(heard.at_ms, clock::wall_ms(), quiet_ms);
        let at = moments::near(&clock::stamp_of(heard.at_ms));
        let late = late::is_late(age_ms).then_some((at, age_ms));
        Place { name, channel, chat: &heard.chat, id: inbox::id(name, heard), late }
    };
    if shared.borrow().lines.get(name).is_some_and(|line| line.in_the_inbox.contains(&place.id)) {
        return Ok(());
    }
    match &heard.what {
        What::Word(word) => said(shared, &place, word, words).await,
        What::Edited(word) => {
            keep_words(shared, name, words)?;
            edited(shared, &place, word, words)
        }
        What::Deleted { message } => {
            keep_words(shared, name, words)?;
            deleted(shared, &place, message, words);
            Ok(())
        }
        What::Unread { .. } => Ok(()),
        What::Press(press) => {
            keep_words(shared, name, words)?;
            pressed(shared, &place, press).await
        }
    }
}

/// Takes a word: a command is carried out, all else goes to the mind.
async fn said(shared: &Shared, place: &Place<'_>, word: &Word, words: &mut Vec<inbox::Word>) -> Result<()> {
    let text = inbox::plain(&word.text);
    let own = shared.borrow().lines.get(place.name).and_then(|line| line.known.clone());
    let own = own.map(|known| known.name).unwrap_or_default();
    let meant = if word.files.is_empty() { order::meant(&text, &own) } else { Meant::Word(text) };
    let Meant::Word(text) = meant else {
        keep_words(shared, place.name, words)?;
        if let Some(line) = shared.borrow_mut().lines.get_mut(place.name) {
            line.state.spoke_in(place.name, place.chat);
        }
        return run_order::carry_out(
            shared,
            place.name,
            place.chat,
            &place.id,
            meant,
            place.late.as_ref().map(|late| late.0.as_str()),
        )
        .await;
    };
    if text.is_empty() && word.files.is_empty() {
        return Ok(());
    }
    push(shared, place, word, in_time(place, text), words)
}

/// The text as the mind reads it: where it was said long ago, with its time, unless it ends something.
fn in_time(place: &Place<'_>, text: String) -> String {
    match &place.late {
        Some((at, age_ms)) if !is_stop(&text) => late::told(&text, at, *age_ms),
        _ => text,
    }
}

/// Gathers a word for the inbox, or lets it wait for its files; notes that it waits for an answer.
fn push(
    shared: &Shared,
    place: &Place<'_>,
    word: &Word,
    text: String,
    words: &mut Vec<inbox::Word>,
) -> Result<()> {
    let mut all = shared.borrow_mut();
    let house = all.house.clone();
    let Some(line) = all.lines.get_mut(place.name) else { return Ok(()) };
    let thread = line.state.spoke_in(place.name, place.chat);
    let characters = text.chars().count();
    let text = if characters > MOST_CHARS {
        let path = received::keep(&house, place.name, &place.id, "message.txt", text.as_bytes())?;
        let beginning: String = text.chars().take(BEGINNING).collect();
        format!("{beginning}…\n(this is the beginning; all {characters} characters are in {path})")
    } else {
        text
    };
    let begins = brief(&text, SAID_CHARS);
    line.state.said(Said {
        message: word.message.clone(),
        thread: thread.clone(),
        at_ms: clock::wall_ms(),
        text: begins,
    });
    let is_full = line.state.waiting.len() >= MOST_WAITING;
    let mut unfetched = Vec::new();
    if is_full || (word.files.is_empty() && is_stop(&text)) {
        // It stands behind all that was said before it, and waits for no file.
        let waited = std::mem::take(&mut line.state.waiting).into_iter();
        for word in waited.filter(|word| !line.in_the_inbox.contains(&word.id)) {
            unfetched.extend((!word.files.is_empty()).then(|| (word.chat.clone(), word.id.clone())));
            words.push(word.without_files());
        }
    }
    if word.files.is_empty() && !line.state.is_held(&thread) {
        words.push(inbox::Word { text, thread, ids: vec![place.id.clone()] });
    } else {
        let (files, left) = Waiting::bounded(&word.files);
        let (id, message, chat) = (place.id.clone(), word.message.clone(), place.chat.clone());
        line.state.waiting.push_back(Waiting { id, message, thread, chat, text, files, left });
        line.fetches.notify_one();
    }
    for (chat, id) in unfetched {
        let told = "I did not wait for the files of this, for what came after it. Send them again if I should have them.";
        all.reply(place.name, &chat, &[&id, "files"], told)?;
    }
    Ok(())
}

fn is_stop(text: &str) -> bool {
    let first = text
        .split(|letter: char| letter.is_whitespace() || ",.!".contains(letter))
        .next()
        .unwrap_or_default();
    text.split_whitespace().count() <= STOP_WORDS && STOPS.contains(&first.to_lowercase().as_str())
}

/// Takes a word that was changed: told as changed while it waits for its answer, else left alone.
fn edited(shared: &Shared, place: &Place<'_>, word: &Word, words: &mut Vec<inbox::Word>) -> Result<()> {
    if was_said(shared, place.name, &word.message) {
        let text = in_time(place, inbox::plain(&word.text));
        push(shared, place, word, format!("(changed: what I said before now reads) {text}"), words)?;
    }
    Ok(())
}

/// Takes that a word was deleted: told while it waits for its answer; a word that still waits for files is never told.
fn deleted(shared: &Shared, place: &Place<'_>, message: &str, words: &mut Vec<inbox::Word>) {
    let said = {
        let mut all = shared.borrow_mut();
        let Some(line) = all.lines.get_mut(place.name) else { return };
        let state = &mut line.state;
        let before = state.waiting.len();
        state.waiting.retain(|word| word.message != message);
        if state.waiting.len() < before {
            state.said.retain(|said| said.message != message);
            line.fetches.notify_one();
            return;
        }
        state.said.iter().find(|said| said.message == message).cloned()
    };
    let Some(said) = said else { return };
    let text = format!("(I took back what I said and do not want it done: “{}”)", said.text);
    words.push(inbox::Word { text, thread: said.thread, ids: vec![place.id.clone()] });
}

fn was_said(shared: &Shared, name: &str, message: &str) -> bool {
    let all = shared.borrow();
    let Some(line) = all.lines.get(name) else { return false };
    let waits = || line.state.waiting.iter().any(|word| word.message == message);
    line.state.said.iter().any(|said| said.message == message) || waits()
}

/// Takes the press of a button; that its answer does not arrive changes nothing.
async fn pressed(shared: &Shared, place: &Place<'_>, press: &Press) -> Result<()> {
    let late = place.late.as_ref().map(|(at, _)| at.as_str());
    let told = shared.borrow_mut().pressed(place.name, place.chat, &press.data, late)?;
    let can_tell = place.channel.answer(press, &told).await;
    if can_tell.is_err() {
        shared.borrow_mut().reply(place.name, place.chat, &[&place.id], &told)?;
    }
    Ok(())
}
