//! Makers of models that the owner adds to the broker's table, or corrects there: its keys by the same names.

use super::broker::{NEAR, NEEDED_VARIABLE, USD, WINDOW};
use super::forms::Form;
use super::key::Shape::{Count, Flag, List, Names, Table, Text, Word};
use super::key::section;
use std::collections::BTreeMap;

section! {
    /// A maker of models, or a server of them.
    OwnMaker {
        /// names of variables that may hold its key, the first that is set counts; left out: a known maker's usual
        /// ones, else it wants none
        keys: Option<Vec<String>> = None, List(&NEEDED_VARIABLE);
        /// where it is asked; left out: a known maker's own
        address: String = String::new(), NEAR;
        /// `anthropic`, `responses` or `chat`; left out: a known maker's own, else `chat`
        wire: String = String::new(), Word(&["", "anthropic", "responses", "chat"]);
        /// the model used where nobody names one; left out: a known maker's usual one, else what it offers
        model: String = String::new(), Text(Form::Plain);
        /// whether it serves models of others, and is asked what they hold
        router: Option<bool> = None, Flag;
        /// whether it is free where its address is on this machine
        local: Option<bool> = None, Flag;
        /// its name for the limit of a reply, if not `max_tokens`
        limit: String = String::new(), Word(&["", "max_tokens", "max_completion_tokens"]);
        /// the model that a short name means
        aliases: BTreeMap<String, String> = BTreeMap::new(), Names(Form::PriceName, &Text(Form::ModelName));
        /// what its models hold and cost, by name
        models: BTreeMap<String, OwnModel> = BTreeMap::new(), Names(Form::PriceName, &Table(OwnModel::KEYS));
    }
}

section! {
    /// Size and prices of a model of the maker; keys left out keep the values of the table, where it has the model.
    OwnModel {
        /// tokens its window holds; needed of a model the table does not have
        window: Option<u64> = None, WINDOW;
        /// tokens of its longest reply; left out: all its window
        output: Option<u64> = None, Count(1, 100_000_000);
        /// USD per million tokens of the prompt; this and `out` left out: unknown, and it counts as the dearest of its
        /// family
        input("in"): Option<f64> = None, USD;
        /// USD per million tokens of the reply
        reply("out"): Option<f64> = None, USD;
        /// the same, read from a cache; left out: as `in`
        cached: Option<f64> = None, USD;
        /// the same, written to a cache; left out: twice `in`
        written: Option<f64> = None, USD;
        /// tokens of a prompt from which all of it costs more; left out: 200,000
        long_tokens: Option<u64> = None, Count(1, 100_000_000);
        /// how many times as much it costs then; left out: 2
        long_times: Option<u64> = None, Count(1, 100);
        /// what it sees besides text: `image`, `pdf`, `audio`, `video`
        sees: Option<Vec<String>> = None, List(&Word(&["image", "pdf", "audio", "video"]));
    }
}
