//! Lines of the terminal: rows of the feed, and the few live lines below them. Pure.

use crate::feed::shown::DIM;
use crate::window::markdown;
use crate::window::prompt::Prompt;
use crate::window::typed::typed_here;
use crate::window::typing::is_word;
use house::moments::Place;
use house::printable;
use house::standing::{Known, Piece};
use house::terminal::{Row, Screen};
use jiff::Timestamp;
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::{Line, Span};

/// From so many rows on there is room for more status lines.
const ROOMY: usize = 20;
/// From so many on there is room for more of the streaming thought.
const TALL: usize = 30;
/// Most lines of the message on the last key or line.
const SAID_LINES: usize = 3;
/// Longest name that a text stands beside, in a command's output.
const NAME: usize = 12;
/// Mark before the prompt's first line; spaces stand before the others.
const MARK: &str = "> ";
const BETWEEN: &str = " · ";

/// Lays rows out, and paints them where colour is wanted.
pub struct View {
    screen: Screen,
    place: Place,
    colour: bool,
}

/// The live lines, and the cursor's column and line among them.
pub struct Live {
    pub lines: Vec<Line<'static>>,
    pub cursor: (usize, usize),
}

impl View {
    pub fn new(place: Place, colour: bool) -> Self {
        let own = Screen::new(Some(1), false, place.clone());
        Self { screen: own, place, colour }
    }

    /// Sets the day shown last to this one: another program showed the rows above.
    pub fn goes_on(&mut self, now: Timestamp) {
        self.screen.day = Some(self.place.day(now));
    }

    fn style(&self, paint: &str) -> Style {
        let style = Style::new();
        if !self.colour {
            return style;
        }
        paint.split(';').fold(style, |style, code| match code {
            "1" => style.add_modifier(Modifier::BOLD),
            DIM => style.add_modifier(Modifier::DIM),
            "3" => style.add_modifier(Modifier::ITALIC),
            "4" => style.add_modifier(Modifier::UNDERLINED),
            "9" => style.add_modifier(Modifier::CROSSED_OUT),
            "31" => style.fg(Color::Red),
            "32" => style.fg(Color::Green),
            "33" => style.fg(Color::Yellow),
            "34" => style.fg(Color::Blue),
            "35" => style.fg(Color::Magenta),
            "36" => style.fg(Color::Cyan),
            "90" => style.fg(Color::DarkGray),
            _ => style,
        })
    }

    fn span(&self, paint: &str, text: &str) -> Span<'static> {
        Span::styled(joined(text), self.style(paint))
    }

    /// Lays out the creature's words with their markdown rendered, beside the head of their row.
    pub fn words(&mut self, row: &Row, words: &str, columns: usize) -> Vec<Line<'static>> {
        let tag = if row.tag == "word" { "says" } else { row.tag.as_str() };
        let head = Row { tag: tag.to_owned(), text: String::new(), ..row.clone() };
        let mut lines = self.row(&head, &[], columns);
        let used = lines.last().map_or(0, Line::width);
        let indent = if used > columns / 3 { 2 } else { used };
        let room = columns.saturating_sub(indent);
        let said = markdown::laid(words, columns.saturating_sub(used), room, self.colour);
        for (number, spans) in said.iter().enumerate() {
            let spans = spans.iter().map(|span| self.span(&span.paint, &span.text));
            match lines.last_mut().filter(|_| number == 0) {
                Some(head) => head.spans.extend(spans),
                None => lines.push(std::iter::once(Span::raw(" ".repeat(indent))).chain(spans).collect()),
            }
        }
        lines
    }

    /// A row, and its details indented below it.
    pub fn row(&mut self, row: &Row, details: &[String], columns: usize) -> Vec<Line<'static>> {
        let laid = self.screen.laid(row, columns);
        let mut lines: Vec<Line> = laid.day.iter().map(|day| Line::from(self.span("90", day))).collect();
        for (number, text) in laid.text.iter().enumerate() {
            let spans = match number {
                0 => vec![
                    self.span("90", &laid.time),
                    Span::raw(" "),
                    self.span(row.paint, &laid.tag),
                    Span::raw(" "),
                    self.span(if row.paint == DIM { DIM } else { "0" }, text),
                ],
                _ => vec![Span::raw(" ".repeat(laid.indent)), self.span("0", text)],
            };
            lines.push(Line::from(spans));
        }
        for detail in details {
            lines.extend(self.indented("90", detail, laid.indent, columns));
        }
        lines
    }

    /// Text of any length, wrapped and indented; what does not fit goes on below where its line begins.
    pub fn indented(&self, paint: &str, text: &str, indent: usize, columns: usize) -> Vec<Line<'static>> {
        let text = printable::spelled(&printable::plain_spaces(text.trim_end()));
        let room = columns.saturating_sub(indent);
        let own = text.chars().take_while(|letter| *letter == ' ').count();
        // A text beside a name goes on below that text.
        let own = match text.get(own..).and_then(|rest| rest.find("  ")) {
            Some(end) if end < NAME => {
                let beside = text.get(own + end..).unwrap_or_default();
                own + end + beside.len() - beside.trim_start().len()
            }
            _ => own,
        };
        let own = own.min(columns / 4);
        let wrapped = printable::wrapped(&text, room, room.saturating_sub(own));
        let line = |(number, text): (usize, &String)| {
            let indent = if number == 0 { indent } else { indent + own };
            Line::from(vec![Span::raw(" ".repeat(indent)), self.span(paint, text)])
        };
        wrapped.iter().enumerate().map(line).collect()
    }

    /// Lays out the live lines: the streaming thought, the status, the message, the prompt.
    pub fn live(
        &self,
        known: &Known,
        prompt: &Prompt,
        (said, hint): (&str, &str),
        now: Timestamp,
        size: (usize, usize),
    ) -> Live {
        let (columns, rows) = size;
        let roomy = rows >= ROOMY;
        let streamed = match rows {
            TALL.. => 6,
            ROOMY..TALL => 4,
            0..ROOMY => 1,
        };
        let mut lines = self.streaming(known.streams(), columns, streamed);
        let (mut headline, mut pieces) = (known.headline(now, &self.place), known.pieces(now, &self.place));
        if is_word(&prompt.text()) {
            // The owner's word has the eye: what goes on stands back.
            [&mut headline].into_iter().chain(&mut pieces).for_each(|piece| piece.paint = DIM);
        }
        lines.push(Line::from(self.span(headline.paint, &cut(&typed_here(&headline.text), columns))));
        lines.extend(self.beside(&pieces, columns, if roomy { 2 } else { 1 }));
        if !said.is_empty() {
            lines
                .extend(self.indented("33", &printable::flat(said), 0, columns).into_iter().take(SAID_LINES));
        }
        let room = columns.saturating_sub(MARK.len() + 1);
        let laid = prompt.laid(room);
        // Of a long text the lines around the cursor are shown.
        let most = (rows / 3).clamp(1, 8);
        let first = (laid.cursor.1 + 1).saturating_sub(most);
        let top = lines.len();
        for (number, line) in laid.lines.iter().enumerate().skip(first).take(most) {
            let mark = if number == 0 { MARK } else { "  " };
            lines.push(Line::from(vec![self.span("1", mark), self.span("0", line)]));
        }
        if let Some(prompt) = lines.last_mut().filter(|_| prompt.is_empty()) {
            prompt.push_span(self.span("90", &cut(hint, room)));
        }
        Live { lines, cursor: (laid.cursor.0 + MARK.len(), top + laid.cursor.1 - first) }
    }

    /// The last lines of a thought under way, broken where it breaks them.
    fn streaming(&self, thought: &str, columns: usize, most: usize) -> Vec<Line<'static>> {
        let lines = thought.lines().map(str::trim_end).filter(|line| !line.is_empty());
        let thought = lines.collect::<Vec<_>>().join("\n");
        if thought.is_empty() {
            return vec![];
        }
        let thought = printable::spelled(&printable::plain_spaces(&thought));
        let room = columns.saturating_sub(3);
        let wrapped = printable::wrapped(&thought, room, room);
        let from = wrapped.len().saturating_sub(most);
        wrapped.iter().skip(from).map(|text| Line::from(self.span("90", &format!("│ {text}")))).collect()
    }

    /// Whole pieces beside one another, as many as find room.
    fn beside(&self, pieces: &[Piece], columns: usize, most: usize) -> Vec<Line<'static>> {
        let mut lines: Vec<(usize, Vec<Span>)> = Vec::new();
        for piece in pieces {
            let (wide, is_full) = (printable::columns(&piece.text), lines.len() == most);
            let beside = |used: usize| used + printable::columns(BETWEEN) + wide;
            match lines.last_mut() {
                Some((used, spans)) if beside(*used) <= columns => {
                    spans.extend([self.span("90", BETWEEN), self.span(piece.paint, &piece.text)]);
                    *used = beside(*used);
                }
                _ if is_full => break,
                _ => {
                    let text = cut(&piece.text, columns);
                    lines.push((wide.min(columns), vec![self.span(piece.paint, &text)]));
                }
            }
        }
        lines.into_iter().map(|(_, spans)| Line::from(spans)).collect()
    }
}

/// Removes joiners: joined characters have another width at every terminal.
fn joined(text: &str) -> String {
    text.replace(['\u{200d}', '\u{fe0f}'], "")
}

/// As much of a line as fits, cut at the end of a word where there is one.
fn cut(text: &str, columns: usize) -> String {
    if printable::columns(text) <= columns {
        return text.to_owned();
    }
    let (mut cut, mut used) = (String::new(), 1);
    for letter in text.chars() {
        used += printable::columns(letter.encode_utf8(&mut [0; 4]));
        if used > columns {
            break;
        }
        cut.push(letter);
    }
    let is_whole = text.get(cut.len()..).is_some_and(|rest| rest.starts_with(' '));
    match cut.rfind(' ') {
        Some(at) if !is_whole && at > cut.len() / 2 => cut.truncate(at),
        _ => {}
    }
    cut.trim_end().to_owned() + "…"
}
