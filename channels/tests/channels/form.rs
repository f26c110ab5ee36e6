//! Formatting: what each platform gets of the same Markdown, that all of it is markup it takes, and that no word is lost.

use channels::channel::Form;
use channels::format::formatted;
use proptest::prelude::*;

const FORMS: [Form; 5] =
    [Form::Plain, Form::TelegramHtml, Form::DiscordMarkdown, Form::SlackMrkdwn, Form::MatrixHtml];

const LETTER: &str = "# Title\n\nSome **bold *and* it**, ~~gone~~, `a<b`, [a page](https://example.org/a_b?c=1&d=2).\n\n\
    - one\n- two\n  1. deep\n\n> said\n> twice\n\n```rust\nlet a = \"<&>\";\n```\n\n| a | b |\n|---|---|\n| 1 | 22 |\n\n---\nend & <b>raw</b>";

#[test]
fn each_platform_gets_its_own_markup() {
    let plain = "Title\n\nSome bold and it, gone, a<b, a page (https://example.org/a_b?c=1&d=2).\n\n• one\n• two\n  1. deep\n\n\
        > said\n> twice\n\nlet a = \"<&>\";\n\na  b\n1  22\n\n———\n\nend & <b>raw</b>";
    assert_eq!(formatted(LETTER, Form::Plain), plain);
    let telegram = "<b>Title</b>\n\nSome <b>bold <i>and</i> it</b>, <s>gone</s>, <code>a&lt;b</code>, \
        <a href=\"https://example.org/a_b?c=1&amp;d=2\">a page</a>.\n\n• one\n• two\n  1. deep\n\n\
        <blockquote>said\ntwice</blockquote>\n\n<pre><code class=\"language-rust\">let a = &quot;&lt;&amp;&gt;&quot;;</code></pre>\n\n\
        <pre>a  b\n1  22</pre>\n\n———\n\nend &amp; &lt;b&gt;raw&lt;/b&gt;";
    assert_eq!(formatted(LETTER, Form::TelegramHtml), telegram);
    let discord = "**Title**\n\nSome **bold *and* it**, ~~gone~~, `a<b`, [a page](https://example.org/a_b?c=1&d=2).\n\n\
        - one\n- two\n  1. deep\n\n> said\n> twice\n\n```rust\nlet a = \"<&>\";\n```\n\n```\na  b\n1  22\n```\n\n———\n\n\
        end & \\<b>raw\\</b>";
    assert_eq!(formatted(LETTER, Form::DiscordMarkdown), discord);
    let slack = "*Title*\n\nSome *bold _and_ it*, ~gone~, `a&lt;b`, <https://example.org/a_b?c=1&amp;d=2|a page>.\n\n\
        • one\n• two\n  1. deep\n\n> said\n> twice\n\n```\nlet a = \"&lt;&amp;&gt;\";\n```\n\n```\na  b\n1  22\n```\n\n———\n\n\
        end &amp; &lt;b&gt;raw&lt;/b&gt;";
    assert_eq!(formatted(LETTER, Form::SlackMrkdwn), slack);
    let matrix = formatted(LETTER, Form::MatrixHtml);
    for part in [
        "<h1>Title</h1>",
        "<strong>bold <em>and</em> it</strong>",
        "<del>gone</del>",
        "<ul><li>one</li><li>two<ol><li>deep</li></ol></li></ul>",
        "<blockquote><p>said<br>twice</p></blockquote>",
        "<pre><code class=\"language-rust\">let a = &quot;&lt;&amp;&gt;&quot;;\n</code></pre>",
        "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>22</td></tr></tbody></table>",
        "&lt;b&gt;raw&lt;/b&gt;",
    ] {
        assert!(matrix.contains(part), "{part}\n{matrix}");
    }
}

#[test]
fn marks_of_others_stay_letters() {
    let said = "1 * 2 * 3, snake_case, <@123>, @everyone, <!channel>, [x](javascript:alert), ``a`b``";
    assert_eq!(
        formatted(said, Form::DiscordMarkdown),
        "1 \\* 2 \\* 3, snake\\_case, \\<@\u{200b}123>, @\u{200b}everyone, \\<!channel>, x (javascript:alert), `a\u{2cb}b`"
    );
    assert_eq!(
        formatted(said, Form::SlackMrkdwn),
        "1 * 2 * 3, snake_case, &lt;@123&gt;, @everyone, &lt;!channel&gt;, x (javascript:alert), `a\u{2cb}b`"
    );
    assert!(!formatted(said, Form::MatrixHtml).contains("javascript:alert\""));
    assert_eq!(formatted("![a chart](results/a.png)", Form::TelegramHtml), "a chart (results/a.png)");
    assert_eq!(
        formatted("see\n\n[a]: https://example.org/never-used\n", Form::Plain),
        "see\n\n[a]: https://example.org/never-used"
    );
}

/// Elements of Telegram's list ("HTML style"): opened and closed in order, none of what may not stand within within.
fn telegram_takes(html: &str) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find(['<', '>', '&']) {
        let from = &rest[at..];
        if let Some(entity) = from.strip_prefix('&') {
            let end = entity.find(';').ok_or("an & alone")?;
            if !["amp", "lt", "gt", "quot"].contains(&&entity[..end]) {
                return Err(format!("&{};", &entity[..end]));
            }
            rest = &entity[end..];
            continue;
        }
        let tag = from.strip_prefix('<').ok_or("a > alone")?;
        let end = tag.find('>').ok_or("a < alone")?;
        let (tag, behind) = (&tag[..end], &tag[end + 1..]);
        rest = behind;
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop().as_deref() != Some(name) {
                return Err(format!("</{name}> closes nothing"));
            }
            continue;
        }
        let name = tag.split(' ').next().unwrap();
        if !["b", "i", "s", "code", "pre", "a", "blockquote"].contains(&name) {
            return Err(format!("<{name}>"));
        }
        let is_in = |of: &str| open.iter().any(|one| one == of);
        if is_in("code") || (is_in("pre") && !tag.starts_with("code class=\"language-")) || is_in(name) {
            return Err(format!("<{name}> within {open:?}"));
        }
        if name == "code" && !is_in("pre") && open.iter().any(|one| one != "blockquote") {
            return Err(format!("code within {open:?}"));
        }
        open.push(name.to_owned());
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} stays open")) }
}

/// HTML in which each element is closed in order.
fn is_nested(html: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for part in html.split('<').skip(1) {
        let tag = part.split('>').next().unwrap();
        match tag.strip_prefix('/') {
            Some(name) if open.pop() != Some(name) => return false,
            Some(_) => {}
            None if ["br", "hr"].contains(&tag) => {}
            None => open.push(tag.split(' ').next().unwrap()),
        }
    }
    open.is_empty()
}

/// The letters and digits of a text, in order.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).collect()
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z]{1,8}",
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("**".to_owned()),
        Just("*".to_owned()),
        Just("_".to_owned()),
        Just("~~".to_owned()),
        Just("`".to_owned()),
        Just("\n```rust\n".to_owned()),
        Just("\n```\n".to_owned()),
        Just("> ".to_owned()),
        Just("\n- ".to_owned()),
        Just("\n# ".to_owned()),
        Just("[words](https://example.org)".to_owned()),
        Just("[words](".to_owned()),
        Just("![p](x.png)".to_owned()),
        Just("<b>".to_owned()),
        Just("&".to_owned()),
        Just("</pre>".to_owned()),
        Just("\n| a | b |\n|---|---|\n| c | d |\n".to_owned()),
        Just("\n[a]: https://example.org\n".to_owned()),
        Just("🦀".to_owned()),
        Just("👩‍👩‍👧‍👦".to_owned()),
        Just("\u{202e}abc".to_owned()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_written_is_taken(text in pieces()) {
        let html = formatted(&text, Form::TelegramHtml);
        prop_assert!(telegram_takes(&html).is_ok(), "{:?}\n{html}", telegram_takes(&html));
        prop_assert!(is_nested(&formatted(&text, Form::MatrixHtml)), "{}", formatted(&text, Form::MatrixHtml));
        let slack = formatted(&text, Form::SlackMrkdwn);
        for part in slack.split('&').skip(1) {
            prop_assert!(["amp;", "lt;", "gt;"].iter().any(|entity| part.starts_with(entity)), "{slack}");
        }
    }

    #[test]
    fn no_word_is_lost(words in prop::collection::vec("[a-z]{3,9}", 1..40), mark in pieces()) {
        // Words of the sender's, each alone, between whatever marks there are.
        let said = words.iter().map(|word| format!("{word}\n\n")).collect::<String>() + &mark;
        for form in FORMS {
            let told = letters(&formatted(&said, form));
            for word in &words {
                prop_assert!(told.contains(word.as_str()), "{word} in {form:?}");
            }
        }
    }
}
