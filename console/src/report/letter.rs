//! A report as a letter: Markdown to send to a friend, without keys, paths and addresses of this machine.

use super::told::Section;
use crate::life::export::secrets::Secrets;
use anyhow::Result;
use house::terminal;
use house::{House, moments, printable};
use std::path::Path;

/// Texts that replace a path or an address of this machine.
const PATH: &str = "(a path)";
const ADDRESS: &str = "(this machine)";
/// Addresses of this machine itself.
const LOOPBACK: [&str; 4] = ["127.0.0.1", "localhost", "[::1]", "0.0.0.0"];
pub fn print(house: &House, since: &str) -> Result<()> {
    let (facts, sections) = super::read(house, since);
    let secrets = Secrets::of(house)?;
    let is_folder = |name: &str| Path::new("/").join(name).is_dir();
    // Before anything is escaped, which would change a key so that it is not found.
    let strike = |text: &str| sent(&secrets.struck(text), &is_folder);
    lines(&sections, since, facts.is_nothing(), &strike).iter().for_each(|line| terminal::line(line));
    Ok(())
}

fn lines(sections: &[Section], since: &str, nothing: bool, strike: &dyn Fn(&str) -> String) -> Vec<String> {
    let mut lines = vec![format!("# A self-editing creature, since {}", moments::told(since))];
    if nothing {
        lines.extend([String::new(), "Nothing happened.".into()]);
    }
    for section in sections {
        lines.extend([String::new(), format!("## {}", section.heading), String::new()]);
        lines.extend(
            section.rows.iter().map(|row| format!("- {}", escaped(&strike(&printable::flat(&row.text))))),
        );
        let left = section.count.saturating_sub(section.rows.len() as u64);
        if left > 0 {
            lines.push(format!("- and {left} more"));
        }
    }
    lines
}

/// Text as Markdown shows it: nothing in it is a link, an emphasis or a tag.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if "\\`*_[]<>#|".contains(letter) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// Without paths of this machine and addresses of its own.
pub fn sent(line: &str, is_folder: &dyn Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let before = out.chars().last();
        let begins = before.is_none_or(|letter| !letter.is_alphanumeric() && !"/:.".contains(letter));
        let (taken, mark) = match begins {
            true => address(rest)
                .map(|taken| (taken, ADDRESS))
                .or_else(|| path(rest, is_folder).map(|taken| (taken, PATH))),
            false => None,
        }
        .unwrap_or((0, ""));
        out.push_str(mark);
        let mut letters = rest.get(taken..).unwrap_or_default().chars();
        if taken == 0 {
            out.extend(letters.next());
        }
        rest = letters.as_str();
    }
    out
}

/// The length of an address of this machine that a text begins with.
fn address(text: &str) -> Option<usize> {
    let scheme = ["https://", "http://", "ws://"]
        .into_iter()
        .find(|scheme| text.starts_with(scheme))
        .map_or(0, str::len);
    let host = LOOPBACK.into_iter().find(|host| {
        text.get(scheme..).and_then(|rest| rest.strip_prefix(host)).is_some_and(|rest| {
            !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '-' || letter == '.')
        })
    });
    host.map(|_| run(text))
}

/// The length of a path of this machine that a text begins with: its first folder is there.
fn path(text: &str, is_folder: &dyn Fn(&str) -> bool) -> Option<usize> {
    let rest = text.strip_prefix('/')?;
    let end =
        rest.find(|letter: char| !letter.is_alphanumeric() && !"._-".contains(letter)).unwrap_or(rest.len());
    let first = rest.get(..end).filter(|first| !first.is_empty())?;
    is_folder(first).then(|| run(text))
}

/// The length of the word that a text begins with.
fn run(text: &str) -> usize {
    let ends = |letter: char| letter.is_whitespace() || ",;\"'()".contains(letter);
    text.find(ends).unwrap_or(text.len())
}
