//! Likeness of texts by a few of their words, so that the same in other words is known as the same. Pure.

/// Words of a text that are kept to know its like; and the part of them that makes one text the like of another.
const SKETCH: usize = 24;
const ALIKE: f64 = 0.6;

/// Of a text the words by which its like is known: hashes of the longer ones, the smallest of them.
pub fn sketch(text: &str) -> Vec<u32> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 3);
    let mut words: Vec<u32> = words.map(hash).collect();
    words.sort_unstable();
    words.dedup();
    words.truncate(SKETCH);
    words
}

/// FNV-1a: the same over lives and compilers.
pub(crate) fn hash(word: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    word.to_lowercase().bytes().fold(0x811c_9dc5, step)
}

/// Whether two sketches are of much the same text; one of no words is like none.
pub(super) fn is_like(one: &[u32], other: &[u32]) -> bool {
    let common = one.iter().filter(|word| other.contains(word)).count() as f64;
    !one.is_empty() && !other.is_empty() && common / one.len().min(other.len()) as f64 >= ALIKE
}

pub(super) fn bounded(sketch: &[u32]) -> Vec<u32> {
    sketch.iter().take(SKETCH).copied().collect()
}
