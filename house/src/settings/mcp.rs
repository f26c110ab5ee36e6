//! MCP servers that the owner names in `owner.toml`, and the rules for their tools.

use super::broker::{NEAR, NEEDED_VARIABLE, VARIABLE, Verdict};
use super::forms::Form;
use super::key::Shape::{Count, Flag, List, Names, Needed, Table, Text, Word};
use super::key::section;
use crate::decimal::Decimal;
use std::collections::BTreeMap;

/// The hands that are made here, in the workspace `hands/`.
pub const HANDS: &[&str] = &["mail", "wallet"];

section! {
    /// An MCP server, whose tools the creature may call by rules.
    Mcp {
        /// a program and its arguments that speaks MCP on its standard streams and runs behind walls; or
        command: Vec<String> = vec![], List(&Text(Form::Plain));
        /// a hand of ours, built and started for you: `mail` or `wallet`; or
        hand: String = String::new(), Word(HANDS);
        /// a streamable HTTP address (https or on this machine)
        url: String = String::new(), NEAR;
        /// names of variables that its program gets; it has no other but `PATH`, `LANG` and a `HOME` of its own
        env: Vec<String> = vec![], List(&NEEDED_VARIABLE);
        /// variables that are no secrets, with their values, which its program gets as well
        set: BTreeMap<String, String> = BTreeMap::new(), Names(Form::NeededVariable, &Text(Form::Plain));
        /// name of the variable with the token that its address wants
        token_env: String = String::new(), VARIABLE;
        /// who signs in where its address asks for that: `owner`, by `feral mcp sign-in NAME`; or `client`, by
        /// `client_id` and `client_secret_env` alone
        sign_in: String = "owner".to_owned(), Word(&["owner", "client"]);
        /// id, or address of the metadata, of the client that you registered there; empty: the broker registers one
        client_id: String = String::new(), Text(Form::Plain);
        /// name of the variable with the secret of that client, where it has one
        client_secret_env: String = String::new(), VARIABLE;
        /// what a sign-in asks for; empty: what the server says
        scopes: Vec<String> = vec![], List(&Text(Form::Plain));
        /// shown to the creature
        about: String = String::new(), Text(Form::Plain);
        /// folders that its program may read; a relative one lies in the house
        read: Vec<String> = vec![], List(&Text(Form::Plain));
        /// folders that its program may change; a relative one lies in the house
        write: Vec<String> = vec![], List(&Text(Form::Plain));
        /// what its program reaches: `none`; `proxy` for public addresses through a proxy of the broker's, by the rules of
        /// `[web]`; or `open` for all that this machine does
        network: String = "none".to_owned(), Word(&["none", "proxy", "open"]);
        /// resources whose changes are news for the creature, by their addresses; `*` is any text
        watch: Vec<String> = vec![], List(&Text(Form::Plain));
        /// what may be called; the first that fits decides; none: everything refused
        rules: Vec<ToolRule> = vec![], List(&Table(ToolRule::KEYS));
        /// calls an hour, of all its tools together
        per_hour: u32 = 120, Count(0, 1_000_000);
        /// seconds that an answer may take
        deadline_s: u64 = 60, Count(1, 3_600);
        /// whether its answers count as text of others
        untrusted: bool = true, Flag;
    }
}

section! {
    /// A rule for calls of a tool. The first rule that fits decides; none: denied.
    ToolRule {
        /// a tool's name; `*` is any text
        tool: String = String::new(), Needed(&Text(Form::Plain));
        /// arguments (`to`, `options.path`) and the text that each must be; `*` is any text
        with: BTreeMap<String, String> = BTreeMap::new(), Names(Form::Free, &Text(Form::Plain));
        /// `allow`; `ask`: waits for you; `draft`: kept as a file for you, never sent; `deny`
        verdict("do"): Verdict = Verdict::Deny, Needed(&Word(&["allow", "ask", "draft", "deny"]));
        /// whether it only looks: then it is not asked about after text of others was read, nor kept from a self on
        /// probation
        looks: bool = false, Flag;
        /// uses an hour; left out: any number
        per_hour: Option<u32> = None, Count(1, 1_000_000);
        /// what the amounts in calls by this rule may come to; each limit has to hold; left out: any amount
        limit: Vec<Limit> = vec![], List(&Table(Limit::KEYS));
    }
}

section! {
    /// A limit on amounts in arguments, like `{ of = ["amount", "max_fee"], each = "0.05", day = "0.2" }`.
    Limit {
        /// arguments that hold an amount each, as text like `0.05` or a whole number; they are added up
        of: Vec<String> = vec![], Needed(&List(&Text(Form::Plain)));
        /// most that a single call may come to, as text
        each: Decimal = Decimal::default(), Needed(&Text(Form::Decimal));
        /// most that all calls of any 24 hours may come to, as text
        day: Decimal = Decimal::default(), Needed(&Text(Form::Decimal));
        /// name of the sum it is counted in; rules of a server that name the same share it; left out: the rule has its own
        sum: String = String::new(), Text(Form::Plain);
    }
}

impl Mcp {
    /// Names of the variables its secrets are in.
    pub fn variables(&self) -> Vec<String> {
        let address = [&self.token_env, &self.client_secret_env];
        self.env.iter().chain(address).filter(|name| !name.is_empty()).cloned().collect()
    }
}
