//! A rough look at the tags of a page, cheap enough to take before a parser is let loose on it.

const DEEPEST: usize = 1000;
const MOST_ATTRIBUTES: usize = 2000;
const MOST_ENTITIES: usize = 5000;
/// Elements that hold nothing, or that the next of their kind closes: they add no depth.
const FLAT: [&str; 22] = [
    "", "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta",
    "option", "p", "source", "td", "th", "tr", "track", "wbr",
];
const INLINE: [&str; 14] =
    ["", "a", "abbr", "b", "code", "em", "font", "i", "mark", "small", "span", "strong", "sub", "sup"];
const HIDDEN: [&str; 4] = ["script", "style", "template", "noscript"];

/// True when a parser would take minutes over the page, by a count that errs towards hard.
///
/// The parsers take time with the square of the depth, of the attributes of one tag, and of the entities of one
/// text. At these limits that is still well under a second; no honest page comes near them.
pub fn is_hard(html: &str) -> bool {
    let (mut depth, mut read) = (0_usize, 0);
    for tag in (Tags { html, at: 0 }) {
        let between = html.get(read..tag.start).unwrap_or_default();
        let whole = html.get(tag.start..tag.end).unwrap_or_default();
        let name = tag.name.as_str();
        // In HTML a slash at the end closes nothing; in SVG it does, and pages are full of that.
        let closed = whole.ends_with("/>") && !INLINE.contains(&name) && name != "div";
        if !(FLAT.contains(&name) || tag.hidden || closed) {
            depth = if tag.closing { depth.saturating_sub(1) } else { depth + 1 };
        }
        let attributes = if tag.hidden { 0 } else { whole.split_whitespace().count() };
        if depth > DEEPEST || attributes > MOST_ATTRIBUTES || between.matches('&').count() > MOST_ENTITIES {
            return true;
        }
        read = tag.end;
    }
    html.get(read..).unwrap_or_default().matches('&').count() > MOST_ENTITIES
}

/// The page without its tags: `<br>` where a block began or ended; comments, scripts and styles gone.
pub fn flatten(html: &str) -> String {
    let mut flat = String::new();
    let mut read = 0;
    for tag in (Tags { html, at: 0 }) {
        flat.push_str(html.get(read..tag.start).unwrap_or_default());
        if !INLINE.contains(&tag.name.as_str()) {
            flat.push_str("<br>");
        }
        read = tag.end;
    }
    flat.push_str(html.get(read..).unwrap_or_default());
    flat
}

/// Tag, or a comment (which has no name), or a hidden element from its first tag to its last.
struct Tag {
    name: String,
    closing: bool,
    hidden: bool,
    start: usize,
    end: usize,
}

struct Tags<'a> {
    html: &'a str,
    at: usize,
}

impl Iterator for Tags<'_> {
    type Item = Tag;

    fn next(&mut self) -> Option<Tag> {
        loop {
            let start = self.at + self.html.get(self.at..)?.find('<')?;
            let inner = self.html.get(start + 1..)?;
            self.at = start + 1;
            if inner.starts_with("!--") {
                let end = inner.find("-->").map_or(self.html.len(), |end| start + 1 + end + 3);
                self.at = end;
                return Some(Tag { name: String::new(), closing: false, hidden: true, start, end });
            }
            let closing = inner.starts_with('/');
            let named = inner.strip_prefix('/').unwrap_or(inner);
            if !named.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!' || c == '?') {
                continue;
            }
            let name: String = named.chars().take_while(char::is_ascii_alphanumeric).take(20).collect();
            let name = name.to_ascii_lowercase();
            let mut end = inner.find('>').map_or(self.html.len(), |end| start + 1 + end + 1);
            let hidden = !closing && HIDDEN.contains(&name.as_str());
            if hidden {
                end += after_close(self.html.get(end..)?, &name);
            }
            self.at = end;
            return Some(Tag { name, closing, hidden, start, end });
        }
    }
}

/// Counts the bytes of `rest` up to the end of `</name>`; all of them where it is never closed.
fn after_close(rest: &str, name: &str) -> usize {
    let mut from = 0;
    while let Some(found) = rest.get(from..).and_then(|rest| rest.find("</")) {
        let at = from + found + 2;
        let tag = rest.get(at..).unwrap_or_default();
        if tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            return tag.find('>').map_or(rest.len(), |end| at + end + 1);
        }
        from = at;
    }
    rest.len()
}
