//! A ledger changed in its middle: every line is checked at each start, and the one that is not as it was is named.

use crate::ledger::Place;
use broker::ledger::Closed;
use broker::ledger::chain;

/// A line made anew with the hash that fits it, as one who knows how would.
fn forged(line: &str) -> String {
    let line = line.replace("\"life\":7", "\"life\":8");
    let (before, _) = line.rsplit_once(",\"hash\":\"").unwrap();
    format!("{before},\"hash\":\"{}\"}}", chain::hash(format!("{before}}}").as_bytes()))
}

#[tokio::test]
async fn a_line_changed_in_the_middle_closes_it_and_is_named() {
    type Change = fn(&mut Vec<String>);
    let changes: [(&str, Change, &str); 5] = [
        (
            "a digit",
            |lines| lines[2] = lines[2].replace("\"c2\"", "\"c9\""),
            "line 3: its hash is not its own",
        ),
        ("forged", |lines| lines[2] = forged(&lines[2]), "line 4: it does not follow line 3"),
        ("swapped", |lines| lines.swap(1, 2), "line 2: it does not follow line 1"),
        ("the first", |lines| lines[0] = forged(&lines[0]), "line 2: it does not follow line 1"),
        ("the last", |lines| lines[4] = forged(&lines[4]), "line 5: it is not the one the anchor knows"),
    ];
    for (what, change, said) in changes {
        let place = Place::new();
        place.filled(5).await;
        let mut lines: Vec<String> = place.text().lines().map(str::to_owned).collect();
        let bytes = place.text().len();
        change(&mut lines);
        let text = lines.join("\n") + "\n";
        assert_eq!(text.len(), bytes, "{what}: its length would tell");
        place.write(text.as_bytes());
        let why = place.open().closed().unwrap_or_else(|| panic!("{what}: open"));
        assert!(why.contains(said), "{what}: {why}");
        let refusal = broker::ground::refusal::Refusal::from(Closed(why));
        assert!(refusal.hint.contains("--accept-ledger"), "{}", refusal.hint);
    }
}
