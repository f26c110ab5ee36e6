//! `web.*`: pages as readable text, and searches where the owner chose a provider.

use super::Toolbox;
use super::arguments::Arguments;
use crate::fault::Fault;
use hands::search::{self, Provider};
use hands::{Reach, Web};
use serde_json::{Value, json};

pub async fn fetch_text(tools: &mut Toolbox, args: &Arguments<'_>) -> Result<Value, Fault> {
    let (url, most) = (args.words("url")?.trim(), args.number("most_chars", 4_000, 1..=200_000)?);
    let page = client(tools)?.fetch_text(url, most).await.map_err(fault)?;
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
    let settings = &tools.settings.search;
    if settings.provider.is_empty() {
        let hint = "the owner sets [search] provider = \"brave\" or \"searxng\" in owner.toml; fetch a page you know instead";
        return Err(Fault::new("web.search is not configured", hint));
    }
    let key_env = match settings.key_env.as_str() {
        "" => "BRAVE_API_KEY",
        name => name,
    };
    let provider = Provider {
        kind: settings.provider.clone(),
        base_url: settings.base_url.clone(),
        key: std::env::var(key_env).ok().map(Into::into),
    };
    let hits = search::search(client(tools)?, &provider, query, most).await.map_err(fault)?;
    let hits = hits.iter().map(|hit| json!({"title": hit.title, "url": hit.url, "snippet": hit.snippet}));
    Ok(json!({"query": query, "hits": hits.collect::<Vec<_>>()}))
}

/// The one client of this life, made when it is first needed.
pub(super) fn client(tools: &mut Toolbox) -> Result<&Web, Fault> {
    if tools.web.is_none() {
        let reach = Reach { allow_private: tools.settings.web.allow_private, ..Reach::default() };
        tools.web = Some(Web::new(reach).map_err(fault)?);
    }
    tools.web.as_ref().ok_or_else(|| Fault::new("there is no web client", "try again"))
}

pub(super) fn fault(error: hands::Error) -> Fault {
    match error.status {
        Some(status) if !error.message.contains(&status.to_string()) => {
            Fault::new(format!("{} (status {status})", error.message), error.hint)
        }
        _ => Fault::new(error.message, error.hint),
    }
}
