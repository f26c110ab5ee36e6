// What it costs, on a house of a year: first bytes, the drawn year, the stream's delay, memory, rest, and the creature beside it.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import http from 'node:http';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { enter } from './browser.mjs';
import { append, living, programs, record } from './house.mjs';
import { Server } from './server.mjs';
import { figure, holds, median, part, rest, spread, tried, until } from './told.mjs';

const ROUNDS = 15;

export async function figures(browser, year, quick) {
  part('figures, on a year of 1,000,000 records');
  console.log(`   load of this machine as it begins: ${os.loadavg().map((one) => one.toFixed(1)).join(' ')}, ${os.cpus().length} processors`);
  fs.rmSync(path.join(year.root, '.self/page'), { recursive: true, force: true });
  let server = await Server.start(year);
  figure('the link is printed after', server.started_ms, 'ms');
  const cookie = await server.cookie();
  await tried('the index', () => indexed(server, cookie));
  await server.kill('SIGTERM');
  server = await Server.start(year);
  await tried('resident, after a start with the index there', async () => {
    await quiet(server);
    const is = server.resident();
    figure('resident after a start with the index there', is.now_mib, 'MiB', 40, { highest: Math.round(is.highest_mib) });
  });
  const again = await server.cookie();
  await tried('first bytes', () => first_bytes(server, again, year));
  await tried('the drawn year', () => drawn(browser, server, again, year));
  await tried('the walk through the year', () => walked(browser, server, again, year));
  await tried('the stream', () => streamed(browser, server, year));
  await tried('at rest', () => at_rest(browser, server, quick));
  await tried('the creature beside it', () => beside(browser, server, year));
  await tried('memory', () => {
    const is = server.resident();
    figure('resident after the walk through the year', is.now_mib, 'MiB', 40);
    figure('resident at its highest', is.highest_mib, 'MiB', 40);
  });
  await server.kill('SIGTERM');
}

/** Waits until it does nothing for a second; the time it ran until then, in ms. */
async function quiet(server) {
  let ran = server.ran_ms();
  for (let still = 0; still < 4; ) {
    await rest(250);
    const now = server.ran_ms();
    still = now - ran < 10 ? still + 1 : 0;
    ran = now;
  }
  return ran;
}

async function indexed(server, cookie) {
  const begun = performance.now();
  // Somebody looks at the picture, while the past is read.
  const first = await server.ask('/life', { headers: { cookie } });
  figure('the picture while the past is yet to be read', first.whole_ms, 'ms');
  const slow = [];
  for (;;) {
    slow.push((await server.ask('/', { headers: { cookie } })).first_ms);
    await rest(1_000);
    const { body } = await server.ask('/life', { headers: { cookie } });
    if (!/still being read/.test(body) || performance.now() - begun > 300_000) break;
  }
  figure('the index of the year is there after', performance.now() - begun, 'ms', undefined, { processor: server.ran_ms() });
  figure('the first page meanwhile, first byte', median(slow), 'ms', undefined, spread(slow));
  const is = server.resident();
  figure('resident at its highest, after the index was made', is.highest_mib, 'MiB', 40, { now: Math.round(is.now_mib) });
}

async function first_bytes(server, cookie, year) {
  const day = 86_400_000;
  const paths = { now: '/', talk: '/talk', asks: '/asks', 'a year': '/life', 'a day': `/life?from=${year.to_ms - day}&to=${year.to_ms}`, 'a life': '/lives/150', 'a thought of the first day': '/thought/30', 'the last thought': `/thought/${year.last_thought}`,
    'self-edits': '/edits', report: '/report', 'report of 30 days': '/report?since=30d', search: '/search?q=round', spend: '/spend', 'spend of a year': '/spend?days=365', memory: '/memory', style: '/style.css' };
  for (const [name, where] of Object.entries(paths)) {
    const taken = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const answer = await server.ask(where, { headers: { cookie } });
      if (!holds(answer.status === 200, `${where} is answered`, answer.status)) break;
      taken.push(answer.first_ms);
    }
    if (taken.length) figure(`first byte, ${name}`, median(taken), 'ms', 50, spread(taken));
  }
}

async function drawn(browser, server, cookie, year) {
  const svg = `/life.svg?from=${year.from_ms}&to=${year.to_ms}&width=1600`;
  for (const [name, where] of [['the year as SVG, whole', svg], ['the page of the year, whole', `/life?from=${year.from_ms}&to=${year.to_ms}`],
    ['a month as SVG, whole', `/life.svg?from=${year.to_ms - 30 * 86_400_000}&to=${year.to_ms}&width=1600`], ['an hour as SVG, whole', `/life.svg?from=${year.to_ms - 3_600_000}&to=${year.to_ms}&width=1600`]]) {
    const taken = [];
    let bytes = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const answer = await server.ask(where, { headers: { cookie } });
      taken.push(answer.whole_ms);
      bytes = answer.body.length;
      if (!holds(answer.status === 200 && answer.body.includes('<svg'), `${where} is a picture`, answer.status)) return;
    }
    figure(name, median(taken), 'ms', 300, { ...spread(taken), kB: Math.round(bytes / 1_000) });
  }
  const { context, page } = await enter(browser, server, { viewport: { width: 1600, height: 900 } });
  const painted = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await page.goto(`${server.origin}/life?from=${year.from_ms}&to=${year.to_ms}`);
    painted.push(await page.evaluate(() => new Promise((done) => {
      const after = () => requestAnimationFrame(() => requestAnimationFrame(() => {
        const [first] = performance.getEntriesByName('first-contentful-paint');
        const [way] = performance.getEntriesByType('navigation');
        // From asking to the frame after all of it was there.
        done({ painted: Math.max(first ? first.startTime : 0, way.domContentLoadedEventEnd), answered: way.responseEnd });
      }));
      if (document.readyState === 'complete') after(); else addEventListener('load', after);
    })));
  }
  const of = painted.map((one) => one.painted);
  figure('the year drawn in Chromium, from asking to painted', median(of), 'ms', 300, { ...spread(of), answered: Math.round(median(painted.map((one) => one.answered))) });
  await context.close();
}

/** As an owner goes through a year: month by month, into days, thoughts, lives, search to the first record, reports. */
async function walked(browser, server, cookie, year) {
  const { context, page } = await enter(browser, server);
  const whole = year.to_ms - year.from_ms;
  const views = ['/search?q=nowhere-to-be-found', '/search?q=round', '/report?since=30d', '/spend?days=365', '/memory', '/edits', '/asks'];
  for (let month = 0; month < 12; month += 1) {
    const from = Math.round(year.from_ms + (whole * month) / 12);
    views.push(`/life?from=${from}&to=${Math.round(from + whole / 12)}`, `/life?from=${from}&to=${from + 86_400_000}`, `/thought/${month * 16_000 + 5}`, `/lives/${month * 24 + 3}`);
  }
  const slow = [];
  for (const view of views) {
    const begun = performance.now();
    const answer = await page.goto(server.origin + view);
    slow.push([performance.now() - begun, view]);
    holds(answer.status() === 200, `${view} of the year is there`, answer.status());
  }
  slow.sort(([one], [other]) => other - one);
  console.log(`   slowest views of the year: ${slow.slice(0, 4).map(([ms, view]) => `${view} ${Math.round(ms)} ms`).join(', ')}`);
  for (const kind of ['json', 'html']) {
    const begun = performance.now();
    const told = await server.ask(`/export/span.${kind}?from=${year.to_ms - 30 * 86_400_000}&to=${year.to_ms}`, { headers: { cookie } });
    figure(`a month as ${kind}, whole`, performance.now() - begun, 'ms', undefined, { kB: Math.round(told.body.length / 1_000) });
    holds(told.status === 200, `a month as ${kind} is given out`, told.status);
  }
  await context.close();
}

async function streamed(browser, server, year) {
  const dies = living(year, 300);
  const { context, page } = await enter(browser, server);
  await page.goto(server.origin);
  await page.evaluate(() => {
    globalThis.came = {};
    new MutationObserver(() => {
      for (const mark of document.body.textContent.match(/mark-\d+-of-the-trial/g) ?? []) {
        globalThis.came[mark] ??= performance.timeOrigin + performance.now();
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await rest(500);
  const delays = { 'a record': [], 'what it thinks': [], 'an answer': [] };
  for (let round = 0; round < 20; round += 1) {
    for (const [number, kind] of Object.keys(delays).entries()) {
      const mark = `mark-${round * 3 + number}-of-the-trial`;
      const then = performance.timeOrigin + performance.now();
      if (kind === 'a record') append(year, '.self/memory.jsonl', record('action', { thought: year.last_thought, tool: mark, args: {}, result: { ok: true } }));
      else if (kind === 'an answer') append(year, '.self/memory.jsonl', record('message', { from: 'creature', text: `it is ${mark}`, kind: 'answer', thread: 'main', at: new Date().toISOString() }));
      else fs.writeFileSync(path.join(year.root, '.self/mind/thinking.txt'), `I think of ${mark}`);
      const came = await until(`${kind} on the page`, () => page.evaluate((mark) => globalThis.came[mark], mark), 300).catch(() => undefined);
      if (came === undefined) { holds(false, `${kind} comes to the first page while it is open`); break; }
      delays[kind].push(came - then);
      await rest(30 + (round * 37) % 90);
    }
  }
  for (const [kind, taken] of Object.entries(delays)) if (taken.length) figure(`${kind}: from written to drawn`, median(taken), 'ms', 100, spread(taken));
  await context.close();
  dies();
}

async function at_rest(browser, server, quick) {
  const span_s = quick ? 10 : 60;
  const rate = async (what) => {
    await quiet(server);
    const before = server.ran_ms();
    await rest(span_s * 1_000);
    figure(`processor at rest, ${what}`, ((server.ran_ms() - before) * 60) / span_s, 'ms a minute');
  };
  await rate('no page open');
  const { context, page } = await enter(browser, server);
  await page.goto(server.origin);
  for (const view of ['/talk', '/life']) await (await context.newPage()).goto(server.origin + view);
  await rate('three pages open');
  await context.close();
}

/** Appends by a writer like the creature, in turns: beside the server and three that follow it, and with the server held still. */
async function beside(browser, server, year) {
  await in_turns(server, year, 'the server and three that follow it', async () => {
    const cookie = await server.cookie();
    const following = [1, 2, 3].map(() => http.get({ host: '127.0.0.1', port: server.port, path: '/stream', headers: { cookie } }, (answer) => answer.resume()));
    following.forEach((one) => one.on('error', () => {}));
    return () => following.forEach((one) => one.destroy());
  });
  await in_turns(server, year, 'the server and three pages in Chromium', async () => {
    const { context, page } = await enter(browser, server);
    await page.goto(server.origin);
    for (const view of ['/talk', '/life']) await (await context.newPage()).goto(server.origin + view);
    return () => context.close();
  });
}

async function in_turns(server, year, what, begin) {
  const over = await begin();
  const file = path.join(year.root, '.self/memory.jsonl');
  const appends = () => JSON.parse(execFileSync(path.join(programs, 'trials'), ['page', 'appends', file, '60']));
  const took = { with: [], without: [] };
  appends();
  for (let round = 0; round < 16; round += 1) {
    const is_with = round % 4 === 0 || round % 4 === 3;
    if (!is_with) server.child.kill('SIGSTOP');
    took[is_with ? 'with' : 'without'].push(...appends());
    server.child.kill('SIGCONT');
    await rest(300);
  }
  figure(`an append beside ${what}, over one without`, median(took.with) / median(took.without), 'times', 1.2,
    { with_us: spread(took.with), without_us: spread(took.without) });
  await over();
}
