//! The lanes of frequent things: wakes, the thoughts in them, the acts beneath; singly, or by sums of hours.

use super::Picture;
use super::cells::{Cell, Cells, cell_ms};
use crate::life::index::reason::Class;
use crate::life::index::rows::{Entry, HOUR_MS, Kind};
use crate::life::parts::{count, span_link};

const WAKE: u32 = 14;
const HIGH: u32 = 20;
const LOW: u32 = 5;

/// Lanes of single things: title, name of a thing, kinds of entries, class.
const LANES: [(&str, &str, [Kind; 2], &str); 3] = [
    ("thoughts", "thought", [Kind::Thought, Kind::Garbled], "thought"),
    ("acts", "act", [Kind::Act, Kind::Act], "act"),
    ("failed acts", "failed act", [Kind::ActFailed, Kind::ActFailed], "act-failed"),
];

type Frequent<'a> = Cells<'a, Option<Entry>>;

impl Picture<'_> {
    pub fn wakes(&mut self) {
        let (life, scale) = (self.life, self.drawing.scale);
        let mut cells = Cells::new(scale);
        let wakes = life.wakes.iter().filter(|wake| scale.holds(wake.from_ms, wake.to_ms));
        wakes.for_each(|wake| cells.add_many(wake.from_ms, wake.to_ms, 1, u64::from(wake.thoughts), &wake));
        let cells = cells.all();
        let all = cells.iter().map(|cell| cell.count).sum();
        self.drawing.lane("wakes", &count(all, "wake"));
        for cell in &cells {
            let (class, times) = self.mostly(cell.from_ms, cell.to_ms);
            let (wakes, thoughts) = (count(cell.count, "wake"), count(cell.sum, "thought"));
            let words = format!("{wakes}, {thoughts}, {times} of them {}", class.told());
            let class = format!("wake {}", class.name());
            let thing = self.merged(cell, || life.wake_thing(cell.first), &class, &words);
            self.drawing.bar(&thing, 0, WAKE, "");
        }
        self.drawing.end_lane(WAKE);
    }

    /// Returns the class of most wakes that began in a span, and how many.
    fn mostly(&self, from_ms: u64, to_ms: u64) -> (Class, u64) {
        let wakes = &self.life.wakes;
        let mut counts: Vec<(Class, u64)> = Class::ALL.iter().map(|class| (*class, 0)).collect();
        let first = wakes.partition_point(|wake| wake.from_ms < from_ms);
        for wake in wakes.iter().skip(first).take_while(|wake| wake.from_ms <= to_ms) {
            let of = counts.iter_mut().find(|(class, _)| *class == wake.class);
            of.into_iter().for_each(|(_, count)| *count += 1);
        }
        counts
            .into_iter()
            .max_by_key(|(class, count)| (*count, std::cmp::Reverse(*class)))
            .unwrap_or((Class::Other, 0))
    }

    /// Thoughts and acts: from the sums of hours where a cell holds some, else one by one.
    pub fn single(&mut self) {
        let scale = self.drawing.scale;
        let each_ms = cell_ms(scale);
        let mut lanes: [Frequent; 3] = [(); 3].map(|()| Cells::new(scale));
        let is_single = each_ms < HOUR_MS && self.entries(&mut lanes);
        if !is_single {
            lanes = [(); 3].map(|()| Cells::of(scale, HOUR_MS));
            self.hours(&mut lanes);
        }
        for ((name, one, _, class), cells) in LANES.into_iter().zip(lanes) {
            let cells = cells.all();
            let all = cells.iter().map(|cell| cell.count).sum();
            let most = cells.iter().map(|cell| cell.count).max().unwrap_or(1);
            self.drawing.lane(name, &count(all, one));
            cells.iter().for_each(|cell| self.frequent(cell, one, class, most));
            self.drawing.end_lane(HIGH);
        }
    }

    /// A thing, or several: the more, the higher.
    fn frequent(&mut self, cell: &Cell<Option<Entry>>, one: &str, class: &str, most: u64) {
        let life = self.life;
        if let (Some(entry), 1) = (&cell.first, cell.count) {
            let thing = self.dated(life.entry_thing(entry));
            return self.drawing.bar(&thing, HIGH / 4, HIGH / 2, "");
        }
        let words = match cell.sum {
            0 => count(cell.count, one),
            sum => format!("{}, {sum} unreadable", count(cell.count, one)),
        };
        let class = match class {
            "thought" => format!("thought {}", self.mostly(cell.from_ms, cell.to_ms).0.name()),
            class => class.to_owned(),
        };
        let link = || match &cell.first {
            Some(entry) => life.entry_thing(entry).href,
            None => span_link(cell.from_ms, cell.to_ms),
        };
        let mut thing = self.many(cell, &class, &words, link);
        thing.to_ms = thing.to_ms.min(self.drawing.scale.to_ms);
        let high = LOW + u32::try_from(u64::from(HIGH - LOW) * cell.count / most.max(1)).unwrap_or(0);
        self.drawing.bar(&thing, HIGH - high, high, "");
    }

    /// Sorts every entry of the span into the lanes; false where some could not be read.
    fn entries(&self, lanes: &mut [Frequent; 3]) -> bool {
        let scale = self.drawing.scale;
        let [thoughts, acts, failed] = lanes;
        self.life.each(scale.from_ms, scale.to_ms, |entry| {
            let (lane, unreadable) = match entry.kind {
                Kind::Thought => (&mut *thoughts, 0),
                Kind::Garbled => (&mut *thoughts, 1),
                Kind::Act => (&mut *acts, 0),
                Kind::ActFailed => (&mut *failed, 0),
                Kind::Money | Kind::MoneyOwn => return,
            };
            lane.add_many(entry.begun_ms(), entry.at_ms, 1, unreadable, &Some(*entry));
        })
    }

    fn hours(&self, lanes: &mut [Frequent; 3]) {
        let scale = self.drawing.scale;
        let number = |ms: u64| u32::try_from(ms / HOUR_MS).unwrap_or(u32::MAX);
        let [thoughts, acts, failed] = lanes;
        for (at, hour) in self.life.hours().range(number(scale.from_ms)..=number(scale.to_ms)) {
            let from_ms = (u64::from(*at) * HOUR_MS).max(scale.from_ms);
            let to_ms = u64::from(*at) * HOUR_MS + HOUR_MS - 1;
            let add = |lane: &mut Frequent, count: u32, sum: u32| {
                if count > 0 {
                    lane.add_many(from_ms, to_ms, count.into(), sum.into(), &None);
                }
            };
            add(thoughts, hour.thoughts.saturating_add(hour.garbled), hour.garbled);
            add(acts, hour.acts, 0);
            add(failed, hour.failed, 0);
        }
    }
}
