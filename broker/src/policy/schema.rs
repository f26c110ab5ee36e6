//! The shape of the broker's part of `owner.toml`: every setting, its bounds, and what is wrong in ways types cannot say.

use crate::ground::hosts;
use crate::ground::waking;
use crate::policy::shape::{Field, Shape};
use crate::policy::words;
use reqwest::Url;
use toml::de::{DeTable, DeValue};

/// What stands above the first section.
pub const TOP: [&str; 2] = ["taint", "walls"];

/// The sections, and keys above them, that are the broker's to judge.
pub const SECTIONS: [(&str, &Shape); 10] = [
    ("model", &Shape::Table(MODEL, nothing)),
    ("budget", &Shape::Table(BUDGET, nothing)),
    ("autonomy", &Shape::Table(AUTONOMY, nothing)),
    ("prices", &Shape::Names(price_name, &Shape::Table(PRICE, nothing))),
    ("services", &Shape::Names(service_name, &Shape::Table(SERVICE, service))),
    ("janee", &Shape::Table(JANEE, janee)),
    ("web", &Shape::Table(WEB, nothing)),
    ("search", &Shape::Table(SEARCH, search)),
    ("x", &Shape::Table(X, nothing)),
    ("taint", &Shape::Word(&["ask", "allow"])),
];

const PROVIDERS: &[&str] = &["", "instinct", "anthropic", "openai", "ollama"];
/// What nothing sold by the million tokens costs, in USD.
const DEAREST: f64 = 1e6;
/// Below this, in USD a million tokens, a price of unknown models is as good as none.
const CHEAPEST: f64 = 1e-6;

const MODEL: &[Field] = &[
    may("provider", Shape::Word(PROVIDERS)),
    may("model", Shape::Text),
    may("base_url", Shape::Judged(near_url)),
    may("key_env", VARIABLE),
    WIRE,
    WINDOW,
    EFFORT,
    may("tools", Shape::Word(&["", "auto", "native", "json"])),
    may("deadline_s", Shape::Count(1, 86_400)),
    may("max_tokens", Shape::Count(1, 10_000_000)),
    may("quick", Shape::Table(BESIDES, nothing)),
    may("fallback", Shape::List(&Shape::Table(BESIDES, nothing))),
    may("aliases", Shape::Names(price_name, &Shape::Judged(model_name))),
];
/// What of it a model besides has.
const BESIDES: &[Field] = &[
    may("provider", Shape::Word(&["", "anthropic", "openai", "ollama"])),
    must("model", Shape::Judged(model_name)),
    may("base_url", Shape::Judged(near_url)),
    may("key_env", VARIABLE),
    WIRE,
    WINDOW,
    EFFORT,
];
const WIRE: Field = may("wire", Shape::Word(&["", "responses", "chat"]));
const WINDOW: Field = may("context_tokens", Shape::Count(1_000, 100_000_000));
const EFFORT: Field = may("effort", Shape::Text);
const BUDGET: &[Field] = &[
    may("daily_usd", Shape::Amount(0.0, DEAREST)),
    may("weekly_usd", Shape::Amount(0.0, DEAREST)),
    may("autonomous_percent", Shape::Amount(0.0, 100.0)),
    may("warn_percent", Shape::Amount(0.0, 100.0)),
    may("owner_window_s", Shape::Count(0, 86_400)),
    may("worst_input_usd", Shape::Amount(CHEAPEST, DEAREST)),
    may("worst_output_usd", Shape::Amount(CHEAPEST, DEAREST)),
];
const AUTONOMY: &[Field] =
    &[may("usd_per_day", Shape::Amount(0.0, DEAREST)), may("waking_hours", Shape::Judged(waking::judge))];
const PRICE: &[Field] = &[
    must("input", Shape::Amount(0.0, DEAREST)),
    must("output", Shape::Amount(0.0, DEAREST)),
    may("cache_read", Shape::Amount(0.0, DEAREST)),
    may("cache_write", Shape::Amount(0.0, DEAREST)),
];
const SERVICE: &[Field] = &[
    must("base_url", Shape::Judged(any_url)),
    may("about", Shape::Text),
    may("auth", Shape::Kinds("kind", AUTH)),
    may("rules", Shape::List(&RULE)),
    may("untrusted", Shape::Flag),
    may("allow_private", Shape::Flag),
];
const AUTH: &[(&str, &[Field])] = &[
    ("none", &[]),
    ("bearer", &[must("token_env", NEEDED_VARIABLE)]),
    ("header", &[must("header", Shape::Judged(header)), must("value_env", NEEDED_VARIABLE)]),
    ("basic", &[must("user_env", NEEDED_VARIABLE), must("password_env", NEEDED_VARIABLE)]),
    (
        "oauth1",
        &[
            must("key_env", NEEDED_VARIABLE),
            must("secret_env", NEEDED_VARIABLE),
            must("token_env", NEEDED_VARIABLE),
            must("token_secret_env", NEEDED_VARIABLE),
        ],
    ),
    (
        "oauth2",
        &[
            must("token_url", Shape::Judged(near_url)),
            must("client_id_env", NEEDED_VARIABLE),
            may("client_secret_env", VARIABLE),
            must("refresh_token_env", NEEDED_VARIABLE),
            may("scope", Shape::Text),
        ],
    ),
];
const RULE: Shape = Shape::Table(
    &[
        must("method", Shape::Judged(method)),
        must("path", Shape::Judged(glob)),
        must("do", Shape::Word(&["allow", "ask", "draft", "deny"])),
        may("per_hour", Shape::Count(1, 1_000_000)),
    ],
    nothing,
);
const JANEE: &[Field] = &[
    may("url", Shape::Judged(near_url)),
    may("command", Shape::List(&Shape::Text)),
    may("pass_env", Shape::List(&NEEDED_VARIABLE)),
    may("rules", Shape::Names(capability, &Shape::List(&RULE))),
];
const WEB: &[Field] = &[
    may("allow_private", Shape::Flag),
    may("allow", Shape::List(&Shape::Judged(host))),
    may("deny", Shape::List(&Shape::Judged(host))),
    may("most_bytes", Shape::Count(1_000, 64 << 20)),
    may("deadline_s", Shape::Count(1, 600)),
    may("per_hour", Shape::Count(0, 1_000_000)),
];
const SEARCH: &[Field] = &[
    may("provider", Shape::Word(&["", "brave", "searxng"])),
    may("base_url", Shape::Judged(near_url)),
    may("key_env", VARIABLE),
];
const X: &[Field] = &[may("base_url", Shape::Judged(near_url))];
const VARIABLE: Shape = Shape::Judged(variable);
const NEEDED_VARIABLE: Shape = Shape::Judged(needed_variable);

const fn may(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, needed: false }
}

const fn must(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, needed: true }
}

type Verdict = Result<(), String>;

fn nothing(_: &DeTable<'_>) -> Option<(&'static str, String)> {
    None
}

fn wrong(condition: bool, what: &str) -> Verdict {
    if condition { Err(what.to_owned()) } else { Ok(()) }
}

/// The name of an environment variable, or nothing.
fn variable(name: &str) -> Verdict {
    if name.is_empty() { Ok(()) } else { needed_variable(name) }
}

fn needed_variable(name: &str) -> Verdict {
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let begins = name.chars().next().is_some_and(|c| !c.is_ascii_digit());
    wrong(name.is_empty(), "must be the name of a variable, like EXAMPLE_API_KEY")?;
    let what = "must be the name of a variable, like EXAMPLE_API_KEY, not what is in it: put that in .env";
    wrong(!letters || !begins || name.len() > 64, what)
}

fn no_secret(name: &str) -> Verdict {
    wrong(words::looks_secret(name), "looks like a secret, not like a name: secrets belong in .env")
}

fn service_name(name: &str) -> Verdict {
    no_secret(name)?;
    let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    wrong(
        !plain || name.is_empty() || name.len() > 40,
        "a service is named in a-z, 0-9 and -, at most 40 of them",
    )
}

fn capability(name: &str) -> Verdict {
    no_secret(name)?;
    let plain = name.chars().all(|c| c.is_ascii_graphic());
    wrong(!plain || name.is_empty() || name.len() > 100, "a capability is named without spaces, or *")
}

fn model_name(name: &str) -> Verdict {
    wrong(name.trim().is_empty() || name.len() > 200, "must be a model's name")
}

fn price_name(name: &str) -> Verdict {
    no_secret(name)?;
    let plain = name.chars().all(|c| c.is_ascii_graphic());
    wrong(
        !plain || name.is_empty() || name.len() > 100,
        "must be a model's name, in quotes if it has dots; with a * at its end it fits all that begin so",
    )
}

fn method(method: &str) -> Verdict {
    const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "*"];
    if METHODS.contains(&method) {
        return Ok(());
    }
    Err(format!("not a method; {}", words::suggest(&method.to_uppercase(), &METHODS)))
}

/// `/a/*/b`, `/a/**`: stars stand alone between slashes, two of them only at the end.
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

fn header(name: &str) -> Verdict {
    let known = http::HeaderName::from_bytes(name.as_bytes());
    let known = known.map_err(|_| "must be the name of a header, like X-Api-Key".to_owned())?;
    let ours =
        ["host", "content-length", "transfer-encoding", "connection", "cookie", "upgrade", "te", "trailer"];
    wrong(ours.contains(&known.as_str()), "is a header that carries no key")
}

/// A host, or `*.` before one.
fn host(pattern: &str) -> Verdict {
    let plain = pattern.strip_prefix("*.").unwrap_or(pattern);
    let what = "must be a host, like example.org, or all hosts below one, like *.example.org";
    let letters = plain.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | ':' | '_'));
    wrong(plain.is_empty() || !letters || plain.starts_with('.') || plain.ends_with('.'), what)?;
    let port = plain.rsplit_once(':').is_some_and(|(host, _)| !host.contains(':'));
    wrong(port, "must be a host without a port")
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

/// Any web address; whether it may be plain http is judged with the rest of its table.
fn any_url(url: &str) -> Verdict {
    parsed(url).map(|_| ())
}

/// Nothing, https, or plain http to this machine or a private network.
fn near_url(url: &str) -> Verdict {
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
    let local = !host.contains('.')
        || [".local", ".lan", ".internal", ".home.arpa"].iter().any(|end| host.ends_with(end));
    match host.parse() {
        Ok(ip) => hosts::reach(ip) != hosts::Reach::Public,
        Err(_) => hosts::is_loopback(&host) || local,
    }
}

fn text<'a>(table: &'a DeTable<'_>, key: &str) -> Option<&'a str> {
    match value(table, key)? {
        DeValue::String(text) => Some(text.as_ref()),
        DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_)
        | DeValue::Table(_) => None,
    }
}

fn value<'a, 'i>(table: &'a DeTable<'i>, key: &str) -> Option<&'a DeValue<'i>> {
    table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value.get_ref())
}

fn service(table: &DeTable<'_>) -> Option<(&'static str, String)> {
    let url = Url::parse(text(table, "base_url")?).ok()?;
    let private = matches!(value(table, "allow_private"), Some(DeValue::Boolean(true)));
    let loopback = hosts::is_loopback(&hosts::host(&url));
    if url.scheme() == "http" && !loopback && !private {
        let what =
            "must be https: a key would cross the network in the open (allow_private = true permits http)";
        return Some(("base_url", what.into()));
    }
    None
}

fn janee(table: &DeTable<'_>) -> Option<(&'static str, String)> {
    let url = text(table, "url").is_some_and(|url| !url.is_empty());
    let command = matches!(value(table, "command"), Some(DeValue::Array(words)) if !words.is_empty());
    match (url, command) {
        (true, true) => {
            Some(("command", "there is a url as well: janee is reached by one of the two".into()))
        }
        (false, false) => Some(("url", "is missing: janee needs a url or a command".into())),
        (true, false) | (false, true) => None,
    }
}

fn search(table: &DeTable<'_>) -> Option<(&'static str, String)> {
    let own = text(table, "provider") == Some("searxng");
    let nowhere = text(table, "base_url").is_none_or(str::is_empty);
    (own && nowhere).then(|| ("base_url", "is missing: searxng is a server of your own".into()))
}
