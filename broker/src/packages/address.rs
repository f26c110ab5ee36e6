//! Addresses of registries: the owner's setting, else what the owner's own pip or npm says it uses. None stands here.

use super::Registry;
use crate::ground::refusal::Refusal;
use crate::policy;
use reqwest::Url;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// Longest time for the owner's tool to answer.
const DEADLINE: Duration = Duration::from_secs(30);
/// Beginnings of the variables that the owner's tools may see: none of them holds a model's or service's key.
const PASSED: [&str; 8] = ["PATH", "HOME", "USER", "LANG", "XDG_CONFIG_", "PIP_", "NPM_CONFIG_", "PYENV_"];

/// The address of a registry's index, without a slash at its end.
pub async fn find(registry: Registry, settings: &policy::Packages) -> Result<Url, Refusal> {
    let (set, key) = match registry {
        Registry::Python => (&settings.python_index, "python_index"),
        Registry::Npm => (&settings.npm_registry, "npm_registry"),
    };
    let told = if set.is_empty() { asked(registry).await } else { Ok(set.clone()) };
    let found = told.and_then(|told| match Url::parse(told.trim().trim_end_matches('/')) {
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            Err("it has a name or password in it, and none is sent".to_owned())
        }
        Ok(url) if matches!(url.scheme(), "https" | "http") => Ok(url),
        _ => Err("it is no http address".to_owned()),
    });
    found.map_err(|why| {
        let tool = registry.tool();
        let message = format!("no address to get {} packages from: {why}", registry.name());
        let hint = format!("the owner installs {tool} or names one as {key} under [packages] in owner.toml");
        Refusal::new(502, "no_registry", message, hint)
    })
}

/// Asks the owner's tool: npm by `npm config get registry`; pip in the help of its option `--index-url`, where it puts
/// what its settings and variables come to (pip's documentation, "pip install").
async fn asked(registry: Registry) -> Result<String, String> {
    match registry {
        Registry::Python => {
            let help = output("python3", &["-I", "-m", "pip", "install", "--help"]).await?;
            default(&help).ok_or_else(|| "pip does not say which index it uses".to_owned())
        }
        Registry::Npm => output("npm", &["config", "get", "registry"]).await,
    }
}

/// The default of `--index-url` in the words of pip's help.
pub fn default(help: &str) -> Option<String> {
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, about) = help.split_once("--index-url <url>")?;
    let (_, from) = about.split_once("(default")?;
    Some(from.split_once(')')?.0.replace(' ', ""))
}

async fn output(program: &str, args: &[&str]) -> Result<String, String> {
    let passed = std::env::vars_os().filter(|(name, _)| {
        let upper = name.to_string_lossy().to_uppercase();
        PASSED.iter().any(|begins| upper.starts_with(begins))
    });
    let mut command = Command::new(program);
    // Its help is wrapped at the width of a terminal.
    command.args(args).env_clear().envs(passed).env("COLUMNS", "500").current_dir("/");
    command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let ended = tokio::time::timeout(DEADLINE, command.output()).await;
    let ended = ended.map_err(|_| format!("{program} did not say it within {} s", DEADLINE.as_secs()))?;
    let ended = ended.map_err(|error| format!("{program} cannot be run: {error}"))?;
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    if ended.status.success() {
        Ok(said)
    } else {
        Err(format!("{program} {}: {}", args.join(" "), ended.status))
    }
}
