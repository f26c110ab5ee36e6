//! Markdown as lines of text with a form's marks: paragraphs, lists, quotes and tables by letters, for platforms without them. Pure.

use super::escape::{code, escaped};
use super::inline::{Mark, fence};
use super::pretends;
use crate::channel::Form;
use console::markdown::{MOST_DEPTH, leads_out};
use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

/// The events as text in a form.
pub fn text<'a>(events: impl Iterator<Item = Event<'a>>, form: Form) -> String {
    let mut page = Page::new(form);
    events.for_each(|event| page.take(event));
    page.out.trim_end().to_owned()
}

/// A link or a picture whose words are being written.
struct Address {
    to: String,
    said: String,
    /// Where its words begin.
    at: usize,
    is_link: bool,
    is_picture: bool,
}

struct Page {
    form: Form,
    out: String,
    /// Marks that are open, each as it is closed.
    marks: Vec<&'static str>,
    addresses: Vec<Address>,
    /// Number of the next item of each list; `None`: it has dots.
    lists: Vec<Option<u64>>,
    quotes: usize,
    /// Text of the block of code that is open, and what stands behind it.
    block: Option<(String, String, &'static str)>,
    /// Rows of the table that is open.
    table: Option<Vec<Vec<String>>>,
    /// Line ends that are owed before whatever comes next.
    owed: usize,
}

impl Page {
    fn new(form: Form) -> Self {
        let (out, marks, addresses, lists) = (String::new(), vec![], vec![], vec![]);
        Self { form, out, marks, addresses, lists, quotes: 0, block: None, table: None, owed: 0 }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            Event::Code(text) => self.code(&text),
            Event::SoftBreak | Event::HardBreak => self.line(),
            Event::Rule => {
                self.pay();
                self.out.push_str("———");
                self.owe(2);
            }
            Event::TaskListMarker(is_done) => self.say(if is_done { "☑ " } else { "☐ " }),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.say(&text),
        }
    }

    /// Writes the line ends that are owed, and what a line begins with.
    fn pay(&mut self) {
        let owed = std::mem::take(&mut self.owed);
        if self.out.is_empty() {
            self.start();
        } else if owed > 0 {
            for _ in 0..owed {
                self.out.push('\n');
                if owed > 1 && self.out.ends_with("\n\n") {
                    break;
                }
            }
            self.start();
        }
    }

    /// Telegram has an element for quotes; the others begin each line with a mark.
    fn start(&mut self) {
        if self.form != Form::TelegramHtml && self.quotes > 0 {
            self.out.push_str("> ");
        }
    }

    fn owe(&mut self, ends: usize) {
        self.owed = self.owed.max(ends);
    }

    fn line(&mut self) {
        if let Some(cell) = self.cell() {
            cell.push(' ');
            return;
        }
        self.owe(1);
        self.pay();
        self.indent();
    }

    fn indent(&mut self) {
        for _ in 1..self.lists.len().min(6) {
            self.out.push_str("  ");
        }
    }

    fn cell(&mut self) -> Option<&mut String> {
        self.table.as_mut()?.last_mut()?.last_mut()
    }

    fn say(&mut self, text: &str) {
        if let Some((block, _, _)) = &mut self.block {
            block.push_str(text);
            return;
        }
        self.addresses.iter_mut().for_each(|address| address.said.push_str(text));
        if let Some(cell) = self.cell() {
            cell.push_str(text);
            return;
        }
        // Raw markup comes with its line ends.
        for (nth, line) in text.split('\n').enumerate() {
            if nth > 0 {
                self.owe(1);
            }
            if !line.is_empty() {
                self.pay();
                let starts = self.out.is_empty() || self.out.ends_with('\n');
                escaped(line, self.form, starts, &mut self.out);
            }
        }
    }

    fn code(&mut self, text: &str) {
        self.addresses.iter_mut().for_each(|address| address.said.push_str(text));
        if let Some(cell) = self.cell() {
            cell.push_str(text);
            return;
        }
        self.pay();
        // Telegram's Bot API, "HTML style": code and pre hold no other element, and stand in none.
        let is_alone =
            self.form != Form::TelegramHtml || (self.marks.is_empty() && self.addresses.is_empty());
        let (before, behind) = if is_alone { Mark::Code.of(self.form) } else { ("", "") };
        self.out.push_str(before);
        code(text, self.form, false, &mut self.out);
        self.out.push_str(behind);
    }

    fn begin(&mut self, tag: Tag) {
        match tag {
            Tag::Strong => self.mark(Mark::Strong),
            Tag::Emphasis => self.mark(Mark::Emphasis),
            Tag::Strikethrough => self.mark(Mark::Struck),
            Tag::Heading { .. } => {
                self.pay();
                self.mark(Mark::Strong);
            }
            Tag::Link { dest_url, .. } => self.link(dest_url.into_string(), false),
            Tag::Image { dest_url, .. } => self.link(dest_url.into_string(), true),
            Tag::CodeBlock(kind) => {
                self.pay();
                let language = match &kind {
                    CodeBlockKind::Fenced(said) => said.split([' ', ',']).next().unwrap_or_default(),
                    CodeBlockKind::Indented => "",
                };
                let (before, behind) = fence(self.form, language);
                self.block = Some((String::new(), before, behind));
            }
            Tag::BlockQuote(_) => {
                self.pay_for_quote();
                self.quotes += 1;
            }
            Tag::List(first) => {
                self.owe(if self.lists.is_empty() { 2 } else { 1 });
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Table(_) => {
                self.pay();
                self.table = Some(vec![]);
            }
            Tag::TableHead | Tag::TableRow => self.table.iter_mut().for_each(|table| table.push(vec![])),
            Tag::TableCell => {
                self.table
                    .iter_mut()
                    .filter_map(|table| table.last_mut())
                    .for_each(|row| row.push(String::new()));
            }
            Tag::Paragraph
            | Tag::HtmlBlock
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_)
            | Tag::Superscript
            | Tag::Subscript => {}
        }
    }

    /// Opens Telegram's element for the outermost quote: "blockquote entities can't be nested".
    fn pay_for_quote(&mut self) {
        if self.form == Form::TelegramHtml && self.quotes == 0 {
            self.pay();
            self.out.push_str("<blockquote>");
        }
    }

    fn item(&mut self) {
        self.owe(1);
        self.pay();
        self.indent();
        let dot = if self.form == Form::DiscordMarkdown { "- " } else { "• " };
        match self.lists.last_mut() {
            Some(Some(number)) => {
                let told = format!("{number}. ");
                *number = number.saturating_add(1);
                self.out.push_str(&told);
            }
            _ => self.out.push_str(dot),
        }
    }

    fn mark(&mut self, mark: Mark) {
        let (before, behind) = mark.of(self.form);
        let is_open = self.marks.len() < MOST_DEPTH && self.table.is_none() && !self.marks.contains(&behind);
        if is_open && !before.is_empty() {
            self.pay();
            self.out.push_str(before);
        }
        self.marks.push(if is_open { behind } else { "" });
    }

    fn link(&mut self, to: String, is_picture: bool) {
        let is_link = !is_picture && self.table.is_none() && leads_out(&to) && self.addresses.is_empty();
        let is_link = is_link && self.form != Form::Plain;
        if self.table.is_none() {
            self.pay();
        }
        if is_link && self.form == Form::TelegramHtml {
            self.out.push_str("<a href=\"");
            super::escape::html(&to, &mut self.out);
            self.out.push_str("\">");
        }
        self.addresses.push(Address { to, said: String::new(), at: self.out.len(), is_link, is_picture });
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strong | TagEnd::Emphasis | TagEnd::Strikethrough => self.close(),
            TagEnd::Heading(_) => {
                self.close();
                self.owe(2);
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::CodeBlock => {
                if let Some((block, before, behind)) = self.block.take() {
                    self.out.push_str(&before);
                    code(block.trim_end_matches('\n'), self.form, true, &mut self.out);
                    self.out.push_str(behind);
                }
                self.owe(2);
            }
            TagEnd::BlockQuote(_) => {
                self.quotes = self.quotes.saturating_sub(1);
                if self.form == Form::TelegramHtml && self.quotes == 0 {
                    self.out.push_str("</blockquote>");
                }
                self.owe(2);
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.owe(if self.lists.is_empty() { 2 } else { 1 });
            }
            TagEnd::Item => self.owe(1),
            TagEnd::Table => self.end_table(),
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.owe(if self.lists.is_empty() { 2 } else { 1 }),
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::TableCell
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_)
            | TagEnd::Superscript
            | TagEnd::Subscript => {}
        }
    }

    fn close(&mut self) {
        let end = self.marks.pop().unwrap_or_default();
        self.out.push_str(end);
    }

    /// Ends a link; where it leads is told beside its words, unless these or the platform say it.
    #[allow(clippy::wildcard_enum_match_arm)]
    fn end_link(&mut self) {
        let Some(Address { to, said, at, is_link, is_picture }) = self.addresses.pop() else { return };
        let is_said = said.trim() == to || format!("mailto:{}", said.trim()) == to || to.is_empty();
        match self.form {
            Form::TelegramHtml if is_link => {
                self.out.push_str("</a>");
                if pretends(&said, &to) {
                    escaped(&format!(" ({to})"), self.form, false, &mut self.out);
                }
            }
            // Slack: `<address|words>`, of which neither holds a mark of the other.
            Form::SlackMrkdwn
                if is_link
                    && !pretends(&said, &to)
                    && !said.contains('|')
                    && !to.contains(['|', '>', '<']) =>
            {
                let words = self.out.split_off(at);
                self.out.push_str(&format!("<{}|{words}>", to.replace('&', "&amp;")));
            }
            // Discord: a masked link, which does not begin with an address.
            Form::DiscordMarkdown
                if is_link
                    && !is_said
                    && !to.contains(['(', ')'])
                    && !pretends(&said, &to)
                    && !said.contains("://") =>
            {
                let words = self.out.split_off(at);
                self.out.push_str(&format!("[{words}]({to})"));
            }
            _ if is_said => {}
            _ => {
                let told = if is_picture && said.is_empty() { to } else { format!(" ({to})") };
                match self.cell() {
                    Some(cell) => cell.push_str(&told),
                    None => escaped(&told, self.form, false, &mut self.out),
                }
            }
        }
    }

    /// Writes a table as columns, in letters of one width.
    fn end_table(&mut self) {
        let rows = self.table.take().unwrap_or_default();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| house::printable::columns(cell)).max().unwrap_or(0).min(40)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| {
                let gap = width.saturating_sub(house::printable::columns(cell));
                format!("{cell}{}", " ".repeat(gap))
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let text = rows.iter().map(line).collect::<Vec<_>>().join("\n");
        let (before, behind) = fence(self.form, "");
        self.out.push_str(&before);
        code(&text, self.form, true, &mut self.out);
        self.out.push_str(behind);
        self.owe(2);
    }
}
