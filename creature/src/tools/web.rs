//! `web.*`: pages as readable text, and searches where the owner chose a provider.

use super::arguments::Arguments;
use super::{Toolbox, fault};
use crate::fault::Fault;
use serde_json::{Value, json};

pub async fn fetch_text(tools: &mut Toolbox, args: &Arguments<'_>) -> Result<Value, Fault> {
    let (url, most) = (args.words("url")?.trim(), args.number("most_chars", 4_000, 1..=200_000)?);
    let page = hands::fetch_text(tools.way_out()?, url, most).await.map_err(fault)?;
    Ok(json!({
        "url": page.url,
        "title": page.title,
        "text": page.text,
        "chars_total": page.chars_total,
        "truncated": page.truncated,
        "content_type": page.content_type,
    }))
}

pub async fn search(tools: &mut Toolbox, args: &Arguments<'_>) -> Result<Value, Fault> {
    let (query, most) = (args.words("query")?, args.number("most", 8, 1..=20)?);
    let service = tools.service("search").await?.ok_or_else(|| {
        let hint = "the owner sets [search] provider = \"brave\" or \"searxng\" in owner.toml; fetch a page you know instead";
        Fault::new("web.search is not configured", hint)
    })?;
    let hits = hands::search::search(tools.way_out()?, &service, query, most).await.map_err(fault)?;
    let hits = hits.iter().map(|hit| json!({"title": hit.title, "url": hit.url, "snippet": hit.snippet}));
    Ok(json!({"query": query, "hits": hits.collect::<Vec<_>>()}))
}
