// A real Chromium, and what is watched on every page in it: errors, violations, dialogs, overflow, axe, what steers.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { holds, place, shots } from './told.mjs';

const require = createRequire(path.join(place, 'package.json'));
const { chromium } = require('playwright-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--host-resolver-rules=MAP evil.test 127.0.0.1'];
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];

/** A browser with a folder of its own that goes with it. */
export function launch(more = []) {
  return chromium.launch({ executablePath: process.env.CHROMIUM, headless: true, args: [...FLAGS, ...more] });
}

/** A page whose errors, violations and dialogs are gathered in `page.odd`. */
export async function open(context) {
  const page = await context.newPage();
  page.odd = [];
  page.on('console', (said) => {
    if (['error', 'warning'].includes(said.type())) page.odd.push(`console: ${said.text()} (${said.location().url})`);
  });
  page.on('pageerror', (error) => page.odd.push(`error: ${error}`));
  page.on('dialog', (dialog) => {
    page.odd.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  return page;
}

/** A context that came in by the link, or as the server has it. */
export async function enter(browser, server, options = {}) {
  const context = await browser.newContext({ colorScheme: 'light', viewport: { width: 800, height: 900 }, ...options });
  const page = await open(context);
  await (server.enters ? server.enters(page) : page.goto(server.link));
  return { context, page };
}

export function is_quiet(page, where) {
  holds(page.odd.length === 0, `${where}: nothing odd is said in the console`, page.odd.join(' | '));
  page.odd.length = 0;
}

/** The page itself is never wider than the screen; what is wide scrolls in a box of its own. */
export async function fits(page, where) {
  const seen = await page.evaluate(() => {
    const wide = document.documentElement.clientWidth;
    const over = [...document.querySelectorAll('body *')].filter((one) => {
      if (one.closest('svg') && one.tagName !== 'svg') return false;
      for (let box = one; box && box !== document.body; box = box.parentElement) {
        if (box !== one && getComputedStyle(box).overflowX !== 'visible') return false;
      }
      const box = one.getBoundingClientRect();
      // What is put off the screen for screen readers is on its left.
      return box.right > wide + 1 && box.width > 1;
    });
    const name = (one) => `${one.tagName.toLowerCase()}.${one.getAttribute('class') ?? ''} ${Math.round(one.getBoundingClientRect().right)}`;
    return { wide, whole: document.documentElement.scrollWidth, over: over.slice(0, 5).map(name) };
  });
  holds(seen.whole <= seen.wide && seen.over.length === 0, `${where}: no wider than ${seen.wide}`, JSON.stringify(seen));
}

/** No violation that axe knows. */
export async function is_accessible(page, where) {
  if (!(await page.evaluate('typeof axe !== "undefined"'))) await page.evaluate(axe);
  const violations = await page.evaluate(async (rules) => {
    const told = await globalThis.axe.run(document, { runOnly: { type: 'tag', values: rules }, resultTypes: ['violations'] });
    return told.violations.map((one) => ({
      id: one.id,
      count: one.nodes.length,
      first: one.nodes[0].html.slice(0, 160),
      why: one.nodes[0].failureSummary.split('\n').slice(1, 3).join(' ').slice(0, 220),
    }));
  }, RULES);
  for (const one of violations) holds(false, `${where}: axe ${one.id}, ${one.count} times`, `${one.why} ${one.first}`);
  if (violations.length === 0) holds(true, where);
}

/** Nothing of the house's texts became an element or ran. */
export async function is_harmless(page, where) {
  const seen = await page.evaluate(() => {
    const bad = [];
    const ours = (address) => new URL(address, location.href).origin === location.origin;
    // A link of a text's own leads out by web or mail alone, tells nobody where it was, and says where it leads.
    const leads_out = (one, value) => one.tagName === 'A' && one.rel === 'noopener noreferrer' && one.target === '_blank' && /^(https?|mailto):/i.test(value)
      && (one.textContent === value || `mailto:${one.textContent}` === value || (one.nextElementSibling?.className === 'address' && one.nextElementSibling.textContent === `(${value})`));
    if (globalThis.pwned !== undefined) bad.push(`pwned is ${globalThis.pwned}`);
    for (const one of document.querySelectorAll('#made, iframe, frame, object, embed, base, img, meta[http-equiv], b, style')) {
      bad.push(one.outerHTML.slice(0, 120));
    }
    for (const one of document.querySelectorAll('script')) {
      if (!one.src || !ours(one.src) || one.textContent) bad.push(one.outerHTML.slice(0, 120));
    }
    for (const one of document.querySelectorAll('*')) {
      for (const name of one.getAttributeNames()) {
        if (name.startsWith('on') || name === 'style' || name === 'srcdoc') bad.push(`${one.tagName} has ${name}`);
        const value = one.getAttribute(name);
        if (['href', 'src', 'action', 'xlink:href', 'formaction'].includes(name) && !ours(value) && !leads_out(one, value)) {
          bad.push(`${one.tagName} ${name} ${value}`);
        }
      }
    }
    if (document.querySelectorAll('title').length < 1 || /[<>]/.test(document.title)) bad.push(`title ${document.title}`);
    // What turns the direction of text around or hides within it is spelled out, not drawn; a field holds what is true.
    const drawn = document.body.innerText;
    const steers = drawn.match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]/);
    if (steers) bad.push(`U+${steers[0].charCodeAt(0).toString(16)} is drawn at: ${drawn.slice(Math.max(0, steers.index - 30), steers.index + 10)}`);
    return bad;
  });
  holds(seen.length === 0, `${where}: what was written stays text`, seen.slice(0, 6).join(' | '));
}

/** A picture of the whole page; `screen`: of what is seen of it just now. */
export async function shoot(page, name, screen = false) {
  fs.mkdirSync(shots, { recursive: true });
  if (screen) return page.screenshot({ path: path.join(shots, `${name}.png`) });
  const height = await page.evaluate('Math.min(document.documentElement.scrollHeight, 4000)');
  const width = page.viewportSize().width;
  await page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true, clip: { x: 0, y: 0, width, height } });
}
