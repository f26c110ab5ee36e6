//! What words ask for: sentences of the table, as they stand or nearly so; else what they may have meant. Pure.

use super::offer::OFFERED;
use super::parts::{USUAL, bare, goes_on, id, is_itself, sentences, spanned, window};
use super::score::Word;
use super::table::{Ability, Part, TABLE};
use super::tasks::{self, Strike, Task};
use super::text::urls;
use super::{found, reminders};

/// From this likeness on an answer is given, where no other is near it; and an act is done, or part of a talk taken up.
const SURE: f64 = 0.62;
const AHEAD: f64 = 0.12;
const ACTS: f64 = 0.9;

/// From this likeness on the owner is asked whether it is meant, of a question that notes may answer from the second on;
/// and from the third on it is named as the nearest there is.
const MAYBE: f64 = 0.45;
const ASKED: f64 = 0.5;
const NEAR: f64 = 0.4;

/// Choices put to the owner.
const MOST_CHOICES: usize = 3;

/// The longest question that is looked up, and the longest text compared with the table, in words.
const MOST_ASKED: usize = 24;

/// Parts of one word of the owner's.
const MOST_PARTS: usize = 6;

/// One thing that is asked for.
#[derive(Clone, Debug)]
pub struct Meant {
    pub ability: &'static Ability,
    /// What is to be done; none where it is to be answered.
    pub task: Option<Task>,
    /// It stands in the table word for word.
    exact: bool,
}

/// What words ask for.
#[derive(Debug)]
pub enum Heard {
    /// All of it is understood.
    Certain(Vec<Meant>),
    /// One of these may be meant.
    Unsure(Vec<&'static Ability>),
    /// A question that its notes may answer.
    Question(Task),
    /// Nothing it understands; the nearest of what it does.
    Unknown(Vec<&'static Ability>),
}

/// Understands the owner's words.
pub fn hear(said: &str) -> Heard {
    if let Some(patch) = tasks::fenced_patch(said) {
        let task = Some(Task::Patch(patch));
        return TABLE.named("self_edit").map_or(Heard::Unknown(Vec::new()), |ability| {
            Heard::Certain(vec![Meant { ability, task, exact: true }])
        });
    }
    if let Some(all) =
        exactly(said).map(|one| vec![one]).or_else(|| one_by_one(said)).or_else(|| joined(said))
    {
        return Heard::Certain(together(all));
    }
    let words = TABLE.scorer.words(said);
    let asked = question(said, &words);
    // A question with a word that no ability has is about something else.
    let is_foreign = !bared(&words).last().is_some_and(|words| TABLE.scorer.knows_all(words));
    if words.len() > MOST_ASKED || (is_foreign && asked.is_some()) {
        return asked.map_or(Heard::Unknown(Vec::new()), Heard::Question);
    }
    if let Some(one) = nearly(said) {
        return Heard::Certain(vec![one]);
    }
    let near = near(said);
    let least = if asked.is_some() { ASKED } else { MAYBE };
    let of = |least: f64| -> Vec<&'static Ability> {
        let is_choice =
            |ability: &Ability| !ability.talk && !matches!(ability.name.as_str(), "held" | "unheld");
        let near = near.iter().filter(|(ability, score)| *score >= least && is_choice(ability));
        near.map(|(ability, _)| *ability).take(MOST_CHOICES).collect()
    };
    match (asked, near.first()) {
        (_, Some((_, best))) if *best >= least && !of(MAYBE).is_empty() => Heard::Unsure(of(MAYBE)),
        (Some(asked), _) => Heard::Question(asked),
        (None, _) => Heard::Unknown(of(NEAR)),
    }
}

/// The task that these words are, where they stand in the table and may stand in the creature's own papers.
pub fn task(said: &str) -> Option<Task> {
    match tasks::fenced_patch(said) {
        Some(patch) => Some(Task::Patch(patch)),
        None => exactly(said).filter(|one| one.ability.own)?.task,
    }
}

/// Whether all that is asked stands in the table and needs no mind that reads.
pub fn is_known(said: &str) -> bool {
    let Heard::Certain(all) = hear(said) else { return false };
    all.iter().all(|one| {
        let makes = matches!(one.task, Some(Task::Post(_) | Task::DraftAbout(_) | Task::Patch(_)));
        one.exact
            && !makes
            && !one.ability.talk
            && !one.ability.beyond
            && !one.ability.name.starts_with("no_")
    })
}

/// The owner's yes or no, where the words are nothing else.
pub fn yes_or_no(said: &str) -> Option<bool> {
    let is_yes = agenda::yes::understand(said).is_some_and(|yes| yes.ids.is_empty() && !yes.more);
    let name = exactly(said).map(|one| one.ability.name.as_str());
    match name {
        Some("yes") => Some(true),
        Some("no") => Some(false),
        _ => is_yes.then_some(true),
    }
}

/// The words without courtesies around them, from whole to bare.
fn bared(words: &[Word]) -> Vec<&[Word]> {
    let is = |words: &[Word], phrase: &[String]| words.iter().map(|word| &word.plain).eq(phrase);
    let mut all = vec![words];
    let mut words = words;
    loop {
        let first =
            TABLE.before.iter().filter(|phrase| words.get(..phrase.len()).is_some_and(|it| is(it, phrase)));
        let first = first.map(Vec::len).max().unwrap_or(0);
        let ends = |phrase: &&Vec<String>| {
            let from = words.len().checked_sub(phrase.len());
            from.and_then(|from| words.get(from..)).is_some_and(|it| is(it, phrase))
        };
        let last = TABLE.after.iter().filter(ends).map(Vec::len).max().unwrap_or(0);
        let bare = if first > 0 { words.get(first..) } else { words.get(..words.len() - last) };
        match bare {
            Some(bare) if !bare.is_empty() && bare.len() < words.len() => words = bare,
            _ => return all,
        }
        all.push(words);
    }
}

/// What stands in the table word for word.
fn exactly(said: &str) -> Option<Meant> {
    let words = TABLE.scorer.words(said);
    let bared = bared(&words);
    let patterns = |slots: bool| {
        let has_slot = |pattern: &&Vec<Part>| pattern.iter().any(|part| matches!(part, Part::Slot(_)));
        let all =
            TABLE.abilities.iter().flat_map(|ability| ability.patterns.iter().map(move |one| (ability, one)));
        all.filter(move |(_, pattern)| has_slot(pattern) == slots)
    };
    // First with their courtesies ("hey" alone is a greeting), and sentences before those that take any words.
    [false, true].into_iter().find_map(|slots| {
        bared.iter().find_map(|words| {
            patterns(slots).find_map(|(ability, pattern)| {
                fit(pattern, words, None, &|slot| meant(ability, slot, said, words))
            })
        })
    })
}

/// What a pattern means for these words; `slot`: the words in its slot, once that is passed.
fn fit<'w>(
    pattern: &'static [Part],
    words: &'w [Word],
    slot: Option<(&'static str, &'w [Word])>,
    means: &dyn Fn(Option<(&'static str, &'w [Word])>) -> Option<Meant>,
) -> Option<Meant> {
    match (pattern.split_first(), words.split_first()) {
        (None, None) => means(slot),
        (None, Some(_)) => None,
        (Some((Part::Slot(name), rest)), _) => (0..=words.len()).rev().find_map(|length| {
            let (inside, behind) = words.split_at_checked(length)?;
            fit(rest, behind, Some((name, inside)), means)
        }),
        (Some((Part::Word { any, optional, colon }, rest)), first) => {
            let taken = first.filter(|(word, _)| any.contains(&word.plain) && (word.colon || !colon));
            let taken = taken.and_then(|(_, behind)| fit(rest, behind, slot, means));
            taken.or_else(|| if *optional { fit(rest, words, slot, means) } else { None })
        }
    }
}

/// What an ability is asked for by the words in the slot; none where they are not what belongs there.
fn meant(
    ability: &'static Ability,
    slot: Option<(&'static str, &[Word])>,
    said: &str,
    all: &[Word],
) -> Option<Meant> {
    let (kind, words) = slot.unwrap_or_default();
    let raw = words.first().zip(words.last()).and_then(|(first, last)| said.get(first.from..last.to));
    let raw = raw.unwrap_or_default().trim();
    let arg = match kind {
        "" | "reminder" | "wake" => raw.to_owned(),
        "span" => spanned(words)?,
        "text" => Some(raw.trim_start_matches([':', ',', ' ']).trim_end_matches([',', ' ']).to_owned())
            .filter(|text| !text.is_empty())?,
        "url" => urls(raw).into_iter().next().filter(|_| words.len() == 1)?,
        "id" => id(raw)?,
        "source" => urls(raw).into_iter().next().or_else(|| bare(raw).filter(|_| words.len() <= 4))?,
        "offered" => {
            let named = bare(raw)?;
            OFFERED.iter().find(|(name, _)| name.eq_ignore_ascii_case(&named))?.1.to_owned()
        }
        _ => bare(raw).filter(|what| !goes_on(what))?,
    };
    let (ability, task) = match ability.name.as_str() {
        // What it is asked about itself does not stand in its notes.
        "recall" if words.iter().any(|word| is_itself(&word.plain)) || found::content(&arg).is_empty() => {
            return None;
        }
        "remind" => match reminders::parse(raw, usual_text(kind, all)) {
            Some(task) => (ability, Some(task)),
            None if reminders::parse(raw, "it").is_some() => (TABLE.named("no_text")?, None),
            None => (TABLE.named("no_time")?, None),
        },
        "unremind" if matches!(arg.as_str(), "last" | "latest" | "newest") => {
            (TABLE.named("cancel_that")?, None)
        }
        "did" | "spent_in" if arg.is_empty() => (ability, Some(Task::Examine(window(all)))),
        name => (ability, task_of(name, kind, arg)),
    };
    Some(Meant { ability, task, exact: true })
}

/// What a reminder says that has no words of its own.
fn usual_text(kind: &str, all: &[Word]) -> &'static str {
    match kind {
        "wake" => "wake up",
        _ if all.iter().any(|word| matches!(word.plain.as_str(), "alarm" | "timer")) => "alarm",
        _ => "",
    }
}

/// What there is to do for an ability; none where it is to be answered.
fn task_of(name: &str, kind: &str, arg: String) -> Option<Task> {
    let strike = |paper: &str, how: Strike, which: String| Some(Task::Strike(paper.to_owned(), how, which));
    match (name, kind) {
        ("cancel", "id") => Some(Task::Drop(arg)),
        ("read", _) => Some(Task::Read(arg)),
        ("feed", _) => Some(Task::Feed(arg)),
        ("note", _) => Some(Task::Note(arg)),
        ("todo_add", _) => Some(Task::Todo(arg)),
        ("search", _) => Some(Task::Search(arg)),
        ("recall", _) => Some(Task::Recall(arg)),
        ("draft_about", _) => Some(Task::DraftAbout(arg)),
        ("draft", _) => Some(Task::Post(arg)),
        ("did" | "spent_in", _) => Some(Task::Examine(arg)),
        ("cancel", "") => Some(Task::Forget("all".to_owned())),
        ("unremind" | "cancel", _) => Some(Task::Forget(arg)),
        ("follow", _) => Some(Task::Follow(arg)),
        ("unfollow", _) => Some(Task::Unfollow(arg)),
        ("todo_done", _) => strike(tasks::TO_DO, Strike::Tick, arg),
        ("todo_drop", _) => strike(tasks::TO_DO, Strike::Remove, arg),
        ("unnote", _) => strike("scratch", Strike::Remove, arg),
        ("todos", _) => Some(Task::Show(tasks::TO_DO.to_owned())),
        ("notes", _) => Some(Task::Show("scratch".to_owned())),
        ("reminders", _) => Some(Task::Reminders),
        ("concerns", _) => Some(Task::Concerns),
        ("dream", _) => Some(Task::Dream),
        ("snapshot", _) => Some(Task::Snapshot),
        ("map", _) => Some(Task::Map),
        _ => None,
    }
}

/// Each sentence by itself, where every one of several is understood; greetings beside others go without an answer.
fn one_by_one(said: &str) -> Option<Vec<Meant>> {
    let parts = sentences(said);
    if !(2..=MOST_PARTS).contains(&parts.len()) {
        return None;
    }
    let each =
        |part: &&str| exactly(part).or_else(|| nearly(part)).map(|one| vec![one]).or_else(|| joined(part));
    let all: Vec<Vec<Meant>> = parts.iter().map(each).collect::<Option<_>>()?;
    Some(without_talk(all.concat()))
}

/// The parts on both sides of an `and` or a comma, where each stands in the table.
fn joined(said: &str) -> Option<Vec<Meant>> {
    let at = [" and ", ", "].into_iter().flat_map(|joint| said.match_indices(joint));
    let parts = at.take(MOST_PARTS).find_map(|(at, joint)| {
        let (first, rest) = (said.get(..at)?, said.get(at + joint.len()..)?);
        let first = exactly(first)?;
        let rest = exactly(rest).map(|one| vec![one]).or_else(|| joined(rest))?;
        Some([vec![first], rest].concat())
    })?;
    Some(without_talk(parts))
}

fn without_talk(all: Vec<Meant>) -> Vec<Meant> {
    let (mut talk, rest): (Vec<Meant>, Vec<Meant>) = all.into_iter().partition(|one| one.ability.talk);
    talk.truncate(1);
    if rest.is_empty() { talk } else { rest }
}

/// Several questions of one span of the past are one.
fn together(all: Vec<Meant>) -> Vec<Meant> {
    let span = |one: &Meant| match &one.task {
        Some(Task::Examine(span)) => Some(span.clone()),
        _ => None,
    };
    let mut spans: Vec<String> = all.iter().filter_map(span).filter(|span| span != USUAL).collect();
    spans.dedup();
    if spans.len() > 1 || all.iter().filter(|one| span(one).is_some()).count() < 2 {
        return all;
    }
    let named = spans.pop().unwrap_or_else(|| USUAL.to_owned());
    let mut told = false;
    let mut kept = Vec::new();
    for mut one in all {
        if span(&one).is_some() {
            if std::mem::replace(&mut told, true) {
                continue;
            }
            one.task = Some(Task::Examine(named.clone()));
        }
        kept.push(one);
    }
    kept
}

/// What is so near that it is meant, and nothing else is.
fn nearly(said: &str) -> Option<Meant> {
    let near = near(said);
    let (ability, score) = *near.first()?;
    let next = near.get(1).map_or(0.0, |(_, score)| *score);
    let least = match ability.name.as_str() {
        // What these words may have meant is an order, which is told of in either case and is not a choice.
        "held" | "unheld" => MAYBE,
        _ if ability.talk || ability.acts() => ACTS,
        _ => SURE,
    };
    let words = TABLE.scorer.words(said);
    let knows_all = bared(&words).last().is_some_and(|words| TABLE.scorer.knows_all(words));
    let is_sure = knows_all && (score >= ACTS || score - next >= AHEAD);
    let task = match ability.name.as_str() {
        "did" | "spent_in" => Some(Task::Examine(window(&words))),
        name => task_of(name, "", String::new()),
    };
    (is_sure && score >= least).then_some(Meant { ability, task, exact: false })
}

fn near(said: &str) -> Vec<(&'static Ability, f64)> {
    let words = TABLE.scorer.words(said);
    let bared = bared(&words);
    let Some(bare) = bared.last().filter(|words| words.len() <= MOST_ASKED) else { return Vec::new() };
    let near = TABLE.scorer.nearest(bare).into_iter();
    near.filter_map(|(at, score)| Some((TABLE.abilities.get(at)?, score))).collect()
}

/// A question about the world, as a search for its words in the notes; none where words ask nothing, or ask about itself.
fn question(said: &str, words: &[Word]) -> Option<Task> {
    const ASKING: [&str; 8] = ["who", "what", "when", "where", "which", "how", "why", "whose"];
    // A longer text is no question to an index, whatever it begins or ends with.
    let bared = bared(words);
    let bare_words = bared.last().filter(|words| words.len() <= MOST_ASKED)?;
    let asks = said.trim_end().ends_with('?') || ASKING.contains(&bare_words.first()?.plain.as_str());
    let of_itself = bare_words.iter().any(|word| is_itself(&word.plain));
    let asked = bare(said).filter(|asked| asks && !of_itself && !found::content(asked).is_empty())?;
    Some(Task::Recall(asked))
}
