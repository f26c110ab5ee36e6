//! Python's packages by the real pip: asked about once by name, wheels alone, from the owner's index and nowhere else.

use crate::outside::{BUILD, LIFE, Outside};
use crate::packages_clients::{answer, house, run, said};
use crate::packages_registry::{Registry, has, python, python_in_html};
use serde_json::Value;
use std::path::PathBuf;

/// A virtual environment, and what pip is told in it.
struct Env {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl Env {
    /// Of this machine's `python3`; none where it makes no environment.
    fn new(outside: &Outside) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("env");
        if !has("python3", &["-m", "venv", at.to_str().unwrap()]) {
            return None;
        }
        let index = format!("http://life:{LIFE}@{}/packages/python/simple/", outside.at);
        let variables = [
            ("PIP_INDEX_URL", index.as_str()),
            ("PIP_ONLY_BINARY", ":all:"),
            ("PIP_CONFIG_FILE", "/dev/null"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Some(Self { folder, variables })
    }

    fn python(&self) -> PathBuf {
        self.folder.path().join("env/bin/python")
    }

    fn install(&self, what: &str) -> (bool, String) {
        let args = ["-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check", what];
        let output = run(self.folder.path(), &self.python(), &args, &self.variables);
        (output.status.success(), said(&output))
    }

    fn version(&self) -> Vec<u32> {
        let output = run(self.folder.path(), &self.python(), &["-m", "pip", "--version"], &[]);
        let said = said(&output);
        let version = said.split(' ').nth(1).unwrap_or_default();
        version.split('.').filter_map(|part| part.parse().ok()).collect()
    }
}

fn settings(index: &str) -> String {
    format!("[packages]\npython = true\npython_index = \"{index}\"\n")
}

/// Nothing but reads, and no token or key with them.
fn only_reads(index: &Registry) {
    let asked = index.asked();
    assert!(asked.iter().all(|line| line.starts_with("GET ") && !line.contains("key")), "{asked:?}");
}

#[test]
fn pip_installs_what_the_owner_said_yes_to_and_nothing_before() {
    if !has("python3", &["--version"]) {
        return;
    }
    let index = python(true);
    let outside = house(&settings(&index.url("/simple/")));
    let Some(env) = Env::new(&outside) else { return };
    let (installed, words) = env.install("Heron>=1");
    assert!(!installed && words.contains("heron is new to this house"), "{words}");
    assert!(words.contains("(ask 1)") && index.files().is_empty(), "{words}\n{:?}", index.files());
    let ask: Value = serde_json::from_str(&outside.file(".self/broker/asks/1.json")).unwrap();
    assert_eq!((&ask["act"]["name"], &ask["act"]["version"]), (&"heron".into(), &"1.0".into()), "{ask}");
    // A pip that reads metadata first has looked at all that heron needs.
    let reads_metadata = env.version() >= vec![23, 2];
    if reads_metadata {
        assert_eq!(ask["act"]["others"], serde_json::json!(["reed"]), "{ask}");
    }
    let line: Value = serde_json::from_str(outside.file(".self/asks.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!((&line["kind"], &line["service"]), (&"package".into(), &"python".into()), "{line}");
    assert!(line["path"].as_str().unwrap().starts_with("heron 1.0"), "{line}");
    // The same wish again is the same ask.
    assert!(env.install("heron").1.contains("(ask 1)"));
    assert_eq!(outside.file(".self/asks.jsonl").lines().count(), 1);

    assert_eq!(answer(&outside, "1", "approve")["state"], "executed");
    let mut ended = env.install("heron");
    if !reads_metadata {
        assert!(!ended.0 && ended.1.contains("reed is new") && ended.1.contains("(ask 2)"), "{}", ended.1);
        assert_eq!(answer(&outside, "2", "approve")["state"], "executed");
        ended = env.install("heron");
    }
    assert!(ended.0, "{}", ended.1);
    let told = run(
        env.folder.path(),
        &env.python(),
        &["-c", "import heron, reed; print(heron.told, reed.told)"],
        &[],
    );
    assert!(said(&told).contains("seven herons seven reeds"), "{}", said(&told));
    only_reads(&index);
    let lines = outside.ledger();
    let of = |path: &str| {
        lines.iter().any(|line| {
            line["event"] == "registry"
                && line["service"] == "python"
                && line["decision"] == "allow"
                && line["path"] == path
                && line["life"] == 7
                && line["bytes_in"].as_u64().unwrap() > 100
        })
    };
    assert!(of("heron") && of("heron heron-1.0-py3-none-any.whl"), "{lines:#?}");
    assert!(lines.iter().any(|line| line["decision"] == "asks_owner"), "{lines:#?}");
    assert!(outside.file(".self/broker/taint.json").contains("until_s"), "what others wrote came in");
    // Once is for good, in this house.
    let again = Env::new(&outside).unwrap().install("reed");
    assert!(again.0, "{}", again.1);
}

#[test]
fn an_old_index_page_without_metadata_asks_for_one_after_another() {
    if !has("python3", &["--version"]) {
        return;
    }
    let index = python(false);
    let outside = house(&settings(&index.url("/simple")));
    let Some(env) = Env::new(&outside) else { return };
    for (id, name) in [("1", "heron"), ("2", "reed")] {
        let (installed, words) = env.install("heron");
        assert!(!installed && words.contains(&format!("{name} is new to this house")), "{words}");
        assert!(!index.files().iter().any(|line| line.contains(name)), "{:?}", index.asked());
        assert_eq!(answer(&outside, id, "approve")["state"], "executed");
    }
    assert!(env.install("heron").0);
}

#[test]
fn an_index_in_html_is_read_as_one_in_json_is() {
    if !has("python3", &["--version"]) {
        return;
    }
    let (json, html) = (python(true), python_in_html());
    let page = |index: &Registry| {
        let outside = house(&settings(&index.url("/simple")));
        outside.get("/packages/python/simple/heron/").text()
    };
    let told = page(&html);
    assert_eq!(told, page(&json), "hashes, metadata and versions of Python too");
    assert!(told.contains("data-requires-python=\"&gt;=3.6\"") && told.contains("#sha256="), "{told}");
}

#[test]
fn what_builds_code_is_no_package_and_a_no_holds() {
    if !has("python3", &["--version"]) {
        return;
    }
    let index = python(true);
    let outside = house(&settings(&index.url("/simple")));
    let Some(env) = Env::new(&outside) else { return };
    let (installed, words) = env.install("mud");
    assert!(!installed && words.contains("No matching distribution"), "{words}");
    let direct = outside.get("/packages/python/file/mud/mud-1.0.tar.gz");
    assert_eq!((direct.status, direct.kind()), (403, "refused_file"));
    assert!(env.install("heron").1.contains("(ask 1)"));
    assert_eq!(answer(&outside, "1", "deny")["state"], "denied");
    let (installed, words) = env.install("heron");
    assert!(!installed && words.contains("the owner said no to heron (ask 1)"), "{words}");
    // What was asked about with it is not asked about anew either, were it by another name.
    let ask: Value = serde_json::from_str(&outside.file(".self/broker/asks/1.json")).unwrap();
    if ask["act"]["others"] == serde_json::json!(["reed"]) {
        let (installed, words) = env.install("reed");
        assert!(!installed && words.contains("the owner said no to reed (ask 1)"), "{words}");
    }
    assert!(index.files().is_empty(), "{:?}", index.asked());
}

#[test]
fn the_door_leads_to_the_owners_index_and_nowhere_else() {
    if !has("python3", &["--version"]) {
        return;
    }
    let index = python(true);
    let outside = house(&settings(&index.url("/simple")));
    let ask = |method: &str, path: &str, token: &str| {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
        outside.ask(&request)
    };
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        let answer = ask(method, "/packages/python/simple/heron/", LIFE);
        assert_eq!(answer.status, 405, "{method}: {answer:?}");
    }
    let page = "/packages/python/simple/heron/";
    assert_eq!(ask("GET", page, BUILD).kind(), "builds_fetch_crates_only");
    assert_eq!(ask("GET", page, &"9".repeat(64)).status, 401);
    for path in [
        "/packages/python/simple/..%2f..%2fadmin/",
        "/packages/python/simple/heron%3fx/",
        "/packages/python/file/heron/other-1.0-py3-none-any.whl",
        "/packages/python/simple/nobody/",
    ] {
        let answer = ask("GET", path, LIFE);
        assert_eq!((answer.status, answer.kind()), (404, "no_package"), "{path}: {answer:?}");
    }
    assert_eq!(ask("GET", "/packages/python/simple/broken/", LIFE).kind(), "upstream_broken");
    assert_eq!(ask("GET", "/packages/npm/heron", LIFE).kind(), "packages_off");
    assert!(outside.file(".self/asks.jsonl").is_empty(), "nobody is asked about what there is not");
    let pages = ["GET /simple/heron/", "GET /simple/broken/", "GET /simple/nobody/"];
    let all = index.asked();
    assert!(all.iter().all(|line| pages.contains(&line.as_str())), "{all:?}");
    let page = ask("GET", page, LIFE);
    let html = page.text();
    assert!(html.contains("heron-1.0-py3-none-any.whl") && !html.contains("tar.gz"), "wheels alone: {html}");
    assert!(!html.contains(&index.at.to_string()), "all links lead here: {html}");
    assert_eq!(house("").get("/packages/python/simple/heron/").kind(), "packages_off");
}

#[test]
fn a_files_private_address_is_the_owners_to_name() {
    if !has("python3", &["--version"]) {
        return;
    }
    // A page may name files on public hosts; on this machine only where the index itself is.
    let elsewhere = python(true);
    let page = serde_json::json!({"meta": {"api-version": "1.0"}, "name": "heron", "files": [
        {"filename": "heron-1.0-py3-none-any.whl", "url": elsewhere.url("/files/heron-1.0-py3-none-any.whl"), "hashes": {}}]});
    let index = Registry::new(move |_, _| (200, "application/json", page.to_string().into_bytes()));
    let outside = house(&settings(&index.url("/simple")));
    let file = outside.get("/packages/python/file/heron/heron-1.0-py3-none-any.whl");
    assert_eq!(file.kind(), "asks_owner");
    assert_eq!(answer(&outside, "1", "approve")["state"], "executed");
    let file = outside.get("/packages/python/file/heron/heron-1.0-py3-none-any.whl");
    assert_eq!((file.status, file.kind()), (403, "refused_address"));
    assert_eq!(elsewhere.asked(), Vec::<String>::new());
}

#[test]
fn the_address_is_what_the_owners_own_tools_say() {
    let wrapped = "  -i, --index-url <url>       Base URL of the Python Package Index (default\n                              https://index.example.org/simple). This should point to";
    assert_eq!(
        broker::packages::address::default(wrapped).as_deref(),
        Some("https://index.example.org/simple")
    );
    if !has("python3", &["-m", "pip", "--version"]) {
        return;
    }
    let index = python(true);
    // As the owner sets it for pip; the broker has it from there.
    let variables = vec![("PIP_INDEX_URL", index.url("/simple/"))];
    let settings = "[packages]\npython = true\n";
    let outside = crate::outside::start(crate::outside::Start { settings, variables, ..Default::default() });
    let page = outside.get("/packages/python/simple/heron/");
    assert_eq!(page.status, 200, "{}", page.text());
    assert_eq!(index.asked(), ["GET /simple/heron/"]);
}
