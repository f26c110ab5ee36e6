//! Reads an envelope of Slack's as something that happened in a chat; pure.

use super::text::plain;
use crate::channel::{Attached, Chat, Heard, Person, Press, What, Word};
use crate::platforms::calls::at;
use serde_json::{Value, json};

/// Slack's own user, who answers where no app does.
const SLACKBOT: &str = "USLACKBOT";

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Reads a timestamp like `1355517523.000005`, the id of a message within its channel.
pub fn ts_ms(ts: &str) -> u64 {
    let (seconds, rest) = ts.split_once('.').unwrap_or((ts, ""));
    let ms: u64 = rest.get(..3).and_then(|ms| ms.parse().ok()).unwrap_or(0);
    seconds.parse::<u64>().map_or(0, |seconds| seconds.saturating_mul(1_000).saturating_add(ms))
}

/// chat.update, Arguments: the id of a direct message starts with D.
fn is_direct(channel: &str) -> bool {
    channel.starts_with('D')
}

/// The app's own account in the workspace.
#[derive(Clone, Debug, Default)]
pub struct Me {
    pub user: String,
    pub bot: String,
}

/// Says what an envelope is; `None` where it is nothing that somebody said or did here.
pub fn heard(kind: &str, payload: &Value, me: &Me) -> Option<Heard> {
    match kind {
        "events_api" => event(at(payload, "/event"), me),
        "interactive" => pressed(payload),
        "slash_commands" => commanded(payload),
        _ => None,
    }
}

/// Events `message.im` and `app_mention`.
fn event(event: &Value, me: &Me) -> Option<Heard> {
    let is_mention = at(event, "/type") == "app_mention";
    if !is_mention && at(event, "/type") != "message" {
        return None;
    }
    let is_private = !is_mention && is_direct(text(at(event, "/channel")));
    let chat = |said: &Value| Chat {
        id: text(at(event, "/channel")).to_owned(),
        thread: at(said, "/thread_ts").as_str().map(str::to_owned),
        is_private,
    };
    match at(event, "/subtype").as_str() {
        // Message event subtypes: the message as it reads now, inside; unfurled links change it without `edited`.
        Some("message_changed") => {
            let now = at(event, "/message");
            let when = at(now, "/edited/ts").as_str()?;
            let whole = message(now, me, chat(now))?;
            let What::Word(word) = whole.what else { return None };
            let id = format!("{}-{when}", whole.id);
            Some(Heard { id, at_ms: ts_ms(when), what: What::Edited(word), ..whole })
        }
        Some("message_deleted") => {
            let (gone, before) = (text(at(event, "/deleted_ts")), at(event, "/previous_message"));
            let from = person(before, me)?;
            let id = format!("{}-{gone}-deleted", text(at(event, "/channel")));
            let at_ms = ts_ms(text(at(event, "/event_ts")));
            Some(Heard {
                id,
                at_ms,
                chat: chat(before),
                from,
                what: What::Deleted { message: gone.to_owned() },
            })
        }
        _ => message(event, me, chat(event)).map(|heard| addressed(heard, is_mention)),
    }
}

fn addressed(mut heard: Heard, is_mention: bool) -> Heard {
    if let What::Word(word) = &mut heard.what {
        word.is_addressed |= is_mention;
    }
    heard
}

/// A message as it was written, in this chat.
pub fn message(said: &Value, me: &Me, chat: Chat) -> Option<Heard> {
    let ts = text(at(said, "/ts"));
    let written =
        [None, Some("file_share"), Some("bot_message"), Some("thread_broadcast"), Some("me_message")];
    if ts.is_empty() || !written.contains(&at(said, "/subtype").as_str()) {
        return None;
    }
    let from = person(said, me)?;
    // In a channel each talk is a thread, below the message that it begins with.
    let thread = chat.thread.or_else(|| (!chat.is_private).then(|| ts.to_owned()));
    let chat = Chat { thread, ..chat };
    let files = at(said, "/files").as_array().map_or(&[][..], Vec::as_slice);
    let files = files.iter().map(|file| Attached {
        name: text(at(file, "/name")).to_owned(),
        bytes: at(file, "/size").as_u64(),
        place: json!({
            "url": file.get("url_private_download").unwrap_or(at(file, "/url_private")), "mimetype": at(file, "/mimetype"),
        }),
    });
    let word = Word {
        message: ts.to_owned(),
        text: plain(text(at(said, "/text")), &me.user),
        files: files.collect(),
        is_addressed: text(at(said, "/text")).contains(&format!("<@{}>", me.user)),
    };
    // The same by event and by history, whichever says it first.
    let id = format!("{}-{ts}", chat.id);
    Some(Heard { id, at_ms: ts_ms(ts), chat, from, what: What::Word(word) })
}

/// Returns the one who said it; `None` for the app itself.
fn person(said: &Value, me: &Me) -> Option<Person> {
    let (user, bot) = (text(at(said, "/user")), text(at(said, "/bot_id")));
    if user == me.user || (!bot.is_empty() && bot == me.bot) {
        return None;
    }
    let is_bot = !bot.is_empty() || user == SLACKBOT;
    let id = if user.is_empty() { bot } else { user };
    let name = at(said, "/user_profile/display_name").as_str().filter(|name| !name.is_empty()).unwrap_or(id);
    Some(Person { id: id.to_owned(), name: name.to_owned(), is_bot })
}

/// Interaction payloads, `block_actions`.
fn pressed(payload: &Value) -> Option<Heard> {
    let action = at(payload, "/actions").as_array()?.first()?;
    if at(payload, "/type") != "block_actions" || at(action, "/type") != "button" {
        return None;
    }
    let (channel, message) = (text(at(payload, "/channel/id")), text(at(payload, "/message/ts")));
    let when = text(at(action, "/action_ts"));
    let user = at(payload, "/user");
    let name = if at(user, "/username").is_string() { at(user, "/username") } else { at(user, "/name") };
    let from = Person { id: text(at(user, "/id")).to_owned(), name: text(name).to_owned(), is_bot: false };
    let chat = Chat {
        id: channel.to_owned(),
        thread: at(payload, "/message/thread_ts").as_str().map(str::to_owned),
        is_private: is_direct(channel),
    };
    let press = Press {
        data: text(at(action, "/value")).to_owned(),
        message: message.to_owned(),
        reply: json!({"response_url": at(payload, "/response_url")}),
    };
    let id = format!("{channel}-{message}-{when}");
    Some(Heard { id, at_ms: ts_ms(when), chat, from, what: What::Press(press) })
}

/// Slash commands: `/feral mind` is the word `/mind`, for Slack keeps lines that begin with a slash to itself.
fn commanded(payload: &Value) -> Option<Heard> {
    let trigger = text(at(payload, "/trigger_id"));
    if trigger.is_empty() {
        return None;
    }
    let said = text(at(payload, "/text")).trim();
    let said = if said.is_empty() { "help" } else { said };
    let channel = text(at(payload, "/channel_id"));
    let chat = Chat { id: channel.to_owned(), thread: None, is_private: is_direct(channel) };
    let from = Person {
        id: text(at(payload, "/user_id")).to_owned(),
        name: text(at(payload, "/user_name")).to_owned(),
        is_bot: false,
    };
    let text = format!("/{}", said.trim_start_matches('/'));
    let word = Word { message: String::new(), text, files: vec![], is_addressed: true };
    // It says no time of its own.
    let at_ms = house::clock::wall_ms();
    Some(Heard { id: format!("command-{trigger}"), at_ms, chat, from, what: What::Word(word) })
}
