//! Markdown as HTML that is safe to show: every letter escaped, no markup of the text's own, links that say where they lead.
//!
//! Invariant: elements are of a short list and hold no attribute but ours; raw HTML and pictures stay text. Pure.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Bytes of a text that is rendered; a longer one is shown as it is.
const MOST_BYTES: usize = 256 << 10;
/// Elements within one another; what lies deeper stands in the innermost of these.
const MOST_DEPTH: usize = 16;
/// Beginnings of the addresses a link may lead to.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];

/// The text as HTML. Invisible letters stay as they are: the sender spells them out.
pub fn html(text: &str) -> String {
    if text.len() > MOST_BYTES {
        let mut out = String::from("<p class=\"plain\">");
        escape(text, &mut out);
        return out + "</p>";
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = Page::default();
    Parser::new_ext(text, options).for_each(|event| page.take(event));
    page.out
}

/// Text for markup and for an attribute in quotes.
pub fn escape(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter => out.push(letter),
        }
    }
}

fn leads_out(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    let is_plain = !address.chars().any(|letter| letter.is_control() || letter.is_whitespace());
    is_plain && SCHEMES.iter().any(|scheme| lower.starts_with(scheme) && lower.len() > scheme.len())
}

/// A link or a picture whose words are being written.
struct Address {
    to: String,
    said: String,
    /// Closing text, written before the address.
    end: &'static str,
}

#[derive(Default)]
struct Page {
    out: String,
    /// Closing text of each open element; empty for those that are not written.
    ends: Vec<&'static str>,
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
        escape(text, &mut self.out);
        self.addresses.iter_mut().for_each(|address| address.said.push_str(text));
    }

    fn begin(&mut self, tag: Tag) {
        let (begin, end) = match tag {
            Tag::Link { dest_url, .. } => return self.begin_link(&dest_url),
            Tag::Image { dest_url, .. } => {
                let (to, said) = (dest_url.into_string(), String::new());
                self.addresses.push(Address { to, said, end: "]" });
                return self.open("[picture: ", "");
            }
            Tag::CodeBlock(_) => {
                ("<pre tabindex=\"0\" role=\"group\" aria-label=\"code\"><code>", "</code></pre>")
            }
            Tag::Heading { .. } => ("<p class=\"heading\">", "</p>"),
            Tag::BlockQuote(_) => ("<blockquote>", "</blockquote>"),
            Tag::List(None) => ("<ul>", "</ul>"),
            Tag::List(Some(first)) => return self.begin_list(first),
            Tag::Item => ("<li>", "</li>"),
            Tag::Emphasis => ("<em>", "</em>"),
            Tag::Strong => ("<strong>", "</strong>"),
            Tag::Strikethrough => ("<del>", "</del>"),
            Tag::Table(_) => (
                "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table>",
                "</table></div>",
            ),
            Tag::TableHead => {
                self.is_head = true;
                ("<thead><tr>", "</tr></thead>")
            }
            Tag::TableRow => ("<tr>", "</tr>"),
            Tag::TableCell if self.is_head => ("<th scope=\"col\">", "</th>"),
            Tag::TableCell => ("<td>", "</td>"),
            Tag::Paragraph
            | Tag::HtmlBlock
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => ("<p>", "</p>"),
            Tag::Superscript | Tag::Subscript => ("", ""),
        };
        self.open(begin, end);
    }

    fn open(&mut self, begin: &str, end: &'static str) {
        if self.ends.len() < MOST_DEPTH {
            self.out.push_str(begin);
            self.ends.push(end);
        } else {
            self.ends.push("");
        }
    }

    fn begin_list(&mut self, first: u64) {
        // A number that is no list's stays out of the attribute.
        let begin = format!("<ol start=\"{}\">", first.min(1_000_000));
        self.open(&begin, "</ol>");
    }

    fn begin_link(&mut self, address: &str) {
        let is_link = leads_out(address);
        self.addresses.push(Address {
            to: address.to_owned(),
            said: String::new(),
            end: if is_link { "</a>" } else { "" },
        });
        self.ends.push("");
        if is_link {
            self.out.push_str("<a target=\"_blank\" rel=\"noopener noreferrer\" href=\"");
            escape(address, &mut self.out);
            self.out.push_str("\">");
        }
    }

    fn end(&mut self, tag: TagEnd) {
        if tag == TagEnd::TableHead {
            self.is_head = false;
        }
        let end = self.ends.pop().unwrap_or_default();
        self.out.push_str(end);
        if matches!(tag, TagEnd::Link | TagEnd::Image)
            && let Some(Address { to, said, end }) = self.addresses.pop()
        {
            self.out.push_str(end);
            // Words that are the address say it already.
            if !to.is_empty() && said.trim() != to && format!("mailto:{}", said.trim()) != to {
                self.out.push_str(" <span class=\"address\">(");
                escape(&to, &mut self.out);
                self.out.push_str(")</span>");
            }
        }
    }
}
