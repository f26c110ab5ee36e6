//! Choices that proptest draws: a property that fails is told with the fewest of them, and their seed is kept.

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};

/// Choices in the order they were drawn; when they are used up, each is the first there is.
pub struct Dice(std::vec::IntoIter<u32>);

impl Dice {
    /// The same choices each time, for what is too slow to be tried often.
    pub fn fixed(most: usize) -> Self {
        let tree = vec(any::<u32>(), most).new_tree(&mut TestRunner::deterministic()).unwrap();
        Self(tree.current().into_iter())
    }

    pub fn roll(&mut self, sides: usize) -> usize {
        self.0.next().unwrap_or(0) as usize % sides
    }

    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }

    pub fn text(&mut self, letters: &str, length: usize) -> String {
        let letters: Vec<char> = letters.chars().collect();
        (0..length).map(|_| letters[self.roll(letters.len())]).collect()
    }
}

/// Tries a property so many times, each with at most so many choices; `file` is where it stands.
pub fn tried(cases: u32, most: usize, file: &'static str, property: impl Fn(&mut Dice)) {
    let config = Config { cases, source_file: Some(file), ..Config::default() };
    let choices = vec(any::<u32>(), most / 2..=most);
    let done = TestRunner::new(config).run(&choices, |choices| {
        property(&mut Dice(choices.into_iter()));
        Ok(())
    });
    done.unwrap_or_else(|failed| panic!("{failed}"));
}
