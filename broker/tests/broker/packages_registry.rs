//! Registries of Python's and npm's on loopback with a few packages in each; every request is kept, and none may hold a key.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// A registry on a port of its own.
pub struct Registry {
    /// `host:port`.
    pub at: String,
    /// What it was asked for, `METHOD /path` each.
    asked: Arc<Mutex<Vec<String>>>,
}

/// What it answers: status, content type, body.
type Reply = (u16, &'static str, Vec<u8>);

impl Registry {
    pub fn new(answer: impl Fn(&str, &str) -> Reply + Send + Sync + 'static) -> Self {
        let server = tiny_http::Server::http("127.0.0.1:0").unwrap();
        let at = server.server_addr().to_string();
        let (asked, here) = (Arc::<Mutex<Vec<String>>>::default(), at.clone());
        let kept = asked.clone();
        std::thread::spawn(move || {
            for request in server.incoming_requests() {
                let path = request.url().to_owned();
                let is_key =
                    |header: &tiny_http::Header| header.field.to_string().to_lowercase().contains("auth");
                let key = if request.headers().iter().any(is_key) { " with a key" } else { "" };
                kept.lock().unwrap().push(format!("{} {path}{key}", request.method()));
                let (status, kind, body) = answer(&path, &here);
                let kind = tiny_http::Header::from_bytes("Content-Type", kind).unwrap();
                let reply = tiny_http::Response::from_data(body).with_status_code(status).with_header(kind);
                let _ = request.respond(reply);
            }
        });
        Self { at, asked }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.at)
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// The files of packages it was asked for.
    pub fn files(&self) -> Vec<String> {
        let is_file =
            |line: &String| line.ends_with(".whl") || line.ends_with(".tgz") || line.ends_with(".gz");
        self.asked().into_iter().filter(is_file).collect()
    }
}

/// Writes a wheel by its specification ("Binary distribution format"): a zip of the module, METADATA, WHEEL and RECORD.
const MAKE_WHEEL: &str = r#"
import sys, zipfile
name, version, needs, folder = sys.argv[1:]
info = f"{name}-{version}.dist-info"
metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
if needs: metadata += f"Requires-Dist: {needs}\n"
file = f"{folder}/{name}-{version}-py3-none-any.whl"
with zipfile.ZipFile(file, "w") as wheel:
    # The same bytes whenever it is made.
    put = lambda path, text: wheel.writestr(zipfile.ZipInfo(path), text)
    put(f"{name}.py", f"told = 'seven {name}s'\n")
    put(f"{info}/METADATA", metadata)
    put(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    put(f"{info}/RECORD", "")
open(file + ".metadata", "w").write(metadata)
"#;

/// The program of this machine, if it runs.
pub fn has(program: &str, args: &[&str]) -> bool {
    let ran = Command::new(program).args(args).output();
    let has = ran.is_ok_and(|output| output.status.success());
    if !has {
        println!("skipped: {program} {} does not run on this machine", args.join(" "));
    }
    has
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An index by PEP 691 with `heron` (which needs `reed`), `reed`, and `mud`, which there is as an sdist alone; metadata beside
/// wheels (PEP 658, by its name of PEP 714) where `beside`. `broken` is no page.
pub fn python(beside: bool) -> Registry {
    index(beside, false)
}

/// The same with pages of HTML (PEP 503).
pub fn python_in_html() -> Registry {
    index(true, true)
}

/// A page in HTML of what a page in JSON says.
fn html(files: &[Value]) -> String {
    let link = |file: &Value| {
        let sha = |of: &Value| format!("sha256={}", of["sha256"].as_str().unwrap());
        let metadata =
            file.get("core-metadata").map_or(String::new(), |of| format!("data-core-metadata='{}'", sha(of)));
        format!(
            "  <A {metadata}\n data-requires-python=\"&gt;=3.6\" href=\"{}#{}\">{}</A><br/>\n",
            file["url"].as_str().unwrap(),
            sha(&file["hashes"]),
            file["filename"].as_str().unwrap()
        )
    };
    format!("<!DOCTYPE html>\n<html><body>\n{}</body></html>", files.iter().map(link).collect::<String>())
}

fn index(beside: bool, in_html: bool) -> Registry {
    let folder = tempfile::tempdir().unwrap();
    for (name, needs) in [("heron", "reed>=1"), ("reed", "")] {
        let args = ["-c", MAKE_WHEEL, name, "1.0", needs, folder.path().to_str().unwrap()];
        assert!(Command::new("python3").args(args).status().unwrap().success());
        std::fs::write(folder.path().join(format!("{name}-1.0.tar.gz")), "no archive").unwrap();
    }
    std::fs::write(folder.path().join("mud-1.0.tar.gz"), "no archive").unwrap();
    Registry::new(move |path, _| {
        let read = |name: &str| std::fs::read(folder.path().join(name)).ok();
        let file = |name: &&str| {
            let mut file = json!({"filename": name, "url": format!("/files/{name}"), "requires-python": ">=3.6",
                "hashes": {"sha256": hex(&read(name).unwrap())}, "yanked": false});
            if let (true, Some(metadata)) = (beside, read(&format!("{name}.metadata"))) {
                file["core-metadata"] = json!({"sha256": hex(&metadata)});
            }
            file
        };
        let files: &[&str] = match path {
            "/simple/heron/" => &["heron-1.0.tar.gz", "heron-1.0-py3-none-any.whl"],
            "/simple/reed/" => &["reed-1.0.tar.gz", "reed-1.0-py3-none-any.whl"],
            "/simple/mud/" => &["mud-1.0.tar.gz"],
            "/simple/broken/" => return (200, "text/plain", b"seven".to_vec()),
            _ => {
                let found = path.strip_prefix("/files/").and_then(read);
                let status = if found.is_some() { 200 } else { 404 };
                return (status, "application/octet-stream", found.unwrap_or_default());
            }
        };
        let files: Vec<Value> = files.iter().map(file).collect();
        if in_html {
            return (200, "text/html", html(&files).into_bytes());
        }
        let page = json!({"meta": {"api-version": "1.0"}, "name": "x", "files": files});
        (200, "application/vnd.pypi.simple.v1+json", page.to_string().into_bytes())
    })
}

/// Packs a package of npm's into a file; its `integrity`.
fn pack(folder: &Path, file: &str, manifest: &Value) -> String {
    let inside = folder.join("package");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::write(inside.join("package.json"), manifest.to_string()).unwrap();
    let code = format!("module.exports = 'seven of {}';\n", manifest["name"].as_str().unwrap());
    std::fs::write(inside.join("index.js"), code).unwrap();
    let packed = Command::new("tar").args(["-czf", file, "package"]).current_dir(folder).status();
    assert!(packed.unwrap().success());
    let sum = "process.stdout.write('sha512-' + require('crypto').createHash('sha512')\
        .update(require('fs').readFileSync(process.argv[1])).digest('base64'))";
    let summed = Command::new("node").args(["-e", sum, file]).current_dir(folder).output().unwrap();
    String::from_utf8(summed.stdout).unwrap()
}

/// A registry by npm's "Package metadata", with `heron` (which needs `@bank/reed`) and `@bank/reed`; both have an install
/// script.
pub fn npm() -> Registry {
    let folder = tempfile::tempdir().unwrap();
    let packages = [("heron", "heron", json!({"@bank/reed": "^1.0.0"})), ("@bank/reed", "reed", json!({}))];
    let mut all = BTreeMap::new();
    for (name, short, needs) in packages {
        let file = format!("{short}-1.0.0.tgz");
        let mut about = json!({"name": name, "version": "1.0.0", "dependencies": needs,
            "scripts": {"postinstall": "echo ran > RAN"}});
        let integrity = pack(folder.path(), &file, &about);
        about["hasInstallScript"] = json!(true);
        about["dist"] = json!({"integrity": integrity});
        all.insert(name, (file, about));
    }
    Registry::new(move |path, here| {
        for (name, (file, about)) in &all {
            let archive = format!("/{name}/-/{file}");
            if path == archive {
                return (200, "application/octet-stream", std::fs::read(folder.path().join(file)).unwrap());
            }
            if path == format!("/{}", name.replace('/', "%2f")) {
                let mut about = about.clone();
                about["dist"]["tarball"] = json!(format!("http://{here}{archive}"));
                let document = json!({"name": name, "modified": "2026-01-01T00:00:00.000Z",
                    "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": about}});
                return (200, "application/vnd.npm.install-v1+json", document.to_string().into_bytes());
            }
        }
        (404, "application/json", b"{}".to_vec())
    })
}
