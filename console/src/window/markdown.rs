//! Markdown as painted lines of a terminal: headings, bold, code, lists, tables, links that say where they lead. Pure.
//!
//! Invariant: every letter shown is spelled out as everywhere else, also one that a text names by its number.

use house::printable;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Bytes that are rendered; a longer text is shown as it stands.
const MOST_BYTES: usize = 64 << 10;
/// Most columns of the marks before a line.
const MOST_HEAD: usize = 24;
const CODE: &str = "36";
const DIM: &str = "90";

/// A piece of a line, and the codes of its paint.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub paint: String,
    pub text: String,
}

/// The text as lines: the first of `first` columns, the others of `rest`. Without colour code stands in its quotes.
pub fn laid(text: &str, first: usize, rest: usize, colour: bool) -> Vec<Vec<Span>> {
    let text = printable::plain_spaces(text.trim());
    let mut page = Page { colour, room: rest, ..Page::default() };
    if text.len() <= MOST_BYTES {
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
        Parser::new_ext(&text, options).for_each(|event| page.take(event));
    } else {
        text.lines().for_each(|line| {
            page.add(line);
            page.end_line();
        });
    }
    page.end_line();
    let mut lines = Vec::new();
    for line in &page.lines {
        let room = if lines.is_empty() { first } else { rest };
        lines.extend(line.wrapped(room, rest));
    }
    while lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

/// A line before it is wrapped: the marks before it and before its continuations.
#[derive(Default)]
struct Line {
    head: String,
    below: String,
    spans: Vec<Span>,
}

impl Line {
    fn wrapped(&self, first: usize, rest: usize) -> Vec<Vec<Span>> {
        let plain: String = self.spans.iter().map(|span| span.text.as_str()).collect();
        let less = |room: usize, head: &str| room.saturating_sub(printable::columns(head));
        let wrapped = printable::wrapped(&plain, less(first, &self.head), less(rest, &self.below));
        let mut letters =
            self.spans.iter().flat_map(|span| span.text.chars().map(move |letter| (&span.paint, letter)));
        let mut lines = Vec::new();
        for (number, text) in wrapped.iter().enumerate() {
            let head = if number == 0 { &self.head } else { &self.below };
            let mut line: Vec<Span> = Vec::new();
            let mut wanted = text.chars().peekable();
            while let Some(letter) = wanted.peek().copied() {
                let Some((paint, next)) = letters.next() else { break };
                // Spaces at a line's end were left out.
                if next != letter {
                    continue;
                }
                wanted.next();
                match line.last_mut().filter(|last| last.paint == *paint) {
                    Some(last) => last.text.push(letter),
                    None => line.push(Span { paint: paint.clone(), text: letter.into() }),
                }
            }
            if !head.is_empty() {
                line.insert(0, Span { paint: DIM.into(), text: head.clone() });
            }
            lines.push(line);
        }
        lines
    }
}

/// The page being laid out.
#[derive(Default)]
struct Page {
    colour: bool,
    room: usize,
    lines: Vec<Line>,
    line: Line,
    /// Paints in force, the innermost last.
    paints: Vec<&'static str>,
    /// Marks before each line within lists and quotes: the next line's own, and those of the lines below.
    heads: Vec<(String, String)>,
    /// Of each list the number of the next item; `None` of one without numbers.
    lists: Vec<Option<u64>>,
    link: Option<(String, String)>,
    table: Option<Vec<Vec<String>>>,
    is_code: bool,
}

impl Page {
    fn take(&mut self, event: Event) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                let quoted = if self.colour { text.to_string() } else { format!("`{text}`") };
                self.painted(CODE, &quoted);
            }
            Event::SoftBreak | Event::HardBreak if self.table.is_none() => self.end_line(),
            Event::SoftBreak | Event::HardBreak => self.add(" "),
            Event::Rule => {
                self.apart();
                self.painted(DIM, &"─".repeat(self.room.min(40)));
                self.end_line();
            }
            Event::TaskListMarker(done) => self.add(if done { "[x] " } else { "[ ] " }),
            Event::FootnoteReference(name) => self.text(&format!("[^{name}]")),
        }
    }

    fn start(&mut self, tag: Tag) {
        #[allow(clippy::wildcard_enum_match_arm)]
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.apart(),
            Tag::Heading { .. } => {
                self.apart();
                self.paints.push("1");
            }
            Tag::CodeBlock(kind) => {
                self.apart();
                if let CodeBlockKind::Fenced(name) = kind
                    && !name.is_empty()
                {
                    self.painted(DIM, &name);
                    self.end_line();
                }
                self.is_code = true;
                self.heads.push(("  ".into(), "  ".into()));
                self.paints.push(CODE);
            }
            Tag::BlockQuote(_) => {
                self.apart();
                self.heads.push(("│ ".into(), "│ ".into()));
            }
            Tag::List(number) => {
                if self.lists.is_empty() {
                    self.apart();
                }
                self.end_line();
                self.lists.push(number);
            }
            Tag::Item => {
                self.end_line();
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                };
                let below = " ".repeat(printable::columns(&mark));
                self.heads.push((mark, below));
            }
            Tag::Table(_) => {
                self.apart();
                self.table = Some(vec![]);
            }
            Tag::TableHead | Tag::TableRow => {
                self.table.iter_mut().for_each(|rows| rows.push(vec![]));
            }
            Tag::TableCell => {
                self.table
                    .iter_mut()
                    .filter_map(|rows| rows.last_mut())
                    .for_each(|row| row.push(String::new()));
            }
            Tag::Emphasis => self.paints.push("3"),
            Tag::Strong => self.paints.push("1"),
            Tag::Strikethrough => self.paints.push("9"),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.paints.push("4");
                self.link = Some((dest_url.to_string(), String::new()));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        #[allow(clippy::wildcard_enum_match_arm)]
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_line(),
            TagEnd::Heading(_) => {
                self.end_line();
                self.paints.pop();
            }
            TagEnd::CodeBlock => {
                self.end_line();
                self.is_code = false;
                self.paints.pop();
                self.heads.pop();
            }
            TagEnd::BlockQuote(_) | TagEnd::Item => {
                self.end_line();
                self.heads.pop();
            }
            TagEnd::List(_) => drop(self.lists.pop()),
            TagEnd::Table => self.tabled(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => drop(self.paints.pop()),
            TagEnd::Link | TagEnd::Image => {
                self.paints.pop();
                // A link says where it leads.
                if let Some((to, said)) = self.link.take().filter(|(to, said)| to != said) {
                    let led = if said.is_empty() { to } else { format!(" ({to})") };
                    self.painted(DIM, &led);
                }
            }
            _ => {}
        }
    }

    /// A blank line before a paragraph, unless one stands there or nothing does; none within an item.
    fn apart(&mut self) {
        self.end_line();
        let is_first = self.lines.last().is_none_or(|line| line.spans.is_empty());
        if !is_first && self.lists.is_empty() {
            self.lines.push(Line::default());
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, said)) = &mut self.link {
            said.push_str(text);
        }
        if !self.is_code {
            return self.add(text.trim_end_matches('\n'));
        }
        for (number, line) in text.trim_end_matches('\n').split('\n').enumerate() {
            if number > 0 {
                self.begin();
                self.end_line();
            }
            self.add(line);
        }
        // What comes next of the same block begins a line.
        self.begin();
        self.end_line();
    }

    fn painted(&mut self, paint: &'static str, text: &str) {
        self.paints.push(paint);
        self.add(text);
        self.paints.pop();
    }

    fn add(&mut self, text: &str) {
        let text = printable::spelled(text).replace('\n', " ");
        if let Some(cell) = self.table.iter_mut().filter_map(|rows| rows.last_mut()?.last_mut()).next() {
            return cell.push_str(&text);
        }
        self.begin();
        self.line.spans.push(Span { paint: self.paints.join(";"), text });
    }

    /// Writes the marks before a line once it begins; an item's mark stands before its first line alone.
    fn begin(&mut self) {
        if !self.line.spans.is_empty() || !self.line.below.is_empty() {
            return;
        }
        for (head, below) in &mut self.heads {
            if self.line.below.chars().count() < MOST_HEAD {
                self.line.head.push_str(head);
                self.line.below.push_str(below);
            }
            head.clone_from(below);
        }
    }

    fn end_line(&mut self) {
        if !self.line.spans.is_empty() || self.is_code && !self.line.below.is_empty() {
            self.lines.push(std::mem::take(&mut self.line));
        }
        self.line = Line::default();
    }

    /// The table in columns; where it is wider than there is room, a line each cell with the name of its column.
    fn tabled(&mut self) {
        let rows = self.table.take().unwrap_or_default();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |row: &[String], column: usize| row.get(column).map_or("", |text| text.trim()).to_owned();
        let widths: Vec<usize> = (0..columns)
            .map(|column| rows.iter().map(|row| printable::columns(&cell(row, column))).max().unwrap_or(0))
            .collect();
        let fits = widths.iter().sum::<usize>() + 3 * columns.saturating_sub(1) <= self.room;
        let names = rows.first().cloned().unwrap_or_default();
        for (number, row) in rows.iter().enumerate().skip(usize::from(!fits)) {
            for (column, width) in widths.iter().enumerate() {
                let text = cell(row, column);
                if fits {
                    let padded = format!("{text}{}", " ".repeat(width - printable::columns(&text)));
                    self.painted(if number == 0 { "1" } else { "0" }, &padded);
                    self.painted(DIM, if column + 1 < columns { " │ " } else { "" });
                } else if !text.is_empty() {
                    self.painted("1", &format!("{}: ", cell(&names, column)));
                    self.add(&text);
                    self.end_line();
                }
            }
            self.end_line();
            if !fits {
                self.lines.push(Line::default());
            }
        }
    }
}
