//! Words of times in other languages: English only where every word stands in the table.

use agenda::foreign::{folded, in_english};

const TABLE: &str = "
# = #
in = in
um # = at #
um # uhr # = at #:#
a #h# = at #:#
minuten = minutes
morgen = tomorrow
morgen fruh = tomorrow morning
";

#[test]
fn words_of_a_time_are_english_ones_by_the_longest_phrases() {
    let english = |said: &str| in_english(TABLE, &said.split(' ').collect::<Vec<_>>());
    for (said, wanted) in [
        ("in 5 Minuten", "in 5 minutes"),
        ("morgen um 8", "tomorrow at 8"),
        ("Morgen früh, um 7 Uhr 30", "tomorrow morning at 7:30"),
        ("à 9h05 ?", "at 9:05"),
    ] {
        assert_eq!(english(said).as_deref(), Some(wanted), "{said}");
    }
    for not in ["um halb 9", "übermorgen", "um", "8 Uhr", "morgen um 8 Ann"] {
        assert_eq!(english(not), None, "{not}");
    }
    assert_eq!(english(""), Some(String::new()));
}

#[test]
fn accents_capitals_and_marks_make_no_difference() {
    assert_eq!(["¿Qué?", "GROẞ", "„Früh“,", "l’œuf"].map(folded), ["que", "gross", "fruh", "l'oeuf"]);
}
