//! Drafts: composes one post of notes not used yet, by taking sentences out, never making them up. Pure.

use super::likeness::shared_words;
use super::state::{Note, Origin};
use super::task::failed;
use super::text::{clip, word};
use super::turn::Turn;
use ground::checklist::uncommented;
use serde_json::{Value, json};

/// Characters of a post.
const LONGEST_POST: usize = 280;

/// Notes that make an unasked post worth it.
const ENOUGH_NOTES: usize = 3;

pub fn drive(turn: &mut Turn) {
    // A clock set back makes the last post lie ahead; then it no longer counts.
    let since_s = turn.now_s.saturating_sub(turn.state.drafted_at_s);
    let early = (0..turn.pace.draft_pace_s as i64).contains(&since_s);
    let count = turn.state.fresh.len();
    if early || count < ENOUGH_NOTES {
        return;
    }
    // Nearest to the purpose; of equals, the newest.
    let nearness = |note: &&Note| shared_words(&said(note), &turn.moment.purpose);
    let composed = turn.state.fresh.iter().filter(|note| compose(note).is_some());
    let Some(note) = composed.max_by_key(nearness).cloned() else { return };
    let title = clip(&note.title, 100);
    turn.does(
        "draft a post from my notes",
        format!("Of {count} notes \"{title}\" shares most words with my purpose: a post."),
    );
    turn.state.drafted_at_s = turn.now_s;
    turn.ask(Origin::Draft, "x.post", json!({"text": compose(&note)}), &title);
}

pub fn settled(result: &Value, turn: &mut Turn) {
    match failed(result) {
        Some(error) => turn.say(format!("The post failed: {error}. I keep the notes.")),
        None => {
            turn.state.fresh.clear();
            turn.say(match word(result, "asked") {
                "" => "The post is written.".to_owned(),
                id => format!("The post waits for my owner's yes (ask {id})."),
            });
        }
    }
}

/// Sentence, title and link within the length of a post; none where the link leaves no room.
pub fn compose(note: &Note) -> Option<String> {
    let title = clip(&note.title, 90);
    let taken = note.url.chars().count() + title.chars().count() + 3;
    let room = LONGEST_POST.checked_sub(taken)?;
    let sentence = clip(&note.sentence, room);
    (room > 30).then(|| format!("{sentence}\n\n{title}\n{}", note.url))
}

/// A post of the note, or else the sentence of the purpose, that shares most words with the topic.
pub fn about(topic: &str, turn: &Turn) -> Option<String> {
    let notes = turn.state.fresh.iter();
    let notes = notes.filter_map(|note| Some((shared_words(&said(note), topic), compose(note)?)));
    let purpose = uncommented(&turn.moment.purpose).replace("\n\n", ".\u{0}");
    let sentences = purpose.split_inclusive(['.', '!', '?', '\u{0}']).map(|sentence| {
        let sentence = clip(sentence.trim_matches(['\u{0}', '#', '-', ' ', '\n']), LONGEST_POST);
        (shared_words(&sentence, topic), sentence)
    });
    // Of equals the last wins: a note rather than the purpose.
    let found = sentences.chain(notes).filter(|(shared, _)| *shared > 0);
    found.max_by_key(|(shared, _)| *shared).map(|(_, post)| post)
}

fn said(note: &Note) -> String {
    format!("{} {}", note.title, note.sentence)
}
