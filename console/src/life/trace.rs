//! A life as a trace in Chrome's JSON, which Perfetto opens: a lane each, arrows where it was put back, money as counters.

use super::export::secrets::Secrets;
use super::index::rows::{DAY_MS, Entry, Fall, Kind, Lived, MarkKind};
use super::index::seen::Seen;
use super::parts::{Thing, What};
use super::{Life, Part};
use anyhow::Result;
use house::bounds::{brief, short};
use house::records::memory::Record;
use house::{House, printable};
use serde_json::{Value, json};
use std::io::Write;

/// Characters of a text in a trace.
const MOST_CHARS: usize = 2_000;
const LIFE: u32 = 1;
const MONEY: u32 = 2;
/// The lanes, in the order they are shown in.
const LANES: [&str; 9] =
    ["lives", "wakes", "thoughts", "acts", "failed acts", "self-edits", "asks", "dreams, reminders", "words"];

/// Writes a part of a life as it is read: however long it is, little of it is held.
pub fn write(house: &House, part: &Part, to: &mut dyn Write) -> Result<()> {
    let secrets = Secrets::of(house)?;
    let mut trace = Trace { to, is_first: true, day: 0, all_micro: 0, own_micro: 0 };
    trace.to.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")?;
    trace.named("process_name", LIFE, 0, "life")?;
    trace.named("process_name", MONEY, 0, "money")?;
    for (lane, name) in (1..).zip(LANES) {
        trace.named("thread_name", LIFE, lane, name)?;
        trace.event(json!({"ph": "M", "name": "thread_sort_index", "pid": LIFE, "tid": lane, "args": {"sort_index": lane}}))?;
    }
    let (life, span) =
        Life::of_part(house, part, &secrets, &mut |record, at_ms, entry| trace.record(record, at_ms, entry))?;
    let life = life.seen(span.from_ms(), span.to_ms());
    for (number, what) in life.things(&span).into_iter().enumerate() {
        let thing = what.thing(&life);
        match what {
            What::Life(lived) => trace.life(lived, thing)?,
            What::Fall(fall) => trace.fall(&life, number, fall, &thing, span.to_ms())?,
            What::Wake(wake) => trace.bar(2, &format!("wake {}", wake.number), &thing)?,
            What::Ask(ask) => {
                trace.instant(7, &thing)?;
                if let Some(closed_ms) = ask.closed_ms {
                    trace.instant(7, &Thing { from_ms: closed_ms, ..thing })?;
                }
            }
            What::Mark(mark) if mark.length_ms > 0 => trace.bar(lane(mark.kind), "dream", &thing)?,
            What::Mark(mark) => trace.instant(lane(mark.kind), &thing)?,
        }
    }
    trace.to.write_all(b"\n]}\n")?;
    Ok(())
}

/// The lane of a mark.
fn lane(kind: MarkKind) -> u32 {
    match kind {
        MarkKind::Edit | MarkKind::EditFailed | MarkKind::Commit | MarkKind::Rescued => 6,
        MarkKind::Dream | MarkKind::Reminder => 8,
        MarkKind::Word | MarkKind::Said => 9,
    }
}

struct Trace<'a> {
    to: &'a mut dyn Write,
    is_first: bool,
    /// The day money is counted in, and what was spent in it.
    day: u64,
    all_micro: u64,
    own_micro: u64,
}

impl Trace<'_> {
    fn event(&mut self, event: Value) -> Result<()> {
        let between = if std::mem::take(&mut self.is_first) { "" } else { ",\n" };
        write!(self.to, "{between}{}", printable::json_line(&event))?;
        Ok(())
    }

    fn named(&mut self, what: &str, process: u32, lane: u32, name: &str) -> Result<()> {
        self.event(json!({"ph": "M", "name": what, "pid": process, "tid": lane, "args": {"name": name}}))
    }

    fn bar(&mut self, lane: u32, name: &str, thing: &Thing) -> Result<()> {
        let length_us = thing.to_ms.saturating_sub(thing.from_ms).max(1) * 1_000;
        self.event(json!({"ph": "X", "name": name, "cat": thing.class, "pid": LIFE, "tid": lane,
            "ts": thing.from_ms * 1_000, "dur": length_us, "args": {"told": thing.words}}))
    }

    fn instant(&mut self, lane: u32, thing: &Thing) -> Result<()> {
        self.event(
            json!({"ph": "i", "s": "t", "name": thing.words, "cat": thing.class, "pid": LIFE, "tid": lane,
            "ts": thing.from_ms * 1_000}),
        )
    }

    /// A thought, an act, or a call that was paid for, with what its record says.
    fn record(&mut self, record: &Value, at_ms: u64, entry: Option<&Entry>) -> Result<()> {
        let Some(entry) = entry else { return Ok(()) };
        let short = |said: &str| brief(said, MOST_CHARS);
        let (lane, name, args) = match entry.kind {
            Kind::Thought | Kind::Garbled => {
                let of = Record(record).thought().unwrap_or_default();
                let said = json!({"said": short(of.monologue()), "means": short(of.intent()), "mind": short(of.mind()),
                    "tokens": entry.value, "error": short(of.error())});
                (3, format!("thought {}", entry.number), said)
            }
            Kind::Act | Kind::ActFailed => {
                let act = Record(record).action().unwrap_or_default();
                let error = act.result().unwrap_or_default().error();
                let given = act.args().map(|args| short(&args.to_string()));
                let args = json!({"thought": entry.number, "args": given, "error": short(error)});
                (if entry.kind == Kind::Act { 4 } else { 5 }, short(act.tool()), args)
            }
            Kind::Money | Kind::MoneyOwn => return self.spent(entry),
        };
        let (from_us, length_us) = (entry.begun_ms() * 1_000, u64::from(entry.length_ms.max(1)) * 1_000);
        match entry.length_ms {
            0 => self.event(json!({"ph": "i", "s": "t", "name": name, "pid": LIFE, "tid": lane, "ts": at_ms * 1_000, "args": args})),
            _ => self.event(json!({"ph": "X", "name": name, "pid": LIFE, "tid": lane, "ts": from_us, "dur": length_us, "args": args})),
        }
    }

    /// Writes the money spent of the day's by now, which is counted by UTC.
    fn spent(&mut self, entry: &Entry) -> Result<()> {
        if entry.at_ms / DAY_MS != self.day {
            (self.day, self.all_micro, self.own_micro) = (entry.at_ms / DAY_MS, 0, 0);
        }
        let micro = entry.value;
        self.all_micro = self.all_micro.saturating_add(micro);
        self.own_micro = self.own_micro.saturating_add(if entry.kind == Kind::MoneyOwn { micro } else { 0 });
        let (all, own) = (self.all_micro as f64 / 1e6, self.own_micro as f64 / 1e6);
        self.event(
            json!({"ph": "C", "name": "spent today, USD", "pid": MONEY, "tid": 0, "ts": entry.at_ms * 1_000,
            "args": {"for words": all - own, "its own": own}}),
        )
    }

    fn life(&mut self, lived: &Lived, thing: Thing) -> Result<()> {
        self.bar(1, &format!("life {}", lived.number), &thing)?;
        if let Some(blessed_ms) = lived.blessed_ms {
            let words = format!("proved {}", short(&lived.commit));
            self.instant(1, &Thing { from_ms: blessed_ms, words, ..thing })?;
        }
        Ok(())
    }

    /// An arrow from the life that fell to the one that then lived of what it was put back to; where none did, the fall
    /// alone.
    fn fall(&mut self, life: &Seen, number: usize, fall: &Fall, thing: &Thing, until_ms: u64) -> Result<()> {
        self.instant(1, thing)?;
        let mut after = life.lives.range(fall.life.saturating_add(1)..).map(|(_, lived)| lived);
        let back = after.find(|lived| lived.commit == fall.to_commit && lived.from_ms <= until_ms);
        let (Some(fallen), Some(back)) = (life.lives.get(&fall.life), back) else { return Ok(()) };
        // An arrow begins and ends within a bar.
        let from_us = life.end_ms(fallen).min(fall.at_ms).max(fallen.from_ms) * 1_000;
        let to_us = back.from_ms * 1_000;
        let arrow = |ph: &str, ts: u64| json!({"ph": ph, "id": number, "name": "put back", "cat": "fall", "pid": LIFE, "tid": 1, "ts": ts});
        self.event(arrow("s", from_us))?;
        let mut end = arrow("f", to_us);
        if let Value::Object(fields) = &mut end {
            fields.insert("bp".into(), "e".into());
        }
        self.event(end)
    }
}
