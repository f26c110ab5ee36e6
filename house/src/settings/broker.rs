//! The broker's sections of `owner.toml` with their defaults: models and money, services, bytes of a page, search.
//!
//! Invariant: no setting takes a secret, only names of variables that hold one.

use super::forms::Form;
use super::key::Shape::{Amount, Count, Flag, Kinds, List, Names, Needed, Table, Text, Word, WordOr};
use super::key::{Key, Shape, section};
use crate::makers;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Upper bound of amounts in USD: nothing sold by the million tokens costs as much.
const DEAREST: f64 = 1e6;
/// Below this, in USD a million tokens, a price of unknown models is as good as none.
const CHEAPEST: f64 = 1e-6;
pub(super) const USD: Shape = Amount(0.0, DEAREST);
/// The section of makers that the owner adds.
const MAKERS: &str = "makers";
const WIRES: Shape = Word(&["", "responses", "chat"]);
pub(super) const WINDOW: Shape = Count(1_000, 100_000_000);
pub(super) const NEAR: Shape = Text(Form::NearAddress);
pub(super) const VARIABLE: Shape = Text(Form::Variable);
pub(super) const NEEDED_VARIABLE: Shape = Text(Form::NeededVariable);

section! {
    /// Which provider is behind `/llm`.
    Model {
        /// `instinct`, {makers}, or a maker of yours; empty: found by keys, then on loopback
        provider: String = String::new(), WordOr(makers::PROVIDERS, MAKERS);
        /// the model's name; empty: the provider's usual one; of an Ollama, the first it offers
        model: String = String::new(), Text(Form::Plain);
        /// address of the API; empty: the provider's own
        base_url: String = String::new(), NEAR;
        /// name of the variable that holds the key; empty: the usual name. Name the provider with it: without one it
        /// is taken for `openai`
        key_env: String = String::new(), VARIABLE;
        /// `responses` or `chat`, of servers of OpenAI's kind; empty: `responses` at OpenAI's own address, else
        /// `chat`
        wire: String = String::new(), WIRES;
        /// tokens the model's window holds; left out: what its server or its name says, else 32,000
        context_tokens: Option<u64> = None, WINDOW;
        /// seconds a reply may be silent, taken to 5 to 1800; in all it may take twelve times that; left out: 300
        deadline_s: Option<u64> = None, Count(1, 86_400);
        /// tokens of one reply at most; left out: 8192
        max_tokens: Option<u64> = None, Count(1, 10_000_000);
        /// `native` calls, the `json` thought, or what its server can
        tools: String = "auto".to_owned(), Word(&["", "auto", "native", "json"]);
        /// how much it thinks, in its maker's words; empty: the maker's default
        effort: String = String::new(), Text(Form::Plain);
        /// a model for what is small; without `provider`, `base_url` and `key_env` it is where `[model]` is
        quick: Option<Besides> = None, Table(Besides::KEYS);
        /// models for when the first does not answer, in this order; what they leave out is as with `quick`
        fallback: Vec<Besides> = vec![], List(&Table(Besides::KEYS));
        /// models that a sub-session may be given by name beside these, each where `quick` would be; no other model is
        /// passed on than what `[model]` and `[dream]` come to
        others: Vec<String> = vec![], List(&Text(Form::ModelName));
        /// the model that a short name means
        aliases: BTreeMap<String, String> = BTreeMap::new(), Names(Form::PriceName, &Text(Form::ModelName));
    }
}

section! {
    /// A model besides the first; what it leaves open is as with that.
    Besides {
        /// as in `[model]`
        provider: String = String::new(), WordOr(makers::PROVIDERS_BESIDES, MAKERS);
        /// the model's name
        model: String = String::new(), Needed(&Text(Form::ModelName));
        /// as in `[model]`
        base_url: String = String::new(), NEAR;
        /// as in `[model]`
        key_env: String = String::new(), VARIABLE;
        /// as in `[model]`
        wire: String = String::new(), WIRES;
        /// as in `[model]`
        context_tokens: Option<u64> = None, WINDOW;
        /// as in `[model]`
        effort: String = String::new(), Text(Form::Plain);
    }
}

section! {
    /// Limits on the money spent on models.
    Budget {
        /// USD a UTC day may cost
        daily_usd: f64 = 5.0, USD;
        /// USD an ISO week (Monday to Sunday, UTC) may cost
        weekly_usd: f64 = 20.0, USD;
        /// percent of each cap that the creature may use of its own accord
        autonomous_percent: f64 = 15.0, Amount(0.0, 100.0);
        /// percent of a cap from which on `budget.json` warns
        warn_percent: f64 = 80.0, Amount(0.0, 100.0);
        /// seconds after a word of yours in which calls may use the whole cap
        owner_window_s: u64 = 900, Count(0, 86_400);
        /// USD per million tokens of the prompt, of a model without a price; never 0
        worst_input_usd: f64 = 30.0, Amount(CHEAPEST, DEAREST);
        /// USD per million tokens of the reply, of a model without a price; never 0
        worst_output_usd: f64 = 150.0, Amount(CHEAPEST, DEAREST);
    }
}

section! {
    /// Money and hours of the creature's own ideas; within the share that `[budget]` leaves it.
    Autonomy {
        /// USD a day for its own ideas, coming in evenly while it wakes; at most its part of `daily_usd`; 0: none;
        /// left out: that part, or of a seventh of `weekly_usd` where that is less
        usd_per_day: Option<f64> = None, USD;
        /// when it may think of its own accord, as in `"08:00-23:00"` or, over midnight, `"20:00-02:00"`, by
        /// `[agenda] time_zone`; empty: all day
        waking_hours: String = String::new(), Text(Form::WakingHours);
    }
}

section! {
    /// USD per million tokens.
    Price {
        /// USD per million tokens of the prompt; this and `output` 0: free
        input: f64 = 0.0, Needed(&USD);
        /// USD per million tokens of the reply
        output: f64 = 0.0, Needed(&USD);
        /// the same, read from a cache; left out: as `input`
        cache_read: Option<f64> = None, USD;
        /// the same, written to a cache; left out: twice `input`
        cache_write: Option<f64> = None, USD;
    }
}

section! {
    /// A place the creature may call by name.
    Service {
        /// where all its calls stay below; https, unless on loopback or `allow_private`
        base_url: String = String::new(), Needed(&Text(Form::Address));
        /// shown to the creature
        about: String = String::new(), Text(Form::Plain);
        /// how it knows you; left out: not at all
        auth: Auth = Auth::None, Kinds("kind", AUTH);
        /// what may be done there; the first that fits decides; none: everything refused
        rules: Vec<Rule> = vec![], List(&Table(Rule::KEYS));
        /// whether its answers count as text of others
        untrusted: bool = true, Flag;
        /// whether it may be at a loopback or private address, and plain http
        allow_private: bool = false, Flag;
    }
}

/// How a service knows us. Every value is the name of an environment variable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Auth {
    #[default]
    None,
    Bearer {
        token_env: String,
    },
    Header {
        header: String,
        value_env: String,
    },
    Basic {
        user_env: String,
        password_env: String,
    },
    /// OAuth 1.0a, HMAC-SHA1.
    OAuth1 {
        key_env: String,
        secret_env: String,
        token_env: String,
        token_secret_env: String,
    },
    /// OAuth 2 with a refresh token.
    OAuth2 {
        token_url: String,
        client_id_env: String,
        /// Empty for public clients.
        #[serde(default)]
        client_secret_env: String,
        refresh_token_env: String,
        #[serde(default)]
        scope: String,
    },
    /// A session of the AT protocol, by handle and app password.
    AtProto {
        handle_env: String,
        password_env: String,
    },
}

const AUTH: &[(&str, &[Key])] = &[
    ("none", &[]),
    ("bearer", &[variable("token_env")]),
    ("header", &[of_auth("header", Needed(&Text(Form::Header))), variable("value_env")]),
    ("basic", &[variable("user_env"), variable("password_env")]),
    (
        "oauth1",
        &[variable("key_env"), variable("secret_env"), variable("token_env"), variable("token_secret_env")],
    ),
    (
        "oauth2",
        &[
            of_auth("token_url", Needed(&NEAR)),
            variable("client_id_env"),
            of_auth("client_secret_env", VARIABLE),
            variable("refresh_token_env"),
            of_auth("scope", Text(Form::Plain)),
        ],
    ),
    ("atproto", &[variable("handle_env"), variable("password_env")]),
];

const fn variable(name: &'static str) -> Key {
    of_auth(name, Needed(&NEEDED_VARIABLE))
}

const fn of_auth(name: &'static str, shape: Shape) -> Key {
    Key { name, meaning: "", shape, default: |_| Value::Null }
}

section! {
    /// A rule for requests to a path. The first rule that fits decides; none: denied.
    Rule {
        /// a method, or `*`
        method: String = String::new(), Needed(&Text(Form::Method));
        /// `*` is one segment, `**` any rest
        path: String = String::new(), Needed(&Text(Form::Glob));
        /// `allow`; `ask`: waits for you; `draft`: kept as a file for you, never sent; `deny`
        verdict("do"): Verdict = Verdict::Deny, Needed(&Word(&["allow", "ask", "draft", "deny"]));
        /// uses an hour; left out: any number
        per_hour: Option<u32> = None, Count(1, 1_000_000);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Allow,
    /// Waits for the owner.
    Ask,
    /// Kept as a file for the owner, never sent.
    Draft,
    Deny,
}

section! {
    /// Rules for fetching pages.
    Web {
        /// whether pages may come from loopback and private addresses and any port; link-local and metadata addresses
        /// never
        allow_private: bool = false, Flag;
        /// hosts pages may come from; where there are any, only these. Models, services and registries are no pages.
        /// `example.org` is that host, `*.example.org` every host below it
        allow: Vec<String> = vec![], List(&Text(Form::Host));
        /// hosts that are refused; wins over `allow`
        deny: Vec<String> = vec![], List(&Text(Form::Host));
        /// bytes of a page after unpacking; the rest is cut off
        most_bytes: u64 = 5 << 20, Count(1_000, 64 << 20);
        /// seconds for a page with all its redirects
        deadline_s: u64 = 20, Count(1, 600);
        /// pages an hour, counted from the broker's start; 0: none
        per_hour: u32 = 1_000, Count(0, 1_000_000);
    }
}

section! {
    /// Which packages may be installed in the workspace, each new one after your yes to its name.
    Packages {
        /// whether Python's, by pip in a virtual environment; wheels alone
        python: bool = false, Flag;
        /// address of the index (PEP 503); empty: what your pip uses
        python_index: String = String::new(), NEAR;
        /// whether npm's; install scripts are off
        npm: bool = false, Flag;
        /// address of the registry; empty: what your npm uses
        npm_registry: String = String::new(), NEAR;
    }
}

section! {
    /// How names are resolved on this machine; private and local addresses stay refused.
    Dns {
        /// whether a name may resolve to 198.18.0.0/15, with which a proxy in fake-IP mode (Clash, sing-box) answers for
        /// every name: the proxy then knows where a call goes, and the broker sees the name alone
        fake_ip: bool = false, Flag;
    }
}

section! {
    /// Makes a service named `search`.
    Search {
        /// `brave` or `searxng`; empty: there is no search
        provider: String = String::new(), Word(&["", "brave", "searxng"]);
        /// its address; `searxng` needs one
        base_url: String = String::new(), NEAR;
        /// name of the variable that holds its key; empty: `BRAVE_API_KEY`
        key_env: String = String::new(), VARIABLE;
    }
}

section! {
    /// Makes a service named `x` where its variables are set.
    X {
        /// address of the X API; empty: the public one
        base_url: String = String::new(), NEAR;
    }
}

section! {
    /// Makes a service named `bluesky` where its variables are set.
    Bluesky {
        /// address of the account's own server (PDS); empty: Bluesky's
        base_url: String = String::new(), NEAR;
    }
}

/// Treatment of outward acts after untrusted text was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Taint {
    #[default]
    Ask,
    Allow,
}

impl Dns {
    /// Whether an address is of the range that a proxy in fake-IP mode answers with for names: sing-box's `inet4_range`,
    /// and within it mihomo's `fake-ip-range` (their documentation). RFC 2544 keeps it for benchmarks: no host is there.
    pub fn is_fake(ip: IpAddr) -> bool {
        matches!(ip, IpAddr::V4(v4) if matches!(v4.octets(), [198, 18..=19, ..]))
    }
}

impl Auth {
    /// Names of the variables its secrets are in.
    pub fn variables(&self) -> Vec<String> {
        match self.clone() {
            Self::None => vec![],
            Self::Bearer { token_env } => vec![token_env],
            Self::Header { value_env, .. } => vec![value_env],
            Self::Basic { user_env, password_env } => vec![user_env, password_env],
            Self::OAuth1 { key_env, secret_env, token_env, token_secret_env } => {
                vec![key_env, secret_env, token_env, token_secret_env]
            }
            Self::OAuth2 { client_id_env, client_secret_env, refresh_token_env, .. } => {
                vec![client_id_env, client_secret_env, refresh_token_env]
            }
            Self::AtProto { handle_env, password_env } => vec![handle_env, password_env],
        }
    }
}
