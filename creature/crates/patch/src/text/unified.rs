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
    let (from, to) = (name_with("a/", path), name_with("b/", path));
    // With git's own header an empty file is told from none.
    let (mode, old, new) = match (before, after) {
        (None, _) => ("new file mode 100644\n", "/dev/null", to.as_str()),
        (_, None) => ("deleted file mode 100644\n", from.as_str(), "/dev/null"),
        _ => ("", from.as_str(), to.as_str()),
    };
    let names = if body.is_empty() { String::new() } else { format!("--- {old}\n+++ {new}\n") };
    format!("diff --git {from} {to}\n{mode}{names}{body}")
}

/// A name with its prefix, quoted as git quotes it where it holds what quotes do.
fn name_with(prefix: &str, path: &str) -> String {
    let name = format!("{prefix}{path}");
    if name.contains(['"', '\\']) { format!("{name:?}") } else { name }
}
