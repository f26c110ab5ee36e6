//! Sub-sessions case by case: what flows, what fails, what is refused, and when they are told.

use agenda::sessions::{HOP_S, MOST_KEPT, MOST_OPEN, Mode, Origin, Request, Sessions, Status};
use jiff::Timestamp;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_900_000_000 + second).unwrap()
}

fn request(parent: &str, depends_on: &[&str]) -> Request {
    Request {
        origin: Origin::Tool { parent: parent.to_owned() },
        thread: "main".to_owned(),
        objective: "look".to_owned(),
        depends_on: depends_on.iter().map(|id| (*id).to_owned()).collect(),
        ..Request::default()
    }
}

#[test]
fn answers_flow_and_failures_take_along() {
    let mut sessions = Sessions::default();
    let graph = [("a", vec![]), ("b", vec!["a", "ghost"]), ("c", vec!["b"]), ("d", vec!["a"])];
    let named = graph.map(|(name, on)| Request { name: name.to_owned(), ..request("thought-1", &on) });
    let spawned = sessions.spawn_all(named.to_vec(), at(0)).unwrap();
    assert_eq!(spawned[1].warnings.len(), 1);
    assert_eq!(sessions.begin(at(0), 8), ["session-1"]);
    sessions.answered("session-1", "the key is under the mat", at(1));
    assert!(sessions.reports().is_empty(), "told before all have ended");
    assert_eq!(sessions.begin(at(1), 8), ["session-2", "session-4"]);
    assert!(sessions.get("session-2").unwrap().given[0].contains("under the mat"));
    assert_eq!(sessions.failed("session-2", "no door", at(2)), ["session-2", "session-3"]);
    assert!(
        sessions
            .get("session-3")
            .unwrap()
            .answer
            .contains("session-2, which it waits for, is failed: no door")
    );
    sessions.answered("session-4", "in", at(3));
    let reports = sessions.reports();
    assert_eq!(reports.len(), 1);
    assert!(reports[0].text.contains("under the mat") && reports[0].text.contains("no door"), "{reports:?}");
    let late = sessions.spawn(request("thought-2", &["session-2"]), at(4)).unwrap();
    assert_eq!(sessions.get(&late.id).unwrap().status, Status::Failed);
}

#[test]
fn a_circle_is_refused_whole() {
    let mut sessions = Sessions::default();
    let circle = [("a", "c"), ("b", "a"), ("c", "b")];
    let circle = circle.map(|(name, on)| Request { name: name.to_owned(), ..request("thought-1", &[on]) });
    assert!(sessions.spawn_all(circle.to_vec(), at(0)).unwrap_err().error.contains("wait for each other"));
    assert!(sessions.spawn(request("thought-1", &["session-1"]), at(0)).is_err(), "itself");
    assert_eq!(sessions, Sessions::default());
}

#[test]
fn depth_ends_at_two_and_children_are_told_when_their_parent_spawns_no_more() {
    let mut sessions = Sessions::default();
    sessions.spawn(request("thought-1", &[]), at(0)).unwrap();
    sessions.begin(at(0), 8);
    sessions.spawn(request("session-1", &[]), at(0)).unwrap();
    assert!(sessions.spawn(request("session-2", &[]), at(0)).unwrap_err().error.contains("deeper"));
    sessions.begin(at(0), 8);
    sessions.answered("session-2", "yes", at(1));
    assert!(sessions.reports().is_empty());
    sessions.answered("session-1", "done", at(2));
    assert_eq!(sessions.reports().len(), 2);
}

#[test]
fn a_night_slept_through_is_one_hop_and_three_are_the_end() {
    let mut sessions = Sessions::default();
    sessions.spawn(Request { mode: Mode::Full, ..request("thought-1", &[]) }, at(0)).unwrap();
    sessions.begin(at(0), 1);
    assert!(sessions.tick(at(HOP_S - 1)).is_empty());
    assert_eq!(sessions.tick(at(40_000)), ["session-1"]);
    let session = sessions.get("session-1").unwrap();
    assert_eq!((session.hop, session.status), (2, Status::Running));
    sessions.tick(at(40_000 + HOP_S));
    sessions.tick(at(40_000 + 2 * HOP_S));
    let session = sessions.get("session-1").unwrap();
    assert_eq!(session.status, Status::Failed);
    assert!(session.answer.contains("3 hops"), "{}", session.answer);
}

#[test]
fn a_call_that_kills_is_not_made_a_third_time() {
    let mut sessions = Sessions::default();
    sessions.spawn(request("thought-1", &[]), at(0)).unwrap();
    sessions.begin(at(0), 1);
    sessions.thought("session-1", vec!["files.write {}".to_owned(), "web.search {}".to_owned()]);
    assert!(sessions.cut_off(at(1)).is_empty());
    sessions.thought("session-1", vec!["files.write {}".to_owned()]);
    assert_eq!(sessions.cut_off(at(2)), ["session-1"]);
    assert!(sessions.get("session-1").unwrap().answer.contains("cut off 2 times"));
}

#[test]
fn a_review_without_news_is_silent_and_all_is_bounded() {
    let mut sessions = Sessions::default();
    let review = Request { origin: Origin::Pulse("pulse-1".to_owned()), ..request("", &[]) };
    sessions.spawn(review, at(0)).unwrap();
    sessions.begin(at(0), 1);
    sessions.answered("session-1", " [NO_ACTION] all quiet", at(1));
    assert!(sessions.reports()[0].silent);
    sessions.reported(&["session-1".to_owned()]);
    for _ in 0..MOST_OPEN {
        sessions.spawn(request("thought-1", &[]), at(1)).unwrap();
    }
    assert!(sessions.spawn(request("thought-1", &[]), at(1)).unwrap_err().hint.contains("cancel"));
    for _ in 0..MOST_OPEN {
        let id = sessions.begin(at(2), 1).remove(0);
        sessions.answered(&id, &"y".repeat(100_000), at(3));
    }
    let report = sessions.reports().remove(0);
    assert!(report.text.chars().count() <= 1_100);
    sessions.reported(&report.members);
    assert_eq!(sessions.all.len(), MOST_KEPT);
}
