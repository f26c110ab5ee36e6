//! Channels: where the owner talks with the creature from a chat of their own, and the places that each may reach.

pub use super::platforms::{PLATFORMS, Platform, platform};

use super::broker::VARIABLE;
use super::forms::Form;
use super::key::Shape::{Count, Flag, List, Text, Word};
use super::key::section;
use super::notices::VERBOSITIES;
use super::platforms::{host_and_port, server};
use std::collections::BTreeMap;

section! {
    /// A channel, on the platform that its name says.
    Channel {
        /// name of the variable with the token: of Telegram's bot, Discord's bot, Slack's bot (`xoxb-`), Matrix' account;
        /// empty: `TELEGRAM_BOT_TOKEN`, `DISCORD_BOT_TOKEN`, `SLACK_BOT_TOKEN`, `MATRIX_ACCESS_TOKEN`
        token_env: String = String::new(), VARIABLE;
        /// name of the variable with Slack's app-level token (`xapp-`); empty: `SLACK_APP_TOKEN`
        app_token_env: String = String::new(), VARIABLE;
        /// address of its server, https or on this machine: the homeserver of Matrix; else empty, for the platform's own
        url: String = String::new(), Text(Form::ServerAddress);
        /// mail: the address that is written to
        address: String = String::new(), Text(Form::MailAddress);
        /// mail: host and port of the mailbox, like `imap.example.org:993`
        imap: String = String::new(), Text(Form::HostAndPort);
        /// mail: host and port that mail is handed to, like `smtp.example.org:465`
        smtp: String = String::new(), Text(Form::HostAndPort);
        /// mail: who signs in; empty: the address
        user: String = String::new(), Text(Form::Plain);
        /// mail: name of the variable with the password; empty: `MAIL_PASSWORD`
        password_env: String = String::new(), VARIABLE;
        /// mail: the name by which the server of the mailbox signs its `Authentication-Results`; no other's count
        authserv: String = String::new(), Text(Form::Plain);
        /// whether what belongs to no chat comes here: notices, and what a channel that is gone would have got; left out
        /// everywhere: the first by name
        home: bool = false, Flag;
        /// how much of what happens is told here: `minimal`, `normal` or `verbose`
        verbosity: String = "minimal".to_owned(), Word(VERBOSITIES);
        /// notices an hour; what comes beyond them goes with the next. Answers are not counted
        messages_per_hour: u32 = 12, Count(1, 1_000);
        /// ids of chats besides yours alone with it, in quotes, where you are heard when you address it; nobody else is
        groups: Vec<String> = vec![], List(&Text(Form::ChatId));
    }
}

/// The name of the channel for what belongs to no chat.
pub fn home(channels: &BTreeMap<String, Channel>) -> Option<&str> {
    let named = channels.iter().find(|(_, channel)| channel.home);
    named.or_else(|| channels.first_key_value()).map(|(name, _)| name.as_str())
}

/// Host and port that a channel reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// In lower case, without brackets; `*.` before it: any one name below.
    pub host: String,
    pub port: u16,
    /// Whether the owner wrote it: then it may be on this machine or in a private network.
    pub is_owners: bool,
}

impl Place {
    /// Whether a connection to this host and port goes here.
    pub fn fits(&self, host: &str, port: u16) -> bool {
        let below = |base: &str| {
            host.strip_suffix(base)
                .and_then(|name| name.strip_suffix('.'))
                .is_some_and(|name| !name.is_empty() && !name.contains('.'))
        };
        port == self.port && self.host.strip_prefix("*.").map_or(self.host == host, below)
    }
}

impl Channel {
    /// Takes the usual names for variables that are not named.
    pub fn complete(&mut self, name: &str) {
        for (key, usual) in platform(name).map_or(&[][..], |platform| platform.variables) {
            let named = match *key {
                "app_token_env" => &mut self.app_token_env,
                "password_env" => &mut self.password_env,
                _ => &mut self.token_env,
            };
            if named.is_empty() {
                (*usual).clone_into(named);
            }
        }
    }

    /// Names of the variables its secrets are in.
    pub fn variables(&self) -> Vec<String> {
        let named = [&self.token_env, &self.app_token_env, &self.password_env];
        named.into_iter().filter(|name| !name.is_empty()).cloned().collect()
    }

    /// The places that the channel of this name reaches: what the owner wrote, else the platform's own.
    pub fn places(&self, name: &str) -> Vec<Place> {
        let owners = |(host, port): (&str, u16)| Place { host: host.to_lowercase(), port, is_owners: true };
        let written = [server(&self.url).ok(), host_and_port(&self.imap), host_and_port(&self.smtp)];
        let written: Vec<Place> = written.into_iter().flatten().map(owners).collect();
        if !written.is_empty() {
            return written;
        }
        let own = |host: &&str| Place { host: (*host).to_owned(), port: 443, is_owners: false };
        platform(name).map_or(&[][..], |platform| platform.hosts).iter().map(own).collect()
    }

    /// The text at a key that only some platforms have.
    fn text(&self, key: &str) -> &str {
        match key {
            "token_env" => &self.token_env,
            "app_token_env" => &self.app_token_env,
            "url" => &self.url,
            "address" => &self.address,
            "imap" => &self.imap,
            "smtp" => &self.smtp,
            "user" => &self.user,
            "password_env" => &self.password_env,
            "authserv" => &self.authserv,
            _ => "",
        }
    }
}

/// Keys that only some platforms have.
const OF_SOME: [&str; 9] =
    ["token_env", "app_token_env", "url", "address", "imap", "smtp", "user", "password_env", "authserv"];

/// Mistakes that only several keys together show, each with its channel and key.
pub(super) fn contradictions(channels: &BTreeMap<String, Channel>) -> Vec<(Vec<&str>, String)> {
    let mut found = Vec::new();
    for (name, channel) in channels {
        let Some(platform) = platform(name) else { continue };
        let is_its = |key: &str| {
            platform.needed.contains(&key)
                || platform.besides.contains(&key)
                || platform.variables.iter().any(|(of, _)| *of == key)
        };
        for key in OF_SOME {
            let is_empty = channel.text(key).is_empty();
            if !is_its(key) && !is_empty {
                found.push((vec!["channels", name, key], format!("is nothing that {} has", platform.title)));
            } else if platform.needed.contains(&key) && is_empty {
                found.push((vec!["channels", name, key], "is missing and cannot be guessed".to_owned()));
            }
        }
    }
    let homes: Vec<&String> = channels.iter().filter(|(_, of)| of.home).map(|(name, _)| name).collect();
    if let [first, .., other] = homes.as_slice() {
        found.push((vec!["channels", other, "home"], format!("{first} is home already: there is one")));
    }
    found
}
