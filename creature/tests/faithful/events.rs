//! Server-sent events as a model's server writes them: frames, comments, pings, and deltas of uneven length.

use serde_json::Value;

/// Numbers that look random and are the same for the same seed.
#[derive(Clone, Debug)]
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From `least` to `most`, both included.
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        let span = most.saturating_sub(least) as u64 + 1;
        least + (self.roll() % span) as usize
    }

    /// A text in pieces that join to it again.
    pub fn pieces(&mut self, text: &str) -> Vec<String> {
        let letters: Vec<char> = text.chars().collect();
        let most = (letters.len() / 40).max(24);
        let mut pieces = Vec::new();
        let mut rest = letters.as_slice();
        while !rest.is_empty() {
            let (piece, left) = rest.split_at(self.between(1, most).min(rest.len()));
            pieces.push(piece.iter().collect());
            rest = left;
        }
        pieces
    }
}

/// A stream's body as it grows.
pub struct Events {
    pub bytes: Vec<u8>,
    pub dice: Dice,
    /// Comments and pings among the events.
    noise: bool,
}

impl Events {
    pub fn new(seed: u64, noise: bool) -> Events {
        Events { bytes: Vec::new(), dice: Dice(seed), noise }
    }

    /// An event with its name, which also stands in its data.
    pub fn named(&mut self, name: &str, data: &Value) {
        self.noise();
        self.bytes.extend(format!("event: {name}\n").bytes());
        self.data(&data.to_string());
    }

    /// An event without a name.
    pub fn unnamed(&mut self, data: &Value) {
        self.noise();
        self.data(&data.to_string());
    }

    pub fn data(&mut self, data: &str) {
        let space = if self.dice.roll().is_multiple_of(8) && self.noise { "" } else { " " };
        self.bytes.extend(format!("data:{space}{data}\n\n").bytes());
    }

    fn noise(&mut self) {
        if self.noise && self.dice.roll().is_multiple_of(6) {
            self.bytes.extend(b": keep-alive\n\n");
        }
    }
}
