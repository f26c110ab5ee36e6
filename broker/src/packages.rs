//! The door to Python's and npm's registries: pages of the index for any name, files of what the owner said yes to.
//!
//! Invariant: nothing but a GET leaves here, to the owner's registry and to the public hosts on which its pages name files;
//! the files of a package come in only after the owner's yes to its name.
//! Not covered: what a package does once it is installed; install scripts are the client's to leave out.

pub mod address;
mod asking;
mod carry;
pub mod npm;
pub mod python;
mod python_html;

use crate::approvals::Approvals;
use crate::door::callers::{Life, given};
use crate::ground::refusal::Refusal;
use crate::ledger::Entry;
use crate::policy;
use asking::Looked;
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use house::mutex::lock;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use hyper::ext::ReasonPhrase;
use reqwest::Url;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::Instant;

/// Most requests to a registry at once; npm has up to fifteen.
const MOST_AT_ONCE: usize = 16;
/// Time the addresses of a package's files are kept, and the number of packages.
const KEPT: Duration = Duration::from_secs(600);
const MOST_KEPT: usize = 300;
/// Longest reason in the first line of an answer, where pip shows it.
const LONGEST_REASON: usize = 400;

/// A kind of registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Registry {
    Python,
    Npm,
}

impl Registry {
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Npm => "npm",
        }
    }

    /// The program that gets packages from there.
    pub fn tool(self) -> &'static str {
        match self {
            Self::Python => "pip",
            Self::Npm => "npm",
        }
    }

    /// Returns the `accept` header for its index pages.
    fn accept(self) -> &'static str {
        match self {
            Self::Python => python::ACCEPT,
            Self::Npm => npm::ACCEPT,
        }
    }

    fn form(self) -> &'static str {
        match self {
            Self::Python => "pages in JSON or HTML (PEP 691, 503)",
            Self::Npm => "package metadata in JSON",
        }
    }
}

/// A file as its index names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub url: String,
    pub version: String,
}

/// Files of one package, by name.
pub type Files = BTreeMap<String, Found>;

type Kept = HashMap<(Registry, String), (Instant, Arc<Files>)>;

/// Dependencies of the door to registries.
pub struct Packages {
    pub settings: policy::Packages,
    pub approvals: Arc<Approvals>,
    addresses: [OnceCell<Url>; 2],
    files: Mutex<Kept>,
    looked: Looked,
    at_once: Arc<Semaphore>,
}

/// A request for a package, by a life.
struct Asked {
    registry: Registry,
    life: u64,
    name: String,
}

impl Packages {
    pub fn new(settings: policy::Packages, approvals: Arc<Approvals>) -> Self {
        Self {
            settings,
            approvals,
            addresses: [OnceCell::new(), OnceCell::new()],
            files: Mutex::default(),
            looked: Looked::default(),
            at_once: Arc::new(Semaphore::new(MOST_AT_ONCE)),
        }
    }

    /// The address of the registry; refused where its switch is off.
    async fn address(&self, registry: Registry) -> Result<&Url, Refusal> {
        let (on, kept) = match registry {
            Registry::Python => (self.settings.python, &self.addresses[0]),
            Registry::Npm => (self.settings.npm, &self.addresses[1]),
        };
        if !on {
            let message = format!("{} packages are off in this house", registry.name());
            let hint = format!("only the owner can change that: {} = true under [packages]", registry.name());
            return Err(Refusal::new(403, "packages_off", message, hint));
        }
        kept.get_or_try_init(|| address::find(registry, &self.settings)).await
    }

    /// A package's page read anew, as the client is given it.
    async fn page(&self, asked: &Asked, here: &str) -> Result<Response, Refusal> {
        let (bytes, kind) = self.index(asked).await?;
        let read = match asked.registry {
            Registry::Python => {
                let at = self.page_url(asked).await?;
                python::page(&bytes, &asked.name, &at)
                    .map(|(page, files)| (python::HTML.to_owned(), Body::from(page), files))
            }
            Registry::Npm => npm::document(&bytes, &asked.name, here)
                .map(|(document, files)| (kind, Body::from(document), files)),
        };
        let (kind, page, files) = read.ok_or_else(|| {
            let (registry, name) = (asked.registry.name(), &asked.name);
            let message = format!("what the {registry} registry says of {name} cannot be read");
            let hint = format!("the owner names a registry that gives {}", asked.registry.form());
            Refusal::new(502, "upstream_broken", message, hint)
        })?;
        self.keep(asked, files);
        Ok(answer(&kind, page))
    }

    /// A file that the package's page names.
    async fn found(&self, asked: &Asked, file: &str, here: &str) -> Result<Found, Refusal> {
        if self.kept(asked).is_none() {
            self.page(asked, here).await?;
        }
        self.kept(asked).and_then(|files| files.get(file).cloned()).ok_or_else(|| {
            let message = format!("the registry names no file {file} of {}", asked.name);
            Refusal::new(404, "no_package", message, "ask for the versions there are")
        })
    }

    fn keep(&self, asked: &Asked, files: Files) {
        let mut kept = lock(&self.files);
        kept.retain(|_, (at, _)| at.elapsed() < KEPT);
        if kept.len() >= MOST_KEPT {
            let oldest = kept.iter().min_by_key(|(_, (at, _))| *at).map(|(key, _)| key.clone());
            oldest.map(|oldest| kept.remove(&oldest));
        }
        kept.insert((asked.registry, asked.name.clone()), (Instant::now(), Arc::new(files)));
    }

    fn kept(&self, asked: &Asked) -> Option<Arc<Files>> {
        let kept = lock(&self.files);
        let (at, files) = kept.get(&(asked.registry, asked.name.clone()))?;
        (at.elapsed() < KEPT).then(|| files.clone())
    }
}

pub fn routes(packages: Arc<Packages>) -> Router {
    Router::new()
        .route("/packages/python/simple/{name}/", get(python_page))
        .route("/packages/python/file/{name}/{file}", get(python_file))
        .route("/packages/npm/{*path}", get(npm_any))
        .with_state(packages)
}

async fn python_page(
    State(packages): State<Arc<Packages>>,
    Extension(Life(life)): Extension<Life>,
    Path(name): Path<String>,
) -> Response {
    let run = async {
        let asked = asked(Registry::Python, life, python::normalised(&name))?;
        let page = packages.page(&asked, "").await?;
        packages.looked.note(&asked);
        Ok(page)
    };
    told(&packages, Registry::Python, life, &name, run.await).await
}

async fn python_file(
    State(packages): State<Arc<Packages>>,
    Extension(Life(life)): Extension<Life>,
    Path((name, file)): Path<(String, String)>,
) -> Response {
    let run = async {
        let asked = asked(Registry::Python, life, python::normalised(&name))?;
        let wheel = file.strip_suffix(python::METADATA).unwrap_or(&file);
        if !python::is_wheel(wheel) {
            let hint = "building one runs its code: look for a version, or another package, that has a wheel";
            return Err(Refusal::new(403, "refused_file", format!("{wheel} is no wheel"), hint));
        }
        let found = packages.found(&asked, wheel, "").await?;
        if wheel != file {
            return packages.file(&asked, &file, &python::beside(&found.url)).await;
        }
        packages.permit(&asked, &found.version).await?;
        packages.file(&asked, &file, &found.url).await
    };
    told(&packages, Registry::Python, life, &file, run.await).await
}

async fn npm_any(
    State(packages): State<Arc<Packages>>,
    Extension(Life(life)): Extension<Life>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Response {
    let run = async {
        let (name, file) =
            path.split_once("/-/").map_or((path.as_str(), None), |(name, file)| (name, Some(file)));
        let asked = asked(Registry::Npm, life, npm::is_name(name).then(|| name.to_owned()))?;
        let here = here(&headers);
        let Some(file) = file else {
            let page = packages.page(&asked, &here).await?;
            packages.looked.note(&asked);
            return Ok(page);
        };
        let found = packages.found(&asked, file, &here).await?;
        packages.permit(&asked, &found.version).await?;
        packages.file(&asked, file, &found.url).await
    };
    told(&packages, Registry::Npm, life, &path, run.await).await
}

/// Returns this door's address for npm, with the life's token: npm takes an archive's address as it stands.
fn here(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    format!("http://life:{}@{host}/packages/npm", given(headers).unwrap_or_default())
}

fn asked(registry: Registry, life: u64, name: Option<String>) -> Result<Asked, Refusal> {
    let name = name.ok_or_else(|| {
        Refusal::new(404, "no_package", "that is no name of a package", "check its spelling")
    })?;
    Ok(Asked { registry, life, name })
}

fn answer(kind: &str, body: Body) -> Response {
    let mut response = Response::new(body);
    let kind = HeaderValue::from_str(kind).unwrap_or(HeaderValue::from_static("application/octet-stream"));
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// The answer, or the refusal in the form that pip and npm show, once it is in the ledger.
async fn told(
    packages: &Packages,
    registry: Registry,
    life: u64,
    path: &str,
    result: Result<Response, Refusal>,
) -> Response {
    let refusal = match result {
        Ok(response) => return response,
        Err(refusal) => refusal,
    };
    let approvals = &packages.approvals;
    let entry = Entry {
        path: approvals.handles.secrets.scrub(&path.chars().take(200).collect::<String>()),
        decision: refusal.kind.into(),
        ..entry(registry, life)
    };
    let refusal = approvals.handles.ledger.refused(entry).await.map_or_else(Refusal::from, |()| refusal);
    let words = format!("{}; {}", refusal.message, refusal.hint);
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::FORBIDDEN);
    let mut response = (status, Json(json!({"error": words}))).into_response();
    response.headers_mut().insert("x-feral-error", HeaderValue::from_static(refusal.kind));
    // pip shows the reason of the first line and not the body, npm the body.
    let plain: String =
        words.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(LONGEST_REASON).collect();
    if let (Registry::Python, Ok(reason)) = (registry, ReasonPhrase::try_from(plain)) {
        response.extensions_mut().insert(reason);
    }
    response
}

fn entry(registry: Registry, life: u64) -> Entry {
    Entry {
        life,
        event: "registry".into(),
        service: registry.name().into(),
        method: "GET".into(),
        ..Entry::default()
    }
}
