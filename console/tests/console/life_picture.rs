//! The picture of a life: every lane, links and names, hostile text as text, ticks by the owner's clock, aggregation.

use crate::life_index::{act, append, at, drawn, place, read_up, remembered, storied, thought, told, whole};
use console::life::picture::scale::{Scale, ticks};
use console::life::{Life, Span, picture};
use house::moments::Place;
use serde_json::{Value, json};
use trials::{House, SOUND};

const HOSTILE: &str = "</title><script>alert(1)</script>\u{202e}\"'&\u{0007}\u{200b}<img src=x onerror=y>";

fn ms(at: &str) -> u64 {
    at.parse::<jiff::Timestamp>().unwrap().as_millisecond() as u64
}

fn labels(from: &str, to: &str, width: f64, place: &Place) -> Vec<String> {
    let scale = Scale::new(ms(from), ms(to), width, vec![]);
    ticks(&scale, place).into_iter().map(|tick| tick.label).collect()
}

/// Every element ends where it ought to.
fn well_formed(svg: &str) {
    let mut open = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, _) = part.split_once('>').unwrap();
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{svg}"),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split(' ').next().unwrap()),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn every_lane_shows_what_is_its_own() {
    let house = storied();
    let svg = drawn(&whole(&house));
    for part in [
        "viewBox=\"0 0 1200 ",
        "class=\"life blessed\"",
        "<circle class=\"blessed\"",
        "<path class=\"death\"",
        "<path class=\"rollback\"",
        "<circle class=\"fall\"",
        "class=\"wake why-owner\"",
        "class=\"wake why-clock\"",
        "class=\"wake why-other\"",
        "class=\"thought why-clock\"",
        "class=\"act\"",
        "class=\"act-failed\"",
        "class=\"edit commit\"",
        "class=\"edit-failed\"",
        "class=\"dream\"",
        "class=\"reminder\"",
        "class=\"word\"",
        "class=\"ask-open\"",
        "class=\"ask-closed\"",
        "<path class=\"money\"",
        "<path class=\"money own\"",
        "href=\"/lives/7\"",
        "href=\"/thought/3\"",
        "href=\"/asks/13\"",
        "href=\"/commit/2222222222222222222222222222222222222222\"",
        "href=\"/record/memory.jsonl/",
        "href=\"/record/ledger.jsonl/",
    ] {
        assert!(svg.contains(part), "{part} is not in {svg}");
    }
    assert!(!svg.contains(" style=") && !svg.contains("<script"), "{svg}");
    well_formed(&svg);
    // A link has its name, in both forms.
    let cuts = svg.matches("<g class=\"cut\"").count();
    assert_eq!(svg.matches("<a ").count() + cuts, svg.matches("<title>").count());
    assert_eq!(svg.matches("<a ").count(), svg.matches("</a>").count());
}

#[test]
fn text_of_others_is_text_whatever_it_says() {
    let house = House::new(SOUND);
    let history = json!({"what": "commit", "by": "self", "commit": HOSTILE, "summary": HOSTILE});
    let life = json!({"what": "life", "life": 7, "commit": HOSTILE, "safe": false});
    let fall =
        json!({"what": "fall", "life": 7, "from_commit": HOSTILE, "to_commit": HOSTILE, "told": HOSTILE});
    append(&house, ".self/history.jsonl", &[at(1, history), at(2, life), at(900, fall)]);
    let death = json!({"life": 7, "ended": HOSTILE, "cause": HOSTILE, "blame": HOSTILE, "commit": HOSTILE});
    append(&house, ".self/deaths.jsonl", &[at(890, death)]);
    let ask = |id: &str| json!({"id": id, "event": "asked", "kind": HOSTILE, "method": HOSTILE, "service": HOSTILE, "path": HOSTILE});
    append(&house, ".self/asks.jsonl", &[at(5, ask("1")), at(6, ask(HOSTILE))]);
    let beat = remembered(9, "heartbeat", json!({"wake": 1, "why": [HOSTILE]}));
    append(&house, ".self/mind/bookkeeping.jsonl", &[beat]);
    let memory = [
        thought(10, 1, 1),
        act(20, 1, HOSTILE, true),
        act(60, 1, HOSTILE, false),
        remembered(100, "message", json!({"from": HOSTILE, "kind": HOSTILE, "text": HOSTILE})),
        remembered(200, "message", json!({"from": "owner", "text": HOSTILE})),
        remembered(
            300,
            "self_change",
            json!({"ok": false, "stage": HOSTILE, "summary": HOSTILE, "error": HOSTILE}),
        ),
    ];
    append(&house, ".self/memory.jsonl", &memory);
    let life = whole(&house);
    for svg in [drawn(&life), picture::svg(&life, &Span::of_ms(0, 4_000_000_000_000), 400, &place())] {
        assert!(!svg.contains("<script") && !svg.contains("<img") && !svg.contains('\u{202e}'), "{svg}");
        assert!(!svg.contains('\u{7}') && !svg.contains('\u{200b}'), "{svg}");
        // All markup is ours: names of elements and attributes are few.
        let names = svg
            .split('<')
            .skip(1)
            .map(|part| part.split([' ', '>', '/']).find(|name| !name.is_empty()).unwrap());
        for name in names {
            assert!(
                ["svg", "g", "a", "title", "text", "rect", "path", "circle"].contains(&name),
                "{name}: {svg}"
            );
        }
    }
    assert!(
        drawn(&life).contains("&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}&quot;&#39;&amp;")
    );
    assert!(told(&life).iter().all(|row| !row.contains('\u{202e}')));
}

#[test]
fn what_does_not_fit_is_one_that_leads_to_its_span() {
    let house = House::new(SOUND);
    let many: Vec<Value> = (0..600).map(|second| act(second, 1, "repo.read", second % 3 > 0)).collect();
    append(&house, ".self/memory.jsonl", &many);
    append(&house, ".self/memory.jsonl", &[act(700, 2, "repo.write", true)]);
    let life = whole(&house);
    let from = ms("2026-02-03T00:00:01Z");
    let svg = picture::svg(&life, &Span::of_ms(from - 1_000, from + 80_000_000), 1_200, &place());
    assert!(svg.contains(&format!("href=\"/life?from={from}&amp;to={}\"", from + 598_000)), "{svg}");
    assert!(svg.contains("400 acts") && svg.contains("200 failed acts"), "{svg}");
    assert!(svg.contains("class=\"act many\"") && svg.contains("repo.write of thought 2"), "{svg}");
    // Nearer, each is by itself, in order of time.
    let near = picture::svg(&life, &Span::of_ms(from, from + 20_000), 1_200, &place());
    assert!(!near.contains("act many") && near.matches("class=\"act\"").count() == 14, "{near}");
    let places: Vec<f64> = near
        .split("class=\"act\" x=\"")
        .skip(1)
        .map(|part| part.split('"').next().unwrap().parse().unwrap())
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn a_far_look_and_a_near_one_count_the_same() {
    let house = House::new(SOUND);
    let many: Vec<Value> =
        (0..5_000).map(|number| act(number * 17 % 86_400, 1, "a", number % 2 > 0)).collect();
    append(&house, ".self/memory.jsonl", &many);
    let life = whole(&house);
    let (from, day) = (ms("2026-02-03T00:00:00Z"), 86_400_000);
    for days in [1, 30, 400, 4_000] {
        let svg = picture::svg(&life, &Span::of_ms(from - days * day, from + day), 1_000, &place());
        assert!(
            svg.contains("aria-label=\"2500 acts\"") && svg.contains("aria-label=\"2500 failed acts\""),
            "{days}"
        );
    }
}

#[test]
fn money_grows_through_a_day_and_is_a_step_a_day_from_afar() {
    let house = storied();
    let budget = json!({"daily_cap_usd": 5.0, "autonomous_cap_usd": 0.75, "caps": [
        {"span": "day", "cap_usd": 4.0, "autonomous_cap_usd": 0.5}]});
    house.write(".self/budget.json", &budget.to_string());
    let life = whole(&house);
    let near = drawn(&life);
    assert!(near.contains(">cap $4.00</text>") && near.contains(">its own cap $0.50</text>"), "{near}");
    assert!(near.contains("$0.03 spent, $0.0050 of it its own (at most $4.00 a day)"), "{near}");
    assert_eq!(near.matches("<path class=\"cap").count(), 2, "{near}");
    let month = Span::of_ms(ms("2026-01-20T00:00:00Z"), ms("2026-02-20T00:00:00Z"));
    let far = picture::svg(&life, &month, 800, &place());
    assert!(far.contains("$0.03 spent, $0.0050 of it its own"), "{far}");
}

#[test]
fn marks_of_the_axis_stand_on_the_owners_clock() {
    let place = place();
    // An hour is an hour, also where the clock is put forward and back.
    let spring = labels("2026-03-28T22:30:00Z", "2026-03-29T06:00:00Z", 700.0, &place);
    assert_eq!(spring, ["29 Mar", "01:00", "03:00", "04:00", "05:00", "06:00", "07:00", "08:00"]);
    let autumn = labels("2026-10-24T21:30:00Z", "2026-10-25T05:00:00Z", 700.0, &place);
    assert_eq!(autumn[..4], ["25 Oct", "01:00", "02:00", "03:00"], "{autumn:?}");
    let days = labels("2026-03-26T00:00:00Z", "2026-04-01T00:00:00Z", 700.0, &place);
    assert_eq!(days, ["27 Mar", "28 Mar", "29 Mar", "30 Mar", "31 Mar", "1 Apr"]);
    let months = labels("2025-10-10T00:00:00Z", "2026-05-10T00:00:00Z", 700.0, &place);
    assert_eq!(months, ["Nov", "Dec", "Jan 2026", "Feb", "Mar", "Apr", "May"]);
    let minutes = labels("2026-02-03T10:00:10Z", "2026-02-03T10:12:00Z", 500.0, &place);
    assert_eq!(minutes, ["3 Feb 11:02", "11:04", "11:06", "11:08", "11:10", "11:12"]);
    for (from, to) in [
        ("2026-02-03T10:00:00.000Z", "2026-02-03T10:00:00.001Z"),
        ("1971-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
    ] {
        assert!(labels(from, to, 800.0, &place).len() < 60);
    }
}

#[test]
fn a_span_of_any_length_is_drawn() {
    let house = storied();
    let mut life = whole(&house);
    read_up(&mut life);
    for (from, to) in [(0, 0), (5, 1), (u64::MAX, u64::MAX), (0, u64::MAX), (0, 253_000_000_000_000)] {
        for columns in [0, 390, u32::MAX] {
            let svg = picture::svg(&life, &Span::of_ms(from, to), columns, &place());
            assert!(svg.ends_with("</svg>"));
        }
    }
    let none = Life::open(&house::House::new("/nonexistent"));
    assert_eq!(none.span(), None);
}
