//! Packages this life may install, by what the guardian told pip and npm in its environment.

const PYTHON: &str = "Python: in .self/workspace `python3 -m venv env`, then `env/bin/python -m pip install NAME`; \
    wheels alone.";
const NPM: &str = "npm: `npm install NAME` in a folder of .self/workspace; install scripts are off.";
const NEW: &str = "One that is new to this house is refused once and asks your owner; after the yes run the same command again.";

/// Returns the text on packages for a mind; empty where neither leads to the broker. `var` reads a variable.
pub fn how_to_install(var: impl Fn(&str) -> Option<String>) -> String {
    let leads = |name: &str, door: &str| var(name).is_some_and(|address| address.contains(door));
    let python = leads("PIP_INDEX_URL", "/packages/python/").then_some(PYTHON);
    let npm = leads("NPM_CONFIG_REGISTRY", "/packages/npm/").then_some(NPM);
    let said: Vec<&str> = python.into_iter().chain(npm).collect();
    if said.is_empty() { String::new() } else { format!("{}\n{NEW}", said.join("\n")) }
}
