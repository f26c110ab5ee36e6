//! Markdown as each platform has it, or as plain text; no word is lost, whatever a platform has no markup for. Pure.

mod elements;
pub mod escape;
mod inline;
mod page;

use crate::channel::{Form, Unit};
use console::markdown::{self, options};
use pulldown_cmark::Parser;
use std::borrow::Cow;

/// The text in a form.
pub fn formatted(markdown: &str, form: Form) -> String {
    let markdown = with_definitions(markdown);
    match form {
        Form::MatrixHtml => markdown::dressed(&markdown, &elements::MATRIX),
        Form::Plain | Form::TelegramHtml | Form::DiscordMarkdown | Form::SlackMrkdwn => {
            page::text(Parser::new_ext(&markdown, options()), form)
        }
    }
}

/// Length of a text.
pub fn length(text: &str, unit: Unit) -> usize {
    match unit {
        Unit::Chars => text.chars().count(),
        Unit::Utf16 => text.encode_utf16().count(),
        Unit::Bytes => text.len(),
    }
}

/// A text in which definitions of links are words: a parser takes them out, used or not.
fn with_definitions(markdown: &str) -> Cow<'_, str> {
    let parser = Parser::new_ext(markdown, options());
    let mut places: Vec<usize> = parser.reference_definitions().iter().map(|(_, of)| of.span.start).collect();
    if places.is_empty() {
        return Cow::Borrowed(markdown);
    }
    places.sort_unstable();
    let (mut text, mut from) = (String::with_capacity(markdown.len() + places.len()), 0);
    for place in places {
        text.push_str(markdown.get(from..place).unwrap_or_default());
        text.push('\\');
        from = place;
    }
    text.push_str(markdown.get(from..).unwrap_or_default());
    Cow::Owned(text)
}
