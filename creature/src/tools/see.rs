//! `files.see`: a picture or a document of the workspace, or one that the owner sent, as a model that sees tells of it.

use super::arguments::Arguments;
use super::catalogue::LIST;
use super::files::{inside, received};
use super::tool_context::{ToolContext, fault};
use crate::fault::Fault;
use ground::files;
use mind::llm::{self, ModelMind, Reach};
use mind::sight;
use model::Medium;
use serde_json::{Value, json};
use std::time::Duration;

/// Bytes of a file; in base64 these are 5 MiB, the least that any wire takes for one picture: Anthropic, vision, limits.
const MOST_BYTES: u64 = 5 * 1024 * 1024 / 4 * 3;

/// Time that a look may take; the loop allows a call five minutes.
const PATIENCE: Duration = Duration::from_secs(240);

pub async fn see(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let path = args.text("path");
    let received = received(tools, args, path);
    let was_sent = received.is_some();
    let file = received.unwrap_or_else(|| inside(tools, args, path))?;
    let bytes = files::whole(&file, MOST_BYTES).map_err(|cause| {
        let hint =
            "files.list shows what is there; 3.75 MiB at most: scale a picture or cut pages out by a command";
        Fault::caused(format!("read {path}"), &cause, hint)
    })?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let medium = Medium::of(&name, &bytes).ok_or_else(|| {
        let error = format!("{path} is no PNG, JPEG, GIF, WebP or PDF");
        Fault::new(error, "files.read reads text; convert other pictures by a command")
    })?;
    let mind = eyes(tools, &medium).await?;
    if was_sent {
        // What the owner passes on may be of others.
        tools.way_out()?.taint().await.map_err(fault)?;
    }
    let question = args.maybe_text("question").filter(|asked| !asked.trim().is_empty());
    let looked = tokio::time::timeout(PATIENCE, mind.look(medium, question, !tools.caller.owner)).await;
    let late = || {
        let error = format!("see {path}: {} said nothing within {} s", mind.name(), PATIENCE.as_secs());
        Fault::new(error, "ask for less, or of a smaller file")
    };
    let (seen, usage) = looked
        .map_err(|_| late())?
        .map_err(|error| Fault::new(format!("failed to {}", error.message), error.hint))?;
    if seen.is_empty() {
        return Err(Fault::new(format!("{} said nothing of {path}", mind.name()), "ask another question"));
    }
    Ok(json!({"seen": seen, "by": mind.name(), "usage": usage}))
}

/// The first model, or the quick one, that sees this.
async fn eyes(tools: &ToolContext<'_>, medium: &Medium) -> Result<ModelMind, Fault> {
    let broker = tools.way_out()?;
    let status = broker.status().await.map_err(fault)?;
    let offer = status.get("model").filter(|offer| !offer.is_null());
    let offer = offer.ok_or_else(|| Fault::new("no model thinks here, so none sees", instead(medium)))?;
    let quick = offer.get("quick").filter(|quick| quick.is_object());
    let sense = medium.sense();
    let found = std::iter::once(offer).chain(quick).find(|one| sight::sees(one, sense) == Some(true));
    let found = found.ok_or_else(|| {
        let name = offer.get("name").and_then(Value::as_str).unwrap_or("the model");
        let error = match sight::sees(offer, sense) {
            Some(false) => format!("{name} does not see {}", in_words(sense)),
            _ => format!("it is not known whether {name} sees {}", in_words(sense)),
        };
        Fault::new(error, instead(medium))
    })?;
    let (house, settings) = (&tools.store.house, &tools.belt.model);
    let (base, token) = (broker.base(), broker.token());
    let reach =
        Reach { base, token, settings, house, tools: &LIST, commit: "", configured: &[], outside: "" };
    llm::other(&reach, found, None).map_err(|why| Fault::new(why, instead(medium)))
}

fn in_words(sense: &str) -> &'static str {
    if sense == "pdf" { "PDF" } else { "pictures" }
}

/// Says what can be done where no model sees.
fn instead(medium: &Medium) -> &'static str {
    match medium.sense() {
        "pdf" => {
            "take the text out by a command where there is one, as `pdftotext FILE -`; your owner may name a model that sees \
             PDF, or say of this one in owner.toml that it does: `sees` in [makers.NAME.models]"
        }
        _ => {
            "take words out by a command where there is one, as `tesseract FILE -`; your owner may name a model that sees \
             pictures, or say of this one in owner.toml that it does: `sees` in [makers.NAME.models]"
        }
    }
}
