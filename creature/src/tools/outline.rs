//! The outline of a file: Rust items with their first and last line and their doc, headings of a paper. Pure.
//!
//! Invariant: items are found by rustfmt's layout: each ends at a closing bracket indented as its first line.

use ground::text::first;

/// Characters of a signature and of a doc's first line.
const MOST_SIGNATURE: usize = 160;
const MOST_DOC: usize = 120;

/// Words that may stand before the keyword of an item.
const BEFORE: [&str; 6] = ["async", "const", "unsafe", "extern", "default", "\"C\""];

const KINDS: [&str; 11] =
    ["fn", "struct", "enum", "union", "trait", "impl", "mod", "const", "static", "type", "macro_rules!"];

/// Item of a source file; lines count from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its name; an `impl` is named by its whole head.
    pub name: String,
    /// The type or module it stands in; empty at the top.
    pub within: String,
    pub signature: String,
    /// The first line of its doc.
    pub doc: String,
    /// The line where docs and attributes begin.
    pub top: usize,
    pub first: usize,
    pub last: usize,
    depth: usize,
}

impl Item {
    /// Whether this name means the item: its own name, `Type::name`, or the head of an `impl`.
    pub fn is(&self, name: &str) -> bool {
        let last = self.within.split(" for ").last().unwrap_or_default().trim_start_matches("impl ");
        self.name == name || name.rsplit_once("::").is_some_and(|(of, own)| own == self.name && of == last)
    }
}

/// The outline as lines: of Rust its items, of TOML its tables, of other files the lines that begin with `#`.
pub fn lines(path: &str, text: &str) -> Vec<String> {
    if path.ends_with(".rs") {
        return items(text).iter().map(line).collect();
    }
    let mark = if path.ends_with(".toml") { '[' } else { '#' };
    let heads = (1..).zip(text.lines()).filter(|(_, line)| line.starts_with(mark));
    heads.map(|(at, line)| format!("{at}  {}", first(line, MOST_SIGNATURE))).collect()
}

fn line(item: &Item) -> String {
    let (indent, doc) = ("  ".repeat(item.depth), &item.doc);
    let doc = if doc.is_empty() { String::new() } else { format!("  // {doc}") };
    format!("{}-{}  {indent}{}{doc}", item.first, item.last, item.signature)
}

/// The items of a Rust file, in order.
pub fn items(text: &str) -> Vec<Item> {
    let lines: Vec<&str> = text.lines().collect();
    let mut items: Vec<Item> = Vec::new();
    // Items that this line stands in: the index of the last line of each, and its name as `within` has it.
    let mut open: Vec<(usize, String)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        open.retain(|(last, _)| at < *last);
        let indent = line.len() - line.trim_start().len();
        if indent != open.len() * 4 {
            continue;
        }
        let Some((kind, name)) = named(line.trim_start()) else { continue };
        let (signature, last) = extent(&lines, at, indent);
        let (top, doc) = above(&lines, at);
        let name = if kind == "impl" { unbraced(&signature) } else { name };
        let within = open.last().map_or(String::new(), |(_, name)| name.clone());
        // Only these kinds hold items of their own.
        if matches!(kind, "impl" | "trait" | "mod") && last > at {
            open.push((last, name.clone()));
        }
        let (depth, signature) = (indent / 4, first(&unbraced(&signature), MOST_SIGNATURE));
        items.push(Item { name, within, signature, doc, top: top + 1, first: at + 1, last: last + 1, depth });
    }
    items
}

/// Returns the kind of the item that begins in this line, and its name.
fn named(line: &str) -> Option<(&'static str, String)> {
    let mut rest = line;
    if let Some(after) = rest.strip_prefix("pub") {
        rest = match after.strip_prefix('(') {
            Some(inner) => inner.split_once(')')?.1,
            None => after,
        };
        rest = rest.strip_prefix(' ')?;
    }
    loop {
        let word = rest.split([' ', '<']).next()?;
        let after = rest.get(word.len()..)?.trim_start();
        let next = after.split(' ').next().unwrap_or_default();
        let leads = BEFORE.contains(&word) && (KINDS.contains(&next) || BEFORE.contains(&next));
        if leads {
            rest = after;
            continue;
        }
        let kind = KINDS.into_iter().find(|kind| *kind == word)?;
        let name = after.trim_start_matches("mut ");
        let end = name.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(name.len());
        let name = name.get(..end)?.to_owned();
        return (kind == "impl" || !name.is_empty()).then_some((kind, name));
    }
}

/// The signature on one line, and the index of the line where the item ends.
fn extent(lines: &[&str], at: usize, indent: usize) -> (String, usize) {
    let (mut signature, mut whole) = (String::new(), false);
    for (number, line) in lines.iter().enumerate().skip(at) {
        let (own, bare) = (line.len() - line.trim_start().len(), line.trim());
        if !whole {
            let gap = if signature.is_empty() || signature.ends_with('(') { "" } else { " " };
            signature = format!("{signature}{gap}{bare}");
            whole = bare.ends_with(['{', ';', '}', '[']) || signature.len() > 1_000;
        }
        let ends = bare.ends_with([';', '}']) && own == indent;
        if ends && (number == at || bare.starts_with(['}', ')', ']'])) {
            return (signature, number);
        }
    }
    (signature, lines.len().saturating_sub(1))
}

/// The index of the line where docs and attributes above an item begin, and the first line of its doc.
fn above(lines: &[&str], at: usize) -> (usize, String) {
    let mut top = at;
    while let Some(line) = top.checked_sub(1).and_then(|above| lines.get(above)) {
        let bare = line.trim();
        if !bare.starts_with("///") && !bare.starts_with("#[") {
            break;
        }
        top -= 1;
    }
    let docs = lines.get(top..at).unwrap_or_default();
    let doc = docs.iter().find_map(|line| line.trim().strip_prefix("///"));
    (top, first(doc.unwrap_or_default().trim(), MOST_DOC))
}

fn unbraced(signature: &str) -> String {
    signature.trim_end_matches([' ', '{', '[']).trim_end_matches(" =").to_owned()
}
