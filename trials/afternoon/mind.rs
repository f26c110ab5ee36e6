//! A mind for the afternoon: each step follows from what stands in the request, and from nothing else.

use super::faithful::{Say, Seen};
use serde_json::{Value, json};

/// The next step.
pub fn step(seen: &Seen) -> Say {
    let text = seen.all_text();
    if !text.contains("look after my mail") {
        return Say::new().says("Nothing is asked of me.").rests(300);
    }
    if let Some(done) = text.split("it was carried out: ").nth(1) {
        // Its own words stand in the request from then on.
        return match (text.contains("I answered Ann"), word(done, "Message-ID ")) {
            (false, Some(_)) => Say::new().says("I answered Ann, with what the page says.").rests(300),
            _ => Say::new().says("All is done.").rests(300),
        };
    }
    let came = |server: &str, tool: &str| came(seen, server, tool);
    let Some(list) = came("mail", "search") else {
        return calls(seen, "I look who wrote.", "mail", "search", json!({"unseen": true}));
    };
    let Some(message) = id(&list) else { return Say::new().says("There is no new mail.").rests(300) };
    let Some(mail) = came("mail", "read") else {
        return calls(seen, "I read it.", "mail", "read", json!({"message": message}));
    };
    let Some(address) = word(&mail, "http://") else {
        return Say::new().says("It asks for nothing that I could look up.").rests(300);
    };
    if came("browser", "browser_navigate").is_none() {
        let url = address.trim_end_matches([',', '.']);
        return calls(seen, "I look it up.", "browser", "browser_navigate", json!({"url": url}));
    }
    let Some(page) = came("browser", "browser_snapshot") else {
        return calls(seen, "What does the page say?", "browser", "browser_snapshot", json!({}));
    };
    let Some(hour) = page.split("fed at ").nth(1).and_then(|rest| rest.get(..5)) else {
        return Say::new().says("The page does not say it.").rests(300);
    };
    let Some(to) = mail.split(['<', '>', ' ', '\n']).find(|part| part.contains("ann@")) else {
        return Say::new().says("The mail has no sender.").rests(300);
    };
    let answer =
        format!("Good day,\n\nthe herons are fed at {hour}, says {}\n", address.trim_end_matches([',', '.']));
    if came("mail", "draft").is_none() {
        let draft = json!({"to": [to], "subject": "Re: Feeding", "text": answer, "message": message});
        return calls(seen, "I write a draft.", "mail", "draft", draft);
    }
    if came("mail", "reply").is_none() {
        let reply = json!({"to": [to], "text": answer, "message": message});
        return calls(seen, "The owner shall see it first.", "mail", "reply", reply);
    }
    Say::new().says("An answer to Ann waits for you.").rests(300)
}

/// A call of a server's tool, listed or folded.
fn calls(seen: &Seen, words: &str, server: &str, tool: &str, arguments: Value) -> Say {
    let args = json!({"server": server, "tool": tool, "arguments": arguments, "reason": words});
    let say = Say::new().says(words);
    match seen.tool("mcp.call") {
        Some(_) => say.calls("mcp.call", args),
        None => say.calls("more", json!({"tool": "mcp.call", "args": args.to_string()})),
    }
}

/// The result of the newest call of a server's tool.
fn came(seen: &Seen, server: &str, tool: &str) -> Option<String> {
    let is_it = |args: &Value| {
        let folded = args["args"].as_str().and_then(|args| serde_json::from_str::<Value>(args).ok());
        let args = folded.as_ref().unwrap_or(args);
        args["server"] == server && args["tool"] == tool
    };
    seen.history().into_iter().rev().find(|(_, args, _)| is_it(args)).and_then(|(_, _, came)| came)
}

/// The first word that begins so.
fn word(text: &str, begin: &str) -> Option<String> {
    let from = text.find(begin)?;
    text[from..].split(['\\', '"', ' ', '\n', '<', '>']).next().map(str::to_owned)
}

/// The id of the first message in a list: folder, validity and number, with colons.
fn id(list: &str) -> Option<String> {
    let is_id = |word: &&str| {
        let parts: Vec<&str> = word.split(':').collect();
        parts.len() == 3
            && parts[1..]
                .iter()
                .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    list.split(|letter: char| letter.is_whitespace() || "\"\\,;()".contains(letter))
        .find(is_id)
        .map(str::to_owned)
}
