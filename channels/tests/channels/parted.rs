//! Splitting: every part within the limits of its platform, no word lost, no letter torn, code whole where it fits.

use channels::channel::{Form, Unit};
use channels::format::{formatted, length};
use channels::split::{parts, plain_parts};
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

fn within(most: usize, unit: Unit, form: Form) -> impl Fn(&str) -> bool {
    move |text| [form, Form::Plain].into_iter().all(|form| length(&formatted(text, form), unit) <= most)
}

fn words(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

#[test]
fn a_text_is_split_between_paragraphs_and_code_stays_whole() {
    let code = format!("```rust\n{}```", "let a = 1;\n".repeat(6));
    let text = format!("{}\n\n{code}\n\n{}", "one ".repeat(20).trim(), "two ".repeat(20).trim());
    let got = parts(&text, &within(100, Unit::Chars, Form::DiscordMarkdown));
    assert_eq!(got, ["one ".repeat(20).trim(), &code, "two ".repeat(20).trim()]);
}

#[test]
fn code_that_does_not_fit_is_code_in_each_part() {
    let text = format!("~~~~py\n{}~~~~\n", "print('a line')\n".repeat(40));
    let got = parts(&text, &within(200, Unit::Chars, Form::DiscordMarkdown));
    assert!(got.len() > 3, "{got:?}");
    for part in &got {
        assert!(part.starts_with("~~~~py\n") && part.ends_with("\n~~~~"), "{part}");
        assert!(formatted(part, Form::DiscordMarkdown).starts_with("```py\nprint"), "{part}");
    }
    let lines: usize = got.iter().map(|part| part.matches("print('a line')").count()).sum();
    assert_eq!(lines, 40);
}

#[test]
fn a_hundred_thousand_characters_and_only_emoji_fit_and_tear_no_letter() {
    let family = "👩‍👩‍👧‍👦";
    for text in [
        "word ".repeat(20_000),
        "x".repeat(100_000),
        family.repeat(14_000),
        format!("{}\n", "е́".repeat(10)).repeat(5_000),
    ] {
        for (most, unit) in [(4_096, Unit::Utf16), (2_000, Unit::Chars), (65_000, Unit::Bytes)] {
            let fits = within(most, unit, Form::TelegramHtml);
            let got = parts(&text, &fits);
            assert!(got.iter().all(|part| fits(part)));
            assert_eq!(words(&got.concat()), words(&text));
            let whole = |text: &str| text.graphemes(true).filter(|one| !one.trim().is_empty()).count();
            assert_eq!(got.iter().map(|part| whole(part)).sum::<usize>(), whole(&text), "a letter was torn");
        }
    }
}

#[test]
fn a_letter_with_more_marks_than_fit_is_told_all_the_same() {
    let text = format!("a{}", "\u{301}".repeat(5_000));
    let got = plain_parts(&text, &|part| part.chars().count() <= 2_000);
    assert_eq!(got.concat(), text);
    assert!(got.iter().all(|part| part.chars().count() <= 2_000));
    assert_eq!(plain_parts("  \n ", &|_| true), Vec::<String>::new());
}

fn markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zà-ÿ]{1,12} ",
        1 => Just("\n".to_owned()),
        2 => Just("\n\n".to_owned()),
        1 => Just("**b** ".to_owned()),
        1 => Just("\n```rust\nfn a() {}\n```\n".to_owned()),
        1 => Just("\n- item ".to_owned()),
        1 => Just("\n1. item ".to_owned()),
        1 => Just("\n> quoted ".to_owned()),
        1 => Just("[l](https://example.org/p) ".to_owned()),
        1 => Just("<i> & ".to_owned()),
        1 => Just("👩‍👩‍👧‍👦".to_owned()),
        1 => Just("\n| a | b |\n|---|---|\n| c | d |\n".to_owned()),
        1 => Just("\n    indented\n".to_owned()),
    ];
    prop::collection::vec(piece, 1..200).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_part_fits_and_no_word_is_lost(text in markdown(), most in 40_usize..400) {
        for (unit, form) in [
            (Unit::Utf16, Form::TelegramHtml),
            (Unit::Chars, Form::DiscordMarkdown),
            (Unit::Bytes, Form::SlackMrkdwn),
            (Unit::Bytes, Form::MatrixHtml),
        ] {
            let fits = within(most.max(100), unit, form);
            let got = parts(&text, &fits);
            for part in &got {
                prop_assert!(fits(part), "{form:?} {most} {part}");
                prop_assert!(!part.trim().is_empty());
            }
            // Fences are written once more for each part of a block; all else stands there as it was.
            let plain = |text: &str| words(&text.lines().filter(|line| !line.starts_with("```")).collect::<Vec<_>>().join("\n"));
            prop_assert_eq!(plain(&got.join("\n")), plain(&text));
        }
    }
}
