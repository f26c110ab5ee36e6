//! Understands words: by sentences of the table, as they stand or nearly so; else by what they may have meant. Pure.

use super::likeness::content;
use super::offer::OFFERED;
use super::parts::{USUAL, bare, id, spanned, window};
use super::reminders;
use super::score::Word;
use super::table::{Ability, Part, TABLE};
use super::task::{Task, fenced_patch};
use super::text::{sentences, urls};
use agenda::foreign::folded;
use strsim::osa_distance;

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

/// Words without a meaning that are tried for a slip of the pen, and letters of the shortest.
const MOST_MENDED: usize = 4;
const SLIPPED: usize = 4;

/// Parts of one word of the owner's.
const MOST_PARTS: usize = 6;

/// Meaning of the owner's words.
#[derive(Debug)]
pub enum Heard {
    /// All of it is understood.
    Certain(Vec<Task>),
    /// Not certain: any of these may be meant.
    Unsure(Vec<&'static Ability>),
    /// Not certain: a slip of the pen stands in the words; without it they would be any of these, which are understood.
    Slip(Vec<String>),
    /// Nothing it understands; the nearest of what it does.
    Unknown(Vec<&'static Ability>),
}

/// Words as they were said, and as they are compared.
struct Said<'a> {
    text: &'a str,
    words: Vec<Word>,
}

impl<'a> Said<'a> {
    fn new(text: &'a str) -> Self {
        Said { text, words: TABLE.scorer.words(text) }
    }

    /// The words without courtesies around them, from whole to bare.
    fn bared(&self) -> Vec<&[Word]> {
        let length = |phrase: &String| phrase.split(' ').count();
        let is = |part: Option<&[Word]>, phrase: &String| {
            part.is_some_and(|part| part.iter().map(|word| word.plain.as_str()).eq(phrase.split(' ')))
        };
        let mut words = self.words.as_slice();
        let mut all = vec![words];
        loop {
            let begins = |phrase: &&String| is(words.get(..length(phrase)), phrase);
            let ends = |phrase: &&String| {
                is(words.len().checked_sub(length(phrase)).and_then(|from| words.get(from..)), phrase)
            };
            let first = TABLE.before.iter().filter(begins).map(length).max().unwrap_or(0);
            let last = TABLE.after.iter().filter(ends).map(length).max().unwrap_or(0);
            let bare = if first > 0 { words.get(first..) } else { words.get(..words.len() - last) };
            match bare {
                Some(bare) if !bare.is_empty() && bare.len() < words.len() => words = bare,
                _ => return all,
            }
            all.push(words);
        }
    }

    fn bare(&self) -> &[Word] {
        self.bared().pop().unwrap_or_default()
    }

    /// Abilities by likeness, the nearest first; none for a long text.
    fn near(&self) -> Vec<(&'static Ability, f64)> {
        let near = Some(self.bare()).filter(|words| words.len() <= MOST_ASKED);
        let near = near.map(|words| TABLE.scorer.nearest(words)).unwrap_or_default().into_iter();
        near.filter_map(|(at, score)| Some((TABLE.abilities.get(at)?, score))).collect()
    }
}

/// Understands the owner's words.
pub fn hear(text: &str) -> Heard {
    if let Some(all) = patch(text)
        .map(|one| vec![one])
        .or_else(|| line_by_line(text))
        .or_else(|| exactly(text).map(|one| vec![one]))
        .or_else(|| one_by_one(text))
        .or_else(|| joined(text))
    {
        return Heard::Certain(together(all));
    }
    let said = Said::new(text);
    let asked = question(&said).map(|asked| Heard::Certain(vec![asked]));
    // A question with a word that no ability has is about something else.
    let is_foreign = asked.is_some() && !TABLE.scorer.knows_all(said.bare());
    if said.words.len() > MOST_ASKED || is_foreign {
        return asked.unwrap_or(Heard::Unknown(Vec::new()));
    }
    if let Some(one) = nearly(&said) {
        return Heard::Certain(vec![one]);
    }
    let near = said.near();
    let least = if asked.is_some() { ASKED } else { MAYBE };
    let of = |least: f64| -> Vec<&'static Ability> {
        let is_choice = |ability: &Ability| {
            !ability.talk
                && ability.sentence().is_some()
                && !matches!(ability.name.as_str(), "held" | "unheld")
        };
        let near = near.iter().filter(|(ability, score)| *score >= least && is_choice(ability));
        near.map(|(ability, _)| *ability).take(MOST_CHOICES).collect()
    };
    match near.first() {
        Some((_, best)) if *best >= least && !of(MAYBE).is_empty() => Heard::Unsure(of(MAYBE)),
        _ => asked.or_else(|| mended(&said).map(Heard::Slip)).unwrap_or_else(|| Heard::Unknown(of(NEAR))),
    }
}

/// The words with a slip of the pen in one of them put right, where they stand in the table so.
fn mended(said: &Said) -> Option<Vec<String>> {
    let words = said.words.iter().filter(|word| word.plain.chars().count() >= SLIPPED);
    let words = words.filter(|word| !TABLE.english.contains(&word.plain));
    let is_meant = |ability: &Ability| {
        !ability.talk
            && !ability.name.starts_with("no_")
            && !matches!(ability.name.as_str(), "held" | "unheld")
    };
    let known = |text: String| {
        let long = lengthened(&text);
        [text, long].into_iter().find(|text| exactly(text).is_some_and(|one| is_meant(one.ability)))
    };
    words.take(MOST_MENDED).find_map(|word| {
        let (before, behind) = (said.text.get(..word.from)?, said.text.get(word.to..)?);
        let near = |known: &&String| {
            known.chars().count() >= SLIPPED
                && known.chars().next() == word.plain.chars().next()
                && osa_distance(known, &word.plain) == 1
        };
        let mut near: Vec<&String> = TABLE.english.iter().filter(near).collect();
        near.sort();
        let meant = near.into_iter().filter_map(|near| known(format!("{before}{near}{behind}")));
        Some(meant.take(MOST_CHOICES).collect()).filter(|meant: &Vec<String>| !meant.is_empty())
    })
}

fn patch(text: &str) -> Option<Task> {
    Task::of("patch", fenced_patch(text)?)
}

/// The task that these words are, where they stand in the table and may stand in the creature's own papers.
pub fn task(text: &str) -> Option<Task> {
    patch(text).or_else(|| exactly(text).filter(|one| one.ability.own && one.does()))
}

/// Whether all that is asked stands in the table word for word; anything else is for a mind that reads.
pub fn is_known(text: &str) -> bool {
    let known = |one: &Task| {
        let Ability { name, talk, beyond, .. } = one.ability;
        one.exact && !talk && !beyond && !name.starts_with("no_")
    };
    matches!(hear(text), Heard::Certain(all) if all.iter().all(known))
}

/// The owner's yes or no, where the words are nothing else.
pub fn yes_or_no(text: &str) -> Option<bool> {
    let is_yes = agenda::yes::understand(text).is_some_and(|yes| yes.ids.is_empty() && !yes.more);
    match exactly(text).map(|one| one.ability.name.as_str()) {
        Some("yes") => Some(true),
        Some("no") => Some(false),
        _ => is_yes.then_some(true),
    }
}

/// Returns the task of words that stand in the table as they are.
fn exactly(text: &str) -> Option<Task> {
    let said = Said::new(text);
    let bared = said.bared();
    let has_slot = |pattern: &[Part]| pattern.iter().any(|part| matches!(part, Part::Slot(_)));
    let all =
        || TABLE.abilities.iter().flat_map(|ability| ability.patterns.iter().map(move |one| (ability, one)));
    // First with their courtesies ("hey" alone is a greeting), and sentences before those that take any words.
    [false, true].into_iter().find_map(|slots| {
        bared.iter().find_map(|words| {
            all().filter(|(_, pattern)| has_slot(pattern) == slots).find_map(|(ability, pattern)| {
                fit(pattern, words, None, &|slot| meant(ability, slot, text, words))
            })
        })
    })
}

/// Returns the task that a pattern means for these words; `slot`: the words in its slot, once that is passed.
fn fit<'w>(
    pattern: &'static [Part],
    words: &'w [Word],
    slot: Option<(&'static str, &'w [Word])>,
    means: &dyn Fn(Option<(&'static str, &'w [Word])>) -> Option<Task>,
) -> Option<Task> {
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

/// Returns the task of an ability with the words in the slot; none where they are not what belongs there.
fn meant(
    ability: &'static Ability,
    slot: Option<(&'static str, &[Word])>,
    text: &str,
    all: &[Word],
) -> Option<Task> {
    let (kind, words) = slot.unwrap_or_default();
    let raw = words.first().zip(words.last()).and_then(|(first, last)| text.get(first.from..last.to));
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
        _ => bare(raw).filter(|what| sentences(what).count() < 2)?,
    };
    let language = TABLE.language(all).map(|(_, language)| language);
    match ability.name.as_str() {
        // What it is asked about itself does not stand in its notes.
        "recall" | "lookup"
            if words.iter().any(|word| TABLE.itself.contains(&word.plain)) || content(&arg).is_empty() =>
        {
            None
        }
        "remind" => match reminders::parse(raw, usual_text(kind, all), language) {
            Some((when, text)) => Some(Task { when, ..Task::of("remind", text)? }),
            None if reminders::parse(raw, "it", language).is_some() => Task::of("no_text", ""),
            None => Task::of("no_time", ""),
        },
        "unremind" if matches!(arg.as_str(), "last" | "latest" | "newest") => Task::of("cancel_that", ""),
        "did" | "spent_in" if arg.is_empty() => Task::of(&ability.name, window(all)),
        "cancel" if arg.is_empty() => Task::of("cancel", "all"),
        name => Task::of(name, arg),
    }
}

/// The words with each short or usual wrong form in its right one.
fn lengthened(raw: &str) -> String {
    let long = |word: &str| TABLE.short.get(&folded(word)).cloned().unwrap_or_else(|| word.to_owned());
    raw.split_whitespace().map(long).collect::<Vec<_>>().join(" ")
}

/// Returns the text of a reminder that has no words of its own.
fn usual_text(kind: &str, all: &[Word]) -> &'static str {
    match kind {
        "wake" => "wake up",
        _ if all.iter().any(|word| matches!(word.plain.as_str(), "alarm" | "timer")) => "alarm",
        _ => "",
    }
}

/// Each line by itself, where every one of several stands in the table: before the whole, of which a line may be a part
/// that takes any words.
fn line_by_line(text: &str) -> Option<Vec<Task>> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if !(2..=MOST_PARTS).contains(&lines.len()) {
        return None;
    }
    Some(without_talk(lines.into_iter().map(exactly).collect::<Option<_>>()?))
}

/// Each sentence by itself, where every one of several is understood; greetings beside others go without an answer.
fn one_by_one(text: &str) -> Option<Vec<Task>> {
    let parts: Vec<&str> = sentences(text).collect();
    if !(2..=MOST_PARTS).contains(&parts.len()) {
        return None;
    }
    let one = |part: &str| exactly(part).or_else(|| nearly(&Said::new(part))).map(|one| vec![one]);
    let all = parts.iter().map(|part| one(part).or_else(|| joined(part)));
    Some(without_talk(all.collect::<Option<Vec<_>>>()?.concat()))
}

/// The parts on both sides of an `and` or a comma, where each stands in the table.
fn joined(text: &str) -> Option<Vec<Task>> {
    let at = [" and ", ", "].into_iter().flat_map(|joint| text.match_indices(joint));
    let parts = at.take(MOST_PARTS).find_map(|(at, joint)| {
        let (first, rest) = (text.get(..at)?, text.get(at + joint.len()..)?);
        let first = exactly(first)?;
        let rest = exactly(rest).map(|one| vec![one]).or_else(|| joined(rest))?;
        Some([vec![first], rest].concat())
    })?;
    Some(without_talk(parts))
}

fn without_talk(all: Vec<Task>) -> Vec<Task> {
    let (mut talk, rest): (Vec<Task>, Vec<Task>) = all.into_iter().partition(|one| one.ability.talk);
    talk.truncate(1);
    if rest.is_empty() { talk } else { rest }
}

/// Makes several questions of one span of the past one.
fn together(mut all: Vec<Task>) -> Vec<Task> {
    let is_past = |one: &Task| one.ability.call == "self.examine";
    let mut spans: Vec<String> =
        all.iter().filter(|one| is_past(one) && one.arg != USUAL).map(|one| one.arg.clone()).collect();
    spans.dedup();
    if spans.len() < 2 {
        let span = spans.pop().unwrap_or_else(|| USUAL.to_owned());
        let mut told = false;
        all.retain(|one| !is_past(one) || !std::mem::replace(&mut told, true));
        all.iter_mut().filter(|one| is_past(one)).for_each(|one| one.arg.clone_from(&span));
    }
    all
}

/// Returns the task of the ability so near that it is meant, and nothing else is.
fn nearly(said: &Said) -> Option<Task> {
    let near = said.near();
    let (ability, score) = *near.first()?;
    let next = near.get(1).map_or(0.0, |(_, score)| *score);
    let least = match ability.name.as_str() {
        // What these words may have meant is an order, which is told of in either case and is not a choice.
        "held" | "unheld" => MAYBE,
        _ if ability.talk || ability.acts => ACTS,
        _ => SURE,
    };
    let is_sure = score >= least && (score >= ACTS || score - next >= AHEAD);
    let arg = || if ability.call == "self.examine" { window(&said.words) } else { String::new() };
    let is_it = is_sure && TABLE.scorer.knows_all(said.bare());
    is_it.then(|| Some(Task { exact: false, ..Task::of(&ability.name, arg())? }))?
}

/// A question about the world, as a search for its words in the notes; none where words ask nothing, or ask about itself.
fn question(said: &Said) -> Option<Task> {
    const ASKING: [&str; 8] = ["who", "what", "when", "where", "which", "how", "why", "whose"];
    let words = said.bare();
    let asks = said.text.trim_end().ends_with('?') || ASKING.contains(&words.first()?.plain.as_str());
    // A longer text is no question to an index, whatever it begins or ends with.
    let is_long = words.len() > MOST_ASKED;
    let of_itself = words.iter().any(|word| TABLE.itself.contains(&word.plain));
    let asked = bare(said.text).filter(|asked| asks && !content(asked).is_empty())?;
    Task::of("lookup", asked).filter(|_| !is_long && !of_itself)
}
