// Every view, found by following every link: at three widths, light and dark, judged by the browser, by axe and by eye.
import { enter, fits, is_accessible, is_harmless, is_quiet, shoot } from './browser.mjs';
import { read } from './house.mjs';
import { holds, part, tried } from './told.mjs';

const WIDTHS = [390, 800, 1440];
/** Links of one form that are followed. */
const OF_A_FORM = 3;

/** Where a view is always looked for, whatever leads there. */
function known(house) {
  const day = 86_400_000;
  const now = Date.now();
  return ['/', '/talk', '/asks', ...[1, 2, 3, 4, 5, 6].map((id) => `/asks/${id}`), '/life', `/life?from=${now - day}&to=${now}`,
    ...[1, 3, 8, 9, 10].map((life) => `/lives/${life}`), '/thought/1', '/thought/3', `/thought/${house.thoughts}`,
    ...house.commits.map((hash) => `/commit/${hash}`), '/record/memory.jsonl/0', '/more', '/edits', '/ladder/1', '/ladder/3', '/report',
    '/report?since=2d', '/search', '/search?q=herons', '/search?q=%3Cscript%3E', '/search?q=nowhere-to-be-found', '/spend', '/spend?days=7', '/memory'];
}

const form = (address) => {
  const url = new URL(address, 'http://house');
  return url.pathname.replace(/\/[^/]*\d[^/]*/g, '/N') + (url.search ? '?' : '');
};

/** The views of a house, by following links from those that are known. */
export async function found(page, house, server) {
  const views = [];
  const counts = new Map();
  const waits = known(house);
  const seen = new Set(waits);
  for (let at = 0; at < waits.length; at += 1) {
    const answer = await page.goto(server.origin + waits[at]);
    if (!holds(answer.status() === 200, `${waits[at]} is there`, answer.status())) continue;
    views.push(waits[at]);
    // What a text links to is said to lead out, and is not followed.
    const links = await page.evaluate(() => [...document.querySelectorAll('a:not([rel~=noopener])')].map((one) => one.getAttribute('href')));
    for (const link of links) {
      if (!link || link.startsWith('#') || /\.(json|html|css|js|svg)(\?|$)/.test(link)) continue;
      const url = new URL(link, page.url());
      const next = url.pathname + url.search;
      if (url.origin !== server.origin) holds(false, `${waits[at]} leads only to the house`, link);
      const of = form(next);
      if (seen.has(next) || (counts.get(of) ?? 0) >= OF_A_FORM || next.includes('token=')) continue;
      counts.set(of, (counts.get(of) ?? 0) + 1);
      seen.add(next);
      waits.push(next);
    }
  }
  return views;
}

const named = (view) => view.replace(/^\//, '').replace(/[^a-z0-9]+/gi, '-').slice(0, 40) || 'now';

export async function walk(browser, house, server, quick) {
  part('every view, at 390, 800 and 1440, light and dark');
  const { context, page } = await enter(browser, server);
  await page.goto(server.origin);
  is_quiet(page, 'coming in by the link');
  const views = await found(page, house, server);
  is_quiet(page, 'following every link');
  console.log(`   ${views.length} views`);
  for (const width of quick ? [390] : WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const view of views) {
      await tried(`${view} at ${width}`, () => judged(page, server, view, width, quick));
    }
  }
  await in_full(page, house, server);
  await context.close();
}

async function judged(page, server, view, width, quick) {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.goto(server.origin + view, { waitUntil: 'load' });
  await fits(page, `${view} at ${width}`);
  await is_harmless(page, `${view} at ${width}`);
  for (const scheme of quick ? ['dark'] : ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await is_accessible(page, `${view} at ${width}, ${scheme}`);
    await shoot(page, `${named(view)}-${width}-${scheme}`);
  }
  is_quiet(page, `${view} at ${width}`);
}

/** What is hostile stands there as it was written, whole, where a thing is shown whole. */
async function in_full(page, house, server) {
  const [before] = house.hostile.split('\u001b');
  const behind = house.hostile.slice(house.hostile.indexOf('<iframe'), house.hostile.indexOf('\n'));
  const last = 'guardian FORGED end-of-it';
  for (const view of ['/thought/3', '/asks/5', `/commit/${house.commits[2]}`, '/lives/8', '/talk', '/search?q=window.pwned']) {
    await page.goto(server.origin + view);
    const text = await page.evaluate(() => document.body.textContent);
    const parts = view.startsWith('/search') ? ['window.pwned'] : [before, behind, last];
    for (const one of parts) holds(text.includes(one), `${view} holds what was written, as it was written`, one.slice(0, 60));
  }
  await page.goto(`${server.origin}/memory`);
  await page.locator('a[href*="markup"]').first().click();
  const value = await page.locator('textarea').first().inputValue();
  holds(value === read(house, 'self/notes/markup.md'), 'the field of a note of markup holds its very bytes', value.slice(0, 80));
  await page.goto(`${server.origin}/memory`);
  await page.locator('a[href*="hostile"]').first().click();
  const text = await page.evaluate(() => document.body.textContent);
  const fields = await page.locator('textarea').count();
  holds(text.includes(before) && text.includes(last) && fields === 0, 'a note that no field could give back whole is shown, and cannot be spoilt', fields);
}

