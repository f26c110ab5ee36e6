//! News of deaths, falls and the owner's decisions: says them, and keeps them in the diary. Pure.

use super::text::{clip, hash};
use super::turn::Turn;

/// Characters of one piece of news; the end of a log in it may be long.
const MOST: usize = 700;

pub fn drive(turn: &mut Turn) {
    let mut news = Vec::new();
    for told in &turn.moment.news {
        if turn.state.mark_dealt_with(hash(told)) {
            let told = clip(told, MOST);
            turn.say(format!("I am told: {}.", told.trim_end_matches('.')));
            news.push(told);
        }
    }
    if news.is_empty() {
        return;
    }
    turn.does("write the news into the diary", "That goes into my diary.");
    turn.diary(&format!("- {}", news.join("\n- ")));
}
