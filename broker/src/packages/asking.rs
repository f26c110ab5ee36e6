//! The owner's yes to a package: asked once by name, together with what the same life looked at for it.
//!
//! Invariant: one ask stands for a name at a time; a no holds for a day, whatever else is asked for with it.

use super::{Asked, Packages, Registry};
use crate::approvals::act::{Act, Package};
use crate::approvals::ask::{Ask, State};
use crate::approvals::packages;
use crate::ground::refusal::Refusal;
use house::mutex::lock;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// Time for which a look at a package's page counts as part of the same installation.
const TOGETHER: Duration = Duration::from_secs(120);
/// Most packages of one ask; the owner has to be able to read them.
const MOST_NAMES: usize = 100;
/// Most looks that are remembered.
const MOST_LOOKS: usize = 1_000;

/// Packages whose pages were read lately, oldest first; and the lock by which one package is asked about at a time.
#[derive(Default)]
pub struct Looked {
    lately: Mutex<VecDeque<(Instant, Registry, u64, String)>>,
    asking: tokio::sync::Mutex<()>,
}

impl Looked {
    /// Remembers that a life read a package's page.
    pub(super) fn note(&self, asked: &Asked) {
        let mut lately = lock(&self.lately);
        lately.retain(|(at, registry, life, name)| {
            at.elapsed() < TOGETHER && (*registry, *life, name) != (asked.registry, asked.life, &asked.name)
        });
        if lately.len() >= MOST_LOOKS {
            lately.pop_front();
        }
        lately.push_back((Instant::now(), asked.registry, asked.life, asked.name.clone()));
    }

    /// The packages that the same life looked at beside this one.
    fn beside(&self, asked: &Asked) -> Vec<String> {
        let lately = lock(&self.lately);
        let same = lately.iter().filter(|(at, registry, life, name)| {
            at.elapsed() < TOGETHER
                && (*registry, *life) == (asked.registry, asked.life)
                && *name != asked.name
        });
        same.map(|(.., name)| name.clone()).collect()
    }
}

impl Packages {
    /// Permits a package the owner said yes to; else the owner is asked, once, and the refusal says so.
    pub(super) async fn permit(&self, asked: &Asked, version: &str) -> Result<(), Refusal> {
        let registry = asked.registry;
        // Off means off, also for what was allowed before.
        self.address(registry).await?;
        let _one = self.looked.asking.lock().await;
        let allowed = packages::allowed(&self.approvals.handles.house, registry.name());
        if allowed.contains(&asked.name) {
            return Ok(());
        }
        if let Some(ask) = self.judged(registry, &asked.name) {
            if ask.state != State::Denied {
                return Err(waits(asked, &ask.id.to_string()));
            }
            let message = format!("the owner said no to {} (ask {})", asked.name, ask.id);
            return Err(Refusal::new(403, "denied", message, "go on without it, or ask the owner why"));
        }
        let mut others = self.looked.beside(asked);
        others.retain(|name| !allowed.contains(name) && self.judged(registry, name).is_none());
        others.truncate(MOST_NAMES - 1);
        let package = Package {
            registry: registry.name().to_owned(),
            name: asked.name.clone(),
            version: version.to_owned(),
            others,
        };
        let why = format!("new to this house: code that {} is to get", registry.tool());
        let told = self.approvals.ask(asked.life, Act::Package(package), why, "").await?;
        let text = |key: &str| told.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match told.get("asked").and_then(Value::as_str) {
            Some(id) => Err(waits(asked, id)),
            None => Err(Refusal::new(403, "denied", text("error"), text("hint"))),
        }
    }

    /// The newest ask about a package, if it waits or was denied of late.
    fn judged(&self, registry: Registry, name: &str) -> Option<Ask> {
        let asks = &self.approvals.asks;
        let newest = asks.newest(|act| match act {
            Act::Package(package) => {
                package.registry == registry.name() && package.names().any(|named| named == name)
            }
            Act::Service(_) | Act::Post(_) | Act::Purpose { .. } | Act::Mcp(_) | Act::Pin(_) => false,
        })?;
        let holds = match newest.state {
            State::Asked | State::Failed | State::Approved | State::Executing => true,
            State::Denied => asks.no_holds(&newest),
            State::Executed => false,
        };
        holds.then_some(newest)
    }
}

fn waits(asked: &Asked, id: &str) -> Refusal {
    let message = format!("{} is new to this house and waits for the owner's yes (ask {id})", asked.name);
    let hint = "go on with something else; once the owner said yes, run the same command again";
    Refusal::new(403, "asks_owner", message, hint)
}
