//! Who makes models: each maker's name, its variables and how its models' names begin; `broker/src/llm/choice.rs` how it is asked.

/// A maker of models, or what serves them, as the owner names it. How it is spoken to, the broker alone knows.
pub struct Maker {
    /// What `provider` says in `owner.toml`.
    pub name: &'static str,
    /// The variable that holds its key; none: it wants none.
    pub key: Option<&'static str>,
    /// The variable that may hold another address than its own.
    pub address: &'static str,
    /// The variable that may name another model than its usual one.
    pub model: Option<&'static str>,
    /// What its models' names begin with: a family's name and a version follow.
    pub models_begin: &'static [&'static str],
}

/// What serves models of all makers, without a key.
pub const OLLAMA: Maker =
    Maker { name: "ollama", key: None, address: "OLLAMA_HOST", model: None, models_begin: &[] };

/// Where keys alone decide, the first that has one is chosen.
pub const MAKERS: &[Maker] = &[
    Maker {
        name: "anthropic",
        key: Some("ANTHROPIC_API_KEY"),
        address: "ANTHROPIC_BASE_URL",
        model: Some("ANTHROPIC_MODEL"),
        models_begin: &["claude"],
    },
    Maker {
        name: "openai",
        key: Some("OPENAI_API_KEY"),
        address: "OPENAI_BASE_URL",
        model: Some("OPENAI_MODEL"),
        models_begin: &["gpt"],
    },
    OLLAMA,
];

impl Maker {
    /// Whether a name is that of a model of its.
    pub fn makes(&self, model: &str) -> bool {
        self.models_begin.iter().any(|beginning| model.starts_with(beginning))
    }
}

/// What `[model] provider` may say.
pub const PROVIDERS: &[&str] = &{
    let mut words = ["instinct"; MAKERS.len() + 2];
    let [_, nothing, names @ ..] = &mut words;
    *nothing = "";
    let (mut names, mut makers) = (names as &mut [_], MAKERS);
    while let ([name, other_names @ ..], [maker, other_makers @ ..]) = (names, makers) {
        *name = maker.name;
        (names, makers) = (other_names, other_makers);
    }
    words
};

/// What it may say of a model besides the first: the same without `instinct`.
pub const PROVIDERS_BESIDES: &[&str] = match PROVIDERS {
    [_, besides @ ..] => besides,
    [] => &[],
};

/// The variables that hold their keys.
pub fn keys() -> impl Iterator<Item = &'static str> {
    MAKERS.iter().filter_map(|maker| maker.key)
}

/// The variables that hold an address or a name, and no secret.
pub fn plain() -> impl Iterator<Item = &'static str> {
    MAKERS.iter().flat_map(|maker| [Some(maker.address), maker.model]).flatten()
}
