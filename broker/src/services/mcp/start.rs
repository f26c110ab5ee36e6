//! Starts or reaches an MCP server: its program with the variables the owner named, or its address.

use super::errors::Errors;
use super::failure::{self, Failure};
use super::hand;
use super::handler::Handler;
use super::sign_in::SignIn;
use super::sign_in::calls::Calls;
use super::sign_in::kept::Store;
use super::walled::{WALLED, Within};
use crate::forward::{self, Forward};
use crate::ground::hosts;
use crate::handles::Handles;
use crate::policy;
use house::settings;
use processes::place::FOLDERS;
use processes::programs;
use reqwest::Url;
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{StreamableHttpClient, StreamableHttpClientTransportConfig};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::Instant;
use walls::Choice;

/// Largest message taken, in bytes.
const MOST_MESSAGE: usize = 16 << 20;

pub type Session = RunningService<RoleClient, Handler>;

/// A program that was started, and the proxy of its own; both end when this is dropped.
pub struct Running {
    child: Child,
    _proxy: JoinSet<()>,
}

/// Settings and means of reaching one server.
#[derive(Clone)]
pub struct Start {
    pub name: String,
    pub settings: policy::Mcp,
    pub handles: Arc<Handles>,
    pub forward: Arc<Forward>,
    /// Takes the end of its program's error output; else nobody does, for it may hold credentials.
    pub errors: Option<Errors>,
    /// None where it is a program, or has its token from `.env`.
    pub sign_in: Option<SignIn>,
}

/// A session that was opened.
pub struct Opened {
    pub session: Session,
    /// Killed when dropped.
    pub running: Option<Running>,
    /// The time by which it has to be opened anew.
    pub ends: Option<Instant>,
}

impl Start {
    pub fn new(name: &str, settings: &policy::Mcp, web: &policy::Web, handles: &Arc<Handles>) -> Self {
        let url = Url::parse(&settings.url).ok().filter(|_| settings.token_env.is_empty());
        let secrets = &handles.secrets;
        let sign_in = url.map(|url| SignIn {
            name: name.to_owned(),
            settings: settings.clone(),
            secrets: secrets.clone(),
            calls: Calls::new(name, url, handles.outward.clone(), Some(handles.ledger.clone())),
            store: Arc::new(Store::open(&handles.house, name, &settings.url, secrets.clone())),
            is_wanted: Arc::default(),
        });
        let forward = Arc::new(Forward::new(name, web, handles));
        Self {
            name: name.to_owned(),
            settings: settings.clone(),
            handles: handles.clone(),
            forward,
            errors: None,
            sign_in,
        }
    }

    /// Opens a session.
    pub async fn session(&self, handler: Handler) -> Result<Opened, Failure> {
        if !self.settings.url.is_empty() {
            return self.reached(handler).await;
        }
        let mut running = self.running().await?;
        let (Some(input), Some(output)) = (running.child.stdin.take(), running.child.stdout.take()) else {
            return Err("its program has no standard streams".to_owned().into());
        };
        let transport = AsyncRwTransport::new(output, input).with_max_line_length(MOST_MESSAGE);
        let session = handler.serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await;
        let session = session.map_err(|error| failure::of_opening(&error))?;
        Ok(Opened { session, running: Some(running), ends: None })
    }

    /// A session at its address, with the token of its settings or of a sign-in.
    async fn reached(&self, handler: Handler) -> Result<Opened, Failure> {
        let (http, config) = self.remote()?;
        let (session, ends) = match &self.sign_in {
            None => (opened(http, config, handler).await?, None),
            Some(sign_in) => {
                let signed = sign_in.client(http).await?;
                (opened(signed.client, config, handler).await?, signed.ends)
            }
        };
        Ok(Opened { session, running: None, ends })
    }

    async fn running(&self) -> Result<Running, String> {
        let mut proxy = JoinSet::new();
        if self.settings.network != "proxy" {
            return Ok(Running { child: self.child(None)?, _proxy: proxy });
        }
        let failed = |error: std::io::Error| format!("its proxy cannot be started: {error}");
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let child = self.child(Some(theirs))?;
        let listener = tokio::task::spawn_blocking(move || forward::taken(&ours)).await;
        let listener = listener.map_err(std::io::Error::other).and_then(|taken| taken).map_err(failed)?;
        let listener = TcpListener::from_std(listener).map_err(failed)?;
        proxy.spawn(self.forward.clone().serve(listener));
        Ok(Running { child, _proxy: proxy })
    }

    /// Starts the program; with a socket, the listener of its own network is sent there.
    fn child(&self, proxy: Option<UnixStream>) -> Result<Child, String> {
        let (program, arguments) = self.program()?;
        let home = self.home();
        // Behind the walls no link is seen that leads there, and the broker's folder lies behind one.
        let made = std::fs::create_dir_all(&home).and_then(|()| home.canonicalize());
        let home = made.map_err(|error| format!("{} cannot be made: {error}", home.display()))?;
        let mut command = self.walled(&program, &home, proxy.as_ref().map(AsRawFd::as_raw_fd))?;
        command.args(arguments).current_dir(&home).env_clear().env("HOME", &home).kill_on_drop(true);
        command.env("PATH", programs::path());
        command.envs(std::env::var("LANG").ok().map(|value| ("LANG", value)));
        command.envs(&self.settings.set);
        for name in &self.settings.env {
            command.envs(self.handles.secrets.get(name).map(|value| (name, value)));
        }
        let errors = if self.errors.is_some() { Stdio::piped() } else { Stdio::null() };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let spawned = command.spawn();
        let mut child = spawned.map_err(|error| format!("{program} cannot be started: {error}"))?;
        if let (Some(errors), Some(output)) = (&self.errors, child.stderr.take()) {
            errors.follow(output);
        }
        Ok(child)
    }

    /// Its program with its arguments: the owner's command, or a hand of ours.
    fn program(&self) -> Result<(String, Vec<String>), String> {
        match self.settings.command.split_first() {
            Some((program, arguments)) => Ok((program.clone(), arguments.to_vec())),
            None => {
                let program = hand::program(&self.handles.house, &self.settings.hand)?;
                Ok((program.display().to_string(), hand::arguments(&self.handles.house, &self.settings)))
            }
        }
    }

    /// The program behind the walls that the owner's settings ask for.
    fn walled(&self, program: &str, home: &Path, proxy: Option<RawFd>) -> Result<Command, String> {
        let house = &self.handles.house;
        let program = found(program).ok_or_else(|| format!("{program} is no program on this machine"))?;
        let owner = settings::whole(house).map_err(|error| format!("{error:#}"))?;
        if owner.walls == Choice::Off {
            return match proxy {
                None => Ok(Command::new(program)),
                Some(_) => Err("network = \"proxy\" needs walls, and they are off in owner.toml".to_owned()),
            };
        }
        let risky = Some(&owner.files.risky_root).filter(|_| owner.files.risky).map(PathBuf::from);
        let creatures: Vec<PathBuf> =
            FOLDERS.iter().map(|path| house.root().join(path)).chain(risky).collect();
        let folders = |named: &[String]| -> Result<Vec<PathBuf>, String> {
            named.iter().map(|named| folder(&house.root().join(named), &creatures)).collect()
        };
        let within = Within {
            home: home.canonicalize().map_err(|error| error.to_string())?,
            name: format!("{}-{}", house.identity(), self.name),
            // A program that is named by its path may lie anywhere.
            read: folders(&self.settings.read)?
                .into_iter()
                .chain(programs::folders(&owners_home()))
                .chain(program.parent().map(Path::to_path_buf))
                .collect(),
            write: folders(&self.settings.write)?,
            hidden: vec![house.broker(), house.secrets()],
            open_network: self.settings.network == "open",
            proxy,
            required: owner.walls == Choice::Required,
        };
        let within = serde_json::to_string(&within).map_err(|error| error.to_string())?;
        let mut command = Command::new(ours().map_err(|error| error.to_string())?);
        command.arg(WALLED).arg(within).arg(program);
        walls::inherit(command.as_std_mut(), proxy.into_iter().collect());
        Ok(command)
    }

    /// The folder that its program has for itself.
    pub fn home(&self) -> PathBuf {
        self.handles.house.broker().join("mcp").join(&self.name)
    }

    /// The client for its address, and how it is spoken to.
    fn remote(&self) -> Result<(reqwest::Client, StreamableHttpClientTransportConfig), String> {
        let url = Url::parse(&self.settings.url).map_err(|_| "its url is no address".to_owned())?;
        if url.scheme() != "https" && !hosts::is_loopback(&hosts::host(&url)) {
            return Err("its url is neither https nor on this machine".to_owned());
        }
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.settings.url.as_str())
            .max_sse_event_size(MOST_MESSAGE);
        if !self.settings.token_env.is_empty() {
            let token = self.handles.secrets.get(&self.settings.token_env);
            let token = token.ok_or_else(|| format!("{} is not set in .env", self.settings.token_env))?;
            config = config.auth_header(token);
        }
        Ok((self.handles.outward.client(&url).clone(), config))
    }
}

/// A session of the newest revision, else of an earlier one.
async fn opened<C: StreamableHttpClient + Sync>(
    client: C,
    config: StreamableHttpClientTransportConfig,
    handler: Handler,
) -> Result<Session, Failure> {
    let transport = || StreamableHttpClientTransport::with_client(client.clone(), config.clone());
    let preferred_versions = vec![ProtocolVersion::LATEST];
    let newest = ClientLifecycleMode::Auto { preferred_versions, legacy_version: None };
    let opened = match handler.clone().serve_with_lifecycle(transport(), newest).await {
        // Some earlier servers answer methods they do not know with nothing.
        Err(ClientInitializeError::ExpectedInitResult(_)) => {
            handler.serve_with_lifecycle(transport(), ClientLifecycleMode::Initialize).await
        }
        opened => opened,
    };
    opened.map_err(|error| failure::of_opening(&error))
}

/// A folder that the owner named. Below a folder of the creature's none can be named: the creature may put a link to
/// anywhere in its place, at any time.
fn folder(named: &Path, creatures: &[PathBuf]) -> Result<PathBuf, String> {
    if named.components().any(|part| part == Component::ParentDir) {
        return Err(format!("{} is written with ..: name the folder itself", named.display()));
    }
    let found = named.canonicalize().ok().filter(|found| found.is_dir());
    let found = found.ok_or_else(|| format!("{} is no folder", named.display()))?;
    let is_below = |own: &&PathBuf| {
        let below = |path: &Path, own: &Path| path != own && path.starts_with(own);
        below(named, own) || own.canonicalize().is_ok_and(|own| below(&found, &own))
    };
    match creatures.iter().find(is_below) {
        Some(own) => Err(format!(
            "{} lies in {}, where the creature may put a link in its place: name {} itself",
            named.display(),
            own.display(),
            own.display()
        )),
        None => Ok(found),
    }
}

fn owners_home() -> PathBuf {
    std::env::home_dir().unwrap_or_default()
}

/// The file of a program: named by its path, or in a folder of `PATH`.
fn found(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return PathBuf::from(program).canonicalize().ok();
    }
    let path = programs::path();
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// The broker's own program; tests of it lie in a folder beside it.
fn ours() -> std::io::Result<PathBuf> {
    let this = std::env::current_exe()?;
    let beside = this.parent().and_then(Path::parent).map(|folder| folder.join("broker"));
    let is_ours = this.file_name().is_some_and(|name| name == "broker");
    Ok(beside.filter(|beside| !is_ours && beside.is_file()).unwrap_or(this))
}
