//! npm's packages by the real npm: asked about once by name, install scripts off, from the owner's registry alone.

use crate::outside::{LIFE, Outside, Start, start};
use crate::packages_clients::{answer, house, run, said};
use crate::packages_registry::{has, npm};
use serde_json::Value;
use std::path::Path;

fn variables(outside: &Outside) -> Vec<(String, String)> {
    let registry = format!("http://life:{LIFE}@{}/packages/npm/", outside.at);
    let variables = [
        ("NPM_CONFIG_REGISTRY", registry.as_str()),
        ("NPM_CONFIG_IGNORE_SCRIPTS", "true"),
        ("NPM_CONFIG_AUDIT", "false"),
        ("NPM_CONFIG_FUND", "false"),
        ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
        ("NPM_CONFIG_OMIT_LOCKFILE_REGISTRY_RESOLVED", "true"),
    ];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("package.json"), r#"{"name": "bank", "version": "1.0.0"}"#).unwrap();
    folder
}

#[test]
fn npm_installs_what_the_owner_said_yes_to_and_nothing_before() {
    if !has("npm", &["--version"]) {
        return;
    }
    let registry = npm();
    let outside = house(&format!("[packages]\nnpm = true\nnpm_registry = \"{}\"\n", registry.url("/")));
    let folder = project();
    let install = |what: &[&str]| {
        let args = [&["install"], what].concat();
        let output = run(folder.path(), Path::new("npm"), &args, &variables(&outside));
        (output.status.success(), said(&output))
    };
    let (installed, words) = install(&["heron"]);
    assert!(!installed && words.contains("new to this house") && words.contains("(ask 1)"), "{words}");
    assert_eq!(registry.files(), Vec::<String>::new());
    let ask: Value = serde_json::from_str(&outside.file(".self/broker/asks/1.json")).unwrap();
    let mut names = ask["act"]["others"].as_array().unwrap().clone();
    names.push(ask["act"]["name"].clone());
    names.sort_by_key(Value::to_string);
    assert_eq!(names, ["@bank/reed", "heron"], "{ask}");
    assert_eq!(outside.file(".self/asks.jsonl").lines().count(), 1, "one ask for all that it needs");

    assert_eq!(answer(&outside, "1", "approve")["state"], "executed");
    let (installed, words) = install(&["heron"]);
    assert!(installed, "{words}");
    let script = "console.log(require('heron'), require('@bank/reed'))";
    let told = run(folder.path(), Path::new("node"), &["-e", script], &[]);
    assert!(said(&told).contains("seven of heron seven of @bank/reed"), "{}", said(&told));
    assert!(!folder.path().join("node_modules/heron/RAN").exists(), "an install script ran");
    let asked = registry.asked();
    assert!(asked.iter().all(|line| line.starts_with("GET ") && !line.contains("key")), "{asked:?}");
    for file in ["package-lock.json", "package.json"] {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(!text.contains(LIFE), "{file} holds the token: {text}");
    }
    // The lock holds in a later life, whose token and port are others.
    let text = std::fs::read_to_string(folder.path().join("package-lock.json")).unwrap();
    assert!(text.contains("sha512-") && !text.contains(&outside.at.to_string()), "{text}");
    let lines = outside.ledger();
    assert!(
        lines.iter().any(|line| line["service"] == "npm" && line["path"] == "heron heron-1.0.0.tgz"),
        "{lines:#?}"
    );
}

#[test]
fn npm_publishes_and_asks_for_nothing_else() {
    if !has("npm", &["--version"]) {
        return;
    }
    let registry = npm();
    let outside = house(&format!("[packages]\nnpm = true\nnpm_registry = \"{}\"\n", registry.url("")));
    let folder = project();
    for args in [&["publish"][..], &["audit"], &["search", "heron"], &["deprecate", "heron", "x"]] {
        let output = run(folder.path(), Path::new("npm"), args, &variables(&outside));
        assert!(!output.status.success(), "{args:?}: {}", said(&output));
    }
    let odd: Vec<String> =
        registry.asked().into_iter().filter(|line| line != "GET /heron" && line != "GET /bank").collect();
    assert!(odd.is_empty(), "{odd:?}");
}

#[test]
fn the_registry_is_the_one_of_the_owners_npm() {
    if !has("npm", &["--version"]) {
        return;
    }
    let registry = npm();
    let variables = vec![("NPM_CONFIG_REGISTRY", registry.url("/"))];
    let outside = start(Start { settings: "[packages]\nnpm = true\n", variables, ..Start::default() });
    let page = outside.get("/packages/npm/@bank%2freed");
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.text().contains("/packages/npm/@bank/reed/-/reed-1.0.0.tgz"), "{}", page.text());
    assert_eq!(registry.asked(), ["GET /@bank%2freed"]);
}
