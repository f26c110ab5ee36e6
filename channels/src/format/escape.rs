//! Text of which no platform makes markup. Pure.

use crate::channel::Form;

/// A space of no width: where a platform has no way to write its own marks, it takes their meaning from them.
const NOTHING: char = '\u{200b}';

/// Text as it is written in a form; `starts`: at the start of a line.
pub fn escaped(text: &str, form: Form, starts: bool, out: &mut String) {
    match form {
        Form::Plain => out.push_str(text),
        Form::TelegramHtml | Form::MatrixHtml => html(text, out),
        Form::SlackMrkdwn => slack(text, out),
        Form::DiscordMarkdown => discord(text, starts, true, out),
    }
}

/// Text for HTML and for an attribute in quotes. Telegram's Bot API, "HTML style": of the named entities these four are known.
pub fn html(text: &str, out: &mut String) {
    entities(text, &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;")], out);
}

/// Text for Slack: "Formatting message text", Escaping text, has these three and no other.
pub fn slack(text: &str, out: &mut String) {
    entities(text, &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;")], out);
}

fn entities(text: &str, known: &[(char, &str)], out: &mut String) {
    for letter in text.chars() {
        match known.iter().find(|(of, _)| *of == letter) {
            Some((_, entity)) => out.push_str(entity),
            None => out.push(letter),
        }
    }
}

/// Discord's help, "Markdown Text 101": a backslash before a mark makes it a letter. Addresses stay as they are: they become
/// links of themselves, with any backslash in them; without `has_links` nothing does.
pub fn discord(text: &str, mut starts: bool, has_links: bool, out: &mut String) {
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_start_matches(['(', '"']);
        if has_links && (bare.starts_with("https://") || bare.starts_with("http://")) {
            out.push_str(word);
        } else {
            for (at, letter) in word.char_indices() {
                // Within an address a backslash would be shown, so none begins here.
                let is_address = word.get(at..).is_some_and(|rest| rest.starts_with("://"));
                let is_mark =
                    is_address || r"\*_~`|<[]@".contains(letter) || (starts && ">#-+".contains(letter));
                if letter == '@' {
                    // "Message formatting" of its reference: nobody is called by a name that is broken.
                    out.push('@');
                    out.push(NOTHING);
                } else if is_mark {
                    out.push('\\');
                    out.push(letter);
                } else {
                    out.push(letter);
                }
                starts &= letter == ' ';
            }
        }
        starts = word.ends_with('\n') || (starts && word.trim().is_empty());
    }
}

/// Code as it stands between the marks of a form. Neither Discord nor Slack can write the mark within.
pub fn code(text: &str, form: Form, is_block: bool, out: &mut String) {
    match form {
        Form::Plain => out.push_str(text),
        Form::TelegramHtml | Form::MatrixHtml => html(text, out),
        Form::SlackMrkdwn => slack(&parted(text, is_block), out),
        Form::DiscordMarkdown => out.push_str(&parted(text, is_block)),
    }
}

/// Code in which the mark that would end it does not stand.
fn parted(text: &str, is_block: bool) -> String {
    let mark = if is_block { "```" } else { "`" };
    if !text.contains(mark) {
        return text.to_owned();
    }
    match is_block {
        true => text.replace('`', &format!("`{NOTHING}")),
        // The accent looks like it.
        false => text.replace('`', "\u{02cb}"),
    }
}
