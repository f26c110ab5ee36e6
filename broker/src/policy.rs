//! The owner's settings as the broker uses them; their schema and checks are in `house`.
//!
//! Invariant: no setting holds a secret, only names of variables that hold one.

use crate::ground::caps::{Caps, Span, dollars, micros};
use crate::ground::hosts;
use crate::ground::rate::Rate;
use crate::ground::waking::{self, Waking};
use crate::makers::own;
use anyhow::Result;
use house::settings::forms::{self, Form, Verdict as Judged, wrong};
use house::settings::judge::Mistakes;
use house::settings::{self, Reader, Settings};
use house::{House, makers};
use reqwest::Url;
use std::ops::Deref;

pub use house::settings::broker::{
    Auth, Besides, Budget, Model, Packages, Price, Rule, Service, Taint, Verdict, Web,
};
pub use house::settings::channels::{Channel, Place};
pub use house::settings::mcp::{Limit, Mcp, ToolRule};

/// The broker's part of the owner's settings, checked.
#[derive(Clone, Debug, Default)]
pub struct Policy(Settings);

impl Deref for Policy {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.0
    }
}

/// Usual names of variables that hold secrets, without those of models.
const USUAL: [&str; 7] = [
    "BRAVE_API_KEY",
    "X_API_KEY",
    "X_API_SECRET",
    "X_ACCESS_TOKEN",
    "X_ACCESS_TOKEN_SECRET",
    "X_USER_TOKEN",
    "BLUESKY_APP_PASSWORD",
];

impl Policy {
    /// Reads `owner.toml`; a missing file is all defaults.
    pub fn load(house: &House) -> Result<Self> {
        settings::load(house, Self::read)
    }

    /// Parses the broker's sections of a text.
    pub fn read(text: &str) -> Result<Self, Mistakes> {
        let mut policy = Self(settings::read(text, Reader::Broker, check)?.settings);
        // Of the creature's sections, checked there, only the time zone for waking hours and the model of dreams are used.
        let table = text.parse::<toml::Table>().unwrap_or_default();
        let said = |section: &str, key: &str| table.get(section)?.get(key)?.as_str().map(str::to_owned);
        let zone = said("agenda", "time_zone").filter(|zone| !zone.is_empty());
        policy.0.agenda.time_zone = zone.unwrap_or_else(house::moments::machine_zone);
        policy.0.dream.model = said("dream", "model").filter(|name| !name.trim().is_empty());
        for (name, service) in &policy.services {
            if let Err(what) = crosses_in_the_open(service) {
                return Err(settings::mistake(text, &["services", name, "base_url"], what));
            }
        }
        if let Some((path, what)) = own::mistake(&policy.makers) {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            return Err(settings::mistake(text, &path, what));
        }
        match policy.too_much_of_its_own() {
            Some(what) => Err(settings::mistake(text, &["autonomy", "usd_per_day"], what)),
            None => Ok(policy),
        }
    }

    /// Names of all variables that may hold a secret.
    pub fn key_names(&self) -> Vec<String> {
        let mut names: Vec<String> = makers::keys().chain(USUAL).map(str::to_owned).collect();
        names.extend(self.makers.values().flat_map(|maker| maker.keys.clone().unwrap_or_default()));
        names.extend([self.model.key_env.clone(), self.search.key_env.clone()]);
        names.extend(self.model.quick.iter().chain(&self.model.fallback).map(|model| model.key_env.clone()));
        for service in self.services.values() {
            names.extend(service.auth.variables());
        }
        names.extend(self.mcp.values().flat_map(Mcp::variables));
        names.extend(self.channels.values().flat_map(Channel::variables));
        names.retain(|name| !name.is_empty());
        names
    }

    /// Returns how much the creature may spend of its own accord, and when.
    pub fn rate(&self) -> Rate {
        let caps = Caps::of(&self.budget);
        let asked = self.autonomy.usd_per_day.map_or(caps.even_share(), micros);
        let waking = Waking::new(&self.autonomy.waking_hours, &self.agenda.time_zone);
        Rate { per_day: asked.min(caps.share(Span::Day)), waking }
    }

    /// The mistake if the creature's daily money exceeds its share of the owner's cap.
    fn too_much_of_its_own(&self) -> Option<String> {
        let share = Caps::of(&self.budget).share(Span::Day);
        let is_above = micros(self.autonomy.usd_per_day.unwrap_or(0.0)) > share;
        is_above.then(|| {
            format!(
                "must be at most {}, which is what [budget] leaves it: {} % of {} USD; raise autonomous_percent or \
                 daily_usd there",
                dollars(share),
                self.budget.autonomous_percent,
                self.budget.daily_usd
            )
        })
    }
}

/// Checks that need an address parser, or that only the broker can make.
fn check(form: Form, text: &str) -> Judged {
    if form == Form::Address {
        parsed(text).map(|_| ())
    } else if form == Form::NearAddress {
        near_address(text)
    } else if form == Form::Header {
        header(text)
    } else if form == Form::WakingHours {
        waking::judge(text)
    } else {
        forms::check(form, text)
    }
}

fn header(name: &str) -> Judged {
    let known = http::HeaderName::from_bytes(name.as_bytes());
    let known = known.map_err(|_| "must be the name of a header, like X-Api-Key".to_owned())?;
    let ours =
        ["host", "content-length", "transfer-encoding", "connection", "cookie", "upgrade", "te", "trailer"];
    wrong(ours.contains(&known.as_str()), "is a header that carries no key")
}

fn parsed(url: &str) -> Result<Url, String> {
    let parsed = Url::parse(url).map_err(|_| "must be an address, like https://api.example.org")?;
    let web = matches!(parsed.scheme(), "http" | "https") && parsed.has_host();
    wrong(!web, "must begin with https:// (or http:// on this machine)")?;
    let secret = !parsed.username().is_empty() || parsed.password().is_some();
    wrong(secret, "must hold no user name or password: put them in .env and name the variables under auth")?;
    wrong(parsed.query().is_some() || parsed.fragment().is_some(), "must hold no ? and no #")?;
    Ok(parsed)
}

/// Accepts an empty text, https, or plain http to this machine or a private network.
fn near_address(url: &str) -> Judged {
    if url.is_empty() {
        return Ok(());
    }
    let parsed = parsed(url)?;
    wrong(
        parsed.scheme() == "http" && !is_near(&parsed),
        "must be https: a key would cross the network in the open",
    )
}

fn is_near(url: &Url) -> bool {
    let host = hosts::host(url);
    host.parse().map_or_else(|_| hosts::is_local_name(&host), |ip| hosts::reach(ip) != hosts::Reach::Public)
}

fn crosses_in_the_open(service: &Service) -> Judged {
    let Ok(url) = Url::parse(&service.base_url) else { return Ok(()) };
    let loopback = hosts::is_loopback(&hosts::host(&url));
    wrong(
        url.scheme() == "http" && !loopback && !service.allow_private,
        "must be https: a key would cross the network in the open (allow_private = true permits http)",
    )
}
