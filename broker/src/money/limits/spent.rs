//! Sums of what calls came to within 24 hours, by name, and whether one more fits; pure.
//!
//! Invariant: no 24 hours that really pass, however clocks are set, hold more than the limit. Time is counted only while
//! it is known to pass: by the clock of one boot of the machine, which counts sleep and which nobody can set. From one
//! boot to the next none is counted, so that more may be kept back than need be, never less.

use house::decimal::Decimal;
use serde::{Deserialize, Serialize};

pub const DAY_MS: u64 = 86_400_000;
/// Most calls within 24 hours that are counted: one more is refused.
const MOST_CALLS: usize = 20_000;

/// A time by the clock of a boot of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    pub boot: String,
    pub boot_ms: u64,
}

/// An amount that a call adds to a sum, and the owner's limit on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    pub sum: String,
    pub amount: Decimal,
    pub each: Decimal,
    pub day: Decimal,
}

/// Reason why a call does not fit its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Over {
    Each(Box<Charge>),
    /// The rest of the day, and the milliseconds of running until it fits.
    Day(Box<Charge>, Decimal, u64),
    TooMany,
}

/// The amounts that a call came to, as they are kept; with `back`, that the call of that number never left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub number: u64,
    /// Milliseconds that are known to have passed since the first line.
    pub ran_ms: u64,
    #[serde(flatten)]
    pub at: Moment,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<(String, Decimal)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub struct Spent {
    /// In order of their time.
    lines: Vec<Line>,
    ran_ms: u64,
    at: Moment,
    number: u64,
}

impl Spent {
    /// Goes on from what was kept, in its order.
    pub fn of(kept: impl IntoIterator<Item = Line>, now: &Moment) -> Self {
        let mut spent = Self::default();
        for line in kept {
            (spent.ran_ms, spent.at) = (spent.ran_ms.max(line.ran_ms), line.at.clone());
            spent.apply(line);
        }
        spent.passes(now);
        spent
    }

    /// The line that a call is to be kept by before it leaves, or why it must not.
    pub fn take(&mut self, charges: &[Charge], now: &Moment) -> Result<Line, Over> {
        self.fits(charges, now)?;
        let spent = charges.iter().map(|charge| (charge.sum.clone(), charge.amount)).collect();
        Ok(self.line(spent, None))
    }

    /// The line by which a call that never left is taken out again.
    pub fn back(&mut self, number: u64, now: &Moment) -> Line {
        self.passes(now);
        self.line(Vec::new(), Some(number))
    }

    fn line(&self, spent: Vec<(String, Decimal)>, back: Option<u64>) -> Line {
        Line { number: self.number + 1, ran_ms: self.ran_ms, at: self.at.clone(), spent, back }
    }

    /// Counts a line that is kept.
    pub fn apply(&mut self, line: Line) {
        self.number = self.number.max(line.number);
        match line.back {
            Some(number) => self.lines.retain(|line| line.number != number),
            None => self.lines.push(line),
        }
    }

    /// Lines that still count, for a file of them alone; the last holds the time.
    pub fn lines(&self) -> Vec<Line> {
        let time = Line { number: self.number, ..self.line(Vec::new(), None) };
        self.lines.iter().cloned().chain([time]).collect()
    }

    /// Whether a call fits all its limits now.
    pub fn fits(&mut self, charges: &[Charge], now: &Moment) -> Result<(), Over> {
        self.passes(now);
        if self.lines.len() >= MOST_CALLS && !charges.is_empty() {
            return Err(Over::TooMany);
        }
        let mut before: Vec<(&str, Decimal)> = Vec::new();
        for charge in charges {
            if charge.amount > charge.each {
                return Err(Over::Each(Box::new(charge.clone())));
            }
            // The same sum may be named by two limits of one rule.
            let own = before.iter().filter(|(sum, _)| *sum == charge.sum).map(|(_, amount)| *amount);
            let own = added(own.chain([charge.amount]));
            let spent = self.sum(&charge.sum);
            let all = spent.zip(own).and_then(|(spent, own)| spent.plus(own));
            if all.is_none_or(|all| all > charge.day) {
                let left = spent.map_or(Decimal::default(), |spent| charge.day.minus(spent));
                return Err(Over::Day(Box::new(charge.clone()), left, self.wait_ms(charge, own)));
            }
            before.push((&charge.sum, charge.amount));
        }
        Ok(())
    }

    /// The sum of 24 hours; none where it is larger than can be counted.
    pub fn sum(&self, name: &str) -> Option<Decimal> {
        added(self.of_sum(name).map(|(_, amount)| amount))
    }

    fn of_sum<'a>(&'a self, name: &'a str) -> impl DoubleEndedIterator<Item = (u64, Decimal)> + 'a {
        let own = move |line: &'a Line| {
            line.spent.iter().filter(move |(sum, _)| sum == name).map(|(_, amount)| (line.ran_ms, *amount))
        };
        self.lines.iter().flat_map(own)
    }

    /// Time until enough of a sum is older than a day; without end where even an empty sum has no room.
    fn wait_ms(&self, charge: &Charge, own: Option<Decimal>) -> u64 {
        let mut all = own.filter(|own| *own <= charge.day);
        if all.is_none() {
            return u64::MAX;
        }
        for (ran_ms, amount) in self.of_sum(&charge.sum).collect::<Vec<_>>().into_iter().rev() {
            all = all.and_then(|all| all.plus(amount));
            if all.is_none_or(|all| all > charge.day) {
                return (ran_ms + DAY_MS).saturating_sub(self.ran_ms);
            }
        }
        u64::MAX
    }

    /// Lets time pass until `now`, and forgets what is older than a day.
    fn passes(&mut self, now: &Moment) {
        if self.at.boot == now.boot {
            self.ran_ms += now.boot_ms.saturating_sub(self.at.boot_ms);
        }
        self.at = now.clone();
        let ran_ms = self.ran_ms;
        self.lines.retain(|line| line.ran_ms + DAY_MS > ran_ms && !line.spent.is_empty());
    }
}

fn added(amounts: impl IntoIterator<Item = Decimal>) -> Option<Decimal> {
    amounts.into_iter().try_fold(Decimal::default(), Decimal::plus)
}
