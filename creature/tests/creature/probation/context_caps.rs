//! The caps of a thought, for arbitrary moments: each part within its own, the same text for the same moment.

use agenda::stack::{Category, Line};
use agenda::standing::Standing;
use agenda::waking;
use creature::tools::catalogue::LIST;
use jiff::Timestamp;
use memory::{Record, kinds};
use mind::context::{self, Caps, choose};
use mind::moment::{Moment, Word};
use mind::{prompt, situation};
use model::Wire;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Odd letters, line ends, and now and then a text far past every cap.
fn text() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        'a', ' ', '\n', '\r', 'ü', '漢', '🦀', '"', '\\', '\0', '\u{301}', '\u{202e}',
    ]);
    let short = prop::collection::vec(odd, 0..60).prop_map(|letters| letters.into_iter().collect::<String>());
    prop_oneof![
        4 => short.clone(),
        2 => any::<String>(),
        2 => (short, 0_usize..500).prop_map(|(piece, times)| piece.repeat(times)),
    ]
}

fn record() -> impl Strategy<Value = Record> {
    let kind =
        prop::sample::select(vec!["thought", "action", "message", "death", "heartbeat", "of tomorrow"]);
    (kind, text(), text(), any::<bool>(), 0..4_u8, 0..9_u64).prop_map(|(kind, at, text, ok, shape, life)| {
        let data = match shape {
            0 => json!({"tool": text, "args": {"a": text}, "result": {"ok": ok, "error": text}}),
            1 => json!({"monologue": text, "intent": text, "told": text, "ok": ok, "garbled": ok}),
            2 => json!([text, {"deep": [text]}]),
            _ => Value::Null,
        };
        Record { at, life, kind: kind.to_owned(), data }
    })
}

fn line() -> impl Strategy<Value = Line> {
    (0..7_usize, text(), text(), text(), text()).prop_map(|(category, id, title, why, next)| Line {
        category: Category::ALL[category],
        id,
        title,
        why,
        next,
        ready_at: Timestamp::UNIX_EPOCH,
        changed_at: Timestamp::UNIX_EPOCH,
    })
}

pub fn moment() -> impl Strategy<Value = Moment> {
    let papers = (text(), text(), text(), prop::option::of(text()), text());
    let many = |most| prop::collection::vec(text(), 0..most);
    let stack = prop::collection::vec(line(), 0..40);
    let lists = (many(30), many(12), many(9), many(9), stack, many(60), many(60));
    let words = prop::collection::vec((text(), text(), text()), 0..20);
    let flags = (any::<[bool; 4]>(), any::<[u64; 4]>(), any::<u32>(), [text(), text(), text(), text()]);
    let records = prop::collection::vec(record(), 0..60);
    (papers, lists, words, flags, records, prop::option::of(text())).prop_map(
        |(papers, lists, words, (flags, numbers, round, texts), records, state)| {
            let (purpose, checklist, scratch, snapshot, goals) = papers;
            let (news, directives, sessions, reasons, stack, skills, own_skills) = lists;
            let word = |(at, text, thread)| Word { at, text, thread };
            let [now, commit, thread, budget] = texts;
            Moment {
                time_zone: None,
                outage: String::new(),
                own: String::new(),
                unconsulted: false,
                born: String::new(),
                packages: String::new(),
                draft: String::new(),
                now,
                life: numbers[0],
                commit,
                safe: flags[0],
                rehearsal: flags[1],
                thoughts_before: numbers[1],
                round,
                rounds: round,
                purpose,
                purpose_changed: flags[2],
                checklist,
                scratch,
                skills,
                own_skills,
                words: words.into_iter().map(word).collect(),
                unseen: 0,
                news,
                snapshot,
                records,
                rest_s: (numbers[2], numbers[3]),
                budget,
                alarm: String::new(),
                asks_waiting: numbers[0],
                owner: flags[3],
                thread,
                reasons,
                goals,
                stack,
                requests: Vec::new(),
                directives,
                paused: false,
                standing: state.map(|text| Standing { text, ..Standing::default() }),
                sessions,
            }
        },
    )
}

/// What the text says it left out.
fn counted(text: &str) -> usize {
    let notes = text.lines().filter(|line| line.starts_with('(') && line.ends_with(" left out)"));
    notes.filter_map(|line| line.get(1..)?.split(' ').next()?.parse::<usize>().ok()).sum()
}

fn caps() -> impl Strategy<Value = Caps> {
    let small = prop::array::uniform14(0..700_usize).prop_map(|sizes| Caps {
        purpose: sizes[0],
        skills: sizes[13],
        snapshot: sizes[1],
        checklist: sizes[2],
        scratch: sizes[3],
        goals: sizes[4],
        requests: sizes[7],
        stack: sizes[5],
        state: sizes[6],
        runtime: sizes[9],
        records: sizes[10],
        record: sizes[11],
        most_records: sizes[12],
    });
    prop_oneof![Just(Caps::default()), small]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_part_keeps_its_cap(moment in moment(), caps in caps()) {
        let parts = choose(&moment, &caps, &LIST);
        for (what, text, most) in [
            ("purpose", &parts.purpose, caps.purpose),
            ("skills", &parts.skills, caps.skills),
            ("requests", &parts.requests, caps.requests),
            ("snapshot", &parts.snapshot, caps.snapshot),
            ("checklist", &parts.checklist, caps.checklist),
            ("scratch", &parts.scratch, caps.scratch),
            ("goals", &parts.goals, caps.goals),
            ("stack", &parts.stack, caps.stack),
            ("state", &parts.state, caps.state),
            ("runtime", &parts.runtime, caps.runtime),
            ("records", &parts.records, caps.records),
        ] {
            let size = text.chars().count();
            prop_assert!(size <= most, "{what} has {size} of {most}");
        }
        prop_assert_eq!(&choose(&moment, &caps, &LIST), &parts, "another text for the same moment");
    }

    #[test]
    fn a_thought_keeps_the_sum_and_shows_its_latest_failure(moment in moment()) {
        let caps = Caps::default();
        let parts = choose(&moment, &caps, &LIST);
        // Events have a cap where they are taken off their queue; the owner's words are shown whole.
        let said = situation::opening(&moment, &parts).text;
        for word in &moment.words {
            prop_assert!(said.contains(&word.text), "{:?} is not whole in {said:?}", word.text);
        }
        let bare = Moment { words: Vec::new(), news: Vec::new(), ..moment.clone() };
        let whole = situation::standing(&parts).text + &situation::opening(&bare, &parts).text;
        prop_assert!(whole.chars().count() < 40_000, "{}", whole.chars().count());
        if let Some(failure) = moment.records.iter().rfind(|record| kinds::failed(record)) {
            prop_assert!(parts.records.contains(&context::line(failure, caps.record)));
        }
        if moment.owner || !moment.words.is_empty() {
            prop_assert_eq!(parts.state, "");
        }
    }

    #[test]
    fn the_oldest_go_first_and_are_counted(sizes in prop::collection::vec(0..2_000_usize, 0..250)) {
        let text = |(n, size): (usize, &usize)| format!("<{n}> {}", "crab ".repeat(*size / 5));
        let texts: Vec<String> = sizes.iter().enumerate().map(text).collect();
        let told = |text: &String| Record::new(1, "observation", json!({"about": "x", "text": text}));
        let moment = Moment {
            records: texts.iter().map(told).collect(),
            goals: texts.join("\n"),
            ..Moment::default()
        };
        let parts = choose(&moment, &Caps::default(), &LIST);
        let all = 0..texts.len();
        for (text, newest) in [(&parts.records, true), (&parts.goals, false)] {
            let shown: Vec<usize> = all.clone().filter(|n| text.contains(&format!("<{n}>"))).collect();
            let left = counted(text);
            let expected: Vec<usize> = match newest {
                true => (left..texts.len()).collect(),
                false => (0..texts.len() - left).collect(),
            };
            prop_assert_eq!(shown, expected, "{} left out of {}", left, texts.len());
        }
    }

    #[test]
    fn every_event_taken_off_the_queue_was_shown(news in prop::collection::vec(text(), 1..60)) {
        let shown = waking::shown(&news, 1_800);
        prop_assert!(shown > 0, "it would wait for ever");
        let news = news[news.len() - shown..].to_vec();
        let moment = Moment { news, ..Moment::default() };
        let text = situation::opening(&moment, &choose(&moment, &Caps::default(), &LIST)).text;
        for news in &moment.news {
            prop_assert!(text.contains(&format!("- {news}")), "{news} is not in {text}");
        }
    }
}

#[test]
fn the_caps_are_what_the_owner_was_promised() {
    let caps = Caps::default();
    let promised = [caps.snapshot, caps.goals, caps.stack, caps.scratch, caps.state, caps.runtime];
    assert_eq!(promised, [4_000, 4_000, 2_000, 4_000, 1_500, 500]);
}

#[test]
fn the_standing_words_and_the_list_of_tools_keep_their_caps() {
    let words = include_str!("../../../prompts/mind.md");
    assert!(words.chars().count() <= 4_000, "mind.md has {} characters", words.chars().count());
    let tools = LIST.lines(&|_| true);
    // With room for tools that a self gives itself: how small the first request of a new house is, `trials/walled` says.
    let most = 16_000;
    assert!(tools.chars().count() <= most, "the list of tools has {} characters", tools.chars().count());
    for wire in [Wire::Anthropic, Wire::Chat] {
        let system = prompt::system(words, &prompt::in_json(wire, &tools), 35_000);
        assert!(system.chars().count() <= 4_000 + most + 900);
    }
}
