//! Channels: where the owner talks with the creature from a chat of their own, and the places that each may reach.

use super::broker::VARIABLE;
use super::forms::{Form, Verdict, wrong};
use super::key::Shape::{Count, Flag, List, Text, Word};
use super::key::section;
use super::notices::VERBOSITIES;
use super::words;
use std::collections::BTreeMap;
use std::net::IpAddr;

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

/// A platform: what of `Channel` it takes, and where it is.
#[derive(Debug)]
pub struct Platform {
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Keys that name a variable, each with the usual name.
    pub variables: &'static [(&'static str, &'static str)],
    /// Keys that cannot be left out.
    pub needed: &'static [&'static str],
    /// Other keys of its own.
    pub besides: &'static [&'static str],
    /// Where its secrets come from, in a sentence.
    pub from: &'static str,
    /// Hosts of its own, reached by TLS; `*.` is any one name below.
    hosts: &'static [&'static str],
}

/// Hosts as the platforms publish them: Telegram, Bot API, "Making requests"; Discord, "Gateway", "Connecting" and its
/// `resume_gateway_url`, "Reference", "CDN"; Slack, "Web API" and "Using Socket Mode", whose addresses lie below slack.com.
pub const PLATFORMS: [Platform; 5] = [
    Platform {
        name: "discord",
        title: "Discord",
        variables: &[("token_env", "DISCORD_BOT_TOKEN")],
        needed: &[],
        besides: &["url"],
        from: "It comes from discord.com/developers/applications, under Bot: Reset Token; let the bot into a server that you are in, so that you can write to it.",
        hosts: &["discord.com", "*.discord.gg", "cdn.discordapp.com"],
    },
    Platform {
        name: "mail",
        title: "Mail",
        variables: &[("password_env", "MAIL_PASSWORD")],
        needed: &["address", "imap", "smtp", "authserv"],
        besides: &["user"],
        from: "It is the password of the mailbox, or an app password where your provider has those.",
        hosts: &[],
    },
    Platform {
        name: "matrix",
        title: "Matrix",
        variables: &[("token_env", "MATRIX_ACCESS_TOKEN")],
        needed: &["url"],
        besides: &[],
        from: "It is the access token of an account made for the creature: Element shows it under All settings, Help & About.",
        hosts: &[],
    },
    Platform {
        name: "slack",
        title: "Slack",
        variables: &[("token_env", "SLACK_BOT_TOKEN"), ("app_token_env", "SLACK_APP_TOKEN")],
        needed: &[],
        besides: &["url"],
        from: "Both come from api.slack.com/apps: xoxb- under OAuth & Permissions, xapp- (connections:write) under Basic Information, with Socket Mode and events on.",
        hosts: &["slack.com", "*.slack.com"],
    },
    Platform {
        name: "telegram",
        title: "Telegram",
        variables: &[("token_env", "TELEGRAM_BOT_TOKEN")],
        needed: &[],
        besides: &["url"],
        from: "It comes from @BotFather on Telegram: /newbot.",
        hosts: &["api.telegram.org"],
    },
];

/// The platform of this name.
pub fn platform(name: &str) -> Option<&'static Platform> {
    PLATFORMS.iter().find(|platform| platform.name == name)
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
    pub(super) fn complete(&mut self, name: &str) {
        for (key, usual) in platform(name).map_or(&[][..], |platform| platform.variables) {
            let named = match *key {
                "app_token_env" => &mut self.app_token_env,
                "password_env" => &mut self.password_env,
                _ => &mut self.token_env,
            };
            if named.is_empty() {
                usual.clone_into(named);
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

/// Checks a channel's name.
pub(super) fn name(text: &str) -> Verdict {
    let names: Vec<&str> = PLATFORMS.iter().map(|platform| platform.name).collect();
    wrong(!names.contains(&text), &format!("no such channel; {}", words::suggest(text, &names)))
}

/// Host and port of the address of a server: https, or http on this machine.
pub fn server(url: &str) -> Result<(&str, u16), String> {
    let (rest, usual, is_open) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
        (Some(rest), _) => (rest, 443, false),
        (_, Some(rest)) => (rest, 80, true),
        _ => return Err("must begin with https:// (or http:// on this machine)".to_owned()),
    };
    wrong(
        rest.chars().any(|c| c.is_control() || c.is_whitespace() || matches!(c, '?' | '#' | '\\' | '@')),
        "must be an address alone, like https://matrix.example.org: no ?, #, \\, @ or spaces",
    )?;
    let authority = rest.split('/').next().unwrap_or_default();
    let whole = match authority.rsplit_once(':').filter(|(_, port)| !port.contains(']')) {
        Some(_) => host_and_port(authority),
        None => host(authority).map(|host| (host, usual)),
    };
    let (host, port) = whole.ok_or("must hold a host, like https://matrix.example.org")?;
    wrong(is_open && !is_this_machine(host), "must be https: a token would cross the network in the open")?;
    Ok((host, port))
}

/// The parts of `host:port`, an IPv6 address in brackets.
fn host_and_port(text: &str) -> Option<(&str, u16)> {
    let (named, port) = text.rsplit_once(':')?;
    let port = port.parse().ok().filter(|number| *number > 0 && port.bytes().all(|b| b.is_ascii_digit()))?;
    Some((host(named)?, port))
}

/// A host as it is spelled, without its brackets; `None` where it is none.
fn host(text: &str) -> Option<&str> {
    if let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        return inner.parse::<std::net::Ipv6Addr>().is_ok().then_some(inner);
    }
    let letters = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
    let parts = text.split('.').all(|part| !part.is_empty() && part.len() <= 63);
    // Four numbers and nothing that a resolver would take for an address of its own.
    let numbers =
        text.split('.').next_back().is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    let is_host = letters && parts && text.len() <= 253 && (!numbers || text.parse::<IpAddr>().is_ok());
    is_host.then_some(text)
}

fn is_this_machine(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

pub(super) fn check_server(text: &str) -> Verdict {
    if text.is_empty() { Ok(()) } else { server(text).map(|_| ()) }
}

pub(super) fn check_host_and_port(text: &str) -> Verdict {
    wrong(
        !text.is_empty() && host_and_port(text).is_none(),
        "must be a host and a port, like imap.example.org:993",
    )
}

/// Checks an address of mail as it is written most plainly: RFC 5321, 4.1.2, without quotes.
pub(super) fn check_mail(text: &str) -> Verdict {
    let is_one = text.split_once('@').is_some_and(|(local, domain)| {
        let letter = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c);
        (1..=64).contains(&local.len()) && local.chars().all(letter) && host(domain).is_some()
    });
    wrong(!text.is_empty() && !is_one, "must be an address of mail, like feral@example.org")
}

/// Checks the id of a chat: whatever a platform names chats by, without spaces.
pub(super) fn check_chat(text: &str) -> Verdict {
    let is_id =
        (1..=255).contains(&text.len()) && text.chars().all(|c| !c.is_control() && !c.is_whitespace());
    wrong(!is_id, "must be the id of a chat, without spaces, as the platform has it")
}
