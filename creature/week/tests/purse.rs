//! What the broker lets it spend of its own: a bucket of a fifth of the day that fills by the hour, kept to its rules.

use crate::broker;
use jiff::Timestamp;
use serde_json::{Value, json};

/// By name: USD per million tokens of input and output.
const MODELS: [(&str, f64, f64); 2] = [("strong", 2.0, 10.0), ("quick", 0.1, 0.5)];

/// USD of a usual call of each, as experience has it.
const LIKELY: [f64; 2] = [0.03, 0.001];

pub struct Purse {
    pub usd_per_day: f64,
    has_quick: bool,
    level: f64,
    since: Timestamp,
    /// What was paid, when, of whose idea and to which model.
    pub paid: Vec<(Timestamp, f64, bool, String)>,
    /// Calls it had no room for.
    pub refused: u32,
}

impl Purse {
    pub fn new(usd_per_day: f64, has_quick: bool, since: Timestamp) -> Self {
        Self { usd_per_day, has_quick, level: usd_per_day / 5.0, since, paid: Vec::new(), refused: 0 }
    }

    pub fn offer(&self) -> Value {
        let offer = |(name, input, output): (&str, f64, f64)| {
            let mut offer = broker::offer("openai");
            offer["name"] = json!(name);
            offer["prices"] = json!({"input": input, "cache_read": input / 10.0, "output": output});
            offer
        };
        let mut strong = offer(MODELS[0]);
        if self.has_quick {
            strong["quick"] = offer(MODELS[1]);
        }
        strong
    }

    fn level(&self, now: Timestamp) -> f64 {
        let hours = (now.as_second() - self.since.as_second()) as f64 / 3_600.0;
        (self.level + hours * self.usd_per_day / 24.0).min(self.usd_per_day / 5.0)
    }

    /// Seconds until there is room for a usual call of this model; none where there is now.
    pub fn wait_s(&self, model: &str, now: Timestamp) -> Option<u64> {
        let at = MODELS.iter().position(|(name, _, _)| *name == model).unwrap_or(0);
        let lacks = LIKELY[at].min(self.usd_per_day / 5.0) - self.level(now);
        (lacks > 1e-9).then(|| (lacks / (self.usd_per_day / 24.0) * 3_600.0).ceil() as u64)
    }

    pub fn settle(&mut self, model: &str, read: usize, said: usize, autonomous: bool, now: Timestamp) {
        let (_, input, output) = MODELS.into_iter().find(|(name, _, _)| *name == model).unwrap_or(MODELS[0]);
        let usd = (read as f64 * input + said as f64 * output) / 1e6;
        if autonomous {
            (self.level, self.since) = (self.level(now) - usd, now);
        }
        self.paid.push((now, usd, autonomous, model.to_owned()));
    }

    /// What of `.self/budget.json` is about it.
    pub fn page(&self, now: Timestamp) -> Value {
        let model = if self.has_quick { "quick" } else { "strong" };
        let wait_s = self.wait_s(model, now).unwrap_or(0);
        let room_at = Timestamp::from_second(now.as_second() + i64::try_from(wait_s).unwrap()).unwrap();
        json!({"autonomy": {"usd_per_day": self.usd_per_day, "usd_per_hour": self.usd_per_day / 24.0, "waking": true,
            "wakes_at": null, "room_at": format!("{room_at}"), "bucket_usd": self.usd_per_day / 5.0}})
    }

    /// USD that it paid of its own idea.
    pub fn own_usd(&self) -> f64 {
        self.paid.iter().filter(|(_, _, own, _)| *own).map(|(_, usd, _, _)| usd).sum()
    }

    /// The most that was ever paid beyond what had run in by then, over all spans that end with a payment.
    pub fn most_beyond(&self) -> f64 {
        let own: Vec<_> = self.paid.iter().filter(|(_, _, own, _)| *own).collect();
        let mut most = f64::MIN;
        for (from, (began, ..)) in own.iter().enumerate() {
            let mut sum = 0.0;
            for (at, usd, ..) in &own[from..] {
                sum += usd;
                let hours = (at.as_second() - began.as_second()) as f64 / 3_600.0;
                most = most.max(sum - hours * self.usd_per_day / 24.0 - self.usd_per_day / 5.0);
            }
        }
        most
    }
}
