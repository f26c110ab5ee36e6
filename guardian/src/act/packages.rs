//! Variables for pip and npm in a life's environment: the broker's door as their registry, no install scripts.
//!
//! Sources: pip's documentation, "Configuration" and "pip install" (`PIP_` and an option's name); npm's, "config"
//! (`NPM_CONFIG_` and a key's name, each key explained there).
//! Not held: a command line or a file of the creature's own may say otherwise; the door refuses what is no wheel, and no
//! other registry is within reach.

use house::settings::broker::Packages;
use processes::child::Door;

/// Variables of pip: only into a virtual environment, only wheels, no question to anybody at a terminal.
const PIP: [(&str, &str); 5] = [
    ("PIP_ONLY_BINARY", ":all:"),
    ("PIP_REQUIRE_VIRTUALENV", "1"),
    ("PIP_NO_INPUT", "1"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("PIP_CONFIG_FILE", "/dev/null"),
];

/// Variables of npm: no install scripts; only packages asked of the registry; a lock file without this life's token.
const NPM: [(&str, &str); 5] = [
    ("NPM_CONFIG_IGNORE_SCRIPTS", "true"),
    ("NPM_CONFIG_AUDIT", "false"),
    ("NPM_CONFIG_FUND", "false"),
    ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
    ("NPM_CONFIG_OMIT_LOCKFILE_REGISTRY_RESOLVED", "true"),
];

/// The variables of a life that may get packages.
pub fn variables(packages: &Packages, door: &Door) -> Vec<(&'static str, String)> {
    let base = format!("http://life:{}@127.0.0.1:{}/packages", door.token, door.port);
    let mut variables = Vec::new();
    let mut put = |name, value: &str| variables.push((name, value.to_owned()));
    if packages.python {
        put("PIP_INDEX_URL", &format!("{base}/python/simple/"));
        PIP.iter().for_each(|(name, value)| put(name, value));
    }
    if packages.npm {
        put("NPM_CONFIG_REGISTRY", &format!("{base}/npm/"));
        NPM.iter().for_each(|(name, value)| put(name, value));
    }
    variables
}
