// Every act by keyboard alone, from the link that skips to the content on.
import { enter, is_quiet } from './browser.mjs';
import { changed, held, lines, read } from './house.mjs';
import { holds, part, rest, tried, until } from './told.mjs';

/** Tabs until what has the focus is what is looked for. */
async function tab_to(page, what, is, most = 600) {
  for (let at = 0; at < most; at += 1) {
    await page.keyboard.press('Tab');
    // As text, for the page's own policy lets nothing be made into code.
    const there = await page.evaluate(`(() => { const one = document.activeElement; return Boolean(one && one !== document.body && (${is})); })()`);
    if (there) {
      const is_within = () => page.evaluate(() => {
        const box = document.activeElement.getBoundingClientRect();
        return box.bottom > 0 && box.top < innerHeight;
      });
      // What is scrolled to smoothly takes some frames.
      await until(`${what} on the screen`, is_within, 100).catch(() => {});
      const seen = await page.evaluate(() => {
        const one = document.activeElement;
        const style = getComputedStyle(one);
        const box = one.getBoundingClientRect();
        return { ring: style.outlineStyle !== 'none' || style.boxShadow !== 'none' || style.strokeWidth !== '0px', within: box.bottom > 0 && box.top < innerHeight };
      });
      holds(seen.ring && seen.within, `${what} shows that it has the focus, within the screen`, JSON.stringify(seen));
      return;
    }
  }
  throw new Error(`no Tab leads to ${what}`);
}

const in_form = (action) => `one.form && one.form.getAttribute('action') === '${action}' && ['BUTTON', 'INPUT'].includes(one.tagName) && one.type === 'submit'`;
const link = (start) => `(one.getAttribute('href') || '').startsWith('${start}')`;

/** Presses Enter on what has the focus, and waits for the page that follows. */
async function enters(page) {
  await Promise.all([page.waitForEvent('framenavigated'), page.keyboard.press('Enter')]);
  await page.waitForLoadState();
}

export async function by_keyboard(browser, house, server) {
  part('by keyboard alone');
  const { context, page } = await enter(browser, server);
  const at = (view) => page.goto(server.origin + view);
  await tried('the way in', () => way_in(page, server));
  await tried('a word is said', () => says(page, house, at));
  await tried('an ask is approved, by its exact bytes', () => answers(page, house, at, '4', 'yes', 'approve'));
  await tried('another one is denied', () => answers(page, house, at, '6', 'no', 'deny'));
  await tried('what going back would change is shown, and nothing is changed', () => previews(page, house, at));
  await tried('a note is corrected', () => corrects(page, house, at));
  await tried('the picture is zoomed and moved, and a thought is reached in it', () => moves(page, at));
  is_quiet(page, 'by keyboard alone');
  await context.close();
}

async function way_in(page, server) {
  await page.goto(server.origin);
  await page.keyboard.press('Tab');
  const first = await page.evaluate(() => ({ text: document.activeElement.textContent, href: document.activeElement.getAttribute('href') }));
  holds(/^#/.test(first.href ?? ''), 'the first Tab leads to the link that skips to the content', JSON.stringify(first));
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  const within = await page.evaluate(() => Boolean(document.activeElement.closest('main')) || document.activeElement === document.body);
  holds(within, 'after it the next Tab is within the content');
  await page.goto(server.origin);
  for (const view of ['/talk', '/asks', '/life', '/edits', '/report', '/search', '/spend', '/memory']) {
    await tab_to(page, `the way to ${view}`, `${link(view)} && one.closest('nav')`);
    await enters(page);
    holds(new URL(page.url()).pathname === view, `the way to ${view} leads there`, page.url());
    const now = await page.evaluate(() => document.querySelector('nav [aria-current]')?.getAttribute('href'));
    holds(now?.split('#')[0] === view, `${view} is marked as where one is`, now);
  }
}

async function says(page, house, at) {
  await at('/talk');
  await tab_to(page, 'the field for a word', `one.tagName === 'TEXTAREA' || (one.tagName === 'INPUT' && one.type === 'text' && one.form.getAttribute('action') === '/say')`);
  for (const [how, send] of [['Enter in the field', () => page.keyboard.press('Enter')], ['the button', async () => {
    await tab_to(page, 'the button that sends it', in_form('/say'));
    await page.keyboard.press('Enter');
  }]]) {
    const word = `by ${how}, <b>word</b> & “quoted” ${Date.now()}`;
    await page.keyboard.type(word);
    const was = page.url();
    await send();
    await until('the word in the inbox', () => lines(house, '.self/inbox.jsonl').some((line) => line.text === word));
    await until('the word on the page', () => page.evaluate((word) => document.querySelector('#said').innerText.includes(word), word).catch(() => false), 300);
    holds(lines(house, '.self/inbox.jsonl').filter((line) => line.text === word).length === 1, `${how}: the word is said once`);
    const field = await page.evaluate(() => ({ text: document.querySelector('#words').value, has: document.activeElement?.id }));
    holds(page.url() === was && field.text === '' && field.has === 'words', `${how}: the page stays, its field is empty and has the focus`, JSON.stringify(field));
  }
  await page.keyboard.type('one');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('two');
  holds((await page.inputValue('#words')) === 'one\ntwo', 'Shift-Enter begins another line');
}

async function answers(page, house, at, id, way, answer) {
  await at(`/asks/${id}`);
  const stored = JSON.parse(read(house, `.self/broker/asks/${id}.json`));
  const text = await page.evaluate(() => document.body.textContent);
  for (const one of [stored.act.url, stored.act.body, 'content-type', 'application/json']) {
    holds(text.includes(one), `ask ${id} shows its exact bytes before the answer`, one);
  }
  await tab_to(page, `${answer} ${id}`, in_form(`/asks/${id}/${way}`));
  const before = held(house);
  await enters(page);
  await until('the answer', () => lines(house, '.self/broker/answers.jsonl').some((line) => line.id === id));
  await page.waitForLoadState();
  const told = lines(house, '.self/broker/answers.jsonl').filter((line) => line.id === id);
  holds(told.length === 1 && told[0].answer === answer && told[0].digest === stored.digest, `${answer} ${id} names what was shown`, JSON.stringify(told));
  const files = changed(before, held(house));
  holds(files.join() === '.self/broker/answers.jsonl', 'an answer writes the answer and nothing else', files);
  const after = await page.evaluate(() => document.querySelector('main').innerText);
  holds(new RegExp(answer, 'i').test(after) || /noted|answered/i.test(after), 'the page says what came of it', after.slice(0, 200));
}

async function previews(page, house, at) {
  await at('/edits');
  const text_of = await page.evaluate(() => document.querySelector('main').innerText);
  for (const fate of ['runs now', 'proved itself', 'fell', 'rolled back by you', 'refused']) holds(text_of.includes(fate), `a self-edit is told that ${fate}`, text_of.slice(0, 300));
  const before = held(house);
  await tab_to(page, 'the way back to a version', `${link('/ladder/')} && one.closest('main')`);
  await enters(page);
  holds(/\/ladder\/[0-9a-f]+/.test(page.url()), 'Enter leads there', page.url());
  const text = await page.evaluate(() => document.querySelector('main').innerText);
  holds(/[+-]\d|lines|files/.test(text), 'it is told what would change', text.slice(0, 200));
  await tab_to(page, 'the button that goes back', `one.form && /\\/back$/.test(one.form.getAttribute('action')) && one.type === 'submit'`);
  holds(changed(before, held(house)).length === 0, 'nothing was changed by looking', changed(before, held(house)));
}

/** Opens a paper for correction; whether by its own page or by the same. */
async function corrects(page, house, at) {
  await at('/memory');
  await tab_to(page, 'the note of herons', `(one.getAttribute('href') || '').includes('herons')`);
  await enters(page);
  holds(/herons/.test(page.url()), 'Enter leads there', page.url());
  const is_field = `one.tagName === 'TEXTAREA'`;
  await tab_to(page, 'the field of the note', is_field);
  await page.keyboard.press('Control+End');
  await page.keyboard.type('They sleep on one leg.\n');
  const before = held(house);
  await tab_to(page, 'the button that keeps it', `one.form && (one.form.getAttribute('action') || '').startsWith('/memory') && one.type === 'submit'`);
  await enters(page);
  await until('the note', () => read(house, 'self/notes/herons.md').endsWith('They sleep on one leg.\n'));
  await page.waitForLoadState();
  const files = changed(before, held(house)).filter((file) => !file.startsWith('.git/'));
  holds(files.join() === 'self/notes/herons.md', 'a correction writes the note and nothing else', files);
  const text = read(house, 'self/notes/herons.md');
  holds(text.startsWith('# Herons\n\nGrey ones, and white ones.\n\n- They fish at dawn.\n') && !text.includes('\r'), 'the rest of the note is as it was', text);
}

async function moves(page, at) {
  await at('/life');
  const url = () => page.url();
  // A link of the content that keeps the view and changes its span: nearer, and along.
  for (const [what, wanted] of [['nearer', /near|in\b|\+|closer/i], ['earlier', /earlier|before|back|left|older|←/i], ['farther', /out|fa?u?rther|wider|whole|−|-/i]]) {
    const links = await page.evaluate(() => [...document.querySelectorAll('main a[href^="/life"], main button')].filter((one) => !one.closest('svg')).map((one) => one.textContent.trim() + '|' + (one.getAttribute('aria-label') ?? '')));
    const there = links.find((text) => wanted.test(text));
    if (!holds(there !== undefined, `there is a way ${what} for the keyboard`, links.join('; '))) continue;
    const was = url();
    await tab_to(page, `the way ${what}`, `!one.closest('svg') && one.closest('main') && (one.textContent.trim() + '|' + (one.getAttribute('aria-label') || '')) === ${JSON.stringify(there)}`);
    await page.keyboard.press('Enter');
    await until(`the picture ${what}`, async () => url() !== was, 500);
    await page.waitForLoadState();
    await rest(300);
  }
  await at('/life');
  const direct = await page.locator('main svg a[href^="/thought/"]').count();
  if (direct === 0) await nearer_until_thoughts(page);
  await tab_to(page, 'a thought in the picture', `${link('/thought/')} && one.closest('svg')`);
  await page.keyboard.press('Enter');
  await until('the thought', async () => /\/thought\/\d+/.test(page.url()), 500);
}

/** Follows the aggregated columns of the picture, as one does, until single thoughts are drawn. */
async function nearer_until_thoughts(page) {
  for (let step = 0; step < 6; step += 1) {
    if (await page.locator('main svg a[href^="/thought/"]').count()) return;
    const was = page.url();
    await tab_to(page, 'an aggregated column', `${link('/life?')} && one.closest('svg')`);
    await page.keyboard.press('Enter');
    await until('the picture of that span', async () => page.url() !== was, 500);
    await page.waitForLoadState();
  }
}
