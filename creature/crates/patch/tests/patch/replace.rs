//! Tests of replacing one passage by another.

use patch::text::replace::replace;

#[test]
fn a_passage_is_found_exactly_or_by_its_lines_and_only_once() {
    for (text, old, new, wanted, pass) in [
        ("a\nb\nc\n", "b", "B", "a\nB\nc\n", "exact"),
        ("a\nb  \nc\n", "b\nc", "B\nC", "a\nB\nC\n", "trailing spaces ignored"),
        ("a\nb\nc\n", "b  \nc  \n", "B\n", "a\nB\n", "trailing spaces ignored"),
        ("a\r\nb\r\n", "a\nb", "x\ny", "x\r\ny\r\n", "exact"),
        ("a\r\nb\r\n", "a\r\nb", "x\ny", "x\r\ny\r\n", "exact"),
        ("", "", "new\n", "new\n", "new text"),
        ("é one\n", "one", "two", "é two\n", "exact"),
        ("a\nb\n", "b\n", "", "a\n", "exact"),
    ] {
        let done = replace(text, old, new).unwrap_or_else(|(why, _)| panic!("{old:?}: {why}"));
        assert_eq!((done.text.as_str(), done.pass), (wanted, pass), "{old:?}");
    }
}

#[test]
fn refusals_say_where() {
    for (text, old, new, why) in [
        ("a\n", "a", "a", "the same"),
        ("a\n", "", "b", "is empty"),
        ("x\na\nx\na\nx\na\n", "a", "b", "3 places (lines 2, 4, 6)"),
        ("aaa", "aa", "b", "2 places"),
        ("b \nc\nb \nc\n", "b\nc", "x", "2 places (lines 1, 3)"),
        (
            "fn one() {\n    1\n}\n",
            "fn one() {\n    2\n}\n",
            "x",
            "first difference at line 2: expected `    2`, found `    1`",
        ),
        ("fn one() {}\n", "nothing like it", "x", "nor any whole line"),
        ("fn one() {\n    first(1)\n}\n", "    first(2)", "x", "the nearest to its line 1 is line 2"),
        ("fn changed() {}\n", "fn old() {}", "fn changed() {}", "already, at line 1"),
        ("a\n", "  \n", "x", "not there"),
    ] {
        let (said, near) = replace(text, old, new).expect_err(old);
        assert_eq!(near.is_empty(), !said.contains("nearest"), "{near}");
        assert!(said.contains(why), "{old:?}: {said}");
    }
}
