//! Markdown as the HTML that Matrix has: elements of its list alone, no attribute but those it names. Pure.
//!
//! Client-Server API, "m.room.message msgtypes": the elements and attributes that clients show.

use super::escape::html as escaped;
use super::{MOST_DEPTH, leads_out, pretends};
use crate::channel::Form;
use crate::format::inline::fence;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};

/// The events as HTML.
pub fn html<'a>(events: impl Iterator<Item = Event<'a>>) -> String {
    let mut page = Page::default();
    events.for_each(|event| page.take(event));
    page.out
}

/// A link or a picture, and its words; `is_link`: the platform has it as a link.
struct Address {
    to: String,
    said: String,
    is_link: bool,
}

#[derive(Default)]
struct Page {
    out: String,
    /// Closing text of each open element; empty for one that is not written.
    ends: Vec<&'static str>,
    /// Addresses of links and pictures that are open, and their words.
    addresses: Vec<Address>,
    is_head: bool,
}

impl Page {
    fn take(&mut self, event: Event) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            Event::Code(text) => {
                self.out.push_str("<code>");
                self.say(&text);
                self.out.push_str("</code>");
            }
            Event::SoftBreak | Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            Event::TaskListMarker(is_done) => self.out.push_str(if is_done { "☑ " } else { "☐ " }),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.say(&text),
        }
    }

    fn say(&mut self, text: &str) {
        escaped(text, &mut self.out);
        self.addresses.iter_mut().for_each(|address| address.said.push_str(text));
    }

    #[allow(clippy::wildcard_enum_match_arm)]
    fn begin(&mut self, tag: Tag) {
        let (begin, end) = match tag {
            Tag::Link { dest_url, .. } if leads_out(&dest_url) && self.addresses.is_empty() => {
                let mut begin = "<a href=\"".to_owned();
                escaped(&dest_url, &mut begin);
                self.addresses.push(Address {
                    to: dest_url.into_string(),
                    said: String::new(),
                    is_link: true,
                });
                (begin + "\">", "</a>")
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.addresses.push(Address {
                    to: dest_url.into_string(),
                    said: String::new(),
                    is_link: false,
                });
                (String::new(), "")
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(said)) => {
                fence(Form::MatrixHtml, said.split([' ', ',']).next().unwrap_or_default())
            }
            Tag::List(Some(first)) if first != 1 => {
                (format!("<ol start=\"{}\">", first.min(1_000_000)), "</ol>")
            }
            Tag::TableHead => {
                self.is_head = true;
                ("<thead><tr>".to_owned(), "</tr></thead><tbody>")
            }
            Tag::TableCell if self.is_head => ("<th>".to_owned(), "</th>"),
            tag => {
                let (begin, end) = plain(&tag);
                (begin.to_owned(), end)
            }
        };
        let is_open = self.ends.len() < MOST_DEPTH;
        self.out.push_str(if is_open { &begin } else { "" });
        self.ends.push(if is_open { end } else { "" });
    }

    fn end(&mut self, tag: TagEnd) {
        if tag == TagEnd::TableHead {
            self.is_head = false;
        }
        let end = self.ends.pop().unwrap_or_default();
        if matches!(tag, TagEnd::Link | TagEnd::Image)
            && let Some(Address { to, said, is_link }) = self.addresses.pop()
            && !to.is_empty()
            && if is_link { pretends(&said, &to) } else { to != said.trim() }
        {
            escaped(&if said.is_empty() { to } else { format!(" ({to})") }, &mut self.out);
        }
        self.out.push_str(end);
    }
}

/// The elements that need nothing of their own.
#[allow(clippy::wildcard_enum_match_arm)]
fn plain(tag: &Tag) -> (&'static str, &'static str) {
    match tag {
        Tag::Heading { level, .. } => match level {
            HeadingLevel::H1 => ("<h1>", "</h1>"),
            HeadingLevel::H2 => ("<h2>", "</h2>"),
            HeadingLevel::H3 => ("<h3>", "</h3>"),
            HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => ("<h4>", "</h4>"),
        },
        Tag::CodeBlock(_) => ("<pre><code>", "</code></pre>"),
        Tag::BlockQuote(_) => ("<blockquote>", "</blockquote>"),
        Tag::List(Some(_)) => ("<ol>", "</ol>"),
        Tag::List(None) => ("<ul>", "</ul>"),
        Tag::Item => ("<li>", "</li>"),
        Tag::Emphasis => ("<em>", "</em>"),
        Tag::Strong => ("<strong>", "</strong>"),
        Tag::Strikethrough => ("<del>", "</del>"),
        Tag::Table(_) => ("<table>", "</tbody></table>"),
        Tag::TableRow => ("<tr>", "</tr>"),
        Tag::TableCell => ("<td>", "</td>"),
        Tag::Superscript | Tag::Subscript => ("", ""),
        _ => ("<p>", "</p>"),
    }
}
