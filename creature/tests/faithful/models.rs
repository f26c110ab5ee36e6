//! The models the servers know: which rules hold for each, how long a cached prefix must be, and what tokens cost.

use super::Wire;

/// Dollars a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    pub input: f64,
    pub cache_read: f64,
    pub output: f64,
}

impl Prices {
    /// A model of the middle price.
    pub const MIDDLE: Prices = Prices { input: 2.0, cache_read: 0.10, output: 10.0 };
}

/// What is so for one model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// The shortest prefix that is cached, in tokens.
    pub least_cached: usize,
    /// Takes `role: system` among the messages.
    pub news: bool,
    /// Thinking always comes, is adaptive, takes no budget; no sampling, no forced choice.
    pub adaptive: bool,
    /// Its thinking is bound to what stands before it: Anthropic, preserved thinking (Fable and Mythos 5.1 and 5.2; Opus,
    /// Sonnet and Haiku 5.5).
    pub bound: bool,
    /// Takes `thinking.type: between_tools`: Anthropic, what's new in Sonnet 5.5.
    pub between_tools: bool,
    /// On Chat Completions: no function tools beside reasoning.
    pub no_chat_tools: bool,
    /// On the house's own wires: a reasoning model, without sampling.
    pub reasons: bool,
    pub prices: Prices,
}

const fn prices(input: f64, cache_read: f64, output: f64) -> Prices {
    Prices { input, cache_read, output }
}

const PLAIN: Model = Model {
    least_cached: 1_024,
    news: false,
    adaptive: false,
    bound: false,
    between_tools: false,
    no_chat_tools: false,
    reasons: false,
    prices: Prices::MIDDLE,
};

const NEW: Model = Model { least_cached: 512, news: true, adaptive: true, bound: true, ..PLAIN };
const HOUSE: Model = Model { no_chat_tools: true, reasons: true, ..PLAIN };

/// Anthropic, a page a model (platform.claude.com/docs, models), and prompt caching for the shortest prefix. Where a page
/// leaves something open, the server is strict.
const ANTHROPIC: &[(&str, Model)] = &[
    ("claude-fable-5-2", Model { prices: prices(8.0, 0.20, 40.0), ..NEW }),
    ("claude-fable-5-1", Model { prices: prices(10.0, 0.25, 50.0), ..NEW }),
    ("claude-fable-5", Model { bound: false, prices: prices(10.0, 1.0, 50.0), ..NEW }),
    ("claude-opus-5-5", Model { prices: prices(4.0, 0.20, 20.0), ..NEW }),
    ("claude-opus-5", Model { bound: false, prices: prices(5.0, 0.50, 25.0), ..NEW }),
    ("claude-opus-4-8", Model { news: true, adaptive: true, prices: prices(5.0, 0.50, 25.0), ..PLAIN }),
    (
        "claude-opus-4-7",
        Model { least_cached: 2_048, adaptive: true, prices: prices(5.0, 0.50, 25.0), ..PLAIN },
    ),
    ("claude-opus-4-6", Model { least_cached: 4_096, prices: prices(5.0, 0.50, 25.0), ..PLAIN }),
    ("claude-opus-4-5", Model { least_cached: 4_096, prices: prices(5.0, 0.50, 25.0), ..PLAIN }),
    ("claude-sonnet-5-5", Model { between_tools: true, ..NEW }),
    ("claude-sonnet-5", Model { adaptive: true, prices: prices(2.0, 0.20, 10.0), ..PLAIN }),
    ("claude-sonnet-4-6", Model { prices: prices(3.0, 0.30, 15.0), ..PLAIN }),
    ("claude-sonnet-4-5", Model { prices: prices(3.0, 0.30, 15.0), ..PLAIN }),
    ("claude-haiku-5-5", Model { news: false, prices: prices(0.10, 0.01, 0.50), ..NEW }),
    ("claude-haiku-4-5", Model { least_cached: 4_096, prices: prices(1.0, 0.10, 5.0), ..PLAIN }),
    ("claude-test", Model { between_tools: true, ..NEW }),
];

const OPENAI: &[(&str, Model)] = &[
    ("gpt-6-astra", Model { prices: prices(10.0, 1.0, 50.0), ..HOUSE }),
    ("gpt-6.1-sol", HOUSE),
    ("gpt-6-sol", HOUSE),
    ("gpt-6.1-terra", Model { prices: prices(1.0, 0.05, 5.0), ..HOUSE }),
    ("gpt-6-luna", Model { prices: prices(0.10, 0.01, 0.50), ..HOUSE }),
    ("gpt-5.4", HOUSE),
    ("gpt-5", Model { no_chat_tools: false, ..HOUSE }),
    ("gpt-4.1", PLAIN),
    ("gpt-test", PLAIN),
    ("local-test", PLAIN),
];

/// The model of a name; a date may follow the name. Names in `also` are taken as the newest of their wire.
pub fn model(wire: Wire, name: &str, also: &[String]) -> Option<Model> {
    let (table, newest) = match wire {
        Wire::Anthropic => (ANTHROPIC, Model { between_tools: true, ..NEW }),
        Wire::Responses => (OPENAI, HOUSE),
        Wire::Chat => (OPENAI, PLAIN),
    };
    let dated = |rest: &str| {
        rest.strip_prefix('-').is_some_and(|date| date.len() == 8 && date.parse::<u32>().is_ok())
    };
    let fits = |known: &str| name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || dated(rest));
    let found = table.iter().find(|(known, _)| fits(known)).map(|(_, model)| *model);
    found.or_else(|| also.iter().any(|known| known == name).then_some(newest))
}

/// Names for the list of models.
pub fn names(wire: Wire) -> impl Iterator<Item = &'static str> {
    let table = if wire == Wire::Anthropic { ANTHROPIC } else { OPENAI };
    table.iter().map(|(name, _)| *name)
}
