//! Shows what a misquoted text really says: the nearest block, the first difference, the places. Pure.

/// Lines of a text that are shown around a place.
const MOST_SHOWN: usize = 12;

/// Places that are named at most.
const MOST_PLACES: usize = 8;

/// The block of a text that comes nearest to the lines that were expected.
pub struct Nearest<'a> {
    /// Index of its first line.
    pub start: usize,
    /// Number of the expected lines that stand there.
    pub same: usize,
    text: &'a [&'a str],
    expected: &'a [&'a str],
}

/// The block with the most expected lines, of several the nearest to index `stated`; none if there are none.
pub fn nearest<'a>(text: &'a [&'a str], expected: &'a [&'a str], stated: usize) -> Option<Nearest<'a>> {
    let same = |start: usize| {
        let pairs = expected.iter().zip(text.iter().skip(start));
        pairs.filter(|(a, b)| !a.trim().is_empty() && a.trim() == b.trim()).count()
    };
    let all = (0..text.len()).map(|start| (same(start), start));
    let (same, start) = all.max_by_key(|(same, start)| (*same, std::cmp::Reverse(start.abs_diff(stated))))?;
    (same > 0).then_some(Nearest { start, same, text, expected })
}

impl Nearest<'_> {
    /// Says where it first differs from what was expected, spaces at the ends of lines aside.
    pub fn difference(&self) -> String {
        let here = |at: usize| (self.expected.get(at), self.text.get(self.start + at));
        let differs = |at: &usize| {
            let (expected, found) = here(*at);
            expected.map(|line| line.trim_end()) != found.map(|line| line.trim_end())
        };
        let at = (0..self.expected.len()).find(differs).unwrap_or(0);
        let (expected, found) = here(at);
        format!(
            "first difference at line {}: expected `{}`, found `{}`",
            self.start + at + 1,
            expected.unwrap_or(&""),
            found.unwrap_or(&"(end of file)")
        )
    }

    /// Its lines, numbered.
    pub fn shown(&self) -> String {
        numbered(self.text, self.start, self.expected.len().max(3))
    }
}

/// Shows so many lines from this index on, each with its number.
pub fn numbered(text: &[&str], from: usize, count: usize) -> String {
    let lines = text.iter().enumerate().skip(from).take(count.clamp(1, MOST_SHOWN));
    let lines: Vec<String> = lines.map(|(at, line)| format!("{}: {line}", at + 1)).collect();
    lines.join("\n")
}

/// Says how many places there are, and the numbers of the first lines.
pub fn places(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(MOST_PLACES).map(usize::to_string).collect();
    format!("{} places (lines {})", lines.len(), shown.join(", "))
}
