//! Patterns with `*` and `**`: whether one matches a path or a text. Pure.

use crate::ground::encoding;

/// Whether a pattern matches a whole path: `*` is any text in a segment, `**` any number of segments.
pub fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<String> = segments(pattern).map(canonical_segment).collect();
    let path: Vec<&str> = segments(path).collect();
    rest_matches(&pattern, &path)
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('/').unwrap_or(path).split('/')
}

/// A segment of a rule in canonical form, so that it is compared with paths of the same form.
fn canonical_segment(segment: &str) -> String {
    encoding::segment(segment).unwrap_or_else(|_| segment.to_owned())
}

fn rest_matches(pattern: &[String], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "**" => {
            rest_matches(rest, path)
                || path.split_first().is_some_and(|(_, path)| rest_matches(pattern, path))
        }
        (Some((first, rest)), Some((segment, path))) => within(first, segment) && rest_matches(rest, path),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// Whether a pattern matches a segment; a lone `*` does not match an empty one.
fn within(pattern: &str, segment: &str) -> bool {
    if pattern == "*" { !segment.is_empty() } else { globs(pattern, segment) }
}

/// Whether a pattern matches a whole text: `*` is any text, none too.
pub fn globs(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(before) else { return false };
    let mut parts: Vec<&str> = after.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}
