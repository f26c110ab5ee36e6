//! The agenda's file as it stands in houses: what is kept there is read, and written again by the same names.

use agenda::Agenda;
use jiff::Timestamp;
use serde_json::Value;

const START: Timestamp = Timestamp::constant(1_780_000_000, 0);

/// The file of a house with items of every kind, as an earlier self wrote it.
const KEPT: &str = include_str!("../golden/agenda.json");

/// Whether all of `kept` stands in `written` too, which may have more fields.
fn has_all(written: &Value, kept: &Value) -> bool {
    match (written, kept) {
        (Value::Object(written), Value::Object(kept)) => {
            kept.iter().all(|(key, kept)| written.get(key).is_some_and(|written| has_all(written, kept)))
        }
        (Value::Array(written), Value::Array(kept)) => {
            written.len() == kept.len()
                && written.iter().zip(kept).all(|(written, kept)| has_all(written, kept))
        }
        _ => written == kept,
    }
}

#[test]
fn what_a_house_keeps_is_read_and_written_by_the_same_names() {
    let kept: Value = serde_json::from_str(KEPT).unwrap();
    let agenda: Agenda = serde_json::from_str(KEPT).unwrap();
    assert!(has_all(&serde_json::to_value(&agenda).unwrap(), &kept), "{agenda:?}");
    let titles: Vec<&str> = agenda.goals.list.iter().map(|goal| goal.about.as_str()).collect();
    assert_eq!(titles, ["a shop", "a dear one", "an ended one"]);
    assert_eq!((agenda.goals.open().count(), agenda.reminders.open().count()), (2, 1));
    assert_eq!((agenda.gaps.open().count(), agenda.requests.open().count()), (1, 1));
    assert_eq!((agenda.pulse.list[1].outcome.as_str(), agenda.pulse.open().count()), ("no mail here", 1));
    assert_eq!(agenda.directives.standing(START).count(), 2);
    let again: Agenda = serde_json::from_slice(&agenda.to_json()).unwrap();
    assert_eq!(again, agenda);
}
