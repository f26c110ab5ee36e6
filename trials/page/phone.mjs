// The page beyond this machine in a Chromium as wide as a phone: signed in by password and by a passkey of a virtual
// authenticator, put on the home screen, signed out of, attacked from other origins.
import { execFileSync, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { attacks } from './attacks.mjs';
import { fits, is_accessible, is_harmless, is_quiet, launch, open, shoot } from './browser.mjs';
import { programs, read } from './house.mjs';
import { holds, part, tried, until } from './told.mjs';

const PASSWORD = 'correct horse battery staple';
const SCREEN = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2, colorScheme: 'light' };
const VIEWS = ['/', '/talk', '/asks', '/asks/4', '/life', '/more', '/edits', '/report', '/spend', '/memory', '/sessions'];
const LISTENS = /it listens at \S+:(\d+), SHA-256 ([0-9A-F:]+)/;

/** `phone-page serve` of a house, by the name `localhost`. */
export class Phone {
  static async start(house) {
    const phone = new Phone();
    phone.house = house;
    fs.writeFileSync(path.join(house.root, 'owner.toml'), '[page]\nlisten = "127.0.0.1:0"\nhost = "localhost"\n');
    phone.command(['password'], `${PASSWORD}\n${PASSWORD}\n`);
    phone.said = '';
    phone.child = spawn(path.join(programs, 'phone-page'), ['serve'], { cwd: house.root, stdio: ['ignore', 'ignore', 'pipe'] });
    phone.child.stderr.on('data', (bytes) => (phone.said += bytes));
    phone.gone = new Promise((done) => phone.child.on('exit', done));
    await until('that it listens', () => LISTENS.test(phone.said));
    [, phone.port, phone.fingerprint] = phone.said.match(LISTENS);
    phone.origin = `https://localhost:${phone.port}`;
    phone.link = `${phone.origin}/`;
    return phone;
  }

  command(words, input = '') {
    return execFileSync(path.join(programs, 'phone-page'), words, { cwd: this.house.root, input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });
  }

  /** The digest by which a browser is told to trust the certificate that was made: passkeys are for trusted ones alone. */
  trusted() {
    const certificate = new crypto.X509Certificate(read(this.house, '.self/broker/page/certificate.pem'));
    const key = certificate.publicKey.export({ type: 'spki', format: 'der' });
    return crypto.createHash('sha256').update(key).digest('base64');
  }

  async enters(page) {
    await page.goto(`${this.origin}/sign-in`);
    await page.fill('#password', PASSWORD);
    await page.click('form[action="/sign-in"] button');
    await page.waitForURL(this.link);
  }

  async kill() {
    this.child.kill('SIGTERM');
    return this.gone;
  }
}

// Empty while one page gives way to the next.
const text = (page) => page.evaluate(() => document.body.innerText).catch(() => '');
const path_of = (page) => new URL(page.url()).pathname;

export async function on_a_phone(house) {
  part('beyond this machine, on a phone');
  const phone = await Phone.start(house);
  const browser = await launch([`--ignore-certificate-errors-spki-list=${phone.trusted()}`]);
  try {
    const context = await browser.newContext(SCREEN);
    const page = await open(context);
    await tried('the way in', () => way_in(page, phone));
    await tried('every view fits', () => views(page, phone));
    await tried('put on the home screen', () => installs(context, page, phone));
    await tried('a passkey', () => passkey(context, page, phone));
    await tried('two tabs and the back button', () => tabs_and_back(context, page, phone));
    await context.close();
    await tried('a session that was stolen', () => stolen(browser, phone));
    await tried('from other origins', () => attacks(browser, house, phone));
  } finally {
    await browser.close();
    await phone.kill();
  }
}

async function way_in(page, phone) {
  await page.goto(`${phone.origin}/asks`);
  holds(path_of(page) === '/sign-in', 'a stranger is led to sign in', page.url());
  await fits(page, 'the sign-in at 390');
  await is_accessible(page, 'the sign-in');
  await is_harmless(page, 'the sign-in');
  await shoot(page, 'phone-sign-in');
  await page.fill('#password', 'not the password');
  await page.click('form[action="/sign-in"] button');
  holds(/not the password/.test(await text(page)), 'a wrong password is told', await text(page));
  await is_accessible(page, 'a wrong password');
  page.odd = page.odd.filter((said) => !/401/.test(said));
  await phone.enters(page);
  holds(/You are signed in/.test(await text(page)), 'the password leads in');
  is_quiet(page, 'signing in');
}

async function views(page, phone) {
  for (const view of VIEWS) {
    const answer = await page.goto(phone.origin + view);
    holds(answer.status() === 200, `${view} is there`, answer.status());
    await fits(page, `${view} at 390`);
    await is_accessible(page, `${view} on a phone`);
    await is_harmless(page, `${view} on a phone`);
    await shoot(page, `phone${view.replace(/\//g, '-')}`);
  }
  is_quiet(page, 'the views on a phone');
}

async function installs(context, page, phone) {
  const client = await context.newCDPSession(page);
  await page.goto(phone.origin);
  const manifest = await client.send('Page.getAppManifest');
  holds(manifest.errors.length === 0 && /"standalone"/.test(manifest.data ?? ''), 'the manifest is without an error', JSON.stringify(manifest.errors));
  const { installabilityErrors } = await client.send('Page.getInstallabilityErrors');
  const wrong = installabilityErrors.filter((one) => one.errorId !== 'in-incognito');
  holds(wrong.length === 0, 'a browser offers to install it', JSON.stringify(wrong));
  for (const name of ['/icon-180.png', '/icon-192.png', '/icon-512.png']) {
    const wide = await page.evaluate((src) => new Promise((done) => {
      const one = new Image();
      one.onload = () => done(one.naturalWidth);
      one.onerror = () => done(0);
      one.src = src;
    }), name);
    holds(name.includes(String(wide)), `${name} is as wide as it says`, wide);
  }
  is_quiet(page, 'the home screen');
}

async function passkey(context, page, phone) {
  const client = await context.newCDPSession(page);
  await client.send('WebAuthn.enable');
  const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
  const { authenticatorId } = await client.send('WebAuthn.addVirtualAuthenticator', { options });
  const told = () => page.evaluate(() => document.getElementById('passkey-told')?.textContent ?? '').catch(() => '');
  await page.goto(`${phone.origin}/sessions`);
  await page.click('form[data-passkey=add] button');
  await until('the passkey', async () => /Passkey [0-9a-f]{8}/.test(await text(page)) || (await told()), 1_000);
  holds(/Passkey [0-9a-f]{8}/.test(await text(page)), 'a passkey is added', await told());
  await is_accessible(page, 'sessions with a passkey');
  await fits(page, 'sessions with a passkey at 390');
  await shoot(page, 'phone-sessions');
  await signs_out(page, phone);
  await page.click('form[data-passkey=sign-in] button');
  await until('to be within', async () => path_of(page) === '/' || (await told()), 1_000);
  holds(path_of(page) === '/' && /You are signed in/.test(await text(page)), 'the passkey leads in', await told());
  holds(/by passkey from/.test(phone.command(['sessions'])), 'and the terminal says so', phone.command(['sessions']));
  // Not verified, and then taken away on the page: neither leads in.
  await signs_out(page, phone);
  await client.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  await page.click('form[data-passkey=sign-in] button');
  await until('that it is told', told, 3_000).catch(() => {});
  holds(path_of(page) === '/sign-in', 'one that does not look who holds it leads nowhere', await told());
  await client.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
  await phone.enters(page);
  await page.goto(`${phone.origin}/sessions`);
  await page.click('form[action^="/passkeys/"][action$="/remove"] button');
  await page.waitForLoadState();
  holds(!/Passkey [0-9a-f]{8}/.test(await text(page)), 'a passkey is removed', await text(page));
  await signs_out(page, phone);
  holds((await page.locator('form[data-passkey=sign-in]').count()) === 0, 'and no longer asked for');
  await client.send('WebAuthn.disable');
  is_quiet(page, 'passkeys');
}

async function signs_out(page, phone) {
  await page.goto(phone.origin);
  await page.locator('summary', { hasText: 'You are signed in' }).click();
  await page.click('form[action="/sign-out"] button');
  await page.waitForURL(`${phone.origin}/sign-in`);
}

async function tabs_and_back(context, page, phone) {
  await phone.enters(page);
  const second = await open(context);
  await second.goto(`${phone.origin}/talk`);
  await page.goto(`${phone.origin}/talk`);
  for (const [tab, words] of [[second, 'from the second tab'], [page, 'from the first tab']]) {
    await tab.fill('form.say textarea', words);
    await tab.click('form.say button[type=submit]');
    await until(words, () => read(phone.house, '.self/inbox.jsonl').includes(words), 500);
  }
  holds(true, 'both tabs say their word');
  await page.goto(`${phone.origin}/memory`);
  await signs_out(page, phone);
  for (let at = 0; at < 3; at += 1) {
    await page.goBack().catch(() => {});
    const seen = await text(page);
    holds(!/herons|nests|Facts/i.test(seen) && path_of(page) === '/sign-in', `the back button shows nothing of the house (${at})`, seen.slice(0, 120));
  }
  await until('the other tab to say so', async () => /is out|connection is lost/.test(await text(second)), 1_000).catch(() => {});
  holds(/is out|connection is lost/.test(await text(second)), 'the other tab says that it is out', (await text(second)).slice(0, 200));
  await second.fill('form.say textarea', 'after the end').catch(() => {});
  await second.click('form.say button[type=submit]').catch(() => {});
  await second.waitForLoadState();
  holds(!read(phone.house, '.self/inbox.jsonl').includes('after the end'), 'and does nothing any more');
  await second.close();
  page.odd.length = 0;
}

/** A cookie that was stolen lets another browser in until its session is ended, and then no more. */
async function stolen(browser, phone) {
  const owner = await browser.newContext(SCREEN);
  const page = await open(owner);
  await phone.enters(page);
  const thief = await browser.newContext({ userAgent: 'curl/9' });
  await thief.addCookies((await owner.cookies()).filter((one) => !one.name.includes('known')));
  const other = await open(thief);
  await other.goto(`${phone.origin}/talk`);
  holds(path_of(other) === '/talk', 'a stolen cookie leads in, for it is bound to nothing else', other.url());
  const seen = await page.evaluate(() => document.cookie);
  holds(seen === '', 'no script of a page reads it', seen);
  await signs_out(page, phone);
  await other.goto(`${phone.origin}/talk`);
  holds(path_of(other) === '/sign-in', 'once the session is ended it leads nowhere', other.url());
  await thief.close();
  await owner.close();
}
