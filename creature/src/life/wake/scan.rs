//! Scanning: looks at the feeds and pages that papers name, and says what is new.
//!
//! Invariant: no model is asked to look; instinct follows its sources itself.

use crate::config::RevenueSettings;
use crate::life::carried::scanned::Scanned;
use crate::life::wake::platforms;
use crate::pace;
use ground::checklist::Named;
use ground::text::{hash, host, keep_last, shorten};
use hands::Broker;
use instinct::sources;

/// New items of a feed that are told by title, and items remembered as known.
const MOST_TOLD: usize = 3;
const MOST_KNOWN: usize = 2 * hands::MOST_ITEMS;

/// Takes in one look: the news in words, none where there are none; a failure is paced, and said once.
pub(super) fn news(
    scanned: &mut Scanned,
    revenue: &RevenueSettings,
    named: &Named,
    looked: Result<Looked, hands::Error>,
    now_s: i64,
) -> Result<Option<String>, Option<String>> {
    let first = !scanned.sources.contains_key(&named.url);
    let (pace_s, is_platform) = pace_of(revenue, named);
    let source = scanned.sources.entry(named.url.clone()).or_default();
    let found = match looked {
        Ok(found) => found,
        Err(error) => {
            source.fails = source.fails.saturating_add(1);
            let wait_s = sources::backoff_s(pace::BUILT, source.fails);
            let asked_s = error.after_s.map_or(0, |after_s| after_s.min(86_400) as i64);
            source.next_s = now_s.saturating_add(wait_s.max(asked_s));
            let said = || format!("{} could not be looked at: {}", named.url, shorten(&error.message, 300));
            return Err((source.fails == 1).then(said));
        }
    };
    (source.fails, source.next_s) = (0, now_s.saturating_add(pace_s));
    let (numbers, said): (Vec<u64>, Vec<String>) = match found {
        // Those that are known go to the end, so that the oldest forgotten are such as are listed no more.
        Looked::Feed(items) => {
            let (known, new): (Vec<_>, Vec<_>) =
                items.into_iter().partition(|item| source.known.contains(&item.0));
            source.known.retain(|number| known.iter().all(|item| item.0 != *number));
            source.known.extend(known.into_iter().map(|item| item.0));
            new.into_iter().unzip()
        }
        Looked::Page { title, text } => {
            let new = source.page.news(&text);
            let gist = ground::summary::summarise(&new.join("\n\n"), 2).join(" ");
            let said = format!("\"{}\" {}", shorten(&title, 140), shorten(&gist, 400));
            // What an earlier self knew of a page was its whole text's hash.
            let same = new.is_empty() || source.known.contains(&hash(&text));
            if same { (Vec::new(), Vec::new()) } else { (vec![hash(&text)], vec![said]) }
        }
    };
    if said.is_empty() {
        return Ok(None);
    }
    let does = if first { "says" } else { "has news" };
    let place = platforms::service(&named.url).map_or_else(|| host(&named.url), |(name, _)| name);
    let mut text = format!("{place} {does} (others' words):");
    said.iter().take(MOST_TOLD).for_each(|said| text += &format!(" {said};"));
    if said.len() > MOST_TOLD {
        text += &format!(" and {} more", said.len() - MOST_TOLD);
    }
    if is_platform {
        text += ". Your owner has ways to earn looked for there: what is worth it becomes an opportunity";
    }
    source.known.extend(numbers);
    keep_last(&mut source.known, MOST_KNOWN);
    Ok(Some(text))
}

/// Seconds between two looks at a source, and whether it is a platform.
fn pace_of(revenue: &RevenueSettings, named: &Named) -> (i64, bool) {
    match platforms::named(revenue).contains(named) {
        true => (revenue.scan_interval_minutes as i64 * 60, true),
        false => (pace::BUILT.source_pace_s as i64, false),
    }
}

/// Content of a source: a hash and a few words of each item of a feed, or the page.
pub(super) enum Looked {
    Feed(Vec<(u64, String)>),
    Page { title: String, text: String },
}

pub(super) async fn look(broker: &Broker, named: &Named) -> Result<Looked, hands::Error> {
    if named.feed {
        let feed = hands::fetch_feed(broker, &named.url, hands::MOST_ITEMS).await?;
        let item = |item: &hands::Item| {
            (hash(&item.id), format!("\"{}\" {}", shorten(&item.title, 140), shorten(&item.url, 200)))
        };
        return Ok(Looked::Feed(feed.items.iter().map(item).collect()));
    }
    if let Some((name, path)) = platforms::service(&named.url) {
        let text = platforms::read(broker, name, &path).await?;
        return Ok(Looked::Page { title: name.to_owned(), text });
    }
    let page = hands::fetch_text(broker, &named.url, 4_000).await?;
    Ok(Looked::Page { title: page.title, text: page.text })
}
