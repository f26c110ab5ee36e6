//! The lanes of rare things: lives with their blessings, deaths and falls; edits, asks, dreams, reminders, words.

use super::Picture;
use super::cells::Cells;
use crate::life::index::rows::{Mark, MarkKind};
use crate::life::parts::count;

/// Heights of bars, and of the room above lives for the arrows of falls.
const LIFE: u32 = 16;
const ARROWS: u32 = 18;
const RARE: u32 = 12;
/// Narrowest life whose number is written into it, and narrowest with its commit too, in columns.
const NUMBERED: f64 = 48.0;
const NAMED: f64 = 150.0;

impl Picture<'_> {
    pub fn lives(&mut self) {
        let (life, scale) = (self.life, self.drawing.scale);
        let mut cells = Cells::new(scale);
        for lived in life.lives.values() {
            let to_ms = life.end_ms(lived);
            if scale.holds(lived.from_ms, to_ms) {
                let died = u64::from(lived.death_ms.is_some());
                cells.add_many(lived.from_ms, to_ms, 1, died, &lived);
            }
        }
        let cells = cells.all();
        let lives: u64 = cells.iter().map(|cell| cell.count).sum();
        self.drawing.lane("lives", &count(lives, "life").replace("lifes", "lives"));
        for cell in &cells {
            let lived = cell.first;
            if cell.count > 1 {
                let words = format!("{} lives, {} of them died", cell.count, cell.sum);
                let class = if cell.sum > 0 { "life death" } else { "life" };
                let thing = self.many(cell, class, &words, || life.life_thing(lived).href);
                self.drawing.bar(&thing, ARROWS, LIFE, "");
                continue;
            }
            let thing = self.dated(life.life_thing(lived));
            let top = self.drawing.top + ARROWS;
            let (x, end) = (scale.x(lived.from_ms), scale.x(thing.to_ms));
            let mut inside = String::new();
            if end - x >= NUMBERED {
                let (x, y) = (x + 4.0, top + 12);
                // The beginning of what the whole bar is called: who speaks to it says what is seen.
                let commit = if end - x >= NAMED {
                    house::bounds::short(&lived.commit).to_owned()
                } else {
                    String::new()
                };
                let of = if commit.is_empty() { "" } else { " of commit " };
                let told = super::escaped(&format!("life {}{of}{commit}", lived.number));
                inside.push_str(&format!("<text class=\"commit\" x=\"{x:.1}\" y=\"{y}\">{told}</text>"));
            }
            if let Some(blessed_ms) = lived.blessed_ms.filter(|at_ms| scale.holds(*at_ms, *at_ms)) {
                let x = scale.x(blessed_ms);
                inside.push_str(&format!(
                    "<circle class=\"blessed\" cx=\"{x:.1}\" cy=\"{}\" r=\"3\"/>",
                    top.saturating_sub(4)
                ));
            }
            if let Some(death_ms) = lived.death_ms.filter(|at_ms| scale.holds(*at_ms, *at_ms)) {
                let (x, y) = (scale.x(death_ms), top + LIFE / 2);
                inside.push_str(&format!(
                    "<path class=\"death\" d=\"M{:.1} {}l6 6m0 -6l-6 6\"/>",
                    x - 3.0,
                    y - 3
                ));
            }
            self.drawing.bar(&thing, ARROWS, LIFE, &inside);
        }
        self.falls();
        self.drawing.end_lane(ARROWS + LIFE);
    }

    /// An arrow from where a life fell to the life that ran, and proved, the version it was put back to.
    fn falls(&mut self) {
        let (life, scale) = (self.life, self.drawing.scale);
        let mut cells = Cells::new(scale);
        let falls = life.falls.iter().filter(|fall| scale.holds(fall.at_ms, fall.at_ms));
        falls.for_each(|fall| cells.add(fall.at_ms, fall.at_ms, &fall));
        for cell in cells.all() {
            let fall = cell.first;
            let thing = self.merged(&cell, || life.fall_thing(fall), "fall", &count(cell.count, "fall"));
            let to = life.life_of(&fall.to_commit, fall.life);
            let to_ms = to.map(|to| to.blessed_ms.unwrap_or(to.from_ms));
            let (x, y) = (scale.x(fall.at_ms), self.drawing.top + ARROWS);
            // One that was blessed before the span begins is beyond its edge.
            let back = to_ms.map_or(x - 12.0, |to_ms| scale.x(to_ms)).max(0.0);
            let (over, class) = (self.drawing.top + 2, super::escaped(&thing.class));
            self.drawing.begin_link(&thing);
            self.drawing.add(format_args!(
                "<path class=\"rollback\" d=\"M{x:.1} {y}C{x:.1} {over} {back:.1} {over} {back:.1} {y}m-3 -5l3 5l3 -5\"/>\
                 <circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y}\" r=\"3\"/></a>"
            ));
        }
    }

    pub fn edits(&mut self) {
        let wanted = [MarkKind::Edit, MarkKind::EditFailed, MarkKind::Commit, MarkKind::Rescued];
        self.marks("self-edits", "self-edit", &wanted, |kind| {
            if kind == MarkKind::EditFailed { "edit-failed" } else { "edit" }
        });
    }

    pub fn dreams(&mut self) {
        let wanted = [MarkKind::Dream, MarkKind::Reminder];
        self.marks("dreams", "dream or reminder", &wanted, |kind| {
            if kind == MarkKind::Dream { "dream" } else { "reminder" }
        });
    }

    pub fn words(&mut self) {
        self.marks("words", "word", &[MarkKind::Word, MarkKind::Said], |_| "word");
    }

    fn marks(&mut self, name: &str, one: &str, wanted: &[MarkKind], class: fn(MarkKind) -> &'static str) {
        let (life, scale) = (self.life, self.drawing.scale);
        let mut cells: Cells<&Mark> = Cells::new(scale);
        for mark in life.marks.iter().filter(|mark| wanted.contains(&mark.kind)) {
            let from_ms = life.mark_from(mark);
            if scale.holds(from_ms, mark.at_ms) {
                cells.add(from_ms, mark.at_ms, &mark);
            }
        }
        let cells = cells.all();
        let all = cells.iter().map(|cell| cell.count).sum();
        self.drawing.lane(name, &count(all, one));
        for cell in &cells {
            let (class, words) = (class(cell.first.kind), count(cell.count, one));
            let thing = self.merged(cell, || life.mark_thing(cell.first), class, &words);
            self.drawing.bar(&thing, 0, RARE, "");
        }
        self.drawing.end_lane(RARE);
    }

    /// Each ask is a line from when it was asked to its answer, on one of a few levels, and a pin at its head.
    pub fn asks(&mut self) {
        let (life, scale) = (self.life, self.drawing.scale);
        let mut cells = Cells::new(scale);
        for ask in &life.asks {
            let to_ms = ask.closed_ms.unwrap_or(scale.to_ms).max(ask.asked_ms);
            if scale.holds(ask.asked_ms, to_ms) {
                let is_open = u64::from(ask.closed_ms.is_none());
                // By its head alone: what waited long is no reason to draw it by itself among many.
                cells.add_many(ask.asked_ms, ask.asked_ms, 1, is_open, &ask);
            }
        }
        let cells = cells.all();
        let all = cells.iter().map(|cell| cell.count).sum();
        let open: u64 = cells.iter().map(|cell| cell.sum).sum();
        self.drawing.lane("asks", &format!("{}, {open} open", count(all, "ask")));
        for (number, cell) in cells.iter().enumerate() {
            let ask = cell.first;
            let class = if cell.sum > 0 { "ask-open" } else { "ask-closed" };
            let words = format!("{}, {} open", count(cell.count, "ask"), cell.sum);
            let mut thing = self.merged(cell, || life.ask_thing(ask), class, &words);
            if cell.sum > 0 {
                thing.to_ms = scale.to_ms;
            }
            let down = 4 + u32::try_from(number % 4).unwrap_or(0) * 6;
            let (x, y) = (scale.x(thing.from_ms), self.drawing.top + down);
            let class = super::escaped(&thing.class);
            let pin = format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y}\" r=\"4\"/>");
            self.drawing.bar(&thing, down - 1, 2, &pin);
        }
        self.drawing.end_lane(28);
    }
}
