//! `x.*`: posts on X where the broker has an account, drafts in `self/drafts/` where none is.

use super::agenda;
use super::arguments::Arguments;
use super::tool_context::{ToolContext, waits};
use crate::fault::Fault;
use ground::files;
use hands::Broker;
use hands::x;
use patch::boundary;
use serde_json::{Value, json};

const MOST_CHARS: usize = 4_000;

/// Files in `self/drafts/`; past that a draft is refused.
const MOST_DRAFTS: usize = 500;

pub async fn post(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let text = words(args)?;
    send(tools, args, text, None).await
}

pub async fn reply(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (text, to) = (words(args)?, args.text("to").trim());
    if to.len() > 32 || !to.chars().all(|letter| letter.is_ascii_digit()) {
        return Err(args.fault("takes a post's id, all digits, as `to`"));
    }
    send(tools, args, text, Some(to)).await
}

async fn send(
    tools: &mut ToolContext<'_>,
    args: &Arguments,
    text: &str,
    to: Option<&str>,
) -> Result<Value, Fault> {
    let Some(broker) = account(tools).await? else {
        return draft(tools, args, text, to);
    };
    match x::post(broker, text, to).await {
        Ok(posted) => {
            // The post is out: a failure to note it on the agenda must not make it look as if it were not.
            if let Err(fault) = agenda::seen(tools, "x", text) {
                tracing::warn!("failed to {fault}");
            }
            Ok(json!({"id": posted.id, "to": to}))
        }
        Err(error) => waits(error),
    }
}

pub async fn search(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (query, most) = (args.text("query"), args.number("most").unwrap_or(10));
    let broker = account(tools).await?.ok_or_else(|| not_configured(args))?;
    x::search(broker, query, most).await.map_or_else(waits, |posts| Ok(json!({"posts": posts})))
}

pub async fn get_mentions(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let since = args.maybe_text("since_id");
    let broker = account(tools).await?.ok_or_else(|| not_configured(args))?;
    x::mentions(broker, since).await.map_or_else(waits, |posts| Ok(json!({"posts": posts})))
}

fn words(args: &Arguments) -> Result<&str, Fault> {
    match args.text("text").trim() {
        text if text.chars().count() > MOST_CHARS => {
            Err(args.fault(format!("takes at most {MOST_CHARS} characters as `text`")))
        }
        text => Ok(text),
    }
}

/// The broker, if it has the service `x`; none where it has not, or no broker runs.
async fn account<'a>(tools: &'a ToolContext<'_>) -> Result<Option<&'a Broker>, Fault> {
    match &tools.belt.broker {
        Some(broker) => Ok(tools.service("x").await?.map(|_| broker)),
        None => Ok(None),
    }
}

fn not_configured(args: &Arguments) -> Fault {
    let error = format!("{} is not configured: the broker has no service `x`", args.tool());
    Fault::new(error, "the owner gives the credentials to the broker; x.post writes drafts meanwhile")
}

fn draft(
    tools: &ToolContext<'_>,
    args: &Arguments,
    text: &str,
    reply_to: Option<&str>,
) -> Result<Value, Fault> {
    let kept = files::entries(&tools.store.house.drafts()).count();
    if kept >= MOST_DRAFTS {
        let error = format!("{} was not drafted: self/drafts/ holds {kept} files", args.tool());
        return Err(Fault::new(error, "the owner has to look through them first"));
    }
    let time = tools.store.clock.now().strftime("%Y%m%dT%H%M%S.%3fZ");
    let path = format!("self/drafts/{time}-{}.md", slug(text));
    boundary::no_links(tools.store.house.root(), &path)?;
    let to = reply_to.map_or(String::new(), |to| format!("reply_to: {to}\n"));
    let whole = format!("---\nfor: x\nat: {}\n{to}---\n\n{text}\n", tools.store.clock.text());
    memory::replace(&tools.store.house.root().join(&path), whole.as_bytes())
        .map_err(|cause| Fault::caused("write the draft", &cause, "is the disk full?"))?;
    let note = "no X account is configured, so nothing was posted";
    Ok(json!({"drafted": path, "path": path, "note": note}))
}

/// The first words of a text as part of a file name.
fn slug(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.take(6).collect::<Vec<_>>().join("-").to_ascii_lowercase();
    let slug: String = slug.chars().take(48).collect();
    if slug.is_empty() { "draft".to_owned() } else { slug }
}
