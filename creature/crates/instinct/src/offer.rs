//! The first word to the owner: who lives here, and which feeds it could follow; and what is followed by the owner's word. Pure.
//!
//! Invariant: it greets once in a house; what it says it follows is in the checklist, or it says that it is not.

use super::state::Asked;
use super::table::text;
use super::text::{LONGEST_WRITTEN, clip, host};
use super::turn::Turn;
use ground::checklist::{self, MOST_SOURCES, Named, looks_like_feed, named};
use serde_json::json;

/// Feeds it offers where the owner named none: for people who like small tools that last.
pub const OFFERED: [(&str, &str); 4] = [
    ("Rust Blog", "https://blog.rust-lang.org/feed.xml"),
    ("This Week in Rust", "https://this-week-in-rust.org/atom.xml"),
    ("LWN", "https://lwn.net/headlines/rss"),
    ("Simon Willison", "https://simonwillison.net/atom/everything/"),
];

/// Thoughts; a house that had more was greeted long ago, or needs no greeting.
pub const YOUNG: u64 = 10;

/// Words by which the owner accepts all that is offered.
pub const TAKE_ALL: &str = "follow them";

/// Greets the owner once, in three sentences, in a young house.
pub fn greet(turn: &mut Turn) {
    // The owner's word is answered first; and the greeting says that no model thinks here, which must be known.
    if turn.moment.answers() || turn.moment.unconsulted {
        return;
    }
    if std::mem::replace(&mut turn.state.offer.greeted, true) {
        return;
    }
    if turn.moment.thoughts_before > YOUNG || turn.messages("greeting").next().is_some() {
        return;
    }
    let first = match checklist::items(&turn.moment.checklist).len() {
        0 => text("greet_house", &[]),
        open => text("greet_list", &[("open", &open)]),
    };
    let wish = match turn.followed().len() {
        0 => {
            turn.state.offer.open_since_s = Some(turn.now_s);
            turn.state.asked = Some(Asked { at_s: turn.now_s, choices: vec![TAKE_ALL.to_owned()] });
            let names = OFFERED.map(|(name, url)| format!("{name} ({})", host(url)));
            text("greet_feeds", &[("names", &names.join(", "))])
        }
        count => text("greet_followed", &[("count", &count)]),
    };
    let text = text("greeting", &[("first", &first), ("wish", &wish)]);
    turn.does("greet my owner", "I am new here, and say so.");
    turn.greeting = Some(json!({"kind": "greeting", "text": text}));
}

/// Follows what was offered, where it was.
pub fn follow_offered(turn: &mut Turn) {
    if turn.state.offer.open_since_s.take().is_none() {
        return turn.tell_owner("I offer nothing to follow just now: say `follow <link>`.");
    }
    follow(OFFERED.map(|(_, url)| url.to_owned()).to_vec(), turn);
}

/// Takes the owner's no to what was offered.
pub fn decline(turn: &mut Turn) {
    if turn.moment.safe {
        return turn.tell_owner(&text("safe", &[]));
    }
    turn.state.offer.open_since_s = None;
    turn.say("My owner wants no feeds, and I do not ask again.");
    turn.tell_owner("Then I follow nothing, and do not ask again; `follow <link>` works whenever you like.");
}

pub fn follow(wanted: Vec<String>, turn: &mut Turn) {
    let paper = turn.checklist.as_ref().unwrap_or(&turn.moment.checklist).clone();
    let known = named(&turn.moment.purpose, &paper);
    let new: Vec<Named> = wanted
        .iter()
        .filter(|url| !known.iter().any(|known| known.url == **url))
        .map(|url| Named {
            url: url.clone(),
            feed: OFFERED.iter().any(|(_, it)| it == url) || looks_like_feed(url),
        })
        .collect();
    if new.is_empty() {
        return turn.tell_owner("I follow that already.");
    }
    if known.len() + new.len() > MOST_SOURCES {
        let full = text("follow_full", &[("count", &known.len()), ("most", &MOST_SOURCES)]);
        return turn.tell_owner(&full);
    }
    let written = checklist::with(&paper, &new);
    let takes = named(&turn.moment.purpose, &written);
    if written.len() > LONGEST_WRITTEN || !new.iter().all(|new| takes.contains(new)) {
        return turn.tell_owner(&text("follow_unwritten", &[]));
    }
    let kind = |named: &Named| if named.feed { "feed" } else { "page" };
    let names = new.iter().map(|named| format!("{} ({})", clip(&named.url, 200), kind(named)));
    let names = names.collect::<Vec<_>>().join(", ");
    turn.does("follow what my owner named", format!("I follow {names} from now on."));
    turn.tell_owner(&text("follows", &[("names", &names)]));
    turn.made("follow", new.first().map_or("", |named| named.url.as_str()));
    let thread = turn.moment.thread.clone();
    turn.state.offer.promised.extend(new.into_iter().map(|named| (named.url, thread.clone())));
    turn.checklist = Some(written);
}

pub fn unfollow(name: &str, turn: &mut Turn) {
    let paper = turn.checklist.as_ref().unwrap_or(&turn.moment.checklist).clone();
    let offered =
        OFFERED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map_or(name, |(_, url)| *url);
    let gone = checklist::called(&paper, offered);
    let in_purpose = !checklist::called(&turn.moment.purpose, offered).is_empty();
    let written = checklist::without(&paper, &gone);
    let also = match in_purpose {
        true => " PURPOSE.md names it too, and that page is yours: take the line out there.",
        false => "",
    };
    if gone.is_empty() || written == paper || written.len() > LONGEST_WRITTEN {
        let name = clip(name, 200);
        return turn.tell_owner(&format!("self/HEARTBEAT.md has no source of its own called {name}.{also}"));
    }
    turn.does("let go of a source", format!("I let go of {}.", gone.join(", ")));
    turn.tell_owner(&format!("I no longer follow {}.{also}", gone.join(", ")));
    turn.state.queue.retain(|link| !gone.contains(&link.source));
    turn.state.sources.retain(|url, _| !gone.contains(url));
    turn.checklist = Some(written);
}

/// Looks whether what was promised stands in the checklist, and says so where it does not.
pub fn kept(turn: &mut Turn) {
    let followed = turn.followed();
    for (url, thread) in std::mem::take(&mut turn.state.offer.promised) {
        if !followed.iter().any(|named| named.url == url) {
            let text = text("follow_lost", &[("url", &url)]);
            turn.say(text.clone());
            turn.tell(&text, &thread);
        }
    }
}
