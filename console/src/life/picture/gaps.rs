//! Idle times that the picture cuts short: long stretches without a thing, between things. Pure.

use super::scale::{CUT, Cut};
use crate::life::index::rows::HOUR_MS;
use crate::life::index::seen::Seen;

/// Parts that a span is divided into, and the shortest run of idle ones that is cut.
const PARTS: u64 = 400;
const IDLE_PARTS: usize = 24;
/// Longest span in which single thoughts and acts are looked at.
const SINGLE_MS: u64 = 48 * HOUR_MS;
/// Share of the picture's width that cuts may take.
const SHARE: f64 = 0.3;

/// The idle times of a span that are cut in a picture of so many columns, in order of time: the longest that fit.
pub fn of(life: &Seen, from_ms: u64, to_ms: u64, width: f64) -> Vec<Cut> {
    let each_ms = (to_ms.saturating_sub(from_ms) / PARTS).max(1);
    let mut busy = vec![false; usize::try_from(PARTS).unwrap_or(0) + 1];
    let mut mark = |begun_ms: u64, over_ms: u64| {
        if over_ms < from_ms || begun_ms > to_ms {
            return;
        }
        let part = |at_ms: u64| (at_ms.clamp(from_ms, to_ms) - from_ms) / each_ms;
        for at in part(begun_ms)..=part(over_ms) {
            if let Some(part) = usize::try_from(at).ok().and_then(|at| busy.get_mut(at)) {
                *part = true;
            }
        }
    };
    life.wakes.iter().for_each(|wake| mark(wake.from_ms, wake.to_ms));
    life.falls.iter().for_each(|fall| mark(fall.at_ms, fall.at_ms));
    life.marks.iter().for_each(|it| mark(life.mark_from(it), it.at_ms));
    for ask in &life.asks {
        mark(ask.asked_ms, ask.asked_ms);
        ask.closed_ms.iter().for_each(|at_ms| mark(*at_ms, *at_ms));
    }
    for lived in life.lives.values() {
        [Some(lived.from_ms), lived.blessed_ms, lived.death_ms]
            .into_iter()
            .flatten()
            .for_each(|at_ms| mark(at_ms, at_ms));
    }
    // What no wake holds: singly where there is little of it, else by the hours in which something was.
    let is_single = to_ms.saturating_sub(from_ms) <= SINGLE_MS
        && life.each(from_ms, to_ms, |entry| mark(entry.begun_ms(), entry.at_ms));
    if !is_single {
        let hours = life.hours().keys().map(|hour| u64::from(*hour) * HOUR_MS);
        hours.for_each(|at_ms| mark(at_ms, at_ms + HOUR_MS - 1));
    }
    cuts(&busy, from_ms, to_ms, each_ms, width)
}

fn cuts(busy: &[bool], from_ms: u64, to_ms: u64, each_ms: u64, width: f64) -> Vec<Cut> {
    let most = (width * SHARE / CUT) as usize;
    // Idle time at either end is what one looked for.
    let (mut cuts, mut begin) = (Vec::new(), None);
    for (at, _) in busy.iter().enumerate().filter(|(_, is_busy)| **is_busy) {
        if let Some(begin) = begin.filter(|begin| at - begin >= IDLE_PARTS) {
            // A part is left at either end, so that what is beside it is not at its very edge.
            let ms = |part: usize| from_ms.saturating_add((part as u64).saturating_mul(each_ms));
            cuts.push(Cut { from_ms: ms(begin + 1), to_ms: ms(at - 1).min(to_ms) });
        }
        begin = Some(at + 1);
    }
    cuts.retain(|cut| cut.from_ms < cut.to_ms);
    cuts.sort_by_key(|cut| std::cmp::Reverse(cut.to_ms - cut.from_ms));
    cuts.truncate(most);
    cuts.sort_by_key(|cut| cut.from_ms);
    cuts
}
