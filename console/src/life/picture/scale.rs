//! Places of times on the picture, and the marks of its axis: by the owner's clock, from minutes to years.

use house::moments::Place;
use jiff::civil::{Date, Time};
use jiff::{Timestamp, ToSpan, Zoned};

/// Narrowest distance of two marks, in columns.
const APART: f64 = 76.0;
/// Most marks that are tried between two cuts.
const MOST_TICKS: usize = 400;

const MINUTE_S: i64 = 60;
const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 86_400;

/// Columns that an idle time takes that is cut.
pub const CUT: f64 = 14.0;

/// An idle time that is drawn as a few columns, however long it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    pub from_ms: u64,
    pub to_ms: u64,
}

pub struct Scale {
    pub from_ms: u64,
    pub to_ms: u64,
    pub width: f64,
    /// In order of time, within the span, apart from one another.
    pub cuts: Vec<Cut>,
    /// Milliseconds of a column where nothing is cut.
    rate: f64,
}

impl Scale {
    pub fn new(from_ms: u64, to_ms: u64, width: f64, cuts: Vec<Cut>) -> Self {
        let cut_ms: u64 = cuts.iter().map(|cut| cut.to_ms - cut.from_ms).sum();
        let (shown_ms, columns) =
            (to_ms - from_ms - cut_ms.min(to_ms - from_ms), width - cuts.len() as f64 * CUT);
        let rate = (shown_ms as f64 / columns.max(1.0)).max(f64::MIN_POSITIVE);
        Self { from_ms, to_ms, width, cuts, rate }
    }

    pub fn x(&self, at_ms: u64) -> f64 {
        let at_ms = at_ms.clamp(self.from_ms, self.to_ms);
        let (mut x, mut before_ms) = (0.0, self.from_ms);
        for cut in &self.cuts {
            if at_ms <= cut.from_ms {
                break;
            }
            x += (cut.from_ms - before_ms) as f64 / self.rate;
            if at_ms < cut.to_ms {
                return x + CUT * (at_ms - cut.from_ms) as f64 / (cut.to_ms - cut.from_ms) as f64;
            }
            (x, before_ms) = (x + CUT, cut.to_ms);
        }
        (x + (at_ms - before_ms) as f64 / self.rate).min(self.width)
    }

    pub fn ms_of(&self, columns: f64) -> u64 {
        (columns * self.rate) as u64
    }

    pub fn columns_of(&self, ms: u64) -> f64 {
        ms as f64 / self.rate
    }

    pub fn holds(&self, from_ms: u64, to_ms: u64) -> bool {
        to_ms >= self.from_ms && from_ms <= self.to_ms
    }

    /// The times that are not cut, in order.
    fn parts(&self) -> Vec<(u64, u64)> {
        let begins = std::iter::once(self.from_ms).chain(self.cuts.iter().map(|cut| cut.to_ms));
        let ends = self.cuts.iter().map(|cut| cut.from_ms).chain([self.to_ms]);
        begins.zip(ends).collect()
    }

    /// Places and times between which a column is as long as any other, for dragging the picture.
    pub fn stops(&self) -> String {
        let ends = self.cuts.iter().flat_map(|cut| [cut.from_ms, cut.to_ms]);
        let all = std::iter::once(self.from_ms).chain(ends).chain([self.to_ms]);
        all.map(|at_ms| format!("{:.1},{at_ms}", self.x(at_ms))).collect::<Vec<_>>().join(" ")
    }
}

/// A mark of the axis: its place and its text.
pub struct Tick {
    pub at_ms: u64,
    pub label: String,
}

/// Distances of marks, the nearest first.
#[derive(Clone, Copy)]
enum Step {
    Seconds(i64),
    Hours(i8),
    Days(i32),
    Months(i32),
}

const STEPS: [Step; 20] = [
    Step::Seconds(1),
    Step::Seconds(5),
    Step::Seconds(15),
    Step::Seconds(MINUTE_S),
    Step::Seconds(2 * MINUTE_S),
    Step::Seconds(5 * MINUTE_S),
    Step::Seconds(15 * MINUTE_S),
    Step::Seconds(30 * MINUTE_S),
    Step::Hours(1),
    Step::Hours(2),
    Step::Hours(3),
    Step::Hours(6),
    Step::Hours(12),
    Step::Days(1),
    Step::Days(2),
    Step::Days(7),
    Step::Days(14),
    Step::Months(1),
    Step::Months(3),
    Step::Months(12),
];

impl Step {
    fn length_s(self) -> i64 {
        match self {
            Step::Seconds(seconds) => seconds,
            Step::Hours(hours) => i64::from(hours) * HOUR_S,
            Step::Days(days) => i64::from(days) * DAY_S,
            Step::Months(months) => i64::from(months) * 28 * DAY_S,
        }
    }
}

pub fn ticks(scale: &Scale, place: &Place) -> Vec<Tick> {
    let apart_s = scale.ms_of(APART) as f64 / 1_000.0;
    let wide = |step: &&Step| step.length_s() as f64 >= apart_s;
    let step = STEPS.iter().find(wide).copied().unwrap_or(Step::Months(120));
    let at = |ms: u64| i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let (mut ticks, mut day): (Vec<Tick>, Option<Date>) = (Vec::new(), None);
    for (from_ms, to_ms) in scale.parts() {
        let Some(first) = at(from_ms).map(|from| place.zoned(from)) else { continue };
        for moment in moments(&first, step).take(MOST_TICKS) {
            let at_ms = u64::try_from(moment.timestamp().as_millisecond()).unwrap_or(0);
            if at_ms > to_ms {
                break;
            }
            // A clock put forward or back has two marks at one moment, or passes one over.
            if at_ms < from_ms || ticks.last().is_some_and(|last| last.at_ms >= at_ms) {
                continue;
            }
            let is_new_day = day.replace(moment.date()) != Some(moment.date());
            ticks.push(Tick { at_ms, label: label(&moment, step, is_new_day) });
        }
    }
    ticks
}

fn label(moment: &Zoned, step: Step, is_new_day: bool) -> String {
    let form = match step {
        Step::Seconds(..MINUTE_S) if !is_new_day => "%H:%M:%S",
        Step::Seconds(_) | Step::Hours(_) if is_new_day && moment.time() == Time::midnight() => "%-d %b",
        Step::Seconds(_) | Step::Hours(_) if is_new_day => "%-d %b %H:%M",
        Step::Seconds(_) | Step::Hours(_) => "%H:%M",
        Step::Days(_) if is_new_year(moment) => "%-d %b %Y",
        Step::Days(_) => "%-d %b",
        Step::Months(_) if is_new_year(moment) => "%b %Y",
        Step::Months(_) => "%b",
    };
    moment.strftime(form).to_string()
}

fn is_new_year(moment: &Zoned) -> bool {
    moment.month() == 1 && moment.day() <= 14
}

/// Moments that stand on the owner's clock at whole steps, from the one before `first` on.
fn moments(first: &Zoned, step: Step) -> Box<dyn Iterator<Item = Zoned>> {
    let (date, zone) = (first.date(), first.time_zone().clone());
    let (begin, period) = match step {
        Step::Seconds(step_s) => {
            let at_s = first.timestamp().as_second();
            let past_s = (at_s + i64::from(first.offset().seconds())).rem_euclid(step_s);
            let begin = Timestamp::from_second(at_s - past_s).unwrap_or(first.timestamp());
            return Box::new(begin.series(step_s.seconds()).map(move |at| at.to_zoned(zone.clone())));
        }
        Step::Hours(hours) => (date, i64::from(hours).hours()),
        // Weeks begin with Monday; other days are counted from a fixed one, so that they stay where they are.
        Step::Days(days) => {
            let monday = Date::constant(2001, 1, 1);
            let past = monday.until(date).map_or(0, |span| span.get_days());
            (date.checked_sub(past.rem_euclid(days).days()).unwrap_or(monday), days.days())
        }
        Step::Months(months) => {
            let past = (i32::from(date.year()) * 12 + i32::from(date.month()) - 1).rem_euclid(months);
            (date.first_of_month().checked_sub(past.months()).unwrap_or(date), months.months())
        }
    };
    let begin = begin.to_datetime(Time::midnight());
    Box::new(begin.series(period).filter_map(move |at| at.to_zoned(zone.clone()).ok()))
}
