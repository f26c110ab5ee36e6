//! Asks on channels: shown with their exact bytes, answered by a button or a word, and told everywhere what came of them.
//!
//! Invariant: a yes counts for bytes that were shown in that chat and are still those; it happens once, wherever it was said.

use crate::buttons::{self, Shown};
use crate::channel::Chat;
use crate::enclosed::exactly;
use crate::outbox::{Enclosed, Kind};
use crate::switchboard::{ASK_SIGN, Saying, Switchboard, without_signs};
use anyhow::Result;
use console::asks::{self, Answerable, answerable, noted};
use house::asks::{Ask, all, unanswered};
use house::bounds::brief;
use house::printable::{exactly as spelled, flat};
use house::records::text;
use house::{clock, files, moments};

/// Characters of one field of an ask in its message; the exact bytes go with it.
const FIELD_CHARS: usize = 300;
/// Asks that are shown at once: each has all of them read.
const MOST_AT_ONCE: usize = 5;
/// Characters of what a service answered.
const RESULT_CHARS: usize = 600;
/// Time until asks for which there was no room are looked at again.
const AGAIN_MS: u64 = 60_000;

impl Switchboard {
    /// Shows asks that are new on every channel, and tells what came of those that were shown.
    pub fn look_at_asks(&mut self) -> Result<()> {
        let (mark, now) = (files::mark(&self.house.asks()), clock::since_boot_ms());
        if self
            .asks
            .as_ref()
            .is_some_and(|(then, until)| *then == mark && until.is_none_or(|until| now < until))
        {
            return Ok(());
        }
        self.outcomes()?;
        let (mut has_all, mut shown) = (true, 0);
        for ask in unanswered(&self.house) {
            let digest = ask.asked().digest().to_owned();
            let lines =
                self.lines.values().filter(|line| !self.buttons.has_shown(&ask.id, &digest, &line.name));
            let lines = lines.filter_map(|line| Some((line.name.clone(), line.owner()?.chat.clone())));
            for (channel, chat) in lines.collect::<Vec<_>>() {
                if shown < MOST_AT_ONCE && !self.buttons.is_full() && self.has_room(&channel) {
                    shown += 1;
                    self.show_ask(&channel, &chat, &ask.id, "")?;
                } else {
                    has_all = false;
                }
            }
        }
        let again = if shown == MOST_AT_ONCE { now } else { now + AGAIN_MS };
        self.asks = Some((mark, (!has_all).then_some(again)));
        Ok(())
    }

    /// Whether one more message that nobody asked for may be sent this hour; counts it.
    pub fn has_room(&mut self, channel: &str) -> bool {
        let Some(line) = self.lines.get_mut(channel) else { return false };
        let now = clock::wall_ms();
        let has_room = line.state.room(now, u64::from(line.settings.messages_per_hour)) > 0;
        if has_room {
            line.state.unasked_ms.push(now);
        }
        has_room
    }

    /// Shows an ask in a chat: its exact bytes, then its buttons; `before`: said above it.
    pub fn show_ask(&mut self, channel: &str, chat: &Chat, id: &str, before: &str) -> Result<()> {
        let shown = match answerable(&self.house, id) {
            Ok(shown) => shown,
            Err(error) => return self.reply(channel, chat, &[id, &clock::stamp()], &format!("{error:#}")),
        };
        let Answerable { ask, digest, .. } = &shown;
        let Some(line) = self.lines.get(channel) else { return Ok(()) };
        let (yes, no) = (buttons::id()?, buttons::id()?);
        let how = match (line.limits.approves, line.limits.buttons) {
            (false, _) => format!(
                "Nothing is approved from here: the window, the page or another channel does. `no {id}` denies it."
            ),
            (true, true) => String::new(),
            (true, false) => format!("Write `yes {id}` or `no {id}`."),
        };
        let (_, bytes) = exactly(&self.house, id)?;
        let head = [before.to_owned(), heading(&shown)].into_iter().filter(|part| !part.is_empty());
        let head = head.collect::<Vec<_>>().join("\n");
        let whole = format!("{head}\n\nexactly, {} bytes:\n{}\n{how}", bytes.len(), spelled(&bytes));
        let is_whole = line.fits_plainly(&whole);
        let text =
            if is_whole { whole } else { format!("{head}\n\nIts exact bytes are in the file above.\n{how}") };
        let text = text.trim_end().to_owned();
        let showing = yes.clone();
        let of = [id, digest.as_str(), showing.as_str()];
        let mut saying = Saying { channel, chat, kind: Kind::Ask, of: &of, text: &text, is_plain: true };
        let has_buttons = line.limits.buttons && line.limits.approves;
        let mut message = self.item(&saying, 1, &text);
        let shown = Shown {
            ask: ask.id.clone(),
            digest: digest.clone(),
            channel: channel.to_owned(),
            chat: chat.clone(),
            yes,
            no,
            key: message.key.clone(),
            message: None,
            text: text.clone(),
            told: String::new(),
            is_used: false,
            is_over: false,
        };
        if has_buttons {
            message.buttons = shown.buttons();
        }
        // Bound before anybody can press: an end in between shows it once more, under other ids.
        self.buttons.add(shown);
        self.buttons.save(&self.house)?;
        if !is_whole {
            saying.text = "";
            let mut file = self.item(&saying, 0, &format!("Ask {id}, exactly as it would be done."));
            file.enclosed = Some(Enclosed::Ask { id: id.to_owned(), digest: digest.clone() });
            self.queue(file)?;
        }
        self.queue(message)?;
        Ok(())
    }

    /// Shows the asks that wait, or one.
    pub fn show_asks(&mut self, channel: &str, chat: &Chat, of: &str, id: Option<&str>) -> Result<()> {
        if let Some(id) = id {
            return self.show_ask(channel, chat, id, "");
        }
        let waiting = unanswered(&self.house);
        if waiting.is_empty() {
            return self.reply(channel, chat, &[of], "Nothing waits for your yes or no.");
        }
        for ask in waiting.iter().take(MOST_AT_ONCE) {
            self.show_ask(channel, chat, &ask.id, "")?;
        }
        let more: Vec<String> =
            waiting.iter().skip(MOST_AT_ONCE).map(|ask| format!("/asks {}", ask.id)).collect();
        if more.is_empty() {
            Ok(())
        } else {
            self.reply(channel, chat, &[of], &format!("And: {}", more.join(", ")))
        }
    }

    /// Takes the press of a button; returns what is told to whoever pressed. `late`: when it was said, where that is long ago.
    pub fn pressed(&mut self, channel: &str, chat: &Chat, data: &str, late: Option<&str>) -> Result<String> {
        let Some((shown, approve)) = self.buttons.pressed(data, channel, chat) else {
            return Ok("This button counts no more: /asks shows what waits.".to_owned());
        };
        let (id, digest) = (shown.ask.clone(), shown.digest.clone());
        if shown.is_used || shown.is_over {
            return Ok(format!("Ask {id} was answered already."));
        }
        self.answered(channel, chat, &id, &digest, approve, late)
    }

    /// Answers an ask by words: yes only for what was shown in this chat.
    pub fn answered_by_word(
        &mut self,
        channel: &str,
        chat: &Chat,
        id: &str,
        approve: bool,
        late: Option<&str>,
    ) -> Result<Option<String>> {
        let Some(line) = self.lines.get(channel) else { return Ok(None) };
        if approve && !line.limits.approves {
            return Ok(Some(format!(
                "Nothing is approved from here; ask {id} waits in the window, on the page and on other channels."
            )));
        }
        let digest = match answerable(&self.house, id) {
            Ok(answerable) => answerable.digest,
            Err(error) => return Ok(Some(format!("{error:#}"))),
        };
        let was_shown = self.buttons.last(id, channel, chat).is_some_and(|shown| shown.digest == digest);
        if approve && !was_shown {
            self.show_ask(
                channel,
                chat,
                id,
                "It was not shown here as it is now. Say it again if you mean this:",
            )?;
            return Ok(None);
        }
        self.answered(channel, chat, id, &digest, approve, late).map(Some)
    }

    /// Keeps an answer for what has this digest, where it still counts; returns what is told.
    fn answered(
        &mut self,
        channel: &str,
        chat: &Chat,
        id: &str,
        digest: &str,
        approve: bool,
        late: Option<&str>,
    ) -> Result<String> {
        let now = match answerable(&self.house, id) {
            Ok(now) => now,
            Err(error) => return Ok(format!("Nothing was done: {error:#}")),
        };
        if now.digest != *digest {
            return Ok(format!(
                "What ask {id} would do has changed since it was shown here; nothing was done. /asks {id}"
            ));
        }
        if let Some(noted) = noted(&self.house, &now.ask) {
            let (word, at) = (text(&noted, "answer"), moments::near(text(&noted, "at")));
            let said = if word == "approve" { "yes" } else { "no" };
            return Ok(format!("You said {said} to ask {id} already, at {at}."));
        }
        let word = if approve { "yes" } else { "no" };
        if let Some(at) = late.filter(|_| approve) {
            self.show_ask(channel, chat, id, &format!("You said yes to this at {at}; still?"))?;
            return Ok(format!("You said yes at {at}; that is long ago, so you are asked again."));
        }
        asks::keep(&self.house, id, approve, digest)?;
        let at = moments::near(&clock::stamp());
        self.tell_all(id, &format!("You said {word} at {at}, on {channel}."), false)?;
        Ok(format!("{word}, to ask {id}"))
    }

    /// Tells what came of asks that were shown, where something did.
    fn outcomes(&mut self) -> Result<()> {
        let open: Vec<String> =
            self.buttons.shown.iter().filter(|shown| !shown.is_over).map(|shown| shown.ask.clone()).collect();
        if open.is_empty() {
            return Ok(());
        }
        for ask in all(&self.house).into_iter().filter(|ask| open.contains(&ask.id)) {
            if ask.event != "asked" && ask.event != "approved" {
                self.tell_all(&ask.id, &outcome(&ask), true)?;
            }
        }
        Ok(())
    }

    /// Puts what came of an ask in the place of its buttons, wherever it was shown; where nothing can be edited, it is said.
    fn tell_all(&mut self, id: &str, told: &str, is_over: bool) -> Result<()> {
        // The answer of a service is text of others.
        let told = without_signs(told);
        let told = told.as_str();
        let mut shown = self.buttons.shown.clone();
        for one in shown.iter_mut().filter(|one| one.ask == id && !one.is_over) {
            let can_edit = self.lines.get(&one.channel).is_some_and(|line| line.limits.edits);
            let of = [id, one.key.as_str(), told];
            let saying = Saying {
                channel: &one.channel,
                chat: &one.chat,
                kind: Kind::Ask,
                of: &of,
                text: told,
                is_plain: true,
            };
            match (&one.message, can_edit) {
                (Some(message), true) => {
                    let text = self.shortened(&one.channel, &one.text, told);
                    let mut item = self.item(&saying, 0, &text);
                    item.edits = Some(message.clone());
                    self.queue(item)?;
                }
                _ if is_over => _ = self.say(&Saying { text: &format!("Ask {id}: {told}"), ..saying })?,
                (None, true) => told.clone_into(&mut one.told),
                _ => {}
            }
            one.is_used = true;
            one.is_over |= is_over;
        }
        self.buttons.shown = shown;
        self.buttons.save(&self.house)
    }

    /// Tells of an ask that was answered before the id of its message was known here.
    pub fn tell_late(&mut self, key: &str) -> Result<()> {
        let waits = |shown: &&mut Shown| shown.key == key && !shown.told.is_empty();
        let Some(shown) = self.buttons.shown.iter_mut().find(waits) else { return Ok(()) };
        let (id, told) = (shown.ask.clone(), std::mem::take(&mut shown.told));
        self.tell_all(&id, &told, false)
    }

    /// The text of an ask and what came of it, within the limits of its channel.
    fn shortened(&self, channel: &str, text: &str, told: &str) -> String {
        let Some(line) = self.lines.get(channel) else { return told.to_owned() };
        let mut most = text.chars().count();
        loop {
            let whole = format!("{}\n\n{told}", brief(text, most));
            if line.fits_plainly(&whole) || most == 0 {
                return whole;
            }
            most = most.saturating_sub(200);
        }
    }

    /// Replies to the owner in a chat.
    pub fn reply(&mut self, channel: &str, chat: &Chat, of: &[&str], text: &str) -> Result<()> {
        let kind = Kind::Reply;
        self.say(&Saying { channel, chat, kind, of, text, is_plain: true }).map(drop)
    }
}

/// An ask as it reads: what, where, whom, why and the fields of its body, each in a line.
fn heading(shown: &Answerable) -> String {
    let act = shown.stored.get("act").unwrap_or(&shown.stored);
    let why = flat(&brief(shown.ask.asked().why(), FIELD_CHARS));
    let why = (!why.is_empty()).then(|| format!("why: {why}"));
    let fields = asks::told(act).into_iter().filter(|(name, _)| name != "header");
    let fields =
        fields.map(|(name, text)| format!("{}: {}", flat(&name), spelled(&flat(&brief(&text, FIELD_CHARS)))));
    let first = format!("{ASK_SIGN} Ask {}: {}", shown.ask.id, asks::title(act));
    std::iter::once(first).chain(why).chain(fields).take(20).collect::<Vec<_>>().join("\n")
}

fn outcome(ask: &Ask) -> String {
    let result = flat(&brief(ask.newest().result(), RESULT_CHARS));
    let at = moments::near(ask.newest().at());
    if result.is_empty() {
        format!("{}, {at}", ask.outcome())
    } else {
        format!("{}, {at}: {result}", ask.outcome())
    }
}
