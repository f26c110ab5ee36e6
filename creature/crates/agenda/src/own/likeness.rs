//! Likeness of texts by hashes of a few of their words, to tell a new text from one only slightly changed. Pure.

/// Hashes in a sketch; and the share of the shorter sketch that alike texts have in common.
const SKETCH: usize = 24;
const ALIKE: f64 = 0.6;

/// The sketch of a text: the smallest hashes of its words of more than three letters, sorted, each once.
pub fn sketch(text: &str) -> Vec<u32> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 3);
    let mut words: Vec<u32> = words.map(hash).collect();
    words.sort_unstable();
    words.dedup();
    words.truncate(SKETCH);
    words
}

/// FNV-1a of a word in lower case: the same over lives and compilers.
pub(crate) fn hash(word: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    word.to_lowercase().bytes().fold(0x811c_9dc5, step)
}

/// Whether two sketches are of much the same text; an empty one is like none.
pub(super) fn is_like(one: &[u32], other: &[u32]) -> bool {
    let common = one.iter().filter(|word| other.contains(word)).count() as f64;
    !one.is_empty() && !other.is_empty() && common / one.len().min(other.len()) as f64 >= ALIKE
}

pub(super) fn bounded(sketch: &[u32]) -> Vec<u32> {
    sketch.iter().take(SKETCH).copied().collect()
}
