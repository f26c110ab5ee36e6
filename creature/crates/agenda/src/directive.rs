//! Directives: what the owner said of focus, recurring work, quiet and pause, each until it expires or is ended.
//!
//! Invariant: only the owner sets or ends a directive; of focus, quiet and pause only the newest holds.

mod plain;

pub use plain::{Understood, compacts, reply, stops, understand};

use crate::items::{self, Item, ItemKind, Items};
use crate::rules::Category;
use crate::text;
use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Directives that may hold at once.
const MOST_STANDING: usize = 50;

/// Characters of the owner's words that are kept, and of a topic.
const MOST_CHARS: usize = 200;

/// Shortest and longest interval of a standing order, in seconds.
const EVERY_S: (u64, u64) = (60, 30 * 86_400);

/// All directives, the oldest first.
pub type Directives = Items<Directive>;

/// Directive of the owner's, standing or ended: their words, and what they mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Directive {
    #[serde(deserialize_with = "items::lenient")]
    pub wish: Wish,
    /// The categories that a focus puts first, for readers that do not know its words.
    #[serde(default, deserialize_with = "items::lenient")]
    pub first: Vec<Category>,
    /// Time it expires; none: it holds until the owner ends it.
    pub until: Option<Timestamp>,
    /// Time a standing order (`Wish::Every`) comes due.
    pub next: Option<Timestamp>,
}

impl ItemKind for Directive {
    const NAME: &'static str = "directive";
    const FIELDS: &'static [(&'static str, &'static str)] =
        &[("about", "text"), ("made_at", "at"), ("ended_at", "ended")];
    const REPEATS: bool = true;

    fn ended_at(directive: &Item<Directive>) -> Option<Timestamp> {
        [directive.ended_at, directive.until].into_iter().flatten().min()
    }
}

/// Wish of the owner's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Wish {
    /// This goes first: a category of the stack, or a topic of its own.
    Focus { topic: String },
    /// Do this every `every_s` seconds: a standing order.
    Every { what: String, every_s: u64 },
    /// Only messages about `topic`; empty: none. Answers are always allowed.
    Quiet { topic: String },
    /// No work but answering the owner.
    Pause,
    /// A wish that only a newer self knows: without effect here.
    #[default]
    #[serde(other)]
    Other,
}

/// The kinds of wishes that `Lift` takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wished {
    Focus,
    Quiet,
    Pause,
}

/// A change of the directives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum DirectiveChange {
    Set {
        wish: Wish,
        text: String,
        until: Option<Timestamp>,
    },
    /// Takes back every wish of this kind; lifting a pause lifts a quiet without a topic too, and the other way round.
    Lift {
        wished: Wished,
    },
    End {
        id: String,
    },
    /// A standing order was followed; it comes due again after its interval.
    Did {
        id: String,
    },
}

impl Wish {
    /// Whether this wish takes the other's place.
    fn replaces(&self, other: &Wish) -> bool {
        match (self, other) {
            (Wish::Every { what: new, .. }, Wish::Every { what: old, .. }) => new.eq_ignore_ascii_case(old),
            _ => self.kind().is_some() && self.kind() == other.kind(),
        }
    }

    fn kind(&self) -> Option<Wished> {
        match self {
            Wish::Focus { .. } => Some(Wished::Focus),
            Wish::Quiet { .. } => Some(Wished::Quiet),
            Wish::Pause => Some(Wished::Pause),
            Wish::Every { .. } | Wish::Other => None,
        }
    }

    /// Whether a word that lifts this kind ends this wish.
    fn is_lifted_by(&self, wished: Wished) -> bool {
        match (wished, self) {
            (Wished::Pause, Wish::Quiet { topic }) => topic.is_empty(),
            (Wished::Quiet, Wish::Pause) => true,
            (wished, wish) => wish.kind() == Some(wished),
        }
    }

    fn topic(&self) -> Option<&str> {
        match self {
            Wish::Focus { topic } | Wish::Quiet { topic } => Some(topic),
            _ => None,
        }
    }
}

impl Item<Directive> {
    fn stands(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && self.until.is_none_or(|until| now < until)
    }
}

impl Items<Directive> {
    /// The directives that hold, oldest first.
    pub fn standing(&self, now: Timestamp) -> impl DoubleEndedIterator<Item = &Item<Directive>> {
        self.list.iter().filter(move |directive| directive.stands(now))
    }

    /// The categories by rank: those of the owner's focus first, then the others in their `usual` order.
    pub fn order(&self, usual: &[Category], now: Timestamp) -> Vec<Category> {
        let wanted = self.focus(now).map(plain::categories).unwrap_or_default();
        let rest = usual.iter().filter(|category| !wanted.contains(category));
        wanted.iter().chain(rest).copied().collect()
    }

    /// Returns the topic that goes first, in the owner's words.
    pub fn focus(&self, now: Timestamp) -> Option<&str> {
        self.newest(Wished::Focus, now)?.wish.topic()
    }

    /// The directive that pauses all work but the owner's.
    pub fn paused(&self, now: Timestamp) -> Option<&Item<Directive>> {
        self.newest(Wished::Pause, now)
    }

    /// Returns the topic that messages may be about; none where all may be sent, empty where none may.
    pub fn quiet(&self, now: Timestamp) -> Option<&str> {
        self.newest(Wished::Quiet, now)?.wish.topic()
    }

    fn newest(&self, wished: Wished, now: Timestamp) -> Option<&Item<Directive>> {
        self.standing(now).rev().find(|directive| directive.wish.kind() == Some(wished))
    }

    /// Standing orders that are due.
    pub fn every(&self, now: Timestamp) -> Vec<&Item<Directive>> {
        self.standing(now).filter(|directive| directive.next.is_some_and(|next| next <= now)).collect()
    }

    /// The directives that hold, a line each, newest first.
    pub fn lines(&self, now: Timestamp, zone: &TimeZone) -> Vec<String> {
        let day = |at: Timestamp| at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M %Z").to_string();
        let line = |directive: &Item<Directive>| {
            let until = directive.until.map_or("you are told otherwise".to_owned(), day);
            format!(
                "{} \"{}\", said {}, until {until}",
                directive.id,
                directive.about,
                day(directive.made_at)
            )
        };
        self.standing(now).rev().map(line).collect()
    }

    /// The earliest moment at which a directive expires or, outside of a pause, comes due; it may have passed.
    pub fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        let paused = self.paused(now).is_some();
        let next = |directive: &Item<Directive>| directive.next.filter(|_| !paused);
        self.standing(now).flat_map(|directive| [next(directive), directive.until]).flatten().min()
    }
}

pub(crate) fn apply(agenda: &mut Agenda, change: &DirectiveChange, when: When) -> Result<Value, Refusal> {
    let now = when.now;
    if !when.owner && !matches!(change, DirectiveChange::Did { .. }) {
        let hint = "directives are your owner's word; rank your own work with goals and tasks, or ask with owner.message";
        return Err(Refusal::new("set or end a directive without the owner's word", hint));
    }
    let end = |directives: &mut Directives, ends: &dyn Fn(&Item<Directive>) -> bool| {
        let ended = directives.list.iter_mut().filter(|directive| directive.stands(now) && ends(directive));
        ended.map(|directive| directive.ended_at = Some(now)).count()
    };
    if when.owner {
        agenda.reasons.begin_anew();
    }
    match change {
        DirectiveChange::Set { wish, text, until } => {
            check(wish, *until, now)?;
            end(&mut agenda.directives, &|directive| wish.replaces(&directive.wish));
            if agenda.directives.standing(now).count() >= MOST_STANDING {
                let error = format!("set more than {MOST_STANDING} directives");
                return Err(Refusal::new(error, "end one that no longer matters"));
            }
            let next = matches!(wish, Wish::Every { .. }).then_some(now);
            let first = match &wish {
                Wish::Focus { topic } => plain::categories(topic),
                _ => Vec::new(),
            };
            let of = Directive { wish: wish.clone(), first, until: *until, next };
            let text = text.chars().take(MOST_CHARS).collect();
            let directive = agenda.directives.add(&mut agenda.next, text, of, when)?;
            Ok(json!({"id": directive.id, "until": until}))
        }
        DirectiveChange::Lift { wished } => {
            match end(&mut agenda.directives, &|directive| directive.wish.is_lifted_by(*wished)) {
                0 => Err(Refusal::new(
                    "lift what does not hold",
                    "directive.list names what does; all else is in force",
                )),
                ended => Ok(json!({"ended": ended})),
            }
        }
        DirectiveChange::End { id } => match end(&mut agenda.directives, &|directive| directive.id == *id) {
            0 => Err(unknown(id)),
            _ => Ok(json!({"id": id})),
        },
        DirectiveChange::Did { id } => {
            let found = agenda.directives.list.iter_mut().find(|directive| directive.id == *id);
            match found.map(|directive| &mut directive.of) {
                Some(Directive { wish: Wish::Every { every_s, .. }, next, .. }) => {
                    *next = Some(items::later(now, *every_s));
                    Ok(json!({"id": id, "next": next}))
                }
                _ => Err(unknown(id)),
            }
        }
    }
}

fn unknown(id: &str) -> Refusal {
    Refusal::new(
        format!("find the standing directive `{}`", text::clip(id, 40)),
        "directive.list names those that hold",
    )
}

fn check(wish: &Wish, until: Option<Timestamp>, now: Timestamp) -> Result<(), Refusal> {
    let fits = |text: &str| (1..=MOST_CHARS).contains(&text.trim().chars().count());
    let refused = match wish {
        Wish::Focus { topic } if !fits(topic) => "a focus needs a topic of at most 200 characters",
        Wish::Quiet { topic } if topic.chars().count() > MOST_CHARS => "a topic has at most 200 characters",
        Wish::Every { what, .. } if !fits(what) => "say in at most 200 characters what is to be done",
        Wish::Every { every_s, .. } if !(EVERY_S.0..=EVERY_S.1).contains(every_s) => {
            "a standing order comes due every 60 s to 30 days"
        }
        Wish::Other => "a wish is focus, every, quiet or pause",
        _ if until.is_some_and(|until| until <= now) => "it would be over already; give a later time",
        _ => return Ok(()),
    };
    Err(Refusal::new("set the directive", refused))
}
