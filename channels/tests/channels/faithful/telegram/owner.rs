//! The other side of the chats: people who write, press and send files; in a test by calls, from another program over HTTP.

use super::Server;
use super::asked::Asked;
use super::state::{BOT, Chat, NAME};
use serde_json::{Value, json};

/// A person.
pub fn person(id: i64) -> Value {
    json!({ "id": id, "is_bot": false, "first_name": "Ada", "last_name": "L", "username": format!("person{id}") })
}

impl Server {
    /// A chat of this kind, with its topics.
    pub fn opens(&self, chat: i64, kind: &str, threads: &[i64]) {
        let mut opened = Chat::new(kind);
        opened.threads = threads.to_vec();
        self.change(|state| state.chats.insert(chat, opened));
    }

    /// Says a word in the private chat with this person; the number of the message.
    pub fn says(&self, person_id: i64, text: &str) -> i64 {
        self.writes(person_id, person(person_id), json!({ "text": text }))
    }

    /// A message of any kind into a chat, told to the bot where privacy mode lets it hear.
    pub fn writes(&self, chat: i64, from: Value, with: Value) -> i64 {
        self.change(|state| {
            let message = state.message(chat, from, with);
            if state.chats[&chat].kind == "private" || is_for_the_bot(&message) {
                state.push("message", message.clone());
            }
            message["message_id"].as_i64().unwrap()
        })
    }

    /// The message now reads like this.
    pub fn edits(&self, chat: i64, message: i64, text: &str) {
        self.change(|state| {
            let mut edited = state.messages[&(chat, message)].clone();
            edited["text"] = json!(text);
            edited["edit_date"] = json!(state.now_s());
            state.keep(json!({ "kept": "message", "id": message, "message": edited }));
            state.push("edited_message", edited);
        });
    }

    /// Presses a button of a message of the bot's; the query.
    pub fn presses(&self, person_id: i64, chat: i64, message: i64, data: &str) -> String {
        self.change(|state| {
            let query = format!("query{}", state.next_update);
            state.queries.push(query.clone());
            let under = state.messages.get(&(chat, message)).cloned();
            let pressed = json!({ "id": query, "from": person(person_id), "message": under, "chat_instance": "1", "data": data });
            state.push("callback_query", pressed);
            query
        })
    }

    /// Sends a file of this name; the number of the message.
    pub fn sends(&self, person_id: i64, name: &str, bytes: Vec<u8>, caption: &str) -> i64 {
        let (size, file) = (bytes.len(), self.change(|state| state.file(bytes)));
        let document = json!({ "file_id": file, "file_unique_id": format!("u{file}"), "file_name": name, "file_size": size });
        let mut with = json!({ "document": document });
        if !caption.is_empty() {
            with["caption"] = json!(caption);
        }
        self.writes(person_id, person(person_id), with)
    }

    /// The next call of this method is answered so, before any rule.
    pub fn refuses(&self, method: &str, code: u16, description: &str, parameters: Value) {
        let answer = json!({ "description": description, "parameters": parameters });
        self.change(|state| state.scripted.push((method.to_lowercase(), code, answer)));
    }

    pub fn texts(&self) -> Vec<String> {
        let state = self.state();
        state.sent.iter().map(|message| message["text"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// Bot Features, "Privacy mode": commands meant for it, replies to it, service messages; and where it is mentioned.
fn is_for_the_bot(message: &Value) -> bool {
    let text = message["text"].as_str().unwrap_or_default();
    message["reply_to_message"]["from"]["id"] == json!(BOT)
        || text.to_lowercase().contains(&format!("@{NAME}"))
        || text.starts_with('/') && !text.contains('@')
        || message.get("text").is_none() && message.get("caption").is_none()
}

/// Does what another program asks for.
pub fn done(server: &Server, deed: &str, asked: &Asked) -> Option<Value> {
    let number = |name: &str| asked.integer(name).unwrap_or(0);
    match deed {
        "say" => {
            let chat = number("chat");
            if !server.state().chats.contains_key(&chat) && chat < 0 {
                server.opens(chat, "supergroup", &[]);
            }
            let mut with = json!({ "text": asked.text("text") });
            if let Some(entities) = asked.json("entities") {
                with["entities"] = entities;
            }
            Some(json!(server.writes(chat, person(number("person")), with)))
        }
        "has" => {
            let (state, text) = (server.state(), json!(asked.text("text")));
            Some(json!(state.messages.values().any(|message| message["text"] == text)))
        }
        "press" => Some(json!(server.presses(
            number("person"),
            number("chat"),
            number("message"),
            &asked.text("data")
        ))),
        "polls" => Some(json!(server.state().poll)),
        "seen" => {
            let state = server.state();
            let sent: Vec<&Value> = state.sent.iter().skip(number("from") as usize).collect();
            Some(json!({ "sent": sent, "waiting": state.queue.len(), "strays": state.strays }))
        }
        _ => None,
    }
}
