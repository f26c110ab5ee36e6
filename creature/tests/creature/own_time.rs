//! Time of its own across lives and beside the owner's: an edit is used by the life born of it, a look is ended by its own thoughts.

use crate::broker::loopback;
use crate::house::{Line, Script, TempHouse, thought};
use crate::lived::{Lived, Never};
use agenda::Change;
use agenda::own::{Kind, OwnChange};
use creature::life::Next;
use creature::tools::Rebirth;
use serde_json::json;

const MORNING: &str = "2026-03-02T08:00:00Z";

/// A house whose budget has a share for time of its own.
fn house(script: &Script) -> TempHouse {
    let house = TempHouse::with_model("openai", script, 300);
    let room = json!({"usd_per_day": 1.0, "usd_per_hour": 0.04, "bucket_usd": 0.2});
    house.write(".self/budget.json", json!({"autonomy": room}).to_string());
    house
}

async fn look_that_edits(house: &TempHouse, summary: &str) {
    let mut lived = Lived::born(house, MORNING, 1).await;
    lived.life.change(&Change::Own(OwnChange::Began { look: Kind::Growth })).unwrap();
    let what = creature::tools::product::edit(summary);
    lived.life.change(&Change::Own(OwnChange::Left { what, sketch: Vec::new() })).unwrap();
    lived.life.toolbox.rebirth = Some(Rebirth { summary: summary.to_owned() });
    let next = lived.life.wake(&mut Never).await.unwrap();
    assert!(matches!(next, Next::Reborn(_)));
}

/// Found in review: a look that ended in a rebirth was still under way at birth, and what it left could not be used.
#[tokio::test]
async fn a_self_edit_of_its_own_time_is_used_by_the_life_born_of_it() {
    loopback!();
    let long = "rest longer where nobody speaks, for the records show forty wakes a night";
    let cut = "rest longer where nobody speaks, for the records show forty …";
    for (summary, born) in [("rest longer", "rest longer"), (long, cut)] {
        let script = Script::new(vec![thought("rest", json!([]), 300)]);
        let house = house(&script);
        look_that_edits(&house, summary).await;
        let standing = json!({"guardian_pid": 1, "life": 2, "blessed": false, "born": {"summary": born}});
        house.write(".self/guardian.json", standing.to_string());
        let lived = Lived::born(&house, MORNING, 2).await;
        let own = &lived.life.store.agenda.own;
        assert!(own.under_way.is_none(), "{own:?}");
        assert_eq!((own.all.looks, own.all.used), (1.0, 1.0), "{summary}");
    }
}

/// Found in review: an empty answer to the owner ended the look that another thought had begun.
#[tokio::test]
async fn an_empty_answer_to_the_owner_ends_no_look() {
    loopback!();
    let silent = json!({"monologue": "", "intent": "", "tool_calls": [], "sleep_s": 0}).to_string();
    let script = Script::new(vec![thought("rest", json!([]), 300), Line::Says(silent)]);
    let house = house(&script);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    lived.wake().await;
    lived.life.change(&Change::Own(OwnChange::Began { look: Kind::Growth })).unwrap();
    house.say("are you there?");
    lived.stay().await;
    assert!(lived.life.store.agenda.own.under_way.is_some(), "it is still under way");
}

#[test]
fn an_edit_that_says_nothing_of_itself_leaves_nothing() {
    assert_eq!(creature::tools::product::edit(" \n"), "");
    assert_eq!(creature::tools::product::edit("mend\n\nthe rest"), "edit: mend the rest");
}
