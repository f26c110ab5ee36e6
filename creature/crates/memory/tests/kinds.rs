//! The table of kinds: how records of each read, what they cost, and that a kind without a row is carried as it is.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::indexing_slicing)]

use memory::Record;
use memory::kinds::{self, Account};
use serde_json::{Value, json};

#[test]
fn a_record_reads_by_its_kind() {
    let call = |result: Value| json!({"tool": "x.look", "args": {"path": "a"}, "result": result});
    let thought = json!({"thought": 3, "monologue": "I see.", "intent": "look"});
    for (kind, data, said, gist, failed) in [
        ("thought", thought, "I see. → look", "3: look", false),
        (
            "thought",
            json!({"thought": 4, "garbled": true, "error": "no JSON"}),
            "garbled reply: no JSON",
            "4: no JSON",
            true,
        ),
        (
            "action",
            call(json!({"ok": true})),
            "x.look {\"path\":\"a\"} → {\"ok\":true}",
            "x.look {\"path\":\"a\"}: ok",
            false,
        ),
        (
            "action",
            call(json!({"ok": false, "error": "none"})),
            "x.look {\"path\":\"a\"} → {\"ok\":false,\"error\":\"none\"}",
            "x.look {\"path\":\"a\"}: failed: none",
            true,
        ),
        ("observation", json!({"about": "sky", "text": "blue"}), "sky: blue", "sky: blue", false),
        ("observation", json!({"seen": 3}), "{\"seen\":3}", "{\"seen\":3}", false),
        (
            "message",
            json!({"from": "creature", "kind": "answer", "text": "yes"}),
            "creature: yes",
            "creature answer: yes",
            false,
        ),
        ("death", json!({"life": 6, "told": "Life 6 ended"}), "Life 6 ended", "Life 6 ended", true),
        ("self_change", json!({"ok": false}), "{\"ok\":false}", "{\"ok\":false}", true),
        (
            "hunch",
            json!({"about": "sky", "text": "rain"}),
            "{\"about\":\"sky\",\"text\":\"rain\"}",
            "sky: rain",
            false,
        ),
        ("hunch", json!("not an object"), "\"not an object\"", "\"not an object\"", false),
    ] {
        let record = Record::new(1, kind, data);
        let found = (kinds::said(&record, 200), kinds::gist(&record, 200), kinds::failed(&record));
        assert_eq!(found, (said.to_owned(), gist.to_owned(), failed), "{kind}");
    }
}

#[test]
fn only_what_tells_what_happened_is_kept_from_a_mind_and_only_what_asked_a_model_cost() {
    for (kind, minds, account) in [
        ("thought", false, Some(Account::Own)),
        ("agenda", false, Some(Account::Session)),
        ("dream", false, Some(Account::Dream)),
        ("action", false, None),
        ("self_change", false, None),
        ("heartbeat", false, None),
        ("snapshot", false, None),
        ("death", false, None),
        ("observation", true, None),
        ("message", true, None),
        ("hunch", true, None),
    ] {
        let (row, record) = (kinds::of(kind), Record::new(1, kind, json!({"owner": false, "usage": null})));
        assert_eq!((row.minds, row.what.is_empty()), (minds, kind == "hunch"), "{kind}");
        assert_eq!(kinds::account(&record), account, "{kind}");
    }
    for (owner, account) in
        [(json!(true), Account::Owner), (json!(false), Account::Own), (json!(null), Account::Session)]
    {
        let record = Record::new(1, "action", json!({"owner": owner, "usage": {"cost_usd": 0.01}}));
        assert_eq!(kinds::account(&record), Some(account), "a call for which a model was asked");
    }
    assert_eq!(kinds::account(&Record::new(1, "dream", json!({"undone": "x"}))), None);
}
