//! The owner's part of a sign-in, a stage of this binary at the owner's terminal: the address, the way back, what it gave.

use super::SignIn;
use super::begin::{Begun, agreed, begin};
use super::calls::Calls;
use super::kept::Store;
use super::redirect::{Way, pasted};
use crate::ground::hosts::Resolver;
use crate::net::outward::Outward;
use crate::policy::Policy;
use crate::secrets::Secrets;
use crate::secrets::keys::Keys;
use anyhow::{Context, Result, anyhow, bail, ensure};
use house::House;
use reqwest::Url;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::Receiver;

/// Time that the owner has at the browser.
const PATIENCE: Duration = Duration::from_secs(300);

/// Signs the owner in at the server of that name; `port` is where the browser comes back to, 0 any.
pub async fn run(house: &House, policy: &Policy, keys: Keys, name: &str, port: u16) -> Result<()> {
    let sign_in = prepared(house, policy, keys, name)?;
    let before = sign_in.store.read().map_err(|why| anyhow!(why))?;
    let before = before.and_then(|kept| kept.grant).map(|grant| grant.client.redirect);
    let way = way(port, before.filter(|_| sign_in.settings.client_id.is_empty())).await?;
    let begun = tokio::time::timeout(PATIENCE, begin(&sign_in, &way.address));
    let begun = begun.await.map_err(|_| anyhow!("no answer within {} s", PATIENCE.as_secs()))?;
    let begun = begun.map_err(|why| anyhow!("{name}: {why}"))?;
    // Heard from before the owner is told of it.
    let interrupt = signal(SignalKind::interrupt()).context("failed to hear Ctrl-C")?;
    println!("{}", invitation(name, &begun, way.port()));
    let back = came_back(&begun, way, interrupt).await?;
    let grant = begun.finish(&back).await.map_err(|why| anyhow!("{name}: {why}\nNothing was changed."))?;
    let agreed = agreed(&grant);
    sign_in.store.signed_in(grant).map_err(|why| anyhow!("the sign-in cannot be kept: {why}"))?;
    println!(
        "\nSigned in at {name} {agreed}.\nA broker that runs uses it at once; what the creature may call is up to the \
         rules of [mcp.{name}]."
    );
    Ok(())
}

fn prepared(house: &House, policy: &Policy, keys: Keys, name: &str) -> Result<SignIn> {
    let known = |all: &BTreeMap<String, _>| all.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let settings = policy.mcp.get(name).with_context(|| match known(&policy.mcp).as_str() {
        "" => "owner.toml names no MCP server; each is a section [mcp.NAME]".to_owned(),
        names => format!("owner.toml names no MCP server {name:?}; there are: {names}"),
    })?;
    ensure!(!settings.url.is_empty(), "{name} is a program, which nobody signs in at");
    ensure!(
        settings.token_env.is_empty(),
        "{name} has a token from .env: take token_env out of [mcp.{name}] first"
    );
    if settings.sign_in == "client" {
        bail!("{name} signs in by itself, with client_id and client_secret_env: there is nothing to do");
    }
    let url = Url::parse(&settings.url).context("its url is no address")?;
    let outward = Outward::new(Resolver { fake_ip: policy.dns.fake_ip })?;
    let secrets = Secrets::new(keys);
    Ok(SignIn {
        name: name.to_owned(),
        settings: settings.clone(),
        store: Arc::new(Store::open(house, name, &settings.url, secrets.clone())),
        calls: Calls::new(name, url, outward, None),
        secrets,
        is_wanted: Arc::default(),
    })
}

/// The way back that was registered before, where its port is free; else any.
async fn way(port: u16, before: Option<String>) -> Result<Way> {
    let former = before.and_then(|address| Url::parse(&address).ok()).and_then(|address| address.port());
    if let Some(former) = former.filter(|_| port == 0)
        && let Ok(way) = Way::open(former).await
    {
        return Ok(way);
    }
    Way::open(port).await
}

fn invitation(name: &str, begun: &Begun, port: u16) -> String {
    let host = begun.address.host_str().unwrap_or_default();
    let scopes = match begun.scopes.as_slice() {
        [] => String::new(),
        scopes => format!(", which is asked for: {}", house::printable::flat(&scopes.join(" "))),
    };
    format!(
        "{name} has you sign in at {host}{scopes}.\n\nOpen this in a browser:\n\n  {}\n\nIt comes back to port {port} of \
         this machine by itself. Where the browser runs elsewhere it shows a page that cannot be\nreached in the end: \
         paste the address of that page here. Ctrl-C leaves; after {} minutes it ends.",
        begun.address,
        PATIENCE.as_secs() / 60
    )
}

/// The first way back that belongs to this sign-in.
async fn came_back(begun: &Begun, way: Way, mut interrupt: Signal) -> Result<Url> {
    let ours = begun.ours();
    let mut browsers = way.taken(ours.clone());
    let mut lines: Receiver<String> = pasted();
    let end = tokio::time::sleep(PATIENCE);
    tokio::pin!(end);
    loop {
        tokio::select! {
            Some(back) = browsers.recv() => return Ok(back),
            Some(line) = lines.recv() => match Url::parse(&line) {
                Ok(back) if ours(&back) => return Ok(back),
                _ if line.is_empty() => {}
                _ => println!("That is no address that this sign-in comes back to; it begins with http://127.0.0.1 and has a state of its own."),
            },
            () = &mut end => bail!("nobody came back within {} minutes. Nothing was changed.", PATIENCE.as_secs() / 60),
            _ = interrupt.recv() => bail!("left. Nothing was changed."),
        }
    }
}
