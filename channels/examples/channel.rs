//! A channel alone, for judges in other languages: PLATFORM [KEY=VALUE…], what is heard as lines, what a line says is done.
//!
//! Keys: those of `owner.toml`, `after` (a cursor to go on behind), `hold=1` (nothing is acknowledged), `owner` and `open=1`
//! (who is let in). Tokens stand in the environment.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing
)]

use channels::channel::{
    Attached, Button, Channel, Chat, Form, Heard, Message, Outgoing, Press, Trouble, Welcome, What, Word,
};
use channels::door::Door;
use channels::platforms::made;
use house::settings::channels::Channel as Settings;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::rc::Rc;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut words = std::env::args().skip(1);
    let platform = words.next().expect("a platform");
    let keys: BTreeMap<String, String> = words
        .filter_map(|word| word.split_once('=').map(|(key, value)| (key.into(), value.into())))
        .collect();
    let channel: Rc<dyn Channel> = opened(&platform, &keys).unwrap_or_else(|wrong| panic!("{wrong}"));
    let after = keys.get("after").map(|after| serde_json::from_str::<Value>(after).expect("a cursor"));
    channel.welcome(&Welcome { owner: keys.get("owner").cloned(), is_open: keys.contains_key("open") });
    match channel.connect(after.as_ref()).await {
        Ok(known) => tell(json!({ "known": known.id, "name": known.name })),
        Err(trouble) => return tell(told(&trouble)),
    }
    let hearing = channel.clone();
    let holds = keys.contains_key("hold");
    let local = tokio::task::LocalSet::new();
    local.spawn_local(async move {
        loop {
            match hearing.receive().await {
                Ok(batch) => {
                    batch.heard.iter().for_each(|heard| tell(shown(heard)));
                    tell(json!({ "cursor": batch.cursor }));
                    if !holds {
                        hearing.acknowledge(&batch.cursor).await.expect("its own cursor");
                    }
                }
                Err(trouble) => {
                    tell(told(&trouble));
                    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                }
            }
        }
    });
    let (sender, mut lines) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let line: Value = serde_json::from_str(&line).expect("a line of JSON");
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    local
        .run_until(async {
            while let Some(line) = lines.recv().await {
                let mut came = done(channel.as_ref(), &line).await.unwrap_or_else(|trouble| told(&trouble));
                came["nth"] = line["nth"].clone();
                tell(came);
            }
        })
        .await;
}

fn opened(platform: &str, keys: &BTreeMap<String, String>) -> Result<Rc<dyn Channel>, String> {
    let text = |name: &str| keys.get(name).cloned().unwrap_or_default();
    let mut settings = Settings {
        url: text("url"),
        address: text("address"),
        imap: text("imap"),
        smtp: text("smtp"),
        user: text("user"),
        authserv: text("authserv"),
        ..Settings::default()
    };
    settings.complete(platform);
    let door = Door::new(None).map_err(|error| error.to_string())?;
    made(platform, &settings, &|name| std::env::var(name).ok(), door).map(Rc::from)
}

/// Does what a line says, and tells what came of it, which the caller numbers as the line is.
async fn done(channel: &dyn Channel, line: &Value) -> Result<Value, Trouble> {
    let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let mut came = json!({ "done": line["do"] });
    match line["do"].as_str().unwrap_or_default() {
        "send" => came["message"] = channel.send(&message(line, channel.limits().form)).await?.message.into(),
        "edit" => channel.edit(&text("message"), &message(line, channel.limits().form)).await?,
        "answer" => {
            let press = Press { data: text("data"), message: text("message"), reply: line["reply"].clone() };
            channel.answer(&press, &text("text")).await?;
        }
        "welcome" => channel.welcome(&Welcome {
            owner: line["owner"].as_str().map(str::to_owned),
            is_open: line["open"] == true,
        }),
        "fetch" => {
            let file = Attached { name: String::new(), bytes: None, place: line["place"].clone() };
            let bytes = channel.fetch(&file, line["most"].as_u64().unwrap_or(1 << 20)).await?;
            came["bytes"] = bytes.len().into();
            came["text"] = String::from_utf8_lossy(&bytes).into();
        }
        "typing" => channel.typing(&chat(line)).await?,
        other => panic!("nothing known as {other}"),
    }
    Ok(came)
}

fn chat(line: &Value) -> Chat {
    let thread = line["thread"].as_str().map(str::to_owned);
    Chat {
        id: line["chat"].as_str().unwrap_or_default().to_owned(),
        thread,
        is_private: line["private"] != false,
    }
}

fn message(line: &Value, form: Form) -> Message {
    let bytes = || line["bytes"].as_str().map_or_else(|| line["bytes"].to_string(), str::to_owned);
    let file = line["file"].as_str().map(|name| Outgoing { name: name.to_owned(), bytes: bytes().into() });
    Message {
        chat: chat(line),
        text: line["text"].as_str().unwrap_or_default().to_owned(),
        form: if line["plain"] == true { Form::Plain } else { form },
        buttons: serde_json::from_value::<Vec<Button>>(line["buttons"].clone()).unwrap_or_default(),
        file,
        key: line["key"].as_str().unwrap_or("0").to_owned(),
    }
}

fn shown(heard: &Heard) -> Value {
    let word = |word: &Word| {
        json!({ "message": word.message, "text": word.text, "files": word.files.iter().map(|file| json!({ "name": file.name, "bytes": file.bytes, "place": file.place })).collect::<Vec<_>>(),
        "addressed": word.is_addressed })
    };
    let what = match &heard.what {
        What::Word(said) => json!({ "word": word(said) }),
        What::Edited(said) => json!({ "edited": word(said) }),
        What::Deleted { message } => json!({ "deleted": message }),
        What::Press(press) => {
            json!({ "press": { "data": press.data, "message": press.message, "reply": press.reply } })
        }
        What::Unread { why } => json!({ "unread": why }),
    };
    json!({ "id": heard.id, "at_ms": heard.at_ms, "chat": heard.chat.id, "thread": heard.chat.thread,
        "private": heard.chat.is_private, "bot": heard.from.is_bot, "from": heard.from.id, "heard": what })
}

fn told(trouble: &Trouble) -> Value {
    json!({ "trouble": format!("{trouble:?}") })
}

fn tell(line: Value) {
    println!("{line}");
}
