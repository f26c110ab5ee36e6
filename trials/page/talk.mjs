// The conversation as it happens: a reply that streams, Stop, an ask that comes and is answered where one talks.
import fs from 'node:fs';
import path from 'node:path';
import { enter, fits, is_accessible, is_harmless, is_quiet, shoot } from './browser.mjs';
import { append, lines, living, read, record } from './house.mjs';
import { holds, part, tried, until } from './told.mjs';

/** What streams, and a word of each part by which it is known to have come. */
const PARTS = [['## Three that lasted\n\n1. **ed** is ', 'lasted'], ['*still* there\n2. `cat`\n\n| tool | lines |\n|---|---|\n| ed | 8 |\n\n', 'still'],
  ['```rust\nlet a = "<b id=made>";\n```\n[docs](https://docs.example/ed) <img src=x onerror="window.pwned=30">', 'docs']];

export async function talks(browser, house, server) {
  part('talk, as it happens');
  const end = living(house, 10, 'resting');
  const { context, page } = await enter(browser, server);
  try {
    await tried('a reply streams', () => streams(page, house, server, end));
    await tried('how that looks', () => looks(page));
    await tried('Stop ends it', () => stops(page, house));
    await tried('the answer takes its place', () => answered(page, house, end));
    await tried('an ask comes, and is answered there', () => asked(page, house, server));
    is_quiet(page, 'talk');
  } finally {
    end();
    await context.close();
  }
}

const shown = (page, what) => page.evaluate((what) => document.querySelector(what)?.innerText ?? '', what);

async function streams(page, house, server, end) {
  await page.goto(`${server.origin}/talk#last`);
  holds(!(await page.locator('#stop').isVisible()), 'while it rests there is nothing to stop');
  append(house, '.self/mind/feed.jsonl', { at: new Date().toISOString(), life: 10, event: 'wakeup', data: { wake: 99, priority: 'owner', why: ["your owner's word waits"] } });
  const thinking = path.join(house.root, '.self/mind/thinking.txt');
  fs.writeFileSync(thinking, '');
  end.stage('thinking');
  await until('that it answers', async () => /answering you/.test(await shown(page, '#reply')), 500);
  for (const [one, word] of PARTS) {
    fs.appendFileSync(thinking, one);
    await until(`the part with ${word}`, async () => (await shown(page, '#reply')).includes(word), 500);
  }
  const marks = await page.evaluate(() => ['strong', 'em', 'table', 'pre code', 'ol li', 'a[rel]'].filter((one) => !document.querySelector(`#reply ${one}`)));
  holds(marks.length === 0, 'its marks are rendered as it streams', marks.join());
  holds((await shown(page, '#reply')).includes('let a = "<b id=made>";'), 'and its code is text');
  holds(/\d+ s/.test(await shown(page, '#reply .who')), 'it says for how long', await shown(page, '#reply .who'));
  await until('Stop', () => page.locator('#stop').isVisible(), 300);
  await is_harmless(page, 'a reply that streams');
}

async function looks(page) {
  for (const width of [390, 800, 1440]) {
    await page.setViewportSize({ width, height: 844 });
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.evaluate(() => document.getElementById('last').scrollIntoView({ block: 'end' }));
      await fits(page, `talk while it answers at ${width}`);
      await is_accessible(page, `talk while it answers at ${width}, ${colorScheme}`);
      await shoot(page, `talking-${width}-${colorScheme}`, true);
    }
  }
  await page.setViewportSize({ width: 800, height: 900 });
}

async function stops(page, house) {
  await page.locator('#stop button').click();
  await until('the word that stops it', () => lines(house, '.self/inbox.jsonl').some((line) => line.text === 'stop that'), 500);
  holds(new URL(page.url()).pathname === '/talk', 'the page stays', page.url());
}

async function answered(page, house, end) {
  append(house, '.self/memory.jsonl', record('message', { from: 'creature', kind: 'answer', thread: 'main', text: 'Three, **as you said**.' }));
  end.stage('resting');
  await until('the answer', async () => (await page.locator('#said li.creature strong').allInnerTexts()).includes('as you said'), 500);
  await until('no reply beside it', async () => (await shown(page, '#reply')) === '', 500);
  holds(!(await page.locator('#stop').isVisible()), 'and nothing to stop any more');
}

async function asked(page, house, server) {
  const before = Number(await page.locator('#count').textContent());
  const at = new Date().toISOString();
  const act = { kind: 'service', service: 'post', method: 'POST', path: '/send', url: 'https://post.example/send', headers: [['content-type', 'application/json']], body: JSON.stringify({ to: 'Ann', text: 'Shall we meet? <b id="made">' }) };
  const line = { at, id: '77', event: 'asked', kind: 'service', service: 'post', method: 'POST', path: '/send', why: 'a new recipient', summary: 'to Ann', digest: 'd77' };
  // As the broker does: the act first, then the line that tells of it.
  fs.writeFileSync(path.join(house.root, '.self/broker/asks/77.json'), JSON.stringify({ id: 77, digest: 'd77', state: 'asked', act }));
  append(house, '.self/asks.jsonl', line);
  await until('that one more is counted', async () => Number(await page.locator('#count').textContent()) === before + 1, 500);
  const told = await page.evaluate(() => ({ title: document.title, icon: document.querySelector('link[rel=icon]').getAttribute('href') }));
  holds(told.title.startsWith(`(${before + 1}) `) && told.icon === `/favicon.svg?asks=${before + 1}`, 'title and icon say so', JSON.stringify(told));
  const icon = await page.request.get(`${server.origin}${told.icon}`);
  holds(icon.ok() && (await icon.text()).includes('<circle'), 'the icon has its mark');
  await page.goto(`${server.origin}/asks`);
  const card = page.locator('article:has(form[action="/asks/77/yes"])');
  const text = await card.innerText();
  for (const part of ['Send to post?', 'Ann', 'Shall we meet? <b id="made">', 'https://post.example/send']) holds(text.includes(part), 'it is told in words', text);
  holds(!/application\/json/.test(text), 'its bytes are in a fold', text);
  await card.locator('summary').click();
  holds((await card.innerText()).includes('application/json'), 'which opens');
  await is_harmless(page, 'an ask in words');
  await card.locator('form[action="/asks/77/yes"] button').click();
  await until('the yes', () => lines(house, '.self/broker/answers.jsonl').some((line) => line.id === '77' && line.answer === 'approve' && line.digest === 'd77'), 500);
  await until('one less', async () => Number(await page.locator('#count').textContent()) === before, 500);
  holds(read(house, '.self/broker/answers.jsonl').split('"77"').length === 2, 'it is answered once');
}
