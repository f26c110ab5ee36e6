//! Slack's markup, read as people see it; pure.

/// Formatting text for app surfaces, "Escaping text": three characters stand for themselves no more.
const ESCAPED: [(&str, &str); 3] = [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];

/// Reads a message's text: links as addresses, mentions by their ids, and the app's own at the beginning left out.
pub fn plain(text: &str, me: &str) -> String {
    let own = format!("<@{me}>");
    let text = text.trim();
    let text =
        if me.is_empty() { text } else { text.strip_prefix(own.as_str()).unwrap_or(text).trim_start() };
    let mut read = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from)) = rest.split_once('<') {
        read.push_str(&unescaped(before));
        let Some((inside, after)) = from.split_once('>') else {
            rest = from;
            read.push('<');
            continue;
        };
        read.push_str(&unescaped(&pointed(inside)));
        rest = after;
    }
    read.push_str(&unescaped(rest));
    read
}

/// "Advanced formatting": `<url|label>`, `<@user>`, `<#channel|name>`, `<!everyone>`.
fn pointed(inside: &str) -> String {
    let (to, label) = inside.split_once('|').unwrap_or((inside, ""));
    match to.chars().next() {
        Some(mark @ ('@' | '#')) => {
            let id = to.strip_prefix(mark).unwrap_or(to);
            format!("{mark}{}", if label.is_empty() { id } else { label })
        }
        Some('!') if label.is_empty() => to.replacen('!', "@", 1),
        Some('!') => label.to_owned(),
        Some(_) | None => {
            let is_same = label.is_empty() || to.ends_with(label);
            if is_same {
                to.strip_prefix("mailto:").unwrap_or(to).to_owned()
            } else {
                format!("{label} ({to})")
            }
        }
    }
}

fn unescaped(text: &str) -> String {
    ESCAPED.iter().fold(text.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain))
}

/// The reverse, for text that no formatting was made of.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
