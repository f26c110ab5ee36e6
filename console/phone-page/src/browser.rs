//! A browser as its owner knows it, by what it says of itself: only told, never believed.

use http::{HeaderMap, header};

/// Its name, and the system it runs on.
pub fn told(headers: &HeaderMap) -> String {
    let said = headers.get(header::USER_AGENT).and_then(|told| told.to_str().ok()).unwrap_or_default();
    let named = |names: &[(&str, &'static str)], or: &'static str| {
        names.iter().find(|(sign, _)| said.contains(sign)).map_or(or, |(_, name)| *name)
    };
    let name = named(
        &[
            ("Firefox", "Firefox"),
            ("FxiOS", "Firefox"),
            ("Edg", "Edge"),
            ("Chrome", "Chrome"),
            ("CriOS", "Chrome"),
            ("Safari", "Safari"),
        ],
        "a browser",
    );
    let on = named(
        &[
            ("Android", "Android"),
            ("iPhone", "an iPhone"),
            ("iPad", "an iPad"),
            ("Windows", "Windows"),
            ("Mac OS", "a Mac"),
            ("Linux", "Linux"),
        ],
        "",
    );
    if on.is_empty() { name.to_owned() } else { format!("{name} on {on}") }
}
