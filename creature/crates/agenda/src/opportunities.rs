//! Opportunities and their stages in the revenue pipeline, with the amounts expected, pending and earned.

use crate::items::{self, ItemKind, Items, LONGEST_TITLE};
use crate::text;
use crate::{Agenda, Refusal, Rules, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// All opportunities, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Opportunities {
    #[serde(flatten)]
    pub items: Items<Opportunity>,
    /// US dollars earned in all, by forgotten opportunities as well.
    pub earned_usd: f64,
}

/// A way to earn something.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Opportunity {
    #[serde(deserialize_with = "items::lenient")]
    pub stage: Stage,
    /// US dollars it is expected to bring in all.
    pub amount_usd: f64,
    pub earned_usd: f64,
    /// US dollars the owner was asked about; 0 where nobody asked.
    pub asked_usd: f64,
    /// US dollars up to which the owner said yes.
    pub approved_usd: f64,
    /// Next step; empty where the stage says it all.
    pub next: String,
    /// Time before which it is not worth a thought.
    pub not_before: Option<Timestamp>,
}

impl ItemKind for Opportunity {
    const NAME: &'static str = "opportunity";
    const FIELDS: &'static [(&'static str, &'static str)] = &[("about", "title"), ("outcome", "reason")];
}

/// Stage of an opportunity; it goes forward one stage at a time, and back to any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    #[default]
    Scan,
    Evaluate,
    Propose,
    Execute,
    Collect,
    Report,
}

/// A change of the opportunities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum OpportunityChange {
    Add {
        title: String,
        #[serde(default)]
        amount_usd: f64,
        #[serde(default)]
        next: String,
    },
    Move {
        id: String,
        #[serde(flatten)]
        to: Move,
    },
    /// The owner's yes to the amount it has.
    Approve {
        id: String,
    },
    Close {
        id: String,
        reason: String,
    },
}

/// A change of one opportunity: fields left out stay as they are, but for `not_before`, which is cleared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Move {
    pub stage: Option<Stage>,
    pub amount_usd: Option<f64>,
    /// US dollars received now, on top of earlier ones.
    pub earned_usd: Option<f64>,
    pub next: Option<String>,
    /// Time until which it waits for others.
    pub not_before: Option<Timestamp>,
}

/// Totals of all opportunities, in US dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Expected of opportunities that are not executed yet.
    pub pipeline_usd: f64,
    /// Expected of executed opportunities, and not received yet.
    pub pending_usd: f64,
    pub earned_usd: f64,
}

impl Opportunities {
    /// Sums up the money of all opportunities.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals { earned_usd: self.earned_usd, ..Totals::default() };
        for one in self.items.open() {
            let executed = one.stage >= Stage::Collect;
            let sum = if executed { &mut totals.pending_usd } else { &mut totals.pipeline_usd };
            *sum += (one.amount_usd - one.earned_usd).max(0.0);
        }
        totals
    }
}

impl Opportunity {
    /// Whether its amount is more than the creature may take on without the owner's yes.
    pub fn awaits(&self, rules: &Rules) -> bool {
        self.amount_usd > rules.ask_above_usd.max(self.approved_usd)
    }

    fn take(&mut self, id: &str, to: &Move, when: When) -> Result<(), Refusal> {
        let stage = to.stage.unwrap_or(self.stage);
        if let Some(skipped) = self.stage.next().filter(|next| stage > *next) {
            let (from, to, skipped) = (items::name(self.stage), items::name(stage), items::name(skipped));
            let error = format!("{id} is at {from} and cannot go to {to}");
            return Err(Refusal::new(error, format!("next is {skipped}")));
        }
        if stage != self.stage {
            // What was next belonged to the stage it left.
            self.next.clear();
        }
        self.stage = stage;
        if let Some(amount) = to.amount_usd {
            self.amount_usd = items::checked_usd(amount)?;
        }
        if self.stage == Stage::Execute && self.awaits(when.rules) {
            return Err(items::awaits(&format!("{id} of {} USD", self.amount_usd)));
        }
        if let Some(earned) = to.earned_usd {
            if self.stage < Stage::Execute {
                return Err(Refusal::new("nothing is earned before it is executed", "move it there first"));
            }
            self.earned_usd = items::checked_usd(self.earned_usd + items::checked_usd(earned)?)?;
        }
        self.not_before = to.not_before;
        if let Some(next) = &to.next {
            self.next = text::clip(next, LONGEST_TITLE);
        }
        Ok(())
    }
}

impl Stage {
    pub const ALL: [Stage; 6] =
        [Stage::Scan, Stage::Evaluate, Stage::Propose, Stage::Execute, Stage::Collect, Stage::Report];

    fn next(self) -> Option<Stage> {
        Self::ALL.into_iter().find(|stage| *stage > self)
    }

    /// Says what is to be done at this stage.
    pub(crate) fn work(self) -> &'static str {
        match self {
            Stage::Scan => "find out what it is and who pays",
            Stage::Evaluate => "weigh what it brings against what it costs",
            Stage::Propose => "propose it to who would pay",
            Stage::Execute => "do the work",
            Stage::Collect => "get paid",
            Stage::Report => "tell your owner what came of it, then close it",
        }
    }
}

pub(crate) fn apply(agenda: &mut Agenda, change: &OpportunityChange, when: When) -> Result<Value, Refusal> {
    let list = &mut agenda.opportunities.items;
    let now = when.now;
    match change {
        OpportunityChange::Add { title, amount_usd, next } => {
            let title = items::needed(title, "the title", LONGEST_TITLE)?;
            let (amount_usd, next) = (items::checked_usd(*amount_usd)?, text::clip(next, LONGEST_TITLE));
            let of = Opportunity { amount_usd, next, ..Opportunity::default() };
            let one = list.add(&mut agenda.next, title, of, when)?;
            Ok(json!({"id": one.id, "stage": one.stage}))
        }
        OpportunityChange::Move { id, to } => {
            let one = list.find(id)?;
            let mut moved = one.clone();
            moved.take(id, to, when)?;
            let earned_usd =
                items::checked_usd(agenda.opportunities.earned_usd + moved.earned_usd - one.earned_usd)?;
            if moved != *one {
                moved.changed_at = now;
            }
            let awaits = moved.awaits(when.rules) && moved.stage < Stage::Execute;
            let ask = "execute waits for your owner's yes: ask with owner.message, kind approval";
            let note = awaits.then_some(ask);
            let came = json!({
                "id": id, "stage": moved.stage, "amount_usd": moved.amount_usd,
                "earned_usd": moved.earned_usd, "note": note,
            });
            *one = moved;
            agenda.opportunities.earned_usd = earned_usd;
            Ok(came)
        }
        OpportunityChange::Approve { id } => {
            let one = list.find(id)?;
            items::owners_yes(id, when)?;
            if one.asked_usd > 0.0 && one.amount_usd > one.asked_usd {
                let error =
                    format!("{id} is {} USD by now, and {} were asked about", one.amount_usd, one.asked_usd);
                return Err(Refusal::new(error, "ask again: owner.message, kind approval"));
            }
            one.approved_usd = one.amount_usd;
            one.changed_at = now;
            Ok(json!({"id": id, "approved_usd": one.approved_usd}))
        }
        OpportunityChange::Close { id, reason } => {
            let one = list.find(id)?;
            one.end(reason, now);
            Ok(json!({"id": id, "earned_usd": one.earned_usd}))
        }
    }
}
