//! The hosts the owner's cargo gets crates from: read from cargo's settings and index folders, never listed here.
//!
//! Invariant: only the owner's files are read. A registry's word in its own `config.json` may add public hosts,
//! and private ones only if the registry itself is private.

use crate::ground::files;
use crate::ground::hosts::{self, Reach};
use house::House;
use reqwest::Url;
use serde::Deserialize;
use std::io::Read;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Largest file of cargo's that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// Most index folders looked at.
const MOST_FOLDERS: usize = 200;

/// A host and port that crates may come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub host: String,
    pub port: u16,
    pub https: bool,
    /// Furthest reach that its addresses may have.
    pub furthest: Reach,
    /// For a host from a registry's `config.json`: the host of its index, whose reach it may not exceed.
    pub index: Option<String>,
}

/// Places of cargo's settings, which name the registries.
#[derive(Clone, Debug)]
pub struct Registries {
    cargo_home: PathBuf,
    house: PathBuf,
    /// Indexes named by environment variables.
    variables: Vec<String>,
}

/// A registry's `config.json`.
#[derive(Deserialize)]
struct Said {
    dl: String,
    #[serde(default)]
    api: Option<String>,
}

impl Registries {
    /// The settings of the owner's cargo, as the environment gives them.
    pub fn of(house: &House) -> Self {
        let home = || Some(std::env::home_dir()?.join(".cargo"));
        let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home).unwrap_or_default();
        let named = |(name, index): (String, String)| {
            (name.starts_with("CARGO_REGISTRIES_") && name.ends_with("_INDEX")).then_some(index)
        };
        let variables = std::env::vars_os()
            .filter_map(|(name, index)| Some((name.into_string().ok()?, index.into_string().ok()?)))
            .filter_map(named)
            .collect();
        Self { cargo_home, house: house.root().to_owned(), variables }
    }

    pub fn at(cargo_home: impl Into<PathBuf>, house: &House) -> Self {
        Self { cargo_home: cargo_home.into(), house: house.root().to_owned(), variables: Vec::new() }
    }

    /// All hosts crates may come from, without duplicates. Read each time: these are a few small files.
    pub fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for settings in self.settings() {
            let all = |section: &str| settings.get(section).and_then(Value::as_table).into_iter().flatten();
            let indexes = all("registries").filter_map(|(_, registry)| registry.get("index"));
            let sources = all("source").filter_map(|(_, source)| source.get("registry"));
            let usual = settings.get("registry").and_then(|registry| registry.get("index"));
            let urls = indexes.chain(sources).chain(usual).filter_map(Value::as_str);
            places.extend(urls.filter_map(|url| named(url, None)));
        }
        places.extend(self.variables.iter().filter_map(|index| named(index, None)));
        let folders = std::fs::read_dir(self.cargo_home.join("registry/index"));
        for folder in folders.into_iter().flatten().flatten().take(MOST_FOLDERS) {
            places.extend(used(&folder.path()));
        }
        places.sort_by(|one, other| {
            (&one.host, one.port, other.furthest).cmp(&(&other.host, other.port, one.furthest))
        });
        places.dedup_by(|one, other| {
            (&one.host, one.port, one.https) == (&other.host, other.port, other.https)
        });
        places
    }

    /// The proxy in cargo's own settings, apart from the usual variables.
    pub fn proxy(&self) -> Option<String> {
        let variable = std::env::var("CARGO_HTTP_PROXY").ok();
        let proxy = |settings: Table| settings.get("http")?.get("proxy")?.as_str().map(str::to_owned);
        let set = || self.settings().into_iter().filter_map(proxy).find(|proxy| !proxy.is_empty());
        variable.filter(|proxy| !proxy.is_empty()).or_else(set)
    }

    /// Cargo's settings files, those nearest to the house first, as cargo ranks them.
    fn settings(&self) -> Vec<Table> {
        let folders = [self.house.join(".cargo"), self.cargo_home.clone()];
        let files = folders.iter().flat_map(|folder| [folder.join("config.toml"), folder.join("config")]);
        files
            .filter_map(|path| {
                let text = read(&path)?;
                let settings = toml::from_str(&text);
                settings
                    .inspect_err(|_| {
                        tracing::warn!("no registries are taken from {}: not TOML", path.display())
                    })
                    .ok()
            })
            .collect()
    }
}

/// The hosts of a registry the owner's cargo has used: its index folder says where its crates are.
fn used(folder: &Path) -> Vec<Place> {
    let said: Option<Said> =
        read(&folder.join("config.json")).and_then(|text| serde_json::from_str(&text).ok());
    let name = folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.rsplit_once('-'));
    let (Some(said), Some((host, _hash))) = (said, name) else { return Vec::new() };
    let mut places: Vec<Place> = named(&format!("https://{host}/"), None).into_iter().collect();
    let Some(index) = places.first().map(|index| index.host.clone()) else { return places };
    places
        .extend([Some(said.dl), said.api].into_iter().flatten().filter_map(|url| named(&url, Some(&index))));
    places
}

/// The host of a URL in cargo's settings; `None` for files, git over ssh and invalid URLs.
fn named(url: &str, index: Option<&str>) -> Option<Place> {
    let url = Url::parse(url.strip_prefix("sparse+").unwrap_or(url)).ok()?;
    let host = Some(hosts::host(&url)).filter(|host| !host.is_empty())?;
    let https = match url.scheme() {
        "https" => true,
        "http" => false,
        _ => return None,
    };
    // The folder's name and the index's own host come from the owner, other hosts from the registry.
    let index = index.filter(|index| *index != host).map(str::to_owned);
    let furthest = match index {
        Some(_) => Reach::Public,
        None if hosts::is_loopback(&host) => Reach::Loopback,
        None => Reach::Private,
    };
    Some(Place { port: url.port_or_known_default()?, host, https, furthest, index })
}

fn read(path: &Path) -> Option<String> {
    let file = files::open_owners(path).ok()?;
    let mut text = String::new();
    let bytes = file.take(MOST_BYTES + 1).read_to_string(&mut text).ok()?;
    (bytes as u64 <= MOST_BYTES).then_some(text)
}
