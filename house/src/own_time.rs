//! Money and hours for the creature's own ideas: the broker's page as a row for people. Pure.

use crate::bounds::{NAME_CHARS, brief};
use crate::moments;
use crate::records::{text, view::field};
use jiff::Timestamp;
use serde_json::Value;

/// The page's section on it; `None` on a page of an older broker that did not have one.
pub fn of(page: &Value) -> Option<&Value> {
    page.get("autonomy").filter(|own| own.is_object())
}

/// `$0.03 an hour of $0.75 a day, waking 08:00-23:00`.
pub fn line(page: &Value, now: Timestamp) -> Option<String> {
    // Instinct costs nothing.
    let own = of(page).filter(|_| !text(page, "mind").starts_with("instinct"))?;
    let usd = |name: &str| field::<f64>(own, name);
    let [hours, wakes_at, room_at] = ["waking_hours", "wakes_at", "room_at"].map(|name| text(own, name));
    if usd("usd_per_day") <= 0.0 {
        return Some("none: [autonomy] usd_per_day is 0, and it thinks when you speak to it".to_owned());
    }
    let day = format!("{} a day", dollars(usd("usd_per_day")));
    let mut line = match wakes_at {
        "" => format!("{} an hour of {day}", dollars(usd("usd_per_hour"))),
        wakes_at => format!("asleep until {}, {day}", moments::told(wakes_at)),
    };
    if !hours.is_empty() {
        line.push_str(&format!(", waking {hours}"));
    }
    if never(page) {
        line.push_str("; no thought fits into it: raise [budget], or name a cheaper model");
    } else if wakes_at.is_empty() {
        line.push_str(&room(own, room_at, now));
    }
    Some(line)
}

/// Says from when on there is room for a thought; by model where it thinks with several: a cheaper one waits less.
fn room(own: &Value, room_at: &str, now: Timestamp) -> String {
    let waits = |at: &str| at.parse::<Timestamp>().is_ok_and(|at| at > now);
    let rooms: &[Value] = field(own, "rooms");
    let by_model = rooms.iter().filter(|room| waits(text(room, "at"))).map(|room| {
        let model = brief(text(room, "model"), NAME_CHARS);
        format!("from {} on with {model}", moments::told(text(room, "at")))
    });
    let told: Vec<String> = match rooms {
        [] | [_] if waits(room_at) => vec![format!("from {} on", moments::told(room_at))],
        [] | [_] => vec![],
        _ => by_model.collect(),
    };
    if told.is_empty() { String::new() } else { format!("; room for a thought {}", told.join(", ")) }
}

/// Whether there is money for thoughts of the creature's own, but less than any thought costs.
pub fn never(page: &Value) -> bool {
    of(page).is_some_and(|own| field::<f64>(own, "usd_per_day") > 0.0 && text(own, "room_at").is_empty())
}

/// Dollars and cents; below a cent four decimals, so that a small amount does not read as zero.
fn dollars(amount: f64) -> String {
    if amount < 0.01 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}
