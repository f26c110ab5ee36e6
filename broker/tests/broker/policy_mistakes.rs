//! `owner.toml`: what each mistake is answered with.

use broker::policy::Policy;

/// What is written, and what the answer begins with and holds.
const MISTAKES: &[(&str, &str, &str)] = &[
    // Names.
    (
        "[web]\nallow_privat = true",
        "line 2: [web] allow_privat: no such setting",
        "did you mean allow_private?",
    ),
    ("[web]\nallow_private = true\nmax_bytes = 5", "line 3: [web] max_bytes", "did you mean most_bytes?"),
    ("[web]\ntaint = \"ask\"", "line 2: [web] taint", "above the first section"),
    ("[budget]\ndaily_us = 5", "line 2: [budget] daily_us", "did you mean daily_usd?"),
    ("[budget]\ndaily = 5", "line 2: [budget] daily", "did you mean daily_usd?"),
    ("[model]\nbaseurl = \"\"", "line 2: [model] baseurl", "did you mean base_url?"),
    ("[model]\nkey = \"\"", "line 2: [model] key", "did you mean key_env?"),
    ("[model]\nwire = \"response\"", "line 2: [model] wire", "did you mean responses?"),
    ("[model]\ntools = \"natif\"", "line 2: [model] tools", "did you mean native?"),
    ("[model]\ncontext_token = 5", "line 2: [model] context_token", "did you mean context_tokens?"),
    ("[model]\ncontext_tokens = 5", "line 2: [model] context_tokens: must be between", ""),
    ("[model.quick]\nmodle = \"m\"", "line 2: [model] quick.modle", "did you mean model?"),
    ("[model.quick]\neffort = \"low\"", "line 1: [model] quick.model: is missing", ""),
    ("[model.fallback]\nmodel = \"m\"", "line 1: [model] fallback: must be a list, not a table", ""),
    (
        "[[model.fallback]]\nmodel = \"m\"\nkeyenv = \"A\"",
        "line 3: [model] fallback[1].keyenv",
        "did you mean key_env?",
    ),
    ("[model.aliases]\nopus = 5", "line 2: [model] aliases.opus: must be text", ""),
    ("[model]\nprovider = \"antropic\"", "line 2: [model] provider", "did you mean anthropic?"),
    // Makers of the owner's own, and corrections of known ones.
    ("[makers.opnai]\nmodel = \"m\"", "line 1: [makers.opnai] address: is missing", "did you mean openai?"),
    (
        "[makers.acme]\nkeys = [\"ACME_API_KEY\"]",
        "line 1: [makers.acme] address: is missing",
        "one of your own",
    ),
    ("[makers.acme]\nadress = \"\"", "line 2: [makers.acme] adress", "did you mean address?"),
    (
        "[makers.acme]\naddress = \"http://api.acme.example\"",
        "line 2: [makers.acme] address: must be https",
        "",
    ),
    ("[makers.openai]\nwire = \"respones\"", "line 2: [makers.openai] wire", "did you mean responses?"),
    (
        "[makers.openai]\nkeys = \"OPENAI_API_KEY\"",
        "line 2: [makers.openai] keys: must be a list, not text",
        "",
    ),
    (
        "[makers.openai]\nkeys = [\"sk-abc-def\"]",
        "line 2: [makers.openai] keys[1]: must be the name of a variable",
        "",
    ),
    ("[makers.Acme]\naddress = \"\"", "line 1: [makers.Acme]: a maker is named in a-z", ""),
    ("[makers.instinct]\naddress = \"\"", "line 1: [makers.instinct]: is the mind without a model", ""),
    (
        "[makers.openai.models.\"gpt-6-luna\"]\ninput = 1",
        "line 2: [makers.openai] models.gpt-6-luna.input",
        "there is window, output, in, out",
    ),
    (
        "[makers.openai.models.\"gpt-6-luna\"]\nin = 1",
        "line 1: [makers.openai.models.gpt-6-luna] out: is missing",
        "a price has in and out",
    ),
    (
        "[makers.openai.models.\"gpt-9\"]\nin = 1\nout = 2",
        "line 1: [makers.openai.models.gpt-9] window: is missing",
        "not known of a new model",
    ),
    (
        "[makers.openai]\nmodels.\"gpt-9\" = { window = 9000, in = -1, out = 2 }",
        "line 2: [makers.openai] models.gpt-9.in: must be between 0",
        "",
    ),
    (
        "[makers.acme]\naddress = \"https://acme.example/v1\"\n[model]\nprovider = \"acmee\"",
        "line 4: [model] provider",
        "did you mean acme?",
    ),
    (
        "[makers.acme]\naddress = \"https://acme.example/v1\"\n[[model.fallback]]\nmodel = \"m\"\nprovider = \"acm\"",
        "line 5: [model] fallback[1].provider",
        "did you mean acme?",
    ),
    ("[search]\nprovider = \"brav\"", "line 2: [search] provider", "did you mean brave?"),
    ("[x]\nurl = \"\"", "line 2: [x] url", "did you mean base_url?"),
    ("\ntaint = \"aks\"", "line 2: taint", "did you mean ask?"),
    ("taint = true", "line 1: taint: must be text, not true or false", ""),
    ("[prices.gpt]\ninput = 1\noutputs = 2", "line 3: [prices.gpt] outputs", "did you mean output?"),
    ("[prices.gpt]\ninput = 1", "line 1: [prices.gpt] output: is missing", ""),
    ("[prices]\ngpt = 3", "line 2: [prices.gpt]: must be a table, not a number", ""),
    (
        "[services.a]\nbase_ur = \"https://a.example\"",
        "line 2: [services.a] base_ur",
        "did you mean base_url?",
    ),
    ("[services.a]\nabout = \"no url\"", "line 1: [services.a] base_url: is missing", ""),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nrule = []",
        "line 3: [services.a] rule",
        "did you mean rules?",
    ),
    // How a service knows us.
    (
        "[services.a]\nbase_url = \"https://a.example\"\nauth = { kind = \"barer\", token_env = \"A\" }",
        "line 3: [services.a] auth.kind",
        "did you mean bearer?",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nauth = { kind = \"oauth\" }",
        "line 3: [services.a] auth.kind",
        "did you mean oauth1?",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nauth = { token_env = \"A\" }",
        "line 3: [services.a] auth.kind: is missing",
        "none, bearer, header, basic, oauth1, oauth2",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nauth = \"bearer\"",
        "line 3: [services.a] auth: must be a table, not text",
        "",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nauth = { kind = \"bearer\", token = \"A\" }",
        "line 3: [services.a] auth.token",
        "did you mean token_env?",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\n[services.a.auth]\nkind = \"basic\"\nuser_env = \"A\"",
        "line 3: [services.a] auth.password_env: is missing",
        "",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nauth = { kind = \"header\", header = \"X Key\", value_env = \"A\" }",
        "line 3: [services.a] auth.header: must be the name of a header",
        "",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nauth = { kind = \"header\", header = \"Host\", value_env = \"A\" }",
        "line 3: [services.a] auth.header: is a header that carries no key",
        "",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nauth = { kind = \"oauth2\", token_url = \"http://l.example/t\", client_id_env = \"A\", refresh_token_env = \"B\" }",
        "line 3: [services.a] auth.token_url: must be https",
        "",
    ),
    // Rules.
    (
        "[services.a]\nbase_url = \"https://a.example\"\nrules = [\n{ method = \"GET\", path = \"/\", do = \"alow\" }]",
        "line 4: [services.a] rules[1].do",
        "did you mean allow?",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nrules = [\n{ method = \"GET\", path = \"/\", do = \"ask\" },\n{ method = \"GTE\", path = \"/\", do = \"ask\" }]",
        "line 5: [services.a] rules[2].method",
        "did you mean GET?",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nrules = [{ method = \"get\", path = \"/\", do = \"ask\" }]",
        "line 3: [services.a] rules[1].method",
        "did you mean GET?",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nrules = [{ method = \"GET\", paths = \"/\", do = \"ask\" }]",
        "line 3: [services.a] rules[1].paths",
        "did you mean path?",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nrules = [{ method = \"GET\", path = \"/\" }]",
        "line 3: [services.a] rules[1].do: is missing",
        "",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nrules = [{ method = \"GET\", path = \"users\", do = \"ask\" }]",
        "line 3: [services.a] rules[1].path: must begin with /",
        "",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nrules = [{ method = \"GET\", path = \"/**/x\", do = \"ask\" }]",
        "line 3: [services.a] rules[1].path: may hold ** only at the end",
        "",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nrules = [{ method = \"GET\", path = \"/u*\", do = \"ask\" }]",
        "line 3: [services.a] rules[1].path: may hold * and ** only as a whole segment",
        "",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nrules = [{ method = \"GET\", path = \"/a/../b\", do = \"ask\" }]",
        "line 3: [services.a] rules[1].path: must not hold",
        "",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nrules = [{ method = \"GET\", path = \"/a?b=c\", do = \"ask\" }]",
        "line 3: [services.a] rules[1].path: is a path alone",
        "",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nrules = [{ method = \"GET\", path = \"/\", do = \"ask\", per_hour = 0 }]",
        "line 3: [services.a] rules[1].per_hour: must be between 1",
        "",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nrules = { method = \"GET\" }",
        "line 3: [services.a] rules: must be a list, not a table",
        "",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example\"\nuntrusted = \"no\"",
        "line 3: [services.a] untrusted: must be true or false",
        "",
    ),
    // Addresses and names.
    (
        "[services.a]\nbase_url = \"http://a.example\"",
        "line 2: [services.a] base_url: must be https",
        "allow_private",
    ),
    ("[services.a]\nbase_url = \"a.example\"", "line 2: [services.a] base_url: must be an address", ""),
    (
        "[services.a]\nbase_url = \"ftp://a.example\"",
        "line 2: [services.a] base_url: must begin with https://",
        "",
    ),
    (
        "[services.a]\nbase_url = \"https://me:word@a.example\"",
        "line 2: [services.a] base_url: must hold no user",
        ".env",
    ),
    (
        "[services.a]\nbase_url = \"https://a.example/?k=v\"",
        "line 2: [services.a] base_url: must hold no ?",
        "",
    ),
    (
        "[services.A_b]\nbase_url = \"https://a.example\"",
        "line 1: [services.A_b]: a service is named in a-z",
        "",
    ),
    ("[model]\nbase_url = \"http://api.example.org\"", "line 2: [model] base_url: must be https", ""),
    ("[mcp.m]\nurl = \"http://m.example.org\"", "line 2: [mcp.m] url: must be https", ""),
    (
        "[web]\nallow = [\"example.org\",\n\"https://example.org\"]",
        "line 3: [web] allow[2]: must be a host",
        "",
    ),
    ("[web]\ndeny = [\"example.org:80\"]", "line 2: [web] deny[1]: must be a host without a port", ""),
    ("[web]\ndeny = [\"*.\"]", "line 2: [web] deny[1]: must be a host", ""),
    ("[web]\ndeny = \"example.org\"", "line 2: [web] deny: must be a list, not text", ""),
    // Numbers.
    ("[budget]\ndaily_usd = -1", "line 2: [budget] daily_usd: must be between 0", ""),
    ("[budget]\nweekly_usd = nan", "line 2: [budget] weekly_usd: must be between 0", ""),
    (
        "[budget]\nautonomous_percent = 101",
        "line 2: [budget] autonomous_percent: must be between 0 and 100",
        "",
    ),
    ("[budget]\nworst_input_usd = 0", "line 2: [budget] worst_input_usd: must be between", ""),
    ("[budget]\ndaily_usd = \"5\"", "line 2: [budget] daily_usd: must be a number, not text", ""),
    (
        "[autonomy]\nusd_a_day = 1",
        "line 2: [autonomy] usd_a_day: no such setting",
        "did you mean usd_per_day?",
    ),
    ("[autonomy]\nusd_per_day = -1", "line 2: [autonomy] usd_per_day: must be between 0", ""),
    (
        "[budget]\ndaily_usd = 3\n[autonomy]\nwaking_hours = \"\"\nusd_per_day = 0.46",
        "line 5: [autonomy] usd_per_day: must be at most 0.45, which is what [budget] leaves it: 15 % of 3 USD",
        "raise autonomous_percent",
    ),
    ("autonomy.usd_per_day = 9", "line 1: [autonomy] usd_per_day: must be at most 0.75", ""),
    ("[autonomy]\nwaking_hours = 8", "line 2: [autonomy] waking_hours: must be text", ""),
    (
        "[autonomy]\nwaking_hours = \"8-23\"",
        "line 2: [autonomy] waking_hours: must be two times of day",
        "\"08:00-23:00\"",
    ),
    ("[autonomy]\nwaking_hours = \"08:00-08:00\"", "line 2: [autonomy] waking_hours: must begin", "all day"),
    ("[prices.a]\ninput = -3\noutput = 1", "line 2: [prices.a] input: must be between 0", ""),
    ("[web]\ndeadline_s = 0", "line 2: [web] deadline_s: must be between 1 and 600", ""),
    ("[web]\nper_hour = 1.5", "line 2: [web] per_hour: must be a whole number", ""),
    ("[model]\nmax_tokens = 99999999999999999999999", "line 2", ""),
    // MCP servers, search.
    ("[mcp.m]\nhand = \"mial\"", "line 2: [mcp.m] hand: not a value it can have", "did you mean mail?"),
    ("[mcp.m]\nenv = []", "line 1: [mcp.m] url: is missing: m needs a command or a url or a hand", ""),
    (
        "[mcp.m]\nhand = \"mail\"\ncommand = [\"m\"]",
        "line 3: [mcp.m] command: there is a hand as well: m is reached by one of them",
        "",
    ),
    (
        "[mcp.m]\ncommand = [\"m\"]\nenv = [\"A\", \"B=c\"]",
        "line 3: [mcp.m] env[2]: must be the name of a variable",
        "",
    ),
    (
        "[mcp.m]\ncommand = [\"m\"]\nrules = [{ tool = \"execute\", do = \"no\" }]",
        "line 3: [mcp.m] rules[1].do",
        "allow, ask, draft, deny",
    ),
    ("[search]\nprovider = \"searxng\"", "line 1: [search] base_url: is missing", ""),
    // No section at all, and no TOML.
    ("model = 3", "line 1: [model]: must be a table, not a number", ""),
    ("[web]\nallow_private = yes", "line 2: not TOML", ""),
    ("[web\n", "line 1: not TOML", ""),
    ("[web]\nper_hour = 1\nper_hour = 2", "line 3: not TOML", ""),
];

#[test]
fn each_mistake_has_its_line_its_key_and_the_nearest_name() {
    assert!(MISTAKES.len() >= 40, "{}", MISTAKES.len());
    let mut bad = Vec::new();
    for (text, begins, holds) in MISTAKES {
        match Policy::read(text) {
            Ok(_) => bad.push(format!("{text}\n  was taken")),
            Err(error) => {
                let said = format!("{error:#}");
                if !said.starts_with(begins) || !said.contains(holds) || said.contains('\n') {
                    bad.push(format!("{text}\n  said    {said}\n  wanted  {begins} … {holds}"));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{} of {}:\n{}", bad.len(), MISTAKES.len(), bad.join("\n"));
}
