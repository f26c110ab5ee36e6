//! Checks on text settings: names, paths, times, rules. Web addresses are checked by the broker.

use super::{platforms, words};
use crate::decimal::Decimal;
use std::path::Path;

/// Kind of text that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Anything; not checked for secrets either.
    Free,
    /// Anything but a secret.
    Plain,
    /// An absolute path.
    Folder,
    /// An address and a port to listen at.
    Listening,
    /// The name of one host.
    HostName,
    /// As in `01:00`.
    TimeOfDay,
    /// A time zone of this machine.
    Zone,
    /// The name of an environment variable, or nothing.
    Variable,
    NeededVariable,
    ModelName,
    /// A model's name; with a `*` at its end it matches every name that begins so.
    PriceName,
    ServiceName,
    MakerName,
    Method,
    /// A path with `*` for a segment and `**` for any rest.
    Glob,
    /// A host, or `*.` and a host.
    Host,
    /// The name of a setting the creature declares.
    KeyName,
    /// Web addresses. `Address`: any; `NearAddress`: https, or plain http to this machine or a private network.
    Address,
    NearAddress,
    /// The name of an HTTP header.
    Header,
    WakingHours,
    /// An exact amount, as in `0.05`.
    Decimal,
    /// The name of a channel: its platform's.
    ChannelName,
    /// The address of a channel's server, or nothing: https, or plain http to this machine.
    ServerAddress,
    /// A host and a port, or nothing.
    HostAndPort,
    /// An address of mail, or nothing.
    MailAddress,
    /// A platform's id of a chat.
    ChatId,
}

/// Ok, or what is wrong with a text, as the end of a sentence that begins with its key.
pub type Verdict = Result<(), String>;

/// A check that may be stricter: the broker's, which can parse addresses.
pub type Check = fn(Form, &str) -> Verdict;

/// Checks what needs no address parser; the last four forms here are checked by the broker alone.
pub fn check(form: Form, text: &str) -> Verdict {
    match form {
        Form::Free | Form::Plain => Ok(()),
        Form::Folder => wrong(!Path::new(text).is_absolute(), "must be an absolute path"),
        Form::Listening => listening(text),
        Form::HostName => host_name(text),
        Form::TimeOfDay => time_of_day(text),
        Form::Zone => zone(text),
        Form::Variable if text.is_empty() => Ok(()),
        Form::Variable | Form::NeededVariable => variable(text),
        Form::ModelName => wrong(text.trim().is_empty() || text.len() > 200, "must be a model's name"),
        Form::PriceName => named(
            text,
            100,
            |c| c.is_ascii_graphic(),
            "must be a model's name, in quotes if it has dots; with a * at its end it fits all that begin so",
        ),
        Form::ServiceName => named(
            text,
            40,
            |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-',
            "a service is named in a-z, 0-9 and -, at most 40 of them",
        ),
        Form::MakerName if text == "instinct" => {
            wrong(true, "is the mind without a model, not a maker of them")
        }
        Form::MakerName => named(
            text,
            40,
            |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-',
            "a maker is named in a-z, 0-9 and -, at most 40 of them",
        ),
        Form::KeyName => named(
            text,
            40,
            |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_',
            "a setting is named in a-z, 0-9 and _, at most 40 of them",
        ),
        Form::Method => method(text),
        Form::Glob => glob(text),
        Form::Host => host(text),
        Form::Decimal => Decimal::read(text).map(|_| ()).map_err(str::to_owned),
        Form::ChannelName => platforms::name(text),
        Form::ServerAddress => platforms::check_server(text),
        Form::HostAndPort => platforms::check_host_and_port(text),
        Form::MailAddress => platforms::check_mail(text),
        Form::ChatId => platforms::check_chat(text),
        Form::Address | Form::NearAddress | Form::Header | Form::WakingHours => Ok(()),
    }
}

pub fn wrong(condition: bool, what: &str) -> Verdict {
    if condition { Err(what.to_owned()) } else { Ok(()) }
}

fn named(name: &str, longest: usize, letter: fn(char) -> bool, what: &str) -> Verdict {
    wrong(words::looks_secret(name), "looks like a secret, not like a name: secrets belong in .env")?;
    wrong(name.is_empty() || name.len() > longest || !name.chars().all(letter), what)
}

fn variable(name: &str) -> Verdict {
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let begins = name.chars().next().is_some_and(|c| !c.is_ascii_digit());
    wrong(name.is_empty(), "must be the name of a variable, like EXAMPLE_API_KEY")?;
    let what = "must be the name of a variable, like EXAMPLE_API_KEY, not what is in it: put that in .env";
    wrong(!letters || !begins || name.len() > 64, what)
}

fn method(method: &str) -> Verdict {
    const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "*"];
    if METHODS.contains(&method) {
        return Ok(());
    }
    Err(format!("not a method; {}", words::suggest(&method.to_uppercase(), &METHODS)))
}

/// Checks a glob (`/a/*/b`, `/a/**`): stars stand alone between slashes, two of them only at the end.
fn glob(path: &str) -> Verdict {
    let rest = path.strip_prefix('/').ok_or("must begin with /")?;
    wrong(path.contains(['?', '#', '\\', '%']), "is a path alone: no ?, #, \\ or %")?;
    wrong(path.chars().any(|c| c.is_control() || c == ' '), "holds spaces or control characters")?;
    let segments: Vec<&str> = rest.split('/').collect();
    for (index, segment) in segments.iter().enumerate() {
        let last = index + 1 == segments.len();
        wrong(matches!(*segment, "." | ".."), "must not hold . or .. segments")?;
        wrong(segment.is_empty() && !last, "must not hold empty segments (//)")?;
        wrong(*segment == "**" && !last, "may hold ** only at the end")?;
        let alone = matches!(*segment, "*" | "**") || !segment.contains('*');
        wrong(!alone, "may hold * and ** only as a whole segment, like /users/*/posts")?;
    }
    Ok(())
}

fn host(pattern: &str) -> Verdict {
    let plain = pattern.strip_prefix("*.").unwrap_or(pattern);
    let what = "must be a host, like example.org, or all hosts below one, like *.example.org";
    let letters = plain.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | ':' | '_'));
    wrong(plain.is_empty() || !letters || plain.starts_with('.') || plain.ends_with('.'), what)?;
    let port = plain.rsplit_once(':').is_some_and(|(host, _)| !host.contains(':'));
    wrong(port, "must be a host without a port")
}

fn zone(name: &str) -> Verdict {
    // This machine's.
    if name.is_empty() || jiff::tz::TimeZone::get(name).is_ok() {
        return Ok(());
    }
    let known: Vec<String> = jiff::tz::db().available().map(|name| name.to_string()).collect();
    if known.is_empty() {
        return Err(
            "no time zone but UTC is known on this machine: install its time zone data (tzdata)".into()
        );
    }
    if let Some(hint) = from_greenwich(name) {
        return Err(format!("no such time zone; {hint}"));
    }
    let city = |known: &&String| {
        known.rsplit('/').next().is_some_and(|city| city.eq_ignore_ascii_case(&name.replace(' ', "_")))
    };
    let near = known.iter().find(city);
    let hint = near.map_or("names are like Europe/Berlin".into(), |near| format!("did you mean {near}?"));
    Err(format!("no such time zone; {hint}"))
}

/// Names the zone for an offset such as `GMT+2`: names under `Etc` count the other way round, hours west.
fn from_greenwich(name: &str) -> Option<String> {
    let (_, offset) =
        ["GMT", "UTC", ""].iter().find_map(|zone| Some((zone, name.trim().strip_prefix(zone)?)))?;
    let (sign, hours) = (offset.get(..1)?, offset.get(1..)?.split(':').next()?.trim().parse::<u8>().ok()?);
    let west = match sign {
        "+" => "-",
        "-" => "+",
        _ => return None,
    };
    Some(format!(
        "write a place, like Europe/Berlin, whose summer time is kept too, or Etc/GMT{west}{hours}: names under Etc have \
         the sign turned round"
    ))
}

fn time_of_day(text: &str) -> Verdict {
    let part =
        |text: &str, most: u8| text.len() == 2 && text.parse::<u8>().is_ok_and(|number| number <= most);
    let good = text.split_once(':').is_some_and(|(hour, minute)| part(hour, 23) && part(minute, 59));
    wrong(!good, "must be a time of day, like \"01:00\"")
}

fn listening(text: &str) -> Verdict {
    let what = "must be an address and a port, like \"0.0.0.0:4433\" or \"[::]:4433\"";
    wrong(text.parse::<std::net::SocketAddr>().is_err(), what)
}

/// Checks a name as browsers write it, or an address of four numbers.
fn host_name(text: &str) -> Verdict {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let is_part = |part: &str| {
        (1..=63).contains(&part.len())
            && part.chars().all(is_letter)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    let what =
        "must be a host's name alone, like \"house.example.org\": no https://, port, capitals or umlauts";
    wrong(text.len() > 253 || !text.split('.').all(is_part), what)
}
