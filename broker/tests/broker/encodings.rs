//! Encodings: each that docs/services.md promises to undo is tried with secrets, and looking for them is linear.

use crate::dice::{Dice, tried};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use broker::secrets::encodings::each_view;
use broker::secrets::keys::{Keys, MARK};
use broker::secrets::patterns;
use std::collections::BTreeMap;

const LETTERS: &[&str] = &[
    "a", "b", "k", "z", "A", "Q", "Z", "0", "4", "9", "-", "_", ".", "/", "+", "=", "!", "%", "&", "\\",
    "\"", "<", "~", "#", "é", ";", " ",
];

fn keys(secrets: &[String]) -> Keys {
    let named = secrets.iter().enumerate().map(|(index, value)| (format!("KEY_{index}"), value.clone()));
    Keys::of(named.collect::<BTreeMap<_, _>>())
}

fn secret(dice: &mut Dice) -> String {
    let middle: String = (0..10 + dice.roll(40)).map(|_| dice.pick(LETTERS)).collect();
    format!("k{middle}z")
}

/// Rows of the table: a name, and whether it is an escape, of which two may stand around each other.
fn table() -> Vec<(String, bool)> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/services.md")).unwrap();
    let section =
        text.split("\n## Encodings that are undone\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        (cells[1].to_owned(), cells[3] == "yes")
    })
    .collect()
}

/// The text with `one` for the letters that need it, and for some that do not.
fn each(text: &str, dice: &mut Dice, needs: impl Fn(char) -> bool, one: impl Fn(char) -> String) -> String {
    let some = dice.roll(3);
    text.chars()
        .map(|letter| match needs(letter) || some == 0 || (some == 1 && dice.roll(2) == 0) {
            true => one(letter),
            false => letter.to_string(),
        })
        .collect()
}

fn bytes(letter: char, one: impl Fn(u8) -> String) -> String {
    letter.to_string().bytes().map(one).collect()
}

fn hex(bytes: &[u8], between: &str, upper: bool) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    if upper { digits.join(between).to_uppercase() } else { digits.join(between) }
}

fn broken(text: &str, end: &str, dice: &mut Dice) -> String {
    let every = 4 + dice.roll(72);
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(every).map(|line| line.iter().collect::<String>()).collect::<Vec<_>>().join(end)
}

fn named(letter: char) -> String {
    let name = match letter {
        '/' => "sol",
        '+' => "plus",
        '=' => "equals",
        '&' => "amp",
        '"' => "quot",
        '<' => "lt",
        '_' => "lowbar",
        '.' => "period",
        '!' => "excl",
        '%' => "percnt",
        '\\' => "bsol",
        '#' => "num",
        ';' => "semi",
        other => return format!("&#{};", u32::from(other)),
    };
    format!("&{name};")
}

/// A text in the encoding a row names.
fn encoded(row: &str, text: &str, dice: &mut Dice) -> String {
    let odd = |letter: char| !letter.is_ascii_alphanumeric();
    let upper = dice.roll(2) == 0;
    let around = format!("{}{text}{}", "x".repeat(dice.roll(5)), "y".repeat(dice.roll(5)));
    let utf16 = |text: &str| -> Vec<u8> {
        text.encode_utf16().flat_map(if upper { u16::to_be_bytes } else { u16::to_le_bytes }).collect()
    };
    match row {
        "as it is" => text.to_owned(),
        "broken across lines" => broken(text, if upper { "\r\n\t" } else { "\n" }, dice),
        "backwards" => text.chars().rev().collect(),
        "base64" => STANDARD.encode(&around),
        "base64 for addresses" => URL_SAFE_NO_PAD.encode(&around),
        "base64 broken across lines" => {
            broken(&STANDARD.encode(&around), if upper { "\r\n" } else { "\n  " }, dice)
        }
        "base64 of base64" => STANDARD.encode(format!("x: {}", STANDARD.encode(&around))),
        "UTF-16" => String::from_utf8_lossy(&utf16(text)).into_owned(),
        "base64 of UTF-16" => STANDARD.encode(utf16(&around)),
        "hexadecimal" => hex(text.as_bytes(), "", upper),
        "hexadecimal with signs" => hex(text.as_bytes(), dice.pick(&[":", " ", "-", ", ", "\n"]), upper),
        "percent" => each(text, dice, odd, |letter| {
            bytes(letter, |byte| if upper { format!("%{byte:02X}") } else { format!("%{byte:02x}") })
        }),
        "JSON" => each(
            text,
            dice,
            |letter| "\"\\".contains(letter),
            |letter| letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        ),
        "bytes of programs" => each(
            text,
            dice,
            |letter| "\"\\é".contains(letter),
            |letter| bytes(letter, |byte| format!("\\x{byte:02x}")),
        ),
        "letters of programs" => each(
            text,
            dice,
            |letter| "\"\\".contains(letter),
            |letter| format!("\\u{{{:x}}}", u32::from(letter)),
        ),
        "HTML, by name" => each(text, dice, |letter| "&<\"".contains(letter), named),
        "HTML, decimal" => each(text, dice, odd, |letter| format!("&#{};", u32::from(letter))),
        "HTML, hexadecimal" => each(text, dice, odd, |letter| format!("&#x{:X};", u32::from(letter))),
        "quoted-printable" => {
            let text = each(text, dice, odd, |letter| bytes(letter, |byte| format!("={byte:02X}")));
            let at = text.char_indices().map(|(at, _)| at).filter(|at| {
                !text[..*at].ends_with('=')
                    && text[..*at].chars().rev().nth(1).is_none_or(|letter| letter != '=')
            });
            let at = at.max().unwrap();
            format!("{}=\r\n{}", &text[..at], &text[at..])
        }
        other => panic!("docs/services.md promises {other:?}, which is not tried"),
    }
}

#[test]
fn every_encoding_of_the_table_is_undone() {
    let rows = table();
    assert!(rows.len() >= 18, "{rows:?}");
    let escapes: Vec<&str> = rows.iter().filter(|(_, escape)| *escape).map(|(row, _)| row.as_str()).collect();
    assert!(escapes.len() >= 8);
    for (row, _) in &rows {
        tried(60, 200, file!(), |dice| {
            let secret = secret(dice);
            let keys = keys(std::slice::from_ref(&secret));
            // As text it is no UTF-16 where a letter is not ASCII.
            if row == "UTF-16" && !secret.is_ascii() {
                let bytes: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
                assert!(keys.scrub_bytes(bytes).starts_with(MARK.as_bytes()), "{secret:?}");
                return;
            }
            let spelling = encoded(row, &secret, dice);
            let outer = dice.pick(&escapes);
            let within = (format!("{row} in {outer}"), encoded(outer, &spelling, dice));
            for (how, spelling) in [(row.clone(), spelling), within] {
                let clean = keys.scrub(&format!("before [{spelling}] after"));
                assert!(clean.contains(MARK), "{how}: {secret:?} as {spelling:?}: {clean:?}");
                // Of base64 the characters stay that hold bits of what stands around, each perhaps as an escape.
                assert!(clean.len() <= 420, "{how}: {secret:?} as {spelling:?}: {clean:?}");
                assert!(clean.starts_with("before [") && clean.ends_with(" after"), "{how}: {clean:?}");
            }
        });
    }
}

/// What looking for looks costs, in bytes visited, of a text of this length.
fn visited(prefix: &str, length: usize) -> usize {
    patterns::found(&prefix.repeat(length / prefix.len() + 1)[..length]).visited
}

#[test]
fn looks_are_found_in_linear_time_whatever_the_text() {
    let prefixes = [
        "sk-",
        "-----BEGIN ",
        "Bearer ",
        "Bearer sk-",
        "-----BEGIN RSA PRIVATE KEY----- ",
        "-----END ",
        "AKIA",
        "=sk-=",
        "-----BEGIN PRIVATE KEY----------END ",
        "ghp_ghp_",
        "xoxb-1 ",
        "sk-sk_live_rk_live_ghp_",
        "hf_9",
        "Basic Basic ",
    ];
    for prefix in prefixes {
        let (half, whole) = (visited(prefix, 1 << 19), visited(prefix, 1 << 20));
        assert!(
            whole * 10 <= half * 22,
            "{prefix:?}: {half} bytes visited for one half, {whole} for the whole"
        );
        assert!(whole <= 16 << 20, "{prefix:?}: {whole}");
    }
}

#[test]
fn encodings_are_undone_in_linear_time_whatever_the_text() {
    let prefixes = [
        "%", "%25", "\\", "\\u005c", "&", "&#", "&#0", "&amp;", "=", "= ", "=3D", "\\x5c", "&#x26;#", "\\u{",
        "%26#37;",
    ];
    for prefix in prefixes {
        let bytes = |length: usize| {
            let text = prefix.repeat(length / prefix.len() + 1);
            let (mut all, mut largest) = (0, 0);
            each_view(&text.as_bytes()[..length], |view| {
                all += view.bytes.len();
                largest = largest.max(view.bytes.len());
            });
            assert!(largest <= length, "{prefix:?}: a view is larger than the text");
            all
        };
        let (half, whole) = (bytes(1 << 17), bytes(1 << 18));
        assert!(
            whole * 10 <= half * 22,
            "{prefix:?}: {half} bytes in views of one half, {whole} of the whole"
        );
    }
}

#[test]
fn what_looks_like_a_secret_is_struck_and_words_stay() {
    for (text, clean) in [
        ("use sk-abc0123456789abcdef01, please", "use sk-[key], please"),
        ("Bearer abcdefghij0123456789xyz", "Bearer [key]"),
        ("task-force sk-of-words-and-no-digit-in-them", "task-force sk-of-words-and-no-digit-in-them"),
        ("sk-sk-sk-0123456789abcdefghij sk-1", "sk-[key] sk-1"),
        ("-----BEGIN CERTIFICATE-----\nabc", "-----BEGIN CERTIFICATE-----\nabc"),
        ("a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b", "a [key] b"),
        ("a -----BEGIN PRIVATE KEY-----\nMII never ends", "a [key]"),
        (
            "Bearer abcdefghij0123456789-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----!",
            "Bearer [key]!",
        ),
    ] {
        assert_eq!(patterns::scrub(text.to_owned()), clean);
    }
}
