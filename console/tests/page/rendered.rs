//! Markdown becomes a few elements of ours, whatever stands in it; links say where they lead.

use console::markdown::html;

/// Elements and attributes that may stand in what is rendered.
const ELEMENTS: [&str; 22] = [
    "p",
    "br",
    "hr",
    "em",
    "strong",
    "del",
    "code",
    "pre",
    "blockquote",
    "ul",
    "ol",
    "li",
    "a",
    "span",
    "div",
    "table",
    "thead",
    "tr",
    "th",
    "td",
    "tbody",
    "caption",
];
const ATTRIBUTES: [&str; 9] =
    ["class", "target", "rel", "href", "tabindex", "role", "aria-label", "scope", "start"];

/// Every element is one of ours, its attributes too, and each that is opened is ended.
fn is_ours(html: &str) {
    let mut open = Vec::new();
    for part in html.split('<').skip(1) {
        let (inside, _) = part.split_once('>').unwrap_or_else(|| panic!("no end of <{part}"));
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{html}");
            continue;
        }
        let name = inside.split(' ').next().unwrap();
        assert!(ELEMENTS.contains(&name), "<{inside}> in {html}");
        for attribute in inside.split('"').step_by(2).skip(usize::from(!inside.contains('"'))) {
            for word in attribute.split_whitespace().filter(|word| word.ends_with('=')) {
                assert!(ATTRIBUTES.contains(&word.trim_end_matches('=')), "{word} in <{inside}>");
            }
        }
        if !["br", "hr"].contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} in {html}");
}

#[test]
fn what_is_written_with_marks_is_shown_with_them() {
    let text = "## Three\n\n1. **ed** is *old*\n2. `cat -v`\n\n| tool | lines |\n|---|---:|\n| ed | 8 |\n\n```rust\nlet a = \"<b>\";\n```\n\nfirst\nsecond\n\n- [x] done";
    let shown = html(text);
    is_ours(&shown);
    for part in [
        "<p class=\"heading\">Three</p>",
        "<ol><li><strong>ed</strong> is <em>old</em></li>",
        "<code>cat -v</code>",
        "<th scope=\"col\">tool</th>",
        "<td>ed</td>",
        "<code>let a = &quot;&lt;b&gt;&quot;;\n</code>",
        "first<br>second",
        "☑ done",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
}

#[test]
fn no_markup_of_the_text_itself_gets_through() {
    let hostile = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "a <b onclick=\"x()\">bold</b> word",
        "</p></div></main><iframe srcdoc='<script>x</script>'>",
        "<!-- a comment --> <![CDATA[ x ]]> <?php x ?>",
        "<div>\n\n**inside**\n\n</div>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1)) [y](data:text/html,<script>1</script>) [z](vbscript:x)",
        "[x](  java\tscript:alert(1))",
        "![x](https://evil.test/pixel.png)",
        "![x](javascript:alert(1)) [![y](a.png)](https://evil.test)",
        "<https://evil.test/\"onmouseover=\"x> <javascript:alert(1)>",
        "[a](https://evil.test/\"onmouseover=\"x \"title\" )",
        "[x][1]\n\n[1]: javascript:alert(1) \"title\"",
        "```<script>\nx\n```\n~~~\"onload=\"x\n~~~",
        "| <b> | a |\n|---|---|\n| <i> | `<u>` |",
        "&lt;script&gt; &#60;script&#62; &#x3c;b&#x3e;",
        "# <script>\n> <style>\n- <base href=//evil.test>",
    ];
    for text in hostile {
        let shown = html(text);
        is_ours(&shown);
        for odd in [
            "<script",
            "<img",
            "<iframe",
            "<b ",
            "<b>",
            "<style",
            "<base",
            "href=\"javascript",
            "href=\"data",
            "href=\"vbscript",
            " onclick=\"",
            " onmouseover=\"",
        ] {
            assert!(!shown.contains(odd), "{odd} of {text:?} in {shown}");
        }
    }
}

#[test]
fn a_link_leads_out_only_by_web_and_mail_and_says_where() {
    let shown = html(
        "[your bank](https://evil.test/login) and [me](mailto:me@x.example), <https://a.example/b>, [near](notes/a.md)",
    );
    is_ours(&shown);
    assert!(
        shown.contains("<a target=\"_blank\" rel=\"noopener noreferrer\" href=\"https://evil.test/login\">your bank</a> <span class=\"address\">(https://evil.test/login)</span>"),
        "{shown}"
    );
    assert!(shown.contains("<span class=\"address\">(mailto:me@x.example)</span>"), "{shown}");
    assert!(shown.contains("href=\"https://a.example/b\">https://a.example/b</a>, "), "said once: {shown}");
    assert!(
        shown.contains("near <span class=\"address\">(notes/a.md)</span>") && !shown.contains("href=\"notes"),
        "{shown}"
    );
    let picture = html("![a heron](https://x.example/h.png)");
    assert!(
        picture.contains("[picture: a heron]") && picture.contains("(https://x.example/h.png)"),
        "{picture}"
    );
}

#[test]
fn what_is_deep_or_long_stays_bounded() {
    let deep = html(&"> ".repeat(4_000));
    assert!(deep.matches("<blockquote>").count() <= 16, "{}", deep.matches("<blockquote>").count());
    let lists = html(&(0..200).map(|depth| format!("{}- a\n", "  ".repeat(depth))).collect::<String>());
    is_ours(&lists);
    let long = html(&"**a** <b>".repeat(60_000));
    assert!(long.starts_with("<p class=\"plain\">**a** &lt;b&gt;"), "{}", &long[..60]);
    for odd in
        ["*".repeat(20_000), "[".repeat(20_000), "`".repeat(20_001), "[](".repeat(8_000), "<".repeat(20_000)]
    {
        is_ours(&html(&odd));
    }
}
