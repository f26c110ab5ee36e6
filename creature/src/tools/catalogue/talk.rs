//! Rows of the tools for talking and for what the owner said: messages, memory, reminders, concerns, directives.

use super::row::*;
use crate::tools::{agenda, directives, owner, product, remember, reminders, wake, watch};
use mind::thought::REST;

const WHEN: Arg = non_blank("when").about("`2026-12-01 09:00`, `in 20 min`, `daily 09:00`, `weekly mon,thu 09:00`, `monthly 31 09:00`, `every 45 min 08:00-20:00`");
const DIRECTIVE: Arg = text("text").about(
    "`focus on … this week`, `… every 10 minutes`, `only message me about …`, `pause until …`, `resume`",
);

pub(super) const TOOLS: &[Tool] = &[
    tool(
        "complete_run",
        &[SUMMARY.maybe()],
        Talk,
        Now(wake::complete),
        NO_SUBSESSION.marked(&[Ends]),
        "end this wake: nothing more is to be done now",
    ),
    tool(
        REST,
        &[number("sleep_s", 0, WEEK_S), text("intent").maybe()],
        Talk,
        Now(wake::rest),
        FULL.marked(&[Ends]),
        "end this wake and rest so long; `intent` says what you mean to do next",
    ),
    tool(
        "memory.append",
        &[text("text").maybe(), object("data").maybe(), text("kind").maybe()],
        Talk,
        Now(remember::append),
        MINIMAL.answers(&["message"]),
        "remember something: `text`, or an object in `data`; kind `observation` unless given; kind `message` with data {text} answers the owner's words",
    ),
    tool(
        "memory.snapshot",
        &[text("text").maybe()],
        Talk,
        Now(remember::snapshot),
        FULL.seldom().changes(Changes::Memory),
        "put a summary of everything in place of older records; without `text` one is made from the records",
    ),
    tool(
        "owner.message",
        &[
            text("text"),
            flag("done").maybe(),
            text("waits_for").maybe(),
            text("until").maybe(),
            text("request").maybe(),
            non_blank("kind").maybe(),
        ],
        Talk,
        Now(owner::message),
        FULL.answers(&["answer", ""]).product(product::message),
        "say this to your owner, word for word. It answers their words and ends the `request`, unless `done` is false: you wake for it again, or once what it `waits_for` is there (session-4, ask 7). Unasked it needs a kind: asked_for, revenue, approval, milestone, broken, weekly_summary",
    ),
    tool(
        "reminder.add",
        &[TEXT, WHEN, text("zone").maybe(), text("prompt").maybe()],
        House,
        Now(reminders::add),
        FULL,
        "`prompt` runs apart then",
    ),
    tool("reminder.list", NONE, House, Now(reminders::list), MINIMAL.seldom(), "those to come"),
    tool("reminder.cancel", &[ID], House, Now(agenda::change), FULL.seldom(), "take one back"),
    tool(
        "pulse.add",
        &[text("text"), EVERY_S, MODE],
        House,
        Now(agenda::change),
        FULL.seldom(),
        "a standing concern, reviewed apart every hour unless said; mode: what a review may do, as of spawn",
    ),
    tool(
        "pulse.update",
        &[ID, text("text").maybe(), EVERY_S],
        House,
        Now(agenda::change),
        MINIMAL.seldom(),
        "change one",
    ),
    tool(
        "pulse.close",
        &[ID, text("why")],
        House,
        Now(agenda::change),
        FULL.marked(&[Reviews]).seldom(),
        "end one",
    ),
    tool("pulse.list", NONE, House, Now(reminders::concerns), MINIMAL.seldom(), "those that are open"),
    tool(
        "watch",
        &[
            text("url").maybe(),
            text("feed").maybe(),
            text("file").maybe(),
            text("command").maybe(),
            text("find").maybe().about("a regex; its first group is the value"),
            text("when").maybe().about("changed, appears, disappears, below 40, above 40"),
            text("say").maybe(),
            number("every_s", 0, TEN_YEARS_S).maybe(),
            number("at_most_every_s", 0, TEN_YEARS_S).maybe(),
            text("end").maybe(),
        ],
        House,
        Now(watch::watch),
        FULL,
        "tell your owner when something happens: code looks every 300 s unless said and says `say` with old → new; no arguments: those that watch; `end` ends one",
    ),
    tool("directive.set", &[DIRECTIVE], House, Now(directives::set), FULL, "keep your owner's word"),
    tool("directive.list", NONE, House, Now(directives::list), FULL.seldom(), "those that hold"),
    tool(
        "directive.end",
        &[ID],
        House,
        Now(agenda::change),
        FULL.seldom(),
        "take one back, at your owner's word",
    ),
];
