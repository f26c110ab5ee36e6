//! Makers and servers of models: name, variables, beginnings of model names; `broker/src/makers.toml`: how to ask each.

/// A maker or server of models, as the owner names it. Only the broker knows how to call it.
#[derive(Debug)]
pub struct Maker {
    /// Its name as `provider` in `owner.toml`.
    pub name: &'static str,
    /// The variables that may hold its key, the first that is set counts; none: it needs no key.
    pub keys: &'static [&'static str],
    /// Whether its key alone chooses it: not where a variable of that name is there for other things as well.
    pub by_key: bool,
    /// The variable that may hold another address than its own.
    pub address: Option<&'static str>,
    /// The variable that may name another model than its usual one.
    pub model: Option<&'static str>,
    /// Beginnings of its own models' names: a family's name and a version follow.
    pub models_begin: &'static [&'static str],
}

/// A maker whose key is in these variables, and whose models begin so.
const fn keyed(
    name: &'static str,
    keys: &'static [&'static str],
    models_begin: &'static [&'static str],
) -> Maker {
    Maker { name, keys, by_key: true, address: None, model: None, models_begin }
}

/// A server of other makers' models, chosen by its name alone.
const fn named(name: &'static str, keys: &'static [&'static str]) -> Maker {
    Maker { name, keys, by_key: false, address: None, model: None, models_begin: &[] }
}

/// A server of models of all makers, without a key.
pub const OLLAMA: Maker = Maker { address: Some("OLLAMA_HOST"), ..named("ollama", &[]) };

/// All makers; where keys alone decide, the first that has one is chosen.
pub const MAKERS: &[Maker] = &[
    Maker {
        address: Some("ANTHROPIC_BASE_URL"),
        model: Some("ANTHROPIC_MODEL"),
        ..keyed("anthropic", &["ANTHROPIC_API_KEY"], &["claude"])
    },
    Maker {
        address: Some("OPENAI_BASE_URL"),
        model: Some("OPENAI_MODEL"),
        ..keyed("openai", &["OPENAI_API_KEY"], &["gpt"])
    },
    keyed("google", &["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"], &["gemini"]),
    keyed("xai", &["XAI_API_KEY"], &["grok"]),
    keyed(
        "mistral",
        &["MISTRAL_API_KEY"],
        &["mistral", "magistral", "ministral", "codestral", "devstral", "pixtral"],
    ),
    keyed("deepseek", &["DEEPSEEK_API_KEY"], &["deepseek"]),
    keyed("groq", &["GROQ_API_KEY"], &[]),
    keyed("openrouter", &["OPENROUTER_API_KEY"], &[]),
    keyed("moonshot", &["MOONSHOT_API_KEY"], &["kimi"]),
    keyed("alibaba", &["DASHSCOPE_API_KEY"], &["qwen", "qwq"]),
    keyed("zai", &["ZAI_API_KEY", "ZHIPU_API_KEY"], &["glm"]),
    keyed("minimax", &["MINIMAX_API_KEY"], &["minimax"]),
    keyed("together", &["TOGETHER_API_KEY"], &[]),
    keyed("fireworks", &["FIREWORKS_API_KEY"], &[]),
    keyed("cerebras", &["CEREBRAS_API_KEY"], &[]),
    keyed("cohere", &["COHERE_API_KEY"], &["command"]),
    named("huggingface", &["HF_TOKEN"]),
    named("github", &["GITHUB_TOKEN"]),
    named("azure", &["AZURE_API_KEY", "AZURE_OPENAI_API_KEY"]),
    named("bedrock", &["AWS_BEARER_TOKEN_BEDROCK"]),
    OLLAMA,
    named("lmstudio", &[]),
    named("llamacpp", &[]),
    named("vllm", &[]),
];

impl Maker {
    /// Whether a name is that of a model of its, in any letter case.
    pub fn makes(&self, model: &str) -> bool {
        let begins =
            |with: &&str| model.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with));
        self.models_begin.iter().any(begins)
    }
}

/// Words that `[model] provider` may hold.
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

/// Words for the provider of a model besides the first: the same without `instinct`.
pub const PROVIDERS_BESIDES: &[&str] = match PROVIDERS {
    [_, besides @ ..] => besides,
    [] => &[],
};

/// The variables that hold their keys.
pub fn keys() -> impl Iterator<Item = &'static str> {
    MAKERS.iter().flat_map(|maker| maker.keys).copied()
}

/// The variables that hold an address or a name, and no secret.
pub fn plain() -> impl Iterator<Item = &'static str> {
    MAKERS.iter().flat_map(|maker| [maker.address, maker.model]).flatten().chain(["BLUESKY_HANDLE"])
}
