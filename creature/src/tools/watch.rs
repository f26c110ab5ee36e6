//! `watch`: makes, lists and ends watches, which plain code looks at.

use super::arguments::Arguments;
use super::tool_context::ToolContext;
use crate::fault::Fault;
use crate::watches::{Condition, EVERY_S, MOST, Seen, Source, Watch, within};
use regex::Regex;
use serde_json::{Value, json};

/// Seconds between two looks where nobody said.
const USUAL_S: u64 = 300;

/// Characters of what is said.
const MOST_SAY: usize = 300;

pub fn watch(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    if let Some(id) = args.said("end") {
        let had = tools.belt.watches.change(|all| {
            let had = all.list.len();
            all.list.retain(|watch| watch.id != id);
            had - all.list.len()
        });
        let hint = "watch without arguments lists them";
        return match had {
            0 => Err(Fault::new(format!("there is no {id}"), hint)),
            _ => Ok(json!({"id": id, "ended": true})),
        };
    }
    let Some(source) = source(tools, args)? else {
        let lines: Vec<String> = tools.belt.watches.list().iter().map(Watch::line).collect();
        return Ok(json!({"watches": lines}));
    };
    made(tools, args, source)
}

/// Reads the source to be watched; none where nothing is named.
fn source(tools: &ToolContext<'_>, args: &Arguments) -> Result<Option<Source>, Fault> {
    let named: Vec<Source> = [
        args.said("url").map(|url| Source::Url(url.to_owned())),
        args.said("feed").map(|url| Source::Feed(url.to_owned())),
        args.said("file").map(|path| Source::File(path.to_owned())),
        args.said("command").map(|command| Source::Command(command.to_owned())),
    ]
    .into_iter()
    .flatten()
    .collect();
    match named.as_slice() {
        [] => Ok(None),
        [Source::File(path)] => within(tools.store.house.root(), path).map(|_| named.into_iter().next()),
        [Source::Command(_)] => {
            super::permission::permit(tools, "repo.run").map(|_| named.into_iter().next())
        }
        [_] => Ok(named.into_iter().next()),
        _ => Err(args.fault("takes one of url, feed, file and command")),
    }
}

fn made(tools: &mut ToolContext<'_>, args: &Arguments, source: Source) -> Result<Value, Fault> {
    let find = args.said("find").map(str::to_owned);
    if let Some(find) = &find {
        Regex::new(find)
            .map_err(|error| args.fault(format!("takes a regular expression as `find`: {error}")))?;
    }
    let when = Condition::read(args.maybe_text("when").unwrap_or_default())
        .ok_or_else(|| args.fault("takes changed, appears, disappears, below 40 or above 40 as `when`"))?;
    let wants_find = match (&source, &when) {
        (Source::Feed(_), Condition::Changed) | (_, Condition::Changed) => false,
        (Source::Feed(_), _) => return Err(args.fault("tells of a feed's new items: `when` is left out")),
        (Source::Url(_), _) | (_, Condition::Appears | Condition::Disappears) => true,
        _ => false,
    };
    if wants_find && find.is_none() {
        return Err(args.fault("needs `find`, whose first group is the value, for this `when`"));
    }
    let every_s = args.number("every_s").map_or(USUAL_S, |every_s| every_s as u64);
    let every_s = every_s.clamp(EVERY_S.0, EVERY_S.1);
    let say = args.text("say").trim();
    if say.is_empty() {
        return Err(args.fault("needs `say`: the words for your owner"));
    }
    let now = tools.store.clock.now();
    let (thread, owner) = (tools.caller.thread.clone(), tools.caller.owner);
    let say: String = say.chars().take(MOST_SAY).collect();
    let at_most_every_s = args.number("at_most_every_s").unwrap_or(0) as u64;
    let id = tools.belt.watches.change(|all| {
        if all.list.len() >= MOST {
            return None;
        }
        all.last += 1;
        let id = format!("watch-{}", all.last);
        all.list.push(Watch {
            id: id.clone(),
            source,
            every_s,
            find,
            when,
            say,
            thread,
            owner,
            at_most_every_s,
            made_at: now,
            next: now,
            seen: Seen::default(),
            fails: 0,
            error: String::new(),
            told_broken: false,
            told: 0,
            told_at: None,
        });
        Some(id)
    });
    let Some(id) = id else {
        return Err(Fault::new(format!("there are {MOST} watches"), "end one: watch {end: id}"));
    };
    let told = if owner { "your owner is told" } else { "you are told" };
    Ok(
        json!({"id": id, "every_s": every_s, "note": format!("{told} when it happens; no thought is needed until then")}),
    )
}
