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

/// A text that is no Markdown, in a form: Discord knows no message without markup, and would hide what stands between marks.
pub fn plainly(text: &str, form: Form) -> Cow<'_, str> {
    if form != Form::DiscordMarkdown {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    escape::discord(text, true, false, &mut out);
    Cow::Owned(out)
}

/// Length of a text.
pub fn length(text: &str, unit: Unit) -> usize {
    match unit {
        Unit::Chars => text.chars().count(),
        Unit::Utf16 => text.encode_utf16().count(),
        Unit::Bytes => text.len(),
    }
}

/// Whether words look like an address and are another one than where they lead: that is then told beside them.
pub fn pretends(words: &str, to: &str) -> bool {
    let (words, to) = (words.trim().to_lowercase(), to.to_lowercase());
    let host = words.split('/').next().unwrap_or_default();
    let looks = words.contains("://") || (host.contains('.') && !words.contains(char::is_whitespace));
    let bare =
        |text: &str| text.split_once("://").map_or(text, |(_, rest)| rest).trim_end_matches('/').to_owned();
    let is_its = bare(&to)
        .strip_prefix(&bare(&words))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']));
    looks && !is_its && to != format!("mailto:{words}")
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
