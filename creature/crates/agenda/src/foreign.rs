//! Words of times in other languages than English, as a table has them: `um # uhr = at #` a line, `#` for each number. Pure.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A word in lower case, without accents and without marks around it.
pub fn folded(word: &str) -> String {
    let plain = word.to_lowercase().replace('’', "'").replace('ß', "ss").replace('œ', "oe");
    let plain: String = plain.nfd().filter(|letter| !is_combining_mark(*letter)).collect();
    plain.trim_matches(|c: char| ",.!?:;\"()…“”„«»¿¡".contains(c)).to_owned()
}

/// Words of a time in English; none where one of them stands in no phrase of the table.
pub fn in_english(table: &str, words: &[&str]) -> Option<String> {
    let plain: Vec<String> = words.iter().map(|word| folded(word)).filter(|word| !word.is_empty()).collect();
    let shapes: Vec<String> = plain.iter().map(|word| shape(word)).collect();
    let mut numbers = plain
        .iter()
        .flat_map(|word| word.split(|c: char| !c.is_ascii_digit()))
        .filter(|number| !number.is_empty());
    let (mut left, mut said) = (shapes.as_slice(), Vec::new());
    while !left.is_empty() {
        let begins = |phrase: &str| {
            let length = phrase.split(' ').count();
            left.get(..length).filter(|here| here.iter().map(String::as_str).eq(phrase.split(' ')))?;
            Some(length)
        };
        let phrases = table.lines().filter_map(|line| line.split_once(" = "));
        let here = phrases.filter_map(|(phrase, english)| Some((begins(phrase)?, english)));
        let (length, english) = here.max_by_key(|(length, _)| *length)?;
        left = left.get(length..)?;
        let mut parts = english.split('#');
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            filled += numbers.next()?;
            filled += part;
        }
        said.push(filled);
    }
    Some(said.join(" "))
}

/// A text with `#` in place of each number.
pub fn shape(word: &str) -> String {
    let mut shape = String::with_capacity(word.len());
    for letter in word.chars() {
        match letter.is_ascii_digit() {
            true if shape.ends_with('#') => {}
            true => shape.push('#'),
            false => shape.push(letter),
        }
    }
    shape
}
