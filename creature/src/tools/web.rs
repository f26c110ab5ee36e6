//! `web.*`: pages as readable text, and searches where the owner chose a provider.

use super::arguments::Arguments;
use super::tool_context::{ToolContext, fault};
use crate::fault::Fault;
use hands::search::Asked;
use serde_json::{Value, json};

/// Characters of a page unless a call says otherwise.
const MOST_CHARS: usize = 30_000;

pub async fn fetch_text(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (url, most) = (args.text("url").trim(), args.number("most_chars").unwrap_or(MOST_CHARS));
    Ok(json!(hands::fetch_text(tools.way_out()?, url, most).await.map_err(fault)?))
}

pub async fn search(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let asked = Asked {
        query: args.text("query"),
        most: args.number("most").unwrap_or(8),
        within: args.maybe_text("within").unwrap_or_default(),
        page: args.number("page").unwrap_or(1),
        language: args.maybe_text("language").unwrap_or_default().trim(),
        safe: args.maybe_text("safe").unwrap_or_default(),
    };
    if !asked.language.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-') {
        return Err(args.fault("takes a language like `de` or `de-CH`"));
    }
    let service = tools.service("search").await?.ok_or_else(|| {
        let hint = "the owner sets [search] provider = \"brave\" or \"searxng\" in owner.toml; fetch a page you know instead";
        Fault::new("web.search is not configured", hint)
    })?;
    let hits = hands::search::search(tools.way_out()?, &service, asked).await.map_err(fault)?;
    Ok(json!({"query": asked.query, "hits": hits}))
}
