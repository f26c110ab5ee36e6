//! Markdown as HTML that is safe to show: every letter escaped, no markup of the text's own, links that say where they lead.
//!
//! Invariant: elements are of a short list and hold no attribute but ours; raw HTML and pictures stay text. Pure.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Bytes of a text that is rendered; a longer one is shown as it is.
const MOST_BYTES: usize = 256 << 10;
/// Elements within one another; what lies deeper stands in the innermost of these.
pub const MOST_DEPTH: usize = 16;
/// Beginnings of the addresses a link may lead to.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];

/// Elements that differ by who shows them, each as it is opened and closed.
pub struct Dress {
    /// A link up to its address.
    pub link: &'static str,
    /// Around an address that is told beside its words.
    pub address: (&'static str, &'static str),
    /// Whether the address of a link is told, by the link's words and that address; all others are.
    pub tells: fn(&str, &str) -> bool,
    pub picture: (&'static str, &'static str),
    pub heading: fn(HeadingLevel) -> (&'static str, &'static str),
    /// A block of code, by the name of its language.
    pub code: fn(&str) -> (String, &'static str),
    pub table: (&'static str, &'static str),
    pub head: (&'static str, &'static str),
    pub head_cell: &'static str,
}

/// The owner's page: what is wide scrolls by keyboard too, and a link opens beside it.
const PAGE: Dress = Dress {
    link: "<a target=\"_blank\" rel=\"noopener noreferrer\" href=\"",
    address: (" <span class=\"address\">(", ")</span>"),
    tells: |_, _| true,
    picture: ("[picture: ", "]"),
    heading: |_| ("<p class=\"heading\">", "</p>"),
    code: |_| ("<pre tabindex=\"0\" role=\"group\" aria-label=\"code\"><code>".to_owned(), "</code></pre>"),
    table: (
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table>",
        "</table></div>",
    ),
    head: ("<thead><tr>", "</tr></thead>"),
    head_cell: "<th scope=\"col\">",
};

/// The text as HTML for the page. Invisible letters stay as they are: the sender spells them out.
pub fn html(text: &str) -> String {
    if text.len() > MOST_BYTES {
        let mut out = String::from("<p class=\"plain\">");
        escape(text, &mut out);
        return out + "</p>";
    }
    dressed(text, &PAGE)
}

/// The text as HTML in these elements.
pub fn dressed(text: &str, dress: &Dress) -> String {
    let (out, ends, addresses) = (String::new(), vec![], vec![]);
    let mut page = Page { dress, out, ends, addresses, is_head: false };
    Parser::new_ext(text, options()).for_each(|event| page.take(event));
    page.out
}

/// Markdown as it is read here: with tables, struck words and lists of tasks.
pub fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
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

/// Whether a link may lead there: elsewhere it is told as text.
pub fn leads_out(address: &str) -> bool {
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
    is_link: bool,
}

struct Page<'a> {
    dress: &'a Dress,
    out: String,
    /// Closing text of each open element; empty for those that are not written.
    ends: Vec<&'static str>,
    addresses: Vec<Address>,
    is_head: bool,
}

impl Page<'_> {
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
                let ((begin, end), said) = (self.dress.picture, String::new());
                self.addresses.push(Address { to: dest_url.into_string(), said, end, is_link: false });
                return self.open(begin, "");
            }
            Tag::CodeBlock(kind) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(said) => said.split([' ', ',']).next().unwrap_or_default(),
                    CodeBlockKind::Indented => "",
                };
                let (begin, end) = (self.dress.code)(language);
                return self.open(&begin, end);
            }
            Tag::Heading { level, .. } => (self.dress.heading)(level),
            Tag::BlockQuote(_) => ("<blockquote>", "</blockquote>"),
            Tag::List(None) => ("<ul>", "</ul>"),
            Tag::List(Some(first)) => return self.begin_list(first),
            Tag::Item => ("<li>", "</li>"),
            Tag::Emphasis => ("<em>", "</em>"),
            Tag::Strong => ("<strong>", "</strong>"),
            Tag::Strikethrough => ("<del>", "</del>"),
            Tag::Table(_) => self.dress.table,
            Tag::TableHead => {
                self.is_head = true;
                self.dress.head
            }
            Tag::TableRow => ("<tr>", "</tr>"),
            Tag::TableCell if self.is_head => (self.dress.head_cell, "</th>"),
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
        let begin =
            if first == 1 { "<ol>".to_owned() } else { format!("<ol start=\"{}\">", first.min(1_000_000)) };
        self.open(&begin, "</ol>");
    }

    fn begin_link(&mut self, address: &str) {
        let is_link = leads_out(address);
        self.addresses.push(Address {
            to: address.to_owned(),
            said: String::new(),
            end: if is_link { "</a>" } else { "" },
            is_link,
        });
        self.ends.push("");
        if is_link {
            self.out.push_str(self.dress.link);
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
            && let Some(Address { to, said, end, is_link }) = self.addresses.pop()
        {
            self.out.push_str(end);
            // Words that are the address say it already.
            let is_said = to.is_empty() || said.trim() == to || format!("mailto:{}", said.trim()) == to;
            if !is_said && (!is_link || (self.dress.tells)(&said, &to)) {
                let (begin, end) = self.dress.address;
                self.out.push_str(begin);
                escape(&to, &mut self.out);
                self.out.push_str(end);
            }
        }
    }
}
