//! Marks of the forms, before and behind words, code and quotes. Pure.

use crate::channel::Form;

/// Mark around words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Strong,
    Emphasis,
    Struck,
    Code,
}

impl Mark {
    /// Telegram's Bot API, "HTML style"; Discord's help, "Markdown Text 101"; Slack, "Formatting message text".
    pub fn of(self, form: Form) -> (&'static str, &'static str) {
        match (form, self) {
            (Form::TelegramHtml, Self::Strong) => ("<b>", "</b>"),
            (Form::TelegramHtml, Self::Emphasis) => ("<i>", "</i>"),
            (Form::TelegramHtml, Self::Struck) => ("<s>", "</s>"),
            (Form::TelegramHtml, Self::Code) => ("<code>", "</code>"),
            (Form::DiscordMarkdown, Self::Strong) => ("**", "**"),
            (Form::DiscordMarkdown, Self::Emphasis) => ("*", "*"),
            (Form::DiscordMarkdown, Self::Struck) => ("~~", "~~"),
            (Form::SlackMrkdwn, Self::Strong) => ("*", "*"),
            (Form::SlackMrkdwn, Self::Emphasis) => ("_", "_"),
            (Form::SlackMrkdwn, Self::Struck) => ("~", "~"),
            (Form::DiscordMarkdown | Form::SlackMrkdwn, Self::Code) => ("`", "`"),
            // The elements of Matrix stand beside those of the page.
            (Form::Plain | Form::MatrixHtml, _) => ("", ""),
        }
    }
}

/// Marks before and behind a block of code in this language.
pub fn fence(form: Form, language: &str) -> (String, &'static str) {
    let is_name = !language.is_empty()
        && language.len() <= 20
        && language.chars().all(|letter| letter.is_ascii_alphanumeric() || "+#-_".contains(letter));
    match form {
        Form::Plain => (String::new(), ""),
        // "Use nested pre and code tags, to define programming language for pre entity."
        Form::TelegramHtml | Form::MatrixHtml if is_name => {
            (format!("<pre><code class=\"language-{language}\">"), "</code></pre>")
        }
        Form::TelegramHtml => ("<pre>".to_owned(), "</pre>"),
        Form::MatrixHtml => ("<pre><code>".to_owned(), "</code></pre>"),
        Form::DiscordMarkdown => (format!("```{}\n", if is_name { language } else { "" }), "\n```"),
        Form::SlackMrkdwn => ("```\n".to_owned(), "\n```"),
    }
}
