//! The rough look at tags, as data.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use hands::readable::line;
use hands::tags::{flatten, is_hard};

#[test]
fn fragments_become_lines() {
    for (fragment, plain) in [
        ("plain  text\n here", "plain text here"),
        ("<p>One</p><p>Two &amp; &#8220;three&#8221;</p>", "One Two & “three”"),
        ("a<script>alert('x')</script>b", "a b"),
        ("x < y & z", "x < y & z"),
        ("<img src=x onerror=y>", ""),
        ("broken <a href='", "broken"),
    ] {
        assert_eq!(line(fragment, 100), plain, "{fragment}");
    }
    assert_eq!(line("äöüäöüäöü", 4), "äöü…");
    assert_eq!(line("<b>äöüä</b>", 4), "äöüä");
}

#[test]
fn hard_pages_are_told_from_long_ones() {
    let svg = format!("<svg>{}</svg>", "<path d='M0 0'/><circle r=1 />".repeat(5000));
    let lists = "<ul><li><p>one<li><p>two</ul><br><img>".repeat(5000);
    let script = format!("<script>{}</script>", "'<div>' && ".repeat(9000));
    let links = "<a href='/?a=1&b=2&c=3'>x &amp; y</a>".repeat(9000);
    for page in [svg, lists, script, links] {
        assert!(!is_hard(&page), "{}", &page[..60]);
    }
    for page in ["<div>".repeat(2000), "<div/>".repeat(2000), "<x>".repeat(2000), "&amp;".repeat(6000)] {
        assert!(is_hard(&page), "{}", &page[..60]);
    }
    assert_eq!(flatten("<p>a<!-- <b> -->b<style>c{}</style><i>d</i>"), "<br>ab<br>d");
    assert_eq!(flatten("1 < 2 <3 </"), "1 < 2 <3 </");
}
