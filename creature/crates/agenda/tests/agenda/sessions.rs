//! Sub-sessions case by case: what flows, what fails, what is refused, and when they are told.

use agenda::sessions::{
    HOP_ROUNDS, HOP_S, MOST_HOP_ROUNDS, MOST_KEPT, MOST_OPEN, Mode, Origin, Previous, Request, Sessions,
    Status,
};
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
    assert_eq!(sessions.reports(at(1)), [], "others of the same parent are still to begin");
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
    let report = sessions.reports(at(3)).remove(0);
    assert_eq!(report.ids, ["session-2", "session-3", "session-1", "session-4"]);
    let lines: Vec<&str> = report.text.lines().collect();
    assert_eq!(
        lines[..2],
        ["4 have ended, 2 done, but not session-2, session-3:", "- session-2 failed: no door"]
    );
    assert!(
        lines[2].starts_with("- session-3 failed: session-2, which it waits for, is failed"),
        "{lines:?}"
    );
    assert_eq!(lines[3..], ["- session-1 done: the key is under the mat", "- session-4 done: in"]);
    assert!(report.message.starts_with("4 sub-sessions have ended, 2 done"), "{}", report.message);
    report.ids.iter().for_each(|id| sessions.reported(id));
    assert_eq!(sessions.reports(at(3)), [], "told twice");
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
fn depth_ends_at_two_and_all_are_told_when_their_parent_spawns_no_more() {
    let mut sessions = Sessions::default();
    sessions.spawn(request("thought-1", &[]), at(0)).unwrap();
    sessions.begin(at(0), 8);
    sessions.spawn(request("session-1", &[]), at(0)).unwrap();
    assert!(sessions.spawn(request("session-2", &[]), at(0)).unwrap_err().error.contains("deeper"));
    sessions.spawn(request("session-1", &[]), at(0)).unwrap();
    sessions.begin(at(0), 8);
    sessions.answered("session-2", "yes", at(1));
    sessions.answered("session-3", "no", at(2));
    assert_eq!(sessions.reports(at(2)), [], "their parent may spawn more");
    sessions.answered("session-1", "done", at(3));
    let [report] = sessions.reports(at(3)).try_into().unwrap();
    let told = "3 have ended, 3 done:\n- session-2 (of session-1) done: yes\n- session-3 (of session-1) done: no\n\
        - session-1 done: done";
    assert_eq!((report.text.as_str(), report.thread.as_str()), (told, "main"));
}

#[test]
fn a_night_slept_through_is_one_hop_and_four_are_the_end() {
    let mut sessions = Sessions::default();
    sessions.spawn(Request { mode: Mode::Full, ..request("thought-1", &[]) }, at(0)).unwrap();
    sessions.begin(at(0), 1);
    assert!(sessions.tick(at(HOP_S - 1), 0).is_empty());
    assert_eq!(sessions.tick(at(40_000), 0), ["session-1"]);
    let session = sessions.get("session-1").unwrap();
    assert_eq!((session.hop, session.status), (2, Status::Running));
    sessions.tick(at(40_000 + HOP_S), 0);
    assert_eq!(sessions.tick(at(40_000 + 2 * HOP_S), 0), ["session-1"]);
    assert_eq!(sessions.get("session-1").unwrap().hop, 4, "it is continued three times");
    sessions.tick(at(40_000 + 3 * HOP_S), 0);
    let session = sessions.get("session-1").unwrap();
    assert_eq!(session.status, Status::Failed);
    assert!(session.answer.contains("4 hops"), "{}", session.answer);
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
    assert!(sessions.reports(at(1))[0].silent);
    sessions.reported("session-1");
    for _ in 0..MOST_OPEN {
        sessions.spawn(request("thought-1", &[]), at(1)).unwrap();
    }
    assert!(sessions.spawn(request("thought-1", &[]), at(1)).unwrap_err().hint.contains("cancel"));
    for _ in 0..MOST_OPEN {
        let id = sessions.begin(at(2), 1).remove(0);
        sessions.answered(&id, &"y".repeat(100_000), at(3));
    }
    let [report] = sessions.reports(at(3)).try_into().unwrap();
    assert!(report.text.chars().count() <= 1_150 && report.message.chars().count() <= 4_050, "{report:?}");
    assert!(report.text.contains("whole: sessions.list"), "{}", report.text);
    for id in &report.ids {
        assert!(
            report.text.contains(&format!("{id} "))
                || report.text.contains(&format!("{id},"))
                || report.text.ends_with(id),
            "{id} is not named"
        );
        sessions.reported(id);
    }
    assert_eq!(sessions.all.len(), MOST_KEPT);
}

/// Found by living with it: one gated sibling withheld twelve finished results.
#[test]
fn twelve_that_are_done_are_told_while_one_waits_for_its_hour() {
    let mut sessions = Sessions::default();
    let gated = Request { not_before: Some(at(9_000)), ..request("thought-1", &[]) };
    sessions.spawn(gated, at(0)).unwrap();
    for _ in 0..12 {
        sessions.spawn(request("thought-1", &[]), at(0)).unwrap();
    }
    for second in 1..13 {
        assert_eq!(sessions.reports(at(second)), [], "others are still at work");
        for id in sessions.begin(at(0), 1) {
            sessions.answered(&id, "found", at(second));
        }
    }
    let [report] = sessions.reports(at(13)).try_into().unwrap();
    assert_eq!(report.ids.len(), 12);
    report.ids.iter().for_each(|id| sessions.reported(id));
    let id = sessions.begin(at(9_000), 1).remove(0);
    sessions.answered(&id, "late", at(9_001));
    let [late] = sessions.reports(at(9_001)).try_into().unwrap();
    assert_eq!(late.text, "session-1 done: late");
}

/// Found by living with it: a quick model had its legs used up in eight seconds.
#[test]
fn a_leg_is_bounded_by_time_and_money_and_not_by_quick_thoughts() {
    let legs = |cost: u64, most_cost: u64| {
        let mut sessions = Sessions::default();
        sessions.spawn(request("thought-1", &[]), at(0)).unwrap();
        sessions.begin(at(0), 1);
        let mut thoughts = 0;
        while sessions.tick(at(8), most_cost).is_empty() {
            sessions.thought("session-1", Vec::new());
            sessions.paid("session-1", cost);
            thoughts += 1;
        }
        let session = sessions.get("session-1").unwrap();
        assert_eq!((session.hop, session.hop_rounds, session.hop_cost), (2, 0, 0));
        thoughts
    };
    assert_eq!(legs(0, u64::MAX), MOST_HOP_ROUNDS, "one that costs nothing turns in no endless circle");
    assert_eq!(legs(1_000, 20_000), 21, "a cheap one goes on until its money is spent");
    assert_eq!(legs(90_000, 20_000), HOP_ROUNDS, "a dear one has some thoughts all the same");
}

/// Found by living with it: `depends_on_previous` took one.
#[test]
fn one_that_depends_on_the_previous_waits_for_all_of_them() {
    let mut sessions = Sessions::default();
    let wanted = |previous: Previous| Request { depends_on_previous: previous, ..request("thought-1", &[]) };
    sessions.spawn(request("thought-1", &[]), at(0)).unwrap();
    let all = vec![
        Request { name: "b".to_owned(), ..request("thought-1", &[]) },
        request("thought-1", &[]),
        wanted(Previous::All(true)),
        wanted(Previous::Said("all".to_owned())),
        wanted(Previous::Named(vec!["b".to_owned(), "session-1".to_owned()])),
    ];
    sessions.spawn_all(all, at(0)).unwrap();
    let on = |sessions: &Sessions, id: &str| sessions.get(id).unwrap().depends_on.join(" ");
    assert_eq!(on(&sessions, "session-4"), "session-1 session-2 session-3");
    assert_eq!(on(&sessions, "session-5"), "session-1 session-2 session-3 session-4");
    assert_eq!(on(&sessions, "session-6"), "session-2 session-1");
    // Another thought waits for what is still open, and where all has ended for the last answer.
    let other = Request { depends_on_previous: Previous::All(true), ..request("thought-2", &[]) };
    sessions.begin(at(0), 1);
    sessions.answered("session-1", "one", at(1));
    sessions.spawn(other, at(1)).unwrap();
    assert_eq!(on(&sessions, "session-7"), "session-2 session-3 session-4 session-5 session-6");
    for (said, all) in [(r#"true"#, true), (r#""all""#, true), (r#"false"#, false), (r#"["b"]"#, false)] {
        let request: Request = serde_json::from_str(&format!(r#"{{"depends_on_previous":{said}}}"#)).unwrap();
        let mut sessions = Sessions::default();
        sessions.spawn(Request { objective: "a".to_owned(), ..Request::default() }, at(0)).unwrap();
        sessions.spawn(Request { objective: "b".to_owned(), ..request }, at(0)).unwrap();
        assert_eq!(on(&sessions, "session-2") == "session-1", all, "{said}");
    }
}

/// Found by running: a look whose calls were all refused, each with other arguments, had sixty thoughts a leg.
#[test]
fn a_look_has_eight_thoughts_and_fruitless_thoughts_end_any_session() {
    let thoughts = |origin: Origin, ok: bool| {
        let mut sessions = Sessions::default();
        sessions.spawn(Request { origin, ..request("", &[]) }, at(0)).unwrap();
        sessions.begin(at(0), 1);
        let mut thoughts = 0;
        while sessions.running().next().is_some() && thoughts < 500 {
            sessions.thought("session-1", vec!["x.post".to_owned()]);
            assert!(sessions.tick(at(8), u64::MAX).is_empty(), "its call is under way");
            sessions.acted("session-1", ok);
            sessions.tick(at(8), u64::MAX);
            thoughts += 1;
        }
        (thoughts, sessions.get("session-1").unwrap().answer.clone())
    };
    let look = || Origin::Own("water".to_owned());
    assert_eq!(thoughts(look(), true).0, HOP_ROUNDS);
    for origin in [look(), Origin::Dream] {
        let (count, why) = thoughts(origin, false);
        assert_eq!((count, why.as_str()), (8, "each call of its last 8 thoughts was refused or failed"));
    }
    assert_eq!(thoughts(Origin::Dream, true).0, 4 * MOST_HOP_ROUNDS);
}
