//! What posts count on each network, and what is marked in them, as data; `scripts/trials social` asks the networks' own code.

use broker::services::posts::facets::{Facet, Is, found};
use broker::services::posts::length::{for_bluesky, for_x, weight};

#[test]
fn x_counts_by_weight() {
    for (text, expected) in [
        ("", 0),
        ("hello", 5),
        ("grüße", 5),
        ("cafe\u{301}", 4),
        ("日本", 4),
        ("Ж", 1),
        ("🦀", 2),
        ("❤️", 2),
        ("👨‍👩‍👧‍👦", 2),
        ("🙋🏽", 2),
        ("🇩🇪", 2),
        ("1️⃣", 2),
        ("see https://example.org/a/very/long/path/that/goes/on/and/on?and=on ok", 4 + 23 + 3),
        ("https://example.com\n", 24),
        ("(https://example.com/a_(b)), then", 1 + 23 + 7),
        ("read example.com.", 5 + 23 + 1),
        ("日本https://example.com日本", 4 + 23 + 4),
        ("me@example.com", 14),
        ("日/https://example.com", 2 + 1 + 23),
        ("https://localhost/x", 19),
        ("v1.2 and 3.14", 13),
    ] {
        assert_eq!(weight(text), expected, "{text}");
    }
    assert_eq!(for_x(&"x".repeat(280)), None);
    assert!(for_x(&"x".repeat(281)).unwrap().contains("281"));
}

#[test]
fn bluesky_counts_letters_and_bytes() {
    let family = "👨‍👩‍👧‍👦";
    assert_eq!(for_bluesky(&"x".repeat(300)), None);
    assert!(for_bluesky(&"x".repeat(301)).is_some());
    assert_eq!(for_bluesky(&family.repeat(120)), None, "3000 bytes");
    assert!(for_bluesky(&family.repeat(121)).is_some());
}

#[test]
fn links_mentions_and_tags_are_marked_by_bytes() {
    for (text, expected) in [
        ("no marks: a@b.example, #1, 3.14 and so on.", vec![]),
        ("@ann.bsky.social: hi", vec![("@ann.bsky.social", Is::Mention("ann.bsky.social".into()))]),
        ("é (@ann.test) ", vec![("@ann.test", Is::Mention("ann.test".into()))]),
        (
            "日 https://a.example/b?c=d#e.",
            vec![("https://a.example/b?c=d#e", Is::Link("https://a.example/b?c=d#e".into()))],
        ),
        ("(see example.com/x)", vec![("example.com/x", Is::Link("https://example.com/x".into()))]),
        ("https://a.example/(b)", vec![("https://a.example/(b)", Is::Link("https://a.example/(b)".into()))]),
        ("#Vögel! #2026a", vec![("#Vögel", Is::Tag("Vögel".into())), ("#2026a", Is::Tag("2026a".into()))]),
    ] {
        let cut = |facet: Facet| (text.get(facet.start..facet.end).unwrap(), facet.is);
        assert_eq!(found(text).into_iter().map(cut).collect::<Vec<_>>(), expected, "{text}");
    }
}
