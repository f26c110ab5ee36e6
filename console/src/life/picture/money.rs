//! Money as an area against the caps of a day as they were, of all and of the creature's own; days are those of UTC.

use super::Picture;
use super::cells::Cells;
use crate::life::caps::Held;
use crate::life::index::rows::{DAY_MS, Entry, HOUR_MS, Hour, Kind};
use crate::life::parts::usd;

const HIGH: u32 = 44;
/// Narrowest line with a label.
const LABEL: f64 = 110.0;
/// Longest span in which money is shown as it is spent, and longest by single calls; beyond, a day is one step.
const GROWS_MS: u64 = 12 * DAY_MS;
const SINGLE_MS: u64 = 2 * DAY_MS;

/// Money spent from a moment on: in all, and of the creature's own accord.
#[derive(Clone, Copy)]
struct Spent {
    at_ms: u64,
    all: u64,
    own: u64,
    /// The call it was, where it is of one.
    call: Option<Entry>,
}

/// A kind of cap: its class, its name, and how much it is.
type Form = (&'static str, &'static str, fn(&Held) -> u64);

impl Picture<'_> {
    pub fn money(&mut self) {
        let scale = self.drawing.scale;
        let caps = self.life.caps.between(scale.from_ms, scale.to_ms);
        let spent = self.spent();
        let steps = if scale.to_ms - scale.from_ms > GROWS_MS { days(&spent) } else { grown(&spent) };
        let most = caps.iter().map(|cap| cap.all);
        let top = steps.iter().map(|step| step.all).chain(most).max().unwrap_or(1).max(1);
        let sum = |of: fn(&Spent) -> u64| {
            spent.iter().filter(|spent| spent.at_ms >= scale.from_ms).map(of).fold(0, u64::saturating_add)
        };
        let (all, own) = (sum(|spent| spent.all), sum(|spent| spent.own));
        let told = caps.last().map(|cap| format!(" (at most {} a day)", usd(cap.all))).unwrap_or_default();
        let told = format!("{} spent, {} of it its own{told}", usd(all), usd(own));
        self.drawing.lane("money", &told);
        let base = f64::from(self.drawing.top + HIGH);
        let height = |micro: u64| base - micro as f64 * f64::from(HIGH) / top as f64;
        for (class, of) in
            [("money", (|step: &Spent| step.all) as fn(&Spent) -> u64), ("money own", |step| step.own)]
        {
            let mut line = format!("M0 {base:.1}");
            for step in &steps {
                line.push_str(&format!("H{:.1}V{:.1}", scale.x(step.at_ms), height(of(step))));
            }
            let end = scale.x(self.life.last_ms);
            self.drawing.add(format_args!("<path class=\"{class}\" d=\"{line}H{end:.1}V{base:.1}Z\"/>"));
        }
        self.caps(&caps, height);
        self.spans(&spent);
        self.drawing.end_lane(HIGH);
    }

    /// The caps as they were, each as a line for as long as it held; the last one says how much.
    fn caps(&mut self, caps: &[Held], height: impl Fn(u64) -> f64) {
        let scale = self.drawing.scale;
        let forms: [Form; 2] = [("cap", "cap", |cap| cap.all), ("cap own", "its own cap", |cap| cap.own)];
        for (class, name, of) in forms {
            for (number, cap) in caps.iter().enumerate().filter(|(_, cap)| of(cap) > 0) {
                let (x, end, y) = (scale.x(cap.from_ms), scale.x(cap.to_ms), height(of(cap)));
                self.drawing.add(format_args!("<path class=\"{class}\" d=\"M{x:.1} {y:.1}H{end:.1}\"/>"));
                if number + 1 == caps.len() && end - x > LABEL {
                    // Above its line, but where the other's stands there.
                    let is_free = y - height(cap.all) > 14.0 || of(cap) == cap.all;
                    let (told, at) = (usd(of(cap)), if is_free { y - 3.0 } else { y + 10.0 });
                    self.drawing.add(format_args!(
                        "<text class=\"cap-name\" x=\"{:.1}\" y=\"{at:.1}\" text-anchor=\"end\">{name} {told}</text>",
                        end - 2.0
                    ));
                }
            }
        }
    }

    /// Returns the money spent and when, from the beginning of the day the span begins in.
    fn spent(&self) -> Vec<Spent> {
        let scale = self.drawing.scale;
        let (from_ms, to_ms) = (scale.from_ms - scale.from_ms % DAY_MS, scale.to_ms);
        let mut spent = Vec::new();
        let mut single = |entry: &Entry, own: u64| {
            let (at_ms, all) = (entry.at_ms, entry.value);
            spent.push(Spent { at_ms, all, own, call: Some(*entry) });
        };
        let is_read = to_ms - scale.from_ms <= SINGLE_MS
            && self.life.each(from_ms, to_ms, |entry| match entry.kind {
                Kind::Money => single(entry, 0),
                Kind::MoneyOwn => single(entry, entry.value),
                Kind::Thought | Kind::Garbled | Kind::Act | Kind::ActFailed => {}
            });
        if !is_read {
            let number = |ms: u64| u32::try_from(ms / HOUR_MS).unwrap_or(u32::MAX);
            let hours = self.life.hours().range(number(from_ms)..=number(to_ms));
            let hours = hours.filter(|(_, hour)| hour.all_micro > 0);
            let of = |(at, hour): (&u32, &Hour)| Spent {
                at_ms: u64::from(*at) * HOUR_MS,
                all: hour.all_micro,
                own: hour.own_micro,
                call: None,
            };
            return hours.map(of).collect();
        }
        spent.sort_by_key(|spent| spent.at_ms);
        spent
    }

    /// Draws the cells that can be pointed at, each with the money spent in it.
    fn spans(&mut self, spent: &[Spent]) {
        let scale = self.drawing.scale;
        let mut cells = Cells::new(scale);
        for one in spent.iter().filter(|one| one.at_ms >= scale.from_ms) {
            // In millionths, all in one number and the own ones in the other.
            cells.add_many(one.at_ms, one.at_ms, one.all, one.own, one);
        }
        for mut cell in cells.all() {
            let call = cell.first.call.filter(|_| cell.first.all == cell.count);
            let thing = match call {
                Some(call) => self.dated(self.life.entry_thing(&call)),
                None => {
                    cell.to_ms = cell.to_ms.max(cell.from_ms + scale.ms_of(3.0)).max(cell.from_ms + 1_000);
                    let words = format!("{} spent, {} of it its own", usd(cell.count), usd(cell.sum));
                    self.many(&cell, "money", &words, String::new)
                }
            };
            self.drawing.field(&thing, 0, HIGH);
        }
    }
}

/// A step for each day, down to nothing after one without a call.
fn days(spent: &[Spent]) -> Vec<Spent> {
    let mut steps: Vec<Spent> = Vec::new();
    for one in spent {
        let day_ms = one.at_ms - one.at_ms % DAY_MS;
        match steps.last_mut().filter(|step| step.at_ms == day_ms) {
            Some(step) => {
                (step.all, step.own) = (step.all.saturating_add(one.all), step.own.saturating_add(one.own))
            }
            None => {
                let end_ms = steps.last().map_or(day_ms, |step| step.at_ms + DAY_MS);
                if end_ms < day_ms {
                    steps.push(Spent { at_ms: end_ms, all: 0, own: 0, call: None });
                }
                steps.push(Spent { at_ms: day_ms, ..*one });
            }
        }
    }
    steps
}

/// A step for each call, or hour of calls, that adds to those of the day; down to nothing where a day begins.
fn grown(spent: &[Spent]) -> Vec<Spent> {
    let (mut steps, mut sum) = (Vec::new(), Spent { at_ms: 0, all: 0, own: 0, call: None });
    for one in spent {
        if one.at_ms / DAY_MS != sum.at_ms / DAY_MS {
            let midnight_ms =
                if sum.at_ms == 0 { one.at_ms } else { sum.at_ms - sum.at_ms % DAY_MS + DAY_MS };
            steps.push(Spent { at_ms: midnight_ms, all: 0, own: 0, call: None });
            (sum.all, sum.own) = (0, 0);
        }
        (sum.all, sum.own) = (sum.all.saturating_add(one.all), sum.own.saturating_add(one.own));
        sum.at_ms = one.at_ms;
        steps.push(sum);
    }
    steps
}
