//! The picture's marks as text of SVG: all text of others is spelled and escaped here, and nowhere else.

use super::scale::Scale;
use crate::life::index::texts::short_to;
use crate::life::parts::Thing;
use crate::markdown;
use house::printable;
use std::fmt::Write;

/// Characters of a name, with its hidden letters spelled.
const WORDS_CHARS: usize = 220;
/// Narrowest bar, in columns.
const NARROWEST: f64 = 3.0;

/// Text for markup: letters that are hidden or would turn the text around them are spelled, markup is escaped.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    markdown::escape(&printable::spelled(text).replace('\n', " "), &mut out);
    out
}

pub struct Drawing<'a> {
    pub out: String,
    pub scale: &'a Scale,
    /// Where the lane under way begins.
    pub top: u32,
    /// Columns left of the picture in which the names of lanes stand; none where it is too narrow for that.
    pub gutter: u32,
    /// Whether it stands alone in a file, in which only thoughts are shown.
    pub is_alone: bool,
}

impl Drawing<'_> {
    /// Adds markup of ours; writing to text does not fail.
    pub fn add(&mut self, markup: std::fmt::Arguments) {
        let _ = self.out.write_fmt(markup);
    }

    /// Begins a lane with its name, left of it or above it; `told` says what is in it.
    pub fn lane(&mut self, name: &str, told: &str) {
        let (name, told) = (escaped(name), escaped(told));
        let (left, at) = match self.gutter {
            0 => (2, self.top + 12),
            gutter => (2 - i64::from(gutter), self.top + 11),
        };
        self.add(format_args!(
            "<g class=\"lane\" role=\"group\" aria-label=\"{told}\"><text class=\"lane-name\" x=\"{left}\" y=\"{at}\">{name}</text>"
        ));
        if self.gutter == 0 {
            self.top += 17;
        }
    }

    pub fn end_lane(&mut self, height: u32) {
        self.out.push_str("</g>");
        self.top += height + 8;
    }

    /// Something with a link: a bar as long as it lasted, `down` lines below the lane's top.
    pub fn bar(&mut self, thing: &Thing, down: u32, height: u32, inside: &str) {
        let (x, end) = (self.scale.x(thing.from_ms), self.scale.x(thing.to_ms));
        let width = (end - x).max(NARROWEST);
        let x = x.min(self.scale.width - NARROWEST).max(0.0);
        let (top, class) = (self.top + down, escaped(&thing.class));
        self.begin_link(thing);
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"{height}\"/>{inside}</a>"
        ));
    }

    /// Begins a link; its name is told twice, as browsers show one and readers of screens speak the other.
    pub fn begin_link(&mut self, thing: &Thing) {
        let words = escaped(&short_to(&printable::spelled(&thing.words), WORDS_CHARS));
        let thought = thing.href.strip_prefix("/thought/");
        match (self.is_alone, thought) {
            (false, _) => {
                let href = escaped(&thing.href);
                self.add(format_args!("<a href=\"{href}\" aria-label=\"{words}\">"));
            }
            (true, Some(number)) => {
                let number = escaped(number);
                self.add(format_args!("<a href=\"#thought-{number}\" aria-label=\"{words}\">"));
            }
            (true, None) => self.add(format_args!("<a role=\"img\" aria-label=\"{words}\">")),
        }
        self.add(format_args!("<title>{words}</title>"));
    }

    /// Draws an unseen field that can be pointed at: the span of a thing over a whole lane.
    pub fn field(&mut self, thing: &Thing, down: u32, height: u32) {
        let (x, end) = (self.scale.x(thing.from_ms), self.scale.x(thing.to_ms));
        let (top, width) = (self.top + down, (end - x).max(1.0));
        self.begin_link(thing);
        self.add(format_args!(
            "<rect fill=\"none\" pointer-events=\"all\" x=\"{x:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"{height}\"/></a>"
        ));
    }
}
