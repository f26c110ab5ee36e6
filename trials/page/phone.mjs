// The page beyond this machine in a Chromium as wide as a phone: signed in by password and by a passkey of a virtual
// authenticator, put on the home screen, signed out of, attacked from other origins.
import { execFileSync, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import https from 'node:https';
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
  static async start(house, listen = '127.0.0.1:0', host = 'localhost') {
    const phone = Object.assign(new Phone(), { house, password: PASSWORD });
    fs.writeFileSync(path.join(house.root, 'owner.toml'), `[page]\nlisten = "${listen}"\nhost = "${host}"\n`);
    phone.command(['password'], `${PASSWORD}\n${PASSWORD}\n`);
    await phone.begins();
    return phone;
  }

  async begins() {
    this.said = '';
    this.child = spawn(path.join(programs, 'phone-page'), ['serve'], { cwd: this.house.root, stdio: ['ignore', 'ignore', 'pipe'] });
    this.child.stderr.on('data', (bytes) => (this.said += bytes));
    this.gone = new Promise((done) => this.child.on('exit', done));
    await until('that it listens', () => LISTENS.test(this.said));
    [, this.port, this.fingerprint] = this.said.match(LISTENS);
    this.origin = `https://localhost:${this.port}`;
    this.link = `${this.origin}/`;
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

  async kill(signal = 'SIGTERM') {
    this.child.kill(signal);
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
    await tried('killed while signed in', () => killed(page, phone));
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
  // Its answer comes after a crowd of strangers began to sign in: theirs end none but their own.
  await page.route('**/sign-in/passkey/finish', async (route) => { await crowd(phone, 600); await route.continue(); });
  await page.click('form[data-passkey=sign-in] button');
  await until('to be within', async () => (path_of(page) === '/' && /You are signed in/.test(await text(page))) || (await told()), 3_000);
  await page.unroute('**/sign-in/passkey/finish');
  holds(path_of(page) === '/' && /You are signed in/.test(await text(page)), 'the passkey leads in', await told());
  holds(/by passkey from/.test(phone.command(['sessions'])), 'and the terminal says so', phone.command(['sessions']));
  // Not verified, and then taken away on the page: neither leads in.
  await signs_out(page, phone);
  await client.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  await page.click('form[data-passkey=sign-in] button');
  await until('that it is told', told, 3_000).catch(() => {});
  holds(path_of(page) === '/sign-in', 'one that does not look who holds it leads nowhere', await told());
  await client.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
  await copied(client, authenticatorId, page, told);
  await phone.enters(page);
  await page.goto(`${phone.origin}/sessions`);
  await page.click('form[action^="/passkeys/"][action$="/remove"] button');
  await page.waitForLoadState();
  holds(!/Passkey [0-9a-f]{8}/.test(await text(page)), 'a passkey is removed', await text(page));
  await removed_at_the_terminal(client, authenticatorId, page, phone);
  await signs_out(page, phone);
  holds((await page.locator('form[data-passkey=sign-in]').count()) === 0, 'and no longer asked for');
  await client.send('WebAuthn.disable');
  is_quiet(page, 'passkeys');
}

/** Strangers who begin to sign in by a passkey and go no further. */
async function crowd(phone, count) {
  const agent = new https.Agent({ keepAlive: false, maxSockets: 16, rejectUnauthorized: false });
  const begin = () => new Promise((done) => {
    const asked = https.request({ host: '127.0.0.1', port: phone.port, path: '/sign-in/passkey', method: 'POST', agent, headers: { 'content-type': 'application/x-www-form-urlencoded' } }, (answer) => answer.resume().on('end', () => done(answer.statusCode)));
    asked.on('error', () => done(0)).end();
  });
  const came = await Promise.all(Array.from({ length: count }, begin));
  holds(came.filter((status) => status === 200).length > count / 2, `${count} strangers begin to sign in by a passkey`, JSON.stringify(came.slice(0, 20)));
}

/** Of two authenticators with one key, the one that counts less far is a copy. */
async function copied(client, authenticatorId, page, told) {
  const { credentials: [credential] } = await client.send('WebAuthn.getCredentials', { authenticatorId });
  await client.send('WebAuthn.removeCredential', { authenticatorId, credentialId: credential.credentialId });
  await client.send('WebAuthn.addCredential', { authenticatorId, credential: { ...credential, signCount: 0 } });
  await page.reload();
  await page.click('form[data-passkey=sign-in] button');
  await until('that it is told', told, 3_000).catch(() => {});
  holds(path_of(page) === '/sign-in' && /not taken|copy/.test(await told()), 'a copy of a passkey, told by its count, leads nowhere', await told());
  page.odd = page.odd.filter((said) => !/409/.test(said));
}

/** Who lost a phone has it out from the terminal alone, its passkey too. */
async function removed_at_the_terminal(client, authenticatorId, page, phone) {
  await client.send('WebAuthn.clearCredentials', { authenticatorId });
  await page.click('form[data-passkey=add] button');
  await until('the passkey', async () => /Passkey [0-9a-f]{8}/.test(await text(page)), 1_000);
  const listed = phone.command(['sessions']);
  const [, id] = listed.match(/([0-9a-f]{8})\s+a passkey, added by/) ?? [];
  holds(id, 'the terminal lists passkeys', listed);
  holds(/is removed/.test(phone.command(['sessions', 'end', id])) && !/passkey, added/.test(phone.command(['sessions'])), 'and removes one');
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

/** A session outlives every end of the program, as its page for owners says. */
async function killed(page, phone) {
  await phone.enters(page);
  await phone.kill('SIGKILL');
  const settings = path.join(phone.house.root, 'owner.toml');
  fs.writeFileSync(settings, fs.readFileSync(settings, 'utf8').replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${phone.port}`));
  await phone.begins();
  await page.goto(`${phone.origin}/talk`);
  holds(path_of(page) === '/talk', 'killed and begun anew it knows who was signed in', page.url());
  await page.fill('form.say textarea', 'after the kill');
  await page.click('form.say button[type=submit]');
  await until('the word after the kill', () => read(phone.house, '.self/inbox.jsonl').includes('after the kill'), 500);
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
