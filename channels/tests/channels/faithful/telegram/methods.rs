//! Methods of the Bot API: each takes what its section says and refuses the rest in the words of the maker's own server.
//!
//! Those stand in tdlib/telegram-bot-api, Client.cpp; the Bot API leaves them open ("contents are subject to change").

use super::asked::{Asked, Upload};
use super::html;
use super::state::{BOT, Chat, NAME, State};
use serde_json::{Map, Value, json};

/// sendMessage: text, 1-4096 characters after entities parsing. Of the two ways to count, the longer.
const TEXT: usize = 4_096;
/// sendDocument, sendPhoto: caption, 0-1024 characters after entities parsing.
const CAPTION: usize = 1_024;
/// getFile: bots can download files of up to 20 MB.
const DOWN_BYTES: usize = 20 << 20;
/// sendPhoto: at most 10 MB in size; width and height at most 10000 in total.
const PHOTO_BYTES: usize = 10 << 20;
const PHOTO_SIDES: u32 = 10_000;
/// sendDocument: of up to 50 MB.
const UP_BYTES: usize = 50 << 20;

/// Arguments of each method that is served; a star: those of all sends.
const ARGUMENTS: [(&str, &str); 9] = [
    ("getme", ""),
    ("sendmessage", "* text entities link_preview_options"),
    ("senddocument", "* document caption caption_entities disable_content_type_detection thumbnail"),
    ("sendphoto", "* photo caption caption_entities has_spoiler show_caption_above_media"),
    ("editmessagetext", "chat_id message_id text parse_mode entities link_preview_options reply_markup"),
    (
        "editmessagecaption",
        "chat_id message_id caption parse_mode caption_entities show_caption_above_media reply_markup",
    ),
    ("answercallbackquery", "callback_query_id text show_alert url cache_time"),
    ("sendchataction", "chat_id message_thread_id action"),
    ("getfile", "file_id"),
];
const OF_ALL_SENDS: &str =
    "chat_id message_thread_id parse_mode reply_parameters reply_markup disable_notification protect_content";
/// sendChatAction: types of action.
const ACTIONS: &str = "typing upload_photo record_video upload_video record_voice upload_voice upload_document \
    choose_sticker find_location record_video_note upload_video_note";

#[derive(Debug, PartialEq)]
pub struct Refusal {
    pub code: u16,
    pub description: String,
    pub parameters: Value,
}

pub fn refuse(code: u16, description: &str) -> Refusal {
    Refusal { code, description: description.into(), parameters: Value::Null }
}

fn bad(description: &str) -> Refusal {
    refuse(400, &format!("Bad Request: {description}"))
}

/// A flood. ResponseParameters: the seconds left to wait.
pub fn flood(wait_s: u64) -> Refusal {
    let parameters = json!({ "retry_after": wait_s });
    Refusal { parameters, ..refuse(429, &format!("Too Many Requests: retry after {wait_s}")) }
}

/// Carries out a method that does not wait; `None`: there is none of this name.
pub fn carried_out(state: &mut State, method: &str, asked: &Asked) -> Option<Result<Value, Refusal>> {
    let (_, own) = ARGUMENTS.iter().find(|(name, _)| *name == method)?;
    let of_sends = if own.starts_with('*') { OF_ALL_SENDS } else { "" };
    let known: Vec<&str> = own.split(' ').chain(of_sends.split(' ')).collect();
    let given = asked.arguments.keys().chain(asked.files.keys());
    let strays = given.filter(|name| !known.contains(&name.as_str()));
    state.strays.extend(strays.map(|name| format!("{method}: {name}")));
    Some(match method {
        "getme" => Ok(json!({ "id": BOT, "is_bot": true, "first_name": "Feral", "username": NAME,
            "can_join_groups": true, "can_read_all_group_messages": false, "supports_inline_queries": false })),
        "sendmessage" => send_message(state, asked),
        "senddocument" => send_file(state, asked, "document"),
        "sendphoto" => send_file(state, asked, "photo"),
        "editmessagetext" => edit(state, asked, "text"),
        "editmessagecaption" => edit(state, asked, "caption"),
        "answercallbackquery" => answer(state, asked),
        "sendchataction" => act(state, asked),
        _ => get_file(state, asked),
    })
}

/// The chat that a call is for, if anything may be sent there now.
fn chat(state: &mut State, asked: &Asked) -> Result<i64, Refusal> {
    if asked.text("chat_id").is_empty() {
        return Err(bad("chat_id is empty"));
    }
    let id = asked.integer("chat_id").ok_or_else(|| bad("chat not found"))?;
    // "Bots can't initiate conversations": no chat is known that nobody wrote in.
    let place = state.chats.get(&id).ok_or_else(|| bad("chat not found"))?;
    if let Some(moved) = place.moved_to {
        let parameters = json!({ "migrate_to_chat_id": moved });
        return Err(Refusal { parameters, ..bad("group chat was upgraded to a supergroup chat") });
    }
    if place.is_blocked {
        let told = if place.kind == "private" {
            "bot was blocked by the user"
        } else {
            "bot was kicked from the group chat"
        };
        return Err(refuse(403, &format!("Forbidden: {told}")));
    }
    if asked.integer("message_thread_id").is_some_and(|thread| !place.threads.contains(&thread)) {
        return Err(bad("message thread not found"));
    }
    Ok(id)
}

/// A text as it is shown, within a limit.
fn shown(asked: &Asked, name: &str, most: usize) -> Result<html::Parsed, Refusal> {
    let text = asked.text(name);
    let mode = asked.text("parse_mode").to_lowercase();
    let mut parsed = match mode.as_str() {
        "" | "none" => html::Parsed { text, entities: Vec::new() },
        "html" => html::parse(&text).map_err(|why| bad(&format!("can't parse entities: {why}")))?,
        _ => return Err(bad("unsupported parse_mode")),
    };
    parsed.text = parsed.text.trim().to_owned();
    if parsed.text.encode_utf16().count() > most {
        return Err(bad(if name == "text" { "message is too long" } else { "message caption is too long" }));
    }
    Ok(parsed)
}

fn entities(parsed: &html::Parsed) -> Value {
    let drawn = parsed.entities.iter();
    drawn.map(|(tag, offset, length)| json!({ "type": tag, "offset": offset, "length": length })).collect()
}

/// InlineKeyboardMarkup: rows of buttons, each with a text and, of ours, 1-64 bytes of data.
fn keyboard(asked: &Asked) -> Result<Option<Value>, Refusal> {
    let Some(markup) = asked.json("reply_markup") else { return Ok(None) };
    let rows = markup["inline_keyboard"]
        .as_array()
        .ok_or_else(|| bad("can't parse reply keyboard markup JSON object"))?;
    for button in rows.iter().flat_map(|row| row.as_array().into_iter().flatten()) {
        let data = button["callback_data"].as_str().unwrap_or_default();
        if button["text"].as_str().unwrap_or_default().is_empty() || data.is_empty() {
            return Err(bad(
                "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
            ));
        }
        if data.len() > 64 {
            return Err(bad("BUTTON_DATA_INVALID"));
        }
    }
    Ok(Some(markup))
}

/// What every send is checked for, and what it adds to the message.
fn common(state: &mut State, chat: i64, asked: &Asked) -> Result<Map<String, Value>, Refusal> {
    let mut with = Map::new();
    with.extend(keyboard(asked)?.map(|markup| ("reply_markup".to_owned(), markup)));
    if let Some(thread) = asked.integer("message_thread_id") {
        with.insert("message_thread_id".into(), json!(thread));
        with.insert("is_topic_message".into(), json!(true));
    }
    let (now, is_kept) = (state.now().as_secs_f64(), state.is_flood_kept);
    match state.chats.get_mut(&chat).map(|place: &mut Chat| place.pass(now)) {
        Some(Err(wait_s)) if is_kept => Err(flood(wait_s)),
        _ => Ok(with),
    }
}

fn bot() -> Value {
    json!({ "id": BOT, "is_bot": true, "first_name": "Feral", "username": NAME })
}

fn send_message(state: &mut State, asked: &Asked) -> Result<Value, Refusal> {
    let id = chat(state, asked)?;
    let parsed = shown(asked, "text", TEXT)?;
    if parsed.text.is_empty() {
        return Err(bad("message text is empty"));
    }
    let mut with = common(state, id, asked)?;
    with.insert("entities".into(), entities(&parsed));
    with.insert("text".into(), json!(parsed.text));
    with.extend(
        asked.json("link_preview_options").map(|options| ("link_preview_options".to_owned(), options)),
    );
    Ok(state.message(id, bot(), Value::Object(with)))
}

fn send_file(state: &mut State, asked: &Asked, field: &str) -> Result<Value, Refusal> {
    let id = chat(state, asked)?;
    let Some(Upload { name, bytes }) = asked.files.get(field).cloned() else {
        return Err(bad(&format!("there is no {field} in the request")));
    };
    if bytes.is_empty() {
        return Err(bad("file must be non-empty"));
    }
    if bytes.len() > UP_BYTES {
        return Err(refuse(413, "Request Entity Too Large"));
    }
    if field == "photo" {
        is_photo(&bytes)?;
    }
    let parsed = shown(asked, "caption", CAPTION)?;
    let mut with = common(state, id, asked)?;
    let size = bytes.len();
    let file = state.file(bytes);
    let file = json!({ "file_id": file, "file_unique_id": format!("u{file}"), "file_name": name, "file_size": size });
    with.insert(field.into(), if field == "photo" { json!([file]) } else { file });
    if !parsed.text.is_empty() {
        with.insert("caption_entities".into(), entities(&parsed));
        with.insert("caption".into(), json!(parsed.text));
    }
    Ok(state.message(id, bot(), Value::Object(with)))
}

fn is_photo(bytes: &[u8]) -> Result<(), Refusal> {
    if bytes.len() > PHOTO_BYTES {
        return Err(bad("PHOTO_SAVE_FILE_INVALID"));
    }
    if let Some(sides) =
        bytes.strip_prefix(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").and_then(|rest| rest.first_chunk::<8>())
    {
        let side = |at: usize| u32::from_be_bytes([sides[at], sides[at + 1], sides[at + 2], sides[at + 3]]);
        let (wide, high) = (side(0).max(1), side(4).max(1));
        let is_fit = wide.saturating_add(high) <= PHOTO_SIDES && wide.max(high) / wide.min(high) <= 20;
        return if is_fit { Ok(()) } else { Err(bad("PHOTO_INVALID_DIMENSIONS")) };
    }
    if bytes.starts_with(b"\xff\xd8\xff") || bytes.starts_with(b"RIFF") {
        return Ok(());
    }
    Err(bad("IMAGE_PROCESS_FAILED"))
}

fn edit(state: &mut State, asked: &Asked, name: &str) -> Result<Value, Refusal> {
    let id = chat(state, asked)?;
    let message = asked.integer("message_id").ok_or_else(|| bad("message identifier is not specified"))?;
    let parsed = shown(asked, name, if name == "text" { TEXT } else { CAPTION })?;
    let markup = keyboard(asked)?;
    let mut edited =
        state.messages.get(&(id, message)).cloned().ok_or_else(|| bad("message to edit not found"))?;
    if edited["from"]["id"] != json!(BOT) {
        return Err(bad("message can't be edited"));
    }
    let is_text = edited.get("text").is_some();
    match name {
        "text" if !is_text => return Err(bad("there is no text in the message to edit")),
        "caption" if is_text => return Err(bad("there is no caption in the message to edit")),
        "text" if parsed.text.is_empty() => return Err(bad("message text is empty")),
        _ => {}
    }
    let (before, kind) = (edited.clone(), if name == "text" { "entities" } else { "caption_entities" });
    edited[name] = json!(parsed.text);
    edited[kind] = entities(&parsed);
    let fields = edited.as_object_mut().ok_or_else(|| bad("message to edit not found"))?;
    // A markup that is left out is taken away.
    fields.remove("reply_markup");
    fields.extend(markup.map(|markup| ("reply_markup".to_owned(), markup)));
    if edited == before {
        return Err(bad(
            "message is not modified: specified new message content and reply markup are exactly the same as a current \
             content and reply markup of the message",
        ));
    }
    edited["edit_date"] = json!(state.now_s());
    state.keep(json!({ "kept": "message", "id": message, "message": edited }));
    Ok(edited)
}

fn answer(state: &mut State, asked: &Asked) -> Result<Value, Refusal> {
    if asked.text("text").chars().count() > 200 {
        return Err(bad("MESSAGE_TOO_LONG"));
    }
    let query = asked.text("callback_query_id");
    let Some(at) = state.queries.iter().position(|known| *known == query) else {
        return Err(bad("query is too old and response timeout expired or query ID is invalid"));
    };
    state.queries.remove(at);
    state.done.push(("answercallbackquery".into(), asked.arguments.clone()));
    Ok(json!(true))
}

fn act(state: &mut State, asked: &Asked) -> Result<Value, Refusal> {
    chat(state, asked)?;
    if !ACTIONS.split_whitespace().any(|action| action == asked.text("action")) {
        return Err(bad("wrong parameter action in request"));
    }
    state.done.push(("sendchataction".into(), asked.arguments.clone()));
    Ok(json!(true))
}

fn get_file(state: &mut State, asked: &Asked) -> Result<Value, Refusal> {
    let id = asked.text("file_id");
    if id.is_empty() {
        return Err(bad("file_id not specified"));
    }
    let size = state.files.get(&id).map(Vec::len).ok_or_else(|| bad("invalid file_id"))?;
    if size > DOWN_BYTES {
        return Err(bad("file is too big"));
    }
    let path = state.link(&id);
    Ok(json!({ "file_id": id, "file_unique_id": format!("u{id}"), "file_size": size, "file_path": path }))
}
