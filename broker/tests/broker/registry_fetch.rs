//! Real fetches of cargo's through its proxy, from a registry on this machine and from the one the owner uses.

use crate::outside::{Answer, FORMER, LIFE, Outside, Server, Start, happens, reply, start};
use broker::cargo::registries::Registries;
use house::House;
use sha2::Digest;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn with(home: &Path, more: Vec<(&str, String)>) -> Outside {
    let mut variables = vec![("CARGO_HOME", home.to_str().unwrap().to_owned())];
    variables.extend(more);
    start(Start { variables, ..Start::default() })
}

/// A registry of one crate over plain http.
fn plain_registry() -> Server {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("tiny-0.1.0/src");
    std::fs::create_dir_all(&source).unwrap();
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    std::fs::write(folder.path().join("tiny-0.1.0/Cargo.toml"), manifest).unwrap();
    std::fs::write(source.join("lib.rs"), "pub fn one() -> u8 { 1 }\n").unwrap();
    let packed = folder.path().join("tiny.crate");
    let mut tar = Command::new("tar");
    tar.arg("czf").arg(&packed).args(["-C", folder.path().to_str().unwrap(), "tiny-0.1.0"]);
    assert!(tar.status().unwrap().success());
    let bytes = std::fs::read(packed).unwrap();
    let sum: String = sha2::Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Server::new(move |path, head, stream| {
        assert!(!head.contains("proxy-authorization") && !head.contains(LIFE), "{head}");
        let host = head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        match path {
            "/config.json" => reply(stream, "200 OK", format!(r#"{{"dl":"http://{host}/dl"}}"#).as_bytes()),
            "/ti/ny/tiny" => {
                let line = format!(
                    r#"{{"name":"tiny","vers":"0.1.0","deps":[],"cksum":"{sum}","features":{{}},"yanked":false}}"#
                );
                reply(stream, "200 OK", line.as_bytes());
            }
            "/dl/tiny/0.1.0/download" => reply(stream, "200 OK", &bytes),
            _ => reply(stream, "404 Not Found", b""),
        }
    })
}

/// `cargo fetch` in a project of its own, with a cargo home of its own, by the proxy alone.
fn fetch(
    outside: &Outside,
    token: &str,
    dependency: &str,
    variables: &[(&str, String)],
) -> (Output, PathBuf) {
    let folder = outside.folder.path().join(format!("project-{}", token.get(..4).unwrap_or_default()));
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("src/lib.rs"), "").unwrap();
    let manifest = format!(
        "[package]\nname = \"project\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n{dependency}\n"
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    let home = folder.join("home");
    let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    cargo.args(["fetch", "--color", "never"]).current_dir(&folder);
    for (name, _) in std::env::vars().filter(|(name, _)| name.to_lowercase().ends_with("proxy")) {
        cargo.env_remove(name);
    }
    cargo.env("CARGO_HOME", &home).env("CARGO_HTTP_PROXY", format!("http://life:{token}@{}", outside.at));
    cargo.env("CARGO_NET_RETRY", "0").envs(variables.iter().map(|(name, value)| (name, value)));
    (cargo.output().unwrap(), home.join("registry/cache"))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn cargo_fetches_from_a_registry_on_this_machine() {
    let registry = plain_registry();
    let index = format!("sparse+{}", registry.url("/"));
    let home = tempfile::tempdir().unwrap();
    let settings = format!("[registries.here]\nindex = \"{index}\"\n");
    std::fs::write(home.path().join("config.toml"), settings).unwrap();
    let outside = with(home.path(), vec![]);
    let variables = [("CARGO_REGISTRIES_HERE_INDEX", index)];
    let dependency = "tiny = { version = \"0.1\", registry = \"here\" }";
    let (output, _) = fetch(&outside, FORMER, dependency, &variables);
    assert!(
        !output.status.success() && registry.count() == 0,
        "its only way is the proxy: {}",
        said(&output)
    );
    let (output, cache) = fetch(&outside, LIFE, dependency, &variables);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(std::fs::read_dir(cache).unwrap().count(), 1);
    let paths: Vec<String> =
        outside.ledger().iter().map(|line| line["path"].as_str().unwrap().to_owned()).collect();
    for path in ["/config.json", "/ti/ny/tiny", "/dl/tiny/0.1.0/download"] {
        assert!(paths.contains(&format!("{}{path}", registry.at)), "{path} in {paths:?}");
    }
    let posted = format!(
        "POST {} HTTP/1.1\r\nhost: x\r\nproxy-authorization: Bearer {LIFE}\r\nconnection: close\r\n\r\n",
        registry.url("/config.json")
    );
    assert_eq!(outside.ask(&posted).kind(), "refused_method");
}

#[test]
fn cargo_fetches_what_the_owners_cargo_could() {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let places = Registries::at(&home, &House::new(folder.path())).places();
    if places.iter().all(|place| place.index.is_none() && !home.join("registry/index").exists()) {
        println!("skipped: the cargo of this machine has not used a registry yet");
        return;
    }
    let proxies = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "no_proxy"];
    let proxies = proxies.iter().filter_map(|name| Some((*name, std::env::var(name).ok()?))).collect();
    let outside = with(&home, proxies);
    let (output, _) = fetch(&outside, FORMER, "itoa = \"1\"", &[]);
    assert!(!output.status.success(), "its only way is the proxy");
    assert!(outside.ledger().is_empty());
    let (output, cache) = fetch(&outside, LIFE, "itoa = \"1\"", &[]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(std::fs::read_dir(cache).unwrap().count(), 1);
    assert!(happens(|| !outside.ledger().is_empty()), "one line a tunnel");
    for line in outside.ledger() {
        println!("{}: {} bytes out, {} in", line["path"], line["bytes_out"], line["bytes_in"]);
        assert!(line["bytes_in"].as_u64().unwrap() > 1_000 && line["decision"] == "allow", "{line}");
    }
    let refused = format!(
        "GET http://example.org/ HTTP/1.1\r\nhost: x\r\nproxy-authorization: Bearer {LIFE}\r\nconnection: close\r\n\r\n"
    );
    let mut stream = outside.connect();
    stream.write_all(refused.as_bytes()).unwrap();
    assert_eq!(Answer::read(&mut stream).kind(), "refused_host");
}
