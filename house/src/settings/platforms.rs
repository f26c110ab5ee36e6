//! Platforms of channels as data: what of a channel's section each takes, and where it is; and how addresses of servers are read.

use super::forms::{Verdict, wrong};
use super::words;
use std::net::IpAddr;

/// A platform: what of a channel's section it takes, and where it is.
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
    pub hosts: &'static [&'static str],
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

/// Checks a channel's name.
pub fn name(text: &str) -> Verdict {
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
pub fn host_and_port(text: &str) -> Option<(&str, u16)> {
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

pub fn check_server(text: &str) -> Verdict {
    if text.is_empty() { Ok(()) } else { server(text).map(|_| ()) }
}

pub fn check_host_and_port(text: &str) -> Verdict {
    wrong(
        !text.is_empty() && host_and_port(text).is_none(),
        "must be a host and a port, like imap.example.org:993",
    )
}

/// Checks an address of mail as it is written most plainly: RFC 5321, 4.1.2, without quotes.
pub fn check_mail(text: &str) -> Verdict {
    let is_one = text.split_once('@').is_some_and(|(local, domain)| {
        let letter = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c);
        (1..=64).contains(&local.len()) && local.chars().all(letter) && host(domain).is_some()
    });
    wrong(!text.is_empty() && !is_one, "must be an address of mail, like feral@example.org")
}

/// Checks the id of a chat: whatever a platform names chats by, without spaces.
pub fn check_chat(text: &str) -> Verdict {
    let is_id =
        (1..=255).contains(&text.len()) && text.chars().all(|c| !c.is_control() && !c.is_whitespace());
    wrong(!is_id, "must be the id of a chat, without spaces, as the platform has it")
}
