//! The first number of a text, as people write numbers: with thousands marks, a comma or a point before the decimals. Pure.

/// The first number in a text; none where there is none.
pub fn number(text: &str) -> Option<f64> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let rest = text.get(start..)?;
    let mark = |c: char| matches!(c, '.' | ',' | '\'' | '\u{a0}' | '\u{202f}');
    let mut end = 0;
    let mut letters = rest.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let goes_on = letters.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        if !(letter.is_ascii_digit() || (mark(letter) && goes_on)) {
            break;
        }
        end = at + letter.len_utf8();
    }
    let digits = rest.get(..end)?;
    let before = text.get(..start)?.trim_end_matches(['$', '€', '£', ' ']);
    let minus = before.ends_with(['-', '\u{2212}']);
    let (points, commas) = (digits.matches('.').count(), digits.matches(',').count());
    // The last mark begins the decimals, unless it is of thousands.
    let decimal = match (points, commas) {
        (0, 0) => None,
        (1.., 1..) => digits.rfind(['.', ',']),
        (1, 0) => digits.find('.'),
        (0, 1) => digits.find(',').filter(|at| digits.len() - at != 4),
        _ => None,
    };
    let whole = |part: &str| part.chars().filter(char::is_ascii_digit).collect::<String>();
    let plain = match decimal {
        None => whole(digits),
        Some(at) => format!("{}.{}", whole(digits.get(..at)?), whole(digits.get(at..)?)),
    };
    plain.parse::<f64>().ok().map(|number| if minus { -number } else { number })
}
