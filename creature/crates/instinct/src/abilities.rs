//! What instinct knows by name: the table from words to tasks and facts, and the help made of it. Pure.

use super::facts::Fact;
use super::tasks::{self, Task};
use super::text::urls;
use super::{asked, found, reminders};

/// What may stand before words without changing what they ask for.
const BEFORE: &str =
    "please|hey|ok|okay|so|well|now|and|feral|can you|could you|would you|will you|i want you to|just";

/// What may stand behind words without changing what they ask for.
const AFTER: &str = "please|thanks|thank you|now|then|right now|at the moment|again";

/// The longest question that is looked up, in words.
const MOST_ASKED: usize = 24;

/// What words ask for.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// Something to do; its outcome is told.
    Do(Task),
    /// Something that is known at once.
    Tell(Fact),
}

/// One thing that instinct can do.
pub struct Ability {
    /// The ability as the help shows it; empty where it needs no telling.
    pub shown: &'static str,
    /// Patterns of words that ask for it, between bars; a star at the end is the rest, one word or more.
    says: &'static str,
    /// What such words mean, by those in the star's place; none where they mean nothing.
    means: fn(&str) -> Option<Said>,
}

const fn ability(shown: &'static str, says: &'static str, means: fn(&str) -> Option<Said>) -> Ability {
    Ability { shown, says, means }
}

/// Everything instinct knows by name; the first that fits and means something is meant.
pub const ABILITIES: &[Ability] = &[
    ability("status", "status|how are you|how is it going|how do things stand", |_| tell(Fact::Status)),
    ability("note <text>", "note that *|note *|write down *", |text| task(Task::Note(text.to_owned()))),
    ability("read <url>", "read *", |rest| task(Task::Read(urls(rest).into_iter().next()?))),
    ability("", "check *|look at *|visit *|watch *|fetch *|open *", |rest| task(Task::Read(link(rest)?))),
    ability("feed <url>", "feed *|read the feed *|check the feed *", |rest| {
        task(Task::Feed(urls(rest).into_iter().next()?))
    }),
    // What these words mean depends on the state: `digest` and `offer` answer them.
    ability("digest", "", |_| None),
    ability("follow <url>", "", |_| None),
    ability("unfollow <url>", "", |_| None),
    ability("search <what>", "search the web for *|search for *|search *|google *|look up *", |rest| {
        task(Task::Search(bare(rest)?))
    }),
    ability(
        "what do you know about <what>",
        "what do you know about *|what do you know of *|do you know anything about *|what did you read about *|\
         what have you read about *|what did you learn about *|what have you learnt about *|\
         what is in your notes about *|what did i tell you about *|what did i say about *|tell me about *|\
         what do your notes say about *|search your notes for *|look in your notes for *",
        |rest| task(Task::Recall(bare(rest)?)),
    ),
    ability("draft about <topic>", "draft about *", |topic| task(Task::DraftAbout(topic.to_owned()))),
    ability("draft <text>", "draft *", |text| task(Task::Post(text.to_owned()))),
    ability("remind me <when> to <what>", "remind *", |rest| match reminders::parse(rest) {
        Some(task) => Some(Said::Do(task)),
        None => tell(Fact::NoTime),
    }),
    ability(
        "reminders",
        "reminders|my reminders|list reminders|list my reminders|show reminders|show my reminders|\
         what reminders are there|what are my reminders|what reminders do i have|what is my next reminder|\
         when is my next reminder|what do you remind me of",
        |_| task(Task::Reminders),
    ),
    ability("pulse", "pulse|your pulse|concerns|list your standing concerns|what are your concerns", |_| {
        task(Task::Concerns)
    }),
    ability("cancel reminder <which>", "cancel *|forget *|delete *|remove *", |rest| {
        task(reminders::cancel(rest)?)
    }),
    ability("cancel <order, goal or task>", "cancel *|forget *|end *|drop *|close *", |rest| {
        let id = rest.trim_end_matches(['.', '!']).to_lowercase();
        let (kind, number) = id.split_once('-')?;
        let known = is_one_of("directive|goal|task|opportunity|gap", kind) && number.parse::<u64>().is_ok();
        task(Task::Drop(known.then_some(id)?))
    }),
    ability("goals", "goals|your goals|list goals|show goals|what are your goals|what is your goal", |_| {
        tell(Fact::Goals)
    }),
    ability(
        "tasks",
        "tasks|your tasks|list tasks|show tasks|what are your tasks|what is on your list",
        |_| tell(Fact::Tasks),
    ),
    ability(
        "orders",
        "orders|directives|my orders|list orders|what did i order|what are your orders",
        |_| tell(Fact::Orders),
    ),
    ability(
        "asks",
        "asks|list asks|what waits for me|what do you need from me|what do you need|do you need anything",
        |_| tell(Fact::Asks),
    ),
    ability(
        "what are you up to",
        "what are you up to|what are you doing|what is up|what are you working on|what do you do|\
         what will you do next|what do you do next|what is next|what comes next",
        |_| tell(Fact::Doing),
    ),
    ability(
        "how much did you spend",
        "how much did you spend|how much have you spent|how much did you spend today|how much have you spent today|\
         what did you spend|what did you spend today|how much do you cost|what do you cost|what did you cost|\
         how much did that cost|how much money is left|how much is left|budget|money|costs|spending",
        |_| tell(Fact::Spent),
    ),
    ability("", "what time is it|what is the time|what day is it|what is the date", |_| tell(Fact::Time)),
    ability("who are you", "who are you|what are you|what is your name|introduce yourself", |_| {
        tell(Fact::Who)
    }),
    ability("dream", "dream|have a dream", |_| task(Task::Dream)),
    ability("snapshot", "snapshot|take a snapshot", |_| task(Task::Snapshot)),
    ability("map", "map", |_| task(Task::Map)),
    ability("help", "help|help me|what can you do|what can i say|what do you understand|commands", |_| {
        tell(Fact::Help)
    }),
    ability(
        "",
        "hello|hi|hey|good morning|good evening|good afternoon|good day|hello there|hi there|are you there|\
         are you alive|are you awake",
        |_| tell(Fact::Hello),
    ),
    ability("", "thanks|thank you|thanks a lot|thank you very much|thx|well done|good job", |_| {
        tell(Fact::Thanks)
    }),
    ability("", "ok|okay|good|great|nice|cool|fine|all right", |_| tell(Fact::Fine)),
    ability("", "good night|bye|goodbye|see you|see you later|see you tomorrow", |_| tell(Fact::Bye)),
    ability("", "yes|no|nope|yep|no thanks|no thank you", |_| tell(Fact::YesOrNo)),
];

/// Orders that instinct keeps, as the owner is told of them; `agenda::directive` understands them.
pub const ORDERS: &[&str] = &[
    "focus on <what> this week",
    "check <url> every 10 minutes",
    "only message me about <what>",
    "pause until friday",
    "quiet",
    "resume",
];

/// Everything instinct can be asked for, in a few lines.
pub fn help() -> String {
    let quoted = |shown: &str| format!("`{shown}`");
    let can: Vec<String> =
        ABILITIES.iter().filter(|one| !one.shown.is_empty()).map(|one| quoted(one.shown)).collect();
    let orders: Vec<String> = ORDERS.iter().map(|order| quoted(order)).collect();
    format!(
        "I run on instinct, without a model, and cannot understand free text. From a message I can do: {}; and a fenced \
         ```diff block, which I apply to my own source by the self-edit protocol. I keep to {}. To steer me further, edit \
         PURPOSE.md or self/HEARTBEAT.md; for a mind that reads, give me a model in owner.toml.",
        can.join("; "),
        orders.join(", ")
    )
}

/// Reads what is asked for; none where it is not one of the few things that instinct knows.
pub fn understand(said: &str) -> Option<Said> {
    if let Some(patch) = tasks::fenced_patch(said) {
        return task(Task::Patch(patch));
    }
    if let Some(url) = link(said) {
        return task(Task::Read(url));
    }
    let words = words(said);
    // First with their courtesies: "hey" alone is a greeting, and "ok" an answer.
    let bared = uncourteous(&words);
    [words.as_slice(), bared]
        .into_iter()
        .find_map(|words| {
            let fits = |one: &Ability| {
                one.says.split('|').find_map(|pattern| (one.means)(rest(pattern, words, said)?.trim()))
            };
            ABILITIES.iter().find_map(fits)
        })
        .or_else(|| task(Task::Examine(asked::span_asked(said)?)))
}

/// Any other question, as a search for its words in the notes; none where words ask nothing.
pub fn question(said: &str) -> Option<Task> {
    const ASKING: &str = "who|what|when|where|which|how|why";
    let words = words(said);
    // A longer text is no question to an index, whatever it begins or ends with.
    let first = words.first().filter(|_| words.len() <= MOST_ASKED)?;
    let asks = said.trim_end().ends_with('?') || is_one_of(ASKING, &first.plain);
    let asked = bare(said).filter(|asked| asks && !found::content(asked).is_empty())?;
    Some(Task::Recall(asked))
}

fn task(task: Task) -> Option<Said> {
    Some(Said::Do(task))
}

fn tell(fact: Fact) -> Option<Said> {
    Some(Said::Tell(fact))
}

/// The link, where the text holds nothing else.
fn link(rest: &str) -> Option<String> {
    let mut words = rest.split_whitespace();
    let link = urls(words.next()?).into_iter().next();
    link.filter(|_| words.next().is_none())
}

/// The words without marks and courtesies at their end.
fn bare(rest: &str) -> Option<String> {
    let mut rest = rest.trim();
    loop {
        let before = rest;
        rest = rest.trim_end_matches(['?', '.', '!', ',', ' ']);
        for courtesy in ["please", "thanks"] {
            rest = rest.strip_suffix(courtesy).filter(|rest| rest.ends_with([' ', ','])).unwrap_or(rest);
        }
        if rest == before {
            return Some(rest.trim_matches('"').to_owned()).filter(|rest| !rest.is_empty());
        }
    }
}

/// A word as it is compared, and the byte where it begins.
struct Word {
    plain: String,
    at: usize,
}

fn words(said: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let begin = said.as_ptr() as usize;
    for word in said.split_whitespace() {
        let at = word.as_ptr() as usize - begin;
        let plain = word.to_lowercase().replace('’', "'");
        let plain = plain.trim_matches(|c: char| ",.!?:;\"".contains(c));
        let parts = plain.strip_suffix("'s").filter(|one| is_one_of("what|who|how|when|where", one));
        for plain in parts.map_or(vec![plain], |one| vec![one, "is"]) {
            words.push(Word { plain: plain.to_owned(), at });
        }
    }
    words.retain(|word| !word.plain.is_empty());
    words
}

/// What stands in the star's place, empty where the pattern has none; none where it does not fit.
fn rest<'a>(pattern: &str, words: &[Word], said: &'a str) -> Option<&'a str> {
    let mut left = words.iter();
    for part in pattern.split(' ') {
        let word = left.next()?;
        if part == "*" {
            return said.get(word.at..);
        }
        if part != word.plain {
            return None;
        }
    }
    left.next().is_none().then_some("")
}

fn uncourteous(mut words: &[Word]) -> &[Word] {
    let is =
        |words: &[Word], phrase: &str| words.iter().map(|word| word.plain.as_str()).eq(phrase.split(' '));
    let length = |phrase: &str| phrase.split(' ').count();
    loop {
        let first =
            BEFORE.split('|').find(|phrase| words.get(..length(phrase)).is_some_and(|it| is(it, phrase)));
        let last = AFTER.split('|').find(|phrase| {
            let from = words.len().checked_sub(length(phrase));
            from.and_then(|from| words.get(from..)).is_some_and(|it| is(it, phrase))
        });
        let (from, to) = (first.map_or(0, length), words.len() - last.map_or(0, length));
        match words.get(from..to) {
            Some(bare) if !bare.is_empty() && bare.len() < words.len() => words = bare,
            _ => return words,
        }
    }
}

fn is_one_of(list: &str, word: &str) -> bool {
    list.split('|').any(|one| one == word)
}
