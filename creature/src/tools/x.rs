//! `x.*`: posts on X and Bluesky where the broker has an account, drafts in `self/drafts/` where none is.

use super::agenda;
use super::arguments::Arguments;
use super::files::{inside, shown};
use super::tool_context::{ToolContext, waits, with};
use crate::fault::Fault;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ground::files;
use hands::{Broker, bluesky, posts, x};
use patch::boundary;
use serde_json::{Value, json};

/// Characters of a part; how many a service takes the broker knows.
const MOST_CHARS: usize = 4_000;

/// Bytes of a picture: X, "Media best practices".
const MOST_PICTURE: u64 = 5_000_000;

/// Files in `self/drafts/`; past that a draft is refused.
const MOST_DRAFTS: usize = 500;

pub async fn post(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    send(tools, args, None).await
}

pub async fn reply(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let to = args.text("to").trim();
    let is_number = to.len() <= 32 && to.chars().all(|letter| letter.is_ascii_digit());
    if !is_number && !to.starts_with("at://") {
        return Err(args.fault("takes a post's id as `to`: all digits on X, at://… on Bluesky"));
    }
    send(tools, args, Some(to)).await
}

async fn send(tools: &mut ToolContext<'_>, args: &Arguments, to: Option<&str>) -> Result<Value, Fault> {
    let (on, quote) = (place(args), args.said("quote").map(str::trim));
    let parts = parts(tools, args)?;
    let Some(broker) = account(tools, on).await? else {
        return draft(tools, args, on, &parts);
    };
    let request = json!({"service": on, "parts": parts});
    match posts::publish(broker, &with(request, json!({"in_reply_to": to, "quote": quote}))).await {
        Ok(ids) => {
            // The post is out: a failure to note it on the agenda must not make it look as if it were not.
            if let Err(fault) = agenda::seen(tools, on, args.text("text").trim()) {
                tracing::warn!("failed to {fault}");
            }
            let rest = ids.get(1..).filter(|rest| !rest.is_empty());
            Ok(with(json!({"id": ids.first(), "to": to}), json!({"thread": rest})))
        }
        Err(error) => waits(error),
    }
}

/// The service that is meant: as it is said, else by the form of the post that is answered or quoted.
fn place(args: &Arguments) -> &str {
    let named = ["to", "quote", "since_id"].iter().filter_map(|name| args.said(name));
    let is_at = named.into_iter().any(|id| id.trim().starts_with("at://"));
    args.said("on").map(str::trim).unwrap_or(if is_at { "bluesky" } else { "x" })
}

/// The texts of a post with their pictures, as the broker takes them; a picture is named by its path in the house.
fn parts(tools: &ToolContext<'_>, args: &Arguments) -> Result<Vec<Value>, Fault> {
    let list = |name: &str| args.value(name).and_then(Value::as_array).into_iter().flatten();
    let texts = list("thread").filter_map(Value::as_str);
    let mut parts: Vec<(&str, Vec<Value>)> =
        std::iter::once(args.text("text")).chain(texts).map(|text| (text.trim(), Vec::new())).collect();
    if parts.iter().any(|(text, _)| text.chars().count() > MOST_CHARS) {
        return Err(args.fault(format!("takes at most {MOST_CHARS} characters as a text")));
    }
    for picture in list("pictures") {
        let said = |name: &str| picture.get(name).and_then(Value::as_str).unwrap_or_default();
        let path = said("path");
        let file = inside(tools, args, path)?;
        let bytes = files::whole(&file, MOST_PICTURE).map_err(|cause| {
            let hint = "files.list shows what is there; 5 MB at most: scale a picture down by a command";
            Fault::caused(format!("read {path}"), &cause, hint)
        })?;
        let part = picture.get("part").and_then(Value::as_u64).unwrap_or(1);
        let held = usize::try_from(part).ok().and_then(|part| parts.get_mut(part.checked_sub(1)?));
        let Some((_, pictures)) = held else {
            return Err(args.fault(format!("has no part {part} for the picture {path}")));
        };
        let name = shown(tools, &file);
        pictures.push(json!({"name": name, "alt": said("alt"), "data": STANDARD.encode(bytes)}));
    }
    Ok(parts.into_iter().map(|(text, pictures)| json!({"text": text, "pictures": pictures})).collect())
}

pub async fn search(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (query, most, on) = (args.text("query"), args.number("most").unwrap_or(10), place(args));
    let broker = account(tools, on).await?.ok_or_else(|| not_configured(args, on))?;
    let found = match on {
        "x" => x::search(broker, query, most).await,
        on => bluesky::search(broker, on, query, most).await,
    };
    found.map_or_else(waits, |posts| Ok(json!({"posts": posts})))
}

pub async fn get_mentions(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (since, on) = (args.maybe_text("since_id"), place(args));
    let broker = account(tools, on).await?.ok_or_else(|| not_configured(args, on))?;
    let found = match on {
        "x" => x::mentions(broker, since).await,
        on => bluesky::mentions(broker, on, since).await,
    };
    found.map_or_else(waits, |posts| Ok(json!({"posts": posts})))
}

/// The broker, if it has the service; none where it has not, or no broker runs.
async fn account<'a>(tools: &'a ToolContext<'_>, on: &str) -> Result<Option<&'a Broker>, Fault> {
    match &tools.belt.broker {
        Some(broker) => Ok(tools.service(on).await?.map(|_| broker)),
        None => Ok(None),
    }
}

fn not_configured(args: &Arguments, on: &str) -> Fault {
    let error = format!("{} is not configured: the broker has no service `{on}`", args.tool());
    Fault::new(error, "the owner gives the credentials to the broker; x.post writes drafts meanwhile")
}

fn draft(tools: &ToolContext<'_>, args: &Arguments, on: &str, parts: &[Value]) -> Result<Value, Fault> {
    let kept = files::entries(&tools.store.house.drafts()).count();
    if kept >= MOST_DRAFTS {
        let error = format!("{} was not drafted: self/drafts/ holds {kept} files", args.tool());
        return Err(Fault::new(error, "the owner has to look through them first"));
    }
    let time = tools.store.clock.now().strftime("%Y%m%dT%H%M%S.%3fZ");
    let texts: Vec<String> = parts.iter().map(part).collect();
    let path = format!("self/drafts/{time}-{}.md", slug(texts.first().map_or("", String::as_str)));
    boundary::no_links(tools.store.house.root(), &path)?;
    let named = [("reply_to", "to"), ("quote", "quote")].iter();
    let named = named.filter_map(|(name, arg)| Some(format!("{name}: {}\n", args.said(arg)?.trim())));
    let named: String = named.collect();
    let (at, text) = (tools.store.clock.text(), texts.join("\n\n---\n\n"));
    let whole = format!("---\nfor: {on}\nat: {at}\n{named}---\n\n{text}\n");
    memory::replace(&tools.store.house.root().join(&path), whole.as_bytes())
        .map_err(|cause| Fault::caused("write the draft", &cause, "is the disk full?"))?;
    let note = format!("no account is configured for {on}, so nothing was posted");
    Ok(json!({"drafted": path, "path": path, "note": note}))
}

/// A part for a reader: its text, and each picture with its path below it.
fn part(part: &Value) -> String {
    fn said<'a>(value: &'a Value, key: &str) -> &'a str {
        value.get(key).and_then(Value::as_str).unwrap_or_default()
    }
    let pictures = part.get("pictures").and_then(Value::as_array).into_iter().flatten();
    let pictures =
        pictures.map(|one| format!("\n[picture {}; described as {:?}]", said(one, "name"), said(one, "alt")));
    said(part, "text").to_owned() + &pictures.collect::<String>()
}

/// The first words of a text as part of a file name.
fn slug(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.take(6).collect::<Vec<_>>().join("-").to_ascii_lowercase();
    let slug: String = slug.chars().take(48).collect();
    if slug.is_empty() { "draft".to_owned() } else { slug }
}
