//! Python's index, pure: a page of it as the index tells it, and the page that pip is given in its place: wheels alone.
//!
//! Sources: the simple repository API of the Python packaging specifications (packaging.python.org, "Simple repository
//! API": PEP 503, 691, 658, 714, 592) and their "Binary distribution format" for the names of wheels.

use super::{Files, Found, python_html};
use serde_json::Value;
use std::fmt::Write;

/// `accept` header for the index: JSON, else HTML.
pub const ACCEPT: &str =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";
/// Content type of pages for pip: every pip understands it.
pub const HTML: &str = "text/html; charset=utf-8";
/// Ending of a wheel's name or address that stands for its metadata alone.
pub const METADATA: &str = ".metadata";

/// A project's name as the specification normalises it; none where it is no name.
pub fn normalised(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric();
    let letters = name.chars().all(|c| plain(c) || ".-_".contains(c));
    let ends = name.starts_with(plain) && name.ends_with(plain);
    if !letters || !ends || name.len() > 200 {
        return None;
    }
    let parts: Vec<&str> = name.split(['.', '-', '_']).filter(|part| !part.is_empty()).collect();
    Some(parts.join("-").to_ascii_lowercase())
}

/// Whether this is a wheel's name: an sdist is none, and building one runs code of its own.
pub fn is_wheel(file: &str) -> bool {
    let parts = file.strip_suffix(".whl").map_or(0, |name| name.split('-').count());
    (5..=6).contains(&parts) && !file.contains('/')
}

/// The version that a wheel's name says.
pub fn version(file: &str) -> String {
    file.split('-').nth(1).unwrap_or_default().to_owned()
}

/// The address of a wheel's metadata (PEP 658).
pub fn beside(url: &str) -> String {
    format!("{}{METADATA}", url.split('#').next().unwrap_or_default())
}

/// The wheels that a page of the index names, and the page for pip; none where it is no such page.
pub fn page(bytes: &[u8], name: &str, at: &reqwest::Url) -> Option<(String, Files)> {
    let named = match serde_json::from_slice::<Value>(bytes) {
        Ok(page) => page.get("files")?.as_array()?.clone(),
        Err(_) => python_html::files(bytes)?,
    };
    let mut files = Files::new();
    let mut html =
        "<!DOCTYPE html>\n<html><head><meta name=\"pypi:repository-version\" content=\"1.0\"></head><body>\n"
            .to_owned();
    for file in &named {
        let text = |key: &str| file.get(key).and_then(Value::as_str).unwrap_or_default();
        let (filename, url) = (text("filename"), at.join(text("url")));
        let (true, Ok(url)) = (is_wheel(filename), url) else { continue };
        let _ = writeln!(html, "{}", anchor(file, name, filename));
        files.insert(filename.to_owned(), Found { url: url.into(), version: version(filename) });
    }
    Some((html + "</body></html>\n", files))
}

/// The link to a wheel behind this door, with all that pip chooses by.
fn anchor(file: &Value, name: &str, filename: &str) -> String {
    let hash = |hashes: Option<&Value>| {
        let sha = hashes.and_then(|hashes| hashes.get("sha256")).and_then(Value::as_str);
        sha.map(|sha| format!("sha256={sha}"))
    };
    let mark = hash(file.get("hashes")).map_or(String::new(), |hash| format!("#{hash}"));
    let mut link = format!("<a href=\"../../file/{name}/{}{}\"", escaped(filename), escaped(&mark));
    let mut put = |key: &str, value: &str| {
        let _ = write!(link, " {key}=\"{}\"", escaped(value));
    };
    if let Some(needs) = file.get("requires-python").and_then(Value::as_str) {
        put("data-requires-python", needs);
    }
    // By its older name too (PEP 714).
    let metadata = file.get("core-metadata").or_else(|| file.get("dist-info-metadata"));
    if let Some(metadata) = metadata.filter(|metadata| **metadata != Value::Bool(false)) {
        let told = hash(Some(metadata)).unwrap_or_else(|| "true".to_owned());
        put("data-core-metadata", &told);
        put("data-dist-info-metadata", &told);
    }
    match file.get("yanked") {
        Some(Value::String(why)) => put("data-yanked", why),
        Some(Value::Bool(true)) => put("data-yanked", ""),
        _ => {}
    }
    format!("{link}>{}</a><br>", escaped(filename))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
