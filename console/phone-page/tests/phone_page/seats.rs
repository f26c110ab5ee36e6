//! Sessions as data: how long each lasts, how many there are, and clocks that are off.

use phone_page::seats::{By, DAY_MS, IDLE_MS, LONGEST_MS, Seats, Session, digest};

const NOW_MS: u64 = 1_800_000_000_000;

fn session(cookie: &str, since_ms: u64) -> Session {
    Session {
        id: digest(cookie).chars().take(8).collect(),
        digest: digest(cookie),
        since_ms,
        seen_ms: since_ms,
        by: By::Password,
        browser: "Chrome on Android".into(),
        from: "192.0.2.1".into(),
    }
}

fn is_within(seats: &Seats, cookie: &str, now_ms: u64) -> bool {
    seats.of(&digest(cookie), now_ms).is_some()
}

#[test]
fn a_session_ends_unused_and_in_any_case() {
    let mut seats = Seats::default();
    seats.begin(session("a", NOW_MS), None, "b1");
    assert!(is_within(&seats, "a", NOW_MS + IDLE_MS - 1));
    assert!(!is_within(&seats, "a", NOW_MS + IDLE_MS));
    let mut now_ms = NOW_MS;
    while now_ms + DAY_MS < NOW_MS + LONGEST_MS {
        now_ms += DAY_MS;
        seats.note(&digest("a"), now_ms);
        assert!(is_within(&seats, "a", now_ms));
    }
    assert!(!is_within(&seats, "a", NOW_MS + LONGEST_MS), "however often it is used");
    for wrong in ["", "b", &digest("a")] {
        assert!(!is_within(&seats, wrong, NOW_MS), "{wrong:?}");
    }
    // Set back by some hours it stays; one of a time to come is of a clock that was off.
    assert!(is_within(&seats, "a", now_ms - 5 * 60 * 60 * 1_000));
    assert!(!is_within(&seats, "a", NOW_MS - 365 * DAY_MS));
}

#[test]
fn sessions_are_bounded_and_the_one_unused_for_longest_goes() {
    let mut seats = Seats::default();
    for number in 0..30 {
        seats.begin(session(&format!("c{number}"), NOW_MS + number), None, &format!("b{number}"));
        seats.note(&digest("c0"), NOW_MS + number);
    }
    assert_eq!((seats.sessions.len(), seats.known.len()), (20, 20));
    assert!(is_within(&seats, "c0", NOW_MS + 100), "it is used all the time");
    assert!(!is_within(&seats, "c1", NOW_MS + 100) && is_within(&seats, "c29", NOW_MS + 100));
    assert!(
        seats.knows("b29", NOW_MS)
            && !seats.knows("b0", NOW_MS)
            && !seats.knows("b29", NOW_MS + 366 * DAY_MS)
    );
    // Signed in anew, a browser has one session.
    let before = seats.sessions.len();
    seats.begin(session("d", NOW_MS + 200), Some(&digest("c29")), "b40");
    assert_eq!(seats.sessions.len(), before);
    assert!(!is_within(&seats, "c29", NOW_MS + 200));
    assert_eq!(seats.end(|one| one.digest == digest("d")), 1);
    assert_eq!(seats.end(|_| true), 19);
}
