//! Model servers that run on this machine at their usual ports: found by one GET each, offered, never used unasked.

use super::choice::Chosen;
use super::offers;
use crate::makers::Makers;
use crate::net::outward::Outward;
use reqwest::Url;

/// The servers of the table and their usual addresses.
pub fn usual(makers: &Makers) -> Vec<(&str, Url)> {
    let local = makers.rows.iter().filter(|(_, made)| made.local);
    local.filter_map(|(name, made)| Some((name.as_str(), Url::parse(made.address.as_ref()?).ok()?))).collect()
}

/// A sentence for each server that answers and is not among the chosen.
pub async fn offered(outward: &Outward, chosen: &Chosen, servers: Vec<(&str, Url)>) -> Vec<String> {
    let is_used =
        |at: &Url| chosen.all().any(|used| used.base.port() == at.port() && used.base.host() == at.host());
    let unused = servers.into_iter().filter(|(_, at)| !is_used(at));
    let asked = unused.map(async |(name, at): (&str, Url)| {
        let model = offers::first_listed(outward, &at).await?;
        let place = format!("{}:{}", at.host_str()?, at.port_or_known_default()?);
        Some(format!(
            "{name} runs at {place} with {model}, and is not used: owner.toml [model] provider = {name:?} uses it"
        ))
    });
    futures_util::future::join_all(asked).await.into_iter().flatten().collect()
}
