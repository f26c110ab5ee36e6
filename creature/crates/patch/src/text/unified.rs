//! Writes a change of one file as a unified diff. Pure.

use git2::{DiffOptions, Patch};
use std::path::Path;

/// A change of one file as a unified diff with a few lines around it; none means that there is no file.
pub fn write(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let name = Path::new(path);
    let mut options = DiffOptions::new();
    options.context_lines(3);
    let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
    let patch = Patch::from_buffers(old, Some(name), new, Some(name), Some(&mut options));
    let text = patch.and_then(|mut patch| patch.to_buf());
    let text = text.map_or(String::new(), |text| String::from_utf8_lossy(&text).into_owned());
    let body = text.find("@@").and_then(|at| text.get(at..)).unwrap_or_default();
    let (from, to) = match (before, after) {
        (None, _) => ("/dev/null".to_owned(), format!("b/{path}")),
        (_, None) => (format!("a/{path}"), "/dev/null".to_owned()),
        _ => (format!("a/{path}"), format!("b/{path}")),
    };
    format!("--- {from}\n+++ {to}\n{body}")
}
