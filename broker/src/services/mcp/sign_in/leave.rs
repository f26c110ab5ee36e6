//! The owner's sign-out, a stage of this binary: tokens are given back where their giver takes them (RFC 7009), then removed.
//!
//! Invariant: what is kept is removed, whatever came of giving it back.

use super::calls::Calls;
use super::kept::{self, Client, Grant, Kept, Store};
use crate::ground::encoding::{escaped, joined};
use crate::ground::hosts::{self, Resolver};
use crate::net::outward::Outward;
use crate::policy::Policy;
use crate::secrets::Secrets;
use crate::secrets::keys::Keys;
use anyhow::{Result, anyhow};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use house::House;
use house::settings::forms::{self, Form};
use reqwest::Url;
use serde_json::Value;

/// Signs the owner out at the server of that name, which `owner.toml` may name no more.
pub async fn run(house: &House, policy: &Policy, keys: Keys, name: &str) -> Result<()> {
    forms::check(Form::ServiceName, name).map_err(|why| anyhow!("{name:?} is no server's name: {why}"))?;
    let secrets = Secrets::new(keys);
    // Of whatever address it is.
    let store = Store::open(house, name, "", secrets);
    if !store.is_there() {
        println!("Nobody is signed in at {name}.");
        return Ok(());
    }
    // Held to the end, so that a broker that runs renews nothing meanwhile.
    let held = store.hold(kept::MOST_TRIES).map_err(|why| anyhow!(why))?;
    let told = match store.any() {
        Err(why) => format!("What was kept of {name} cannot be read ({why}), so nothing was given back."),
        Ok(None | Some(Kept { grant: None, .. })) => format!("There were no tokens of {name}."),
        Ok(Some(Kept { url, grant: Some(grant), .. })) => {
            let outward = Outward::new(Resolver { fake_ip: policy.dns.fake_ip })?;
            let base = Url::parse(&url).map_err(|_| anyhow!("what is kept of {name} has no address"));
            match base {
                Ok(base) => given_back(&Calls::new(name, base, outward, None), &grant).await,
                Err(why) => format!("Nothing was given back: {why}."),
            }
        }
    };
    let removed = store.forget();
    drop(held);
    println!("{told}");
    removed.map_err(|why| anyhow!("{name}: the tokens could not be removed: {why}"))?;
    println!("Signed out of {name}: its tokens are removed here. To sign in again: feral mcp sign-in {name}");
    Ok(())
}

/// Gives tokens back to who gave them; says what came of it.
async fn given_back(calls: &Calls, grant: &Grant) -> String {
    let issuer = grant.metadata.issuer.as_deref().unwrap_or(&grant.metadata.token_endpoint);
    let who = Url::parse(issuer).map(|url| hosts::host(&url)).unwrap_or_default();
    let more = &grant.metadata.additional_fields;
    let Some(place) = more.get("revocation_endpoint").and_then(Value::as_str) else {
        return format!("{who} names no place where tokens are given back: take your consent back there.");
    };
    let told = serde_json::to_value(&grant.credentials.token_response).unwrap_or_default();
    // The one that renews first: with it go those that it gave (RFC 7009, 2.1).
    let mut came = Ok(());
    for kind in ["refresh_token", "access_token"] {
        let Some(token) = told.get(kind).and_then(Value::as_str) else { continue };
        let one = one_given_back(calls, place, grant, kind, token).await;
        // A giver need not take back those that end by themselves (RFC 7009, 2).
        if !matches!(&one, Err(why) if why.contains("unsupported_token_type") && kind == "access_token") {
            came = came.and(one);
        }
    }
    match came {
        Ok(()) => format!("{who} took the tokens back."),
        Err(why) => format!("{who} did not take the tokens back: {why}. Take your consent back there."),
    }
}

async fn one_given_back(
    calls: &Calls,
    place: &str,
    grant: &Grant,
    kind: &str,
    token: &str,
) -> Result<(), String> {
    let url = Url::parse(place).map_err(|_| "its place for that is no address".to_owned())?;
    let mut form =
        vec![("token".to_owned(), token.to_owned()), ("token_type_hint".to_owned(), kind.to_owned())];
    let mut asked = http::Request::post(place).header("content-type", "application/x-www-form-urlencoded");
    // As at the endpoint for tokens (RFC 7009, 2.1; RFC 6749, 2.3.1).
    match &grant.client {
        Client { id, secret: Some(secret), .. } if is_by_header(grant) => {
            let proof = STANDARD.encode(format!("{}:{}", escaped(id), escaped(secret)));
            asked = asked.header("authorization", format!("Basic {proof}"));
        }
        Client { id, secret, .. } => {
            form.push(("client_id".to_owned(), id.clone()));
            form.extend(secret.iter().map(|secret| ("client_secret".to_owned(), secret.clone())));
        }
    }
    let asked = asked.body(joined(&form).into_bytes()).map_err(|error| error.to_string())?;
    let answer = calls.exchanged(&url, &asked).await?;
    if answer.status().is_success() {
        return Ok(());
    }
    let said = serde_json::from_slice::<Value>(answer.body()).unwrap_or_default();
    let said = said.get("error").and_then(Value::as_str).unwrap_or_default();
    let said = house::bounds::brief(&house::printable::flat(said), 100);
    Err(format!("it answered {} {said}", answer.status().as_u16()).trim_end().to_owned())
}

/// Whether a client proves itself by a header there, which it does unless told otherwise (RFC 8414, 2).
fn is_by_header(grant: &Grant) -> bool {
    let named = grant.metadata.additional_fields.get("revocation_endpoint_auth_methods_supported");
    let named: Vec<&str> =
        named.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    named.is_empty() || named.contains(&"client_secret_basic")
}
