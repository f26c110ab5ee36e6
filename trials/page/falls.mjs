// What becomes of it when it is killed in the middle of an act or of a stream, and when the state is replaced under it.
import fs from 'node:fs';
import path from 'node:path';
import { enter } from './browser.mjs';
import { append, lines, record } from './house.mjs';
import { Server } from './server.mjs';
import { holds, part, rest, tried, until } from './told.mjs';

const LOST = /connect|reach|lost|gone|does not answer|not running|no longer|waits for|ended/i;

export async function falls(browser, house) {
  part('killed, and the state replaced under it');
  let server = await Server.start(house);
  const { context, page } = await enter(browser, server);
  const text = () => page.evaluate(() => document.body.innerText);
  await tried('killed in the middle of a stream', async () => {
    await page.goto(server.origin);
    await rest(300);
    const before = await text();
    await server.kill();
    const said = await until('the page to say so', async () => {
      const now = await text();
      return now !== before && LOST.test(now.split('\n').filter((line) => !before.includes(line)).join('\n')) && now;
    }, 1_000).catch(() => undefined);
    holds(Boolean(said), 'a page whose server was killed says so');
    const live = await page.evaluate(() => [...document.querySelectorAll('[role=status],[aria-live],[role=alert]')].map((one) => one.innerText).join('|'));
    holds(LOST.test(live), 'and says it to a screen reader', live.slice(0, 200));
    append(house, '.self/memory.jsonl', record('action', { thought: house.thoughts, tool: 'while.it.was.dead', args: {}, result: { ok: true } }));
    server = await Server.start(house, { port: server.port });
    append(house, '.self/memory.jsonl', record('action', { thought: house.thoughts, tool: 'after.it.rose', args: {}, result: { ok: true } }));
    await until('what happened after it', async () => (await text()).includes('after.it.rose'), 2_000);
    holds((await text()).includes('while.it.was.dead'), 'what happened while it was dead is there too');
    holds(await page.evaluate(() => document.body.innerText).then((now) => now.split('\n').length > 3), 'and the page goes on');
    const later = await page.evaluate(() => [...document.querySelectorAll('[role=status],[aria-live],[role=alert]')].map((one) => one.innerText).join('|'));
    holds(!/lost|does not answer|no longer/i.test(later), 'and no longer says that it is lost', later.slice(0, 200));
  });
  await tried('killed in the middle of acts', async () => (server = await amid_acts(browser, house, server)));
  await tried('the state replaced under it', () => replaced(page, house, server));
  await context.close();
  await server.kill('SIGTERM');
  const status = await Promise.race([server.gone, rest(10_000)]);
  holds(status === 0 || status === 'SIGTERM', 'asked to end, it ends', status);
}

/** Words are said and the server is killed so many ms after: none is there twice or torn, and what was told to be said is there. */
async function amid_acts(browser, house, server) {
  let said = 0;
  for (let round = 0; round < 16; round += 1) {
    const cookie = await server.cookie();
    const form = await server.ask('/talk', { headers: { cookie } });
    const act = form.body.match(/action="\/say"[\s\S]*?name="act"[^>]*value="([^"]+)"/)?.[1] ?? form.body.match(/name="act"[^>]*value="([^"]+)"/)?.[1];
    if (!holds(Boolean(act), 'the form to say a word has a token')) break;
    const word = `said in round ${round} of the kills`;
    const body = new URLSearchParams({ act, words: word }).toString();
    const asked = server.ask('/say', { method: 'POST', body, headers: { cookie, origin: server.origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(body) } });
    const answer = asked.catch(() => undefined);
    await rest(round * 1.5);
    await server.kill();
    const told = await answer;
    const there = lines(house, '.self/inbox.jsonl').filter((line) => line.text === word).length;
    if (told && told.status >= 400) holds(false, `round ${round}: the word is taken`, told.status);
    holds(there <= 1, `round ${round}: the word is not there twice`, there);
    if (told && told.status < 400) holds(there === 1, `round ${round}: what was said to be done is done`, told.status);
    said += there;
    server = await Server.start(house, { port: server.port });
    holds((await server.ask('/talk', { headers: { cookie } })).status === 200, `round ${round}: who was in is still in after a restart`);
  }
  console.log(`   of 16 words whose server was killed ${said} were said`);
  return server;
}

async function replaced(page, house, server) {
  await page.goto(server.link);
  const state = path.join(house.root, '.self');
  const aside = path.join(house.root, '.self-aside');
  const other = path.join(house.root, '.self-other');
  fs.cpSync(state, other, { recursive: true });
  for (const name of fs.readdirSync(other)) if (name.startsWith('memory')) fs.rmSync(path.join(other, name));
  fs.writeFileSync(path.join(other, 'memory.jsonl'), `${JSON.stringify(record('action', { thought: 1, tool: 'of.another.state', args: {}, result: { ok: true } }))}\n`);
  await page.goto(server.origin);
  await rest(300);
  fs.renameSync(state, aside);
  fs.renameSync(other, state);
  const text = () => page.evaluate(() => document.body.innerText);
  const said = await until('the page to say so', async () => /replaced|another|other state|anew/i.test(await text()), 1_000).catch(() => false);
  holds(said, 'a page under which the state was replaced says so', (await text()).slice(0, 300));
  append(house, '.self/memory.jsonl', record('action', { thought: 1, tool: 'in.the.new.state', args: {}, result: { ok: true } }));
  const came = await until('what happens in the new state', async () => (await text()).includes('in.the.new.state'), 1_000).catch(() => false);
  holds(came, 'and goes on with what happens there');
  for (const view of ['/', '/talk', '/asks', '/life', '/report', '/memory', '/spend', '/search?q=another']) {
    let answer = await page.goto(server.origin + view);
    if (answer.status() === 403) {
      holds(/link/i.test(await text()), 'who must come in again is told how');
      await page.goto(server.renew().link.replace(/^http:\/\/[^/]+/, server.origin));
      answer = await page.goto(server.origin + view);
    }
    holds(answer.status() === 200, `${view} goes on with the new state`, answer.status());
  }
  // At once, as an owner would: the server goes on writing below while a tree is removed piece by piece.
  const gone = `${state}.gone`;
  fs.renameSync(state, gone);
  fs.rmSync(gone, { recursive: true, force: true, maxRetries: 50, retryDelay: 50 });
  for (const view of ['/', '/life', '/memory']) {
    const answer = await server.ask(view, {});
    holds(answer.status < 500, `without any state ${view} is answered`, answer.status);
  }
  holds(server.ended === undefined, 'and it does not end for that');
  fs.rmSync(state, { recursive: true, force: true, maxRetries: 50, retryDelay: 50 });
  fs.renameSync(aside, state);
}
