// What another host tries on the page beyond this machine: heads, crowds, old TLS, guesses, cookies that were stolen.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Browser, connects, figure, say, sends, taken } from './tls_client.mjs';

const told = JSON.parse(process.argv[2]);
const { here, there, port, password } = told;
const own = `${here}:${port}`;
const to = (by = there[0], more = {}) => ({ here, port, by, ...more });
const browser = (by, host = own) => new Browser(to(by), host);
const command = (...words) => execFileSync(told.program, words, { cwd: told.root, encoding: 'utf8', input: words[0] === 'password' ? `${password}\n${password}\n` : '', stdio: ['pipe', 'pipe', 'pipe'] });
const inbox = () => { const file = path.join(told.root, '.self/inbox.jsonl'); return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''; };
const told_of = (answer) => `${answer.status} ${answer.body.slice(0, 200)}`;
const house_words = /herons|nests|You are signed in/i;

async function loopback() {
  const reached = await new Promise((done) => connects({ here, port: told.loopback, by: there[0], plain: true }).on('connect', () => done(true)).on('error', () => done(false)));
  say(!reached, 'the loopback page is out of reach');
  const answer = await browser().get(`/?token=${told.token}`);
  say(answer.status === 303 && answer.header('location') === '/sign-in', 'its link is nothing here', told_of(answer));
}

async function heads(within) {
  const names = ['evil.test', 'localhost', `localhost:${port}`, '127.0.0.1', `127.0.0.1:${port}`, '[::1]', '0.0.0.0', there[0], 'house.test.evil.test', 'house.test@evil.test', `${here}.nip.io`, `${here}:x`, '', null];
  for (const host of names) {
    for (const [what, cookies] of [['a stranger', []], ['who is within', within.cookies]]) {
      const answer = await Object.assign(browser(there[0], host), { cookies }).get('/talk');
      say([400, 421].includes(answer.status) && !house_words.test(answer.body), `the name ${host} is refused to ${what}`, told_of(answer));
    }
  }
  for (const host of [own, here, 'house.test', `house.test:${port}`, 'house.test:443']) {
    const answer = await Object.assign(browser(there[0], host), { cookies: within.cookies }).get('/talk');
    say(answer.status === 200, `the name ${host} is its own`, told_of(answer));
  }
  for (const lines of [['Origin: https://evil.test'], ['Origin: null'], [`Origin: http://${own}`], [`Origin: https://${here}:1`], [`Origin: https://${own}`, 'Origin: https://evil.test'], ['Sec-Fetch-Site: cross-site'], ['Sec-Fetch-Site: same-site'], ['Host: evil.test']]) {
    const read = await Object.assign(browser(), { cookies: within.cookies }).get('/talk', lines);
    say([400, 403, 421].includes(read.status) && !house_words.test(read.body), `a read with ${lines} is refused`, told_of(read));
    const act = await within.act('/talk', '/say');
    const done = await Object.assign(browser(), { cookies: within.cookies }).post('/say', { act, words: 'by a stranger' }, lines);
    say([400, 403, 421].includes(done.status), `an act with ${lines} is refused`, told_of(done));
  }
  say(!inbox().includes('by a stranger'), 'and does nothing');
}

async function paths() {
  const tries = ['/', '/asks/1', '/life.svg', '/stream', '/export/span.json', '/sessions', '//evil.test', '/../../.self/broker/page/key.pem', '/%2e%2e/%2e%2e/.self/broker/page/key.pem', '/style.css/../talk', '/style.css%2f..%2ftalk', '/talk?x=/style.css', '/sign-in/../talk', '/SIGN-IN', '/talk%00', '/invited/x', `https://${own}/talk`, 'https://evil.test/talk'];
  for (const one of tries) {
    const answer = await browser().get(one);
    say([303, 400, 404, 421].includes(answer.status) && !house_words.test(answer.body) && !answer.body.includes('PRIVATE KEY'), `a stranger gets nothing at ${one}`, told_of(answer));
  }
  for (const one of ['/say', '/pause', '/asks/1/yes', '/sessions/end-all', '/sign-out', '/passkeys/add', '/passkeys/finish', '/link/new']) {
    const answer = await browser().post(one, { act: '0'.repeat(64), words: 'by a stranger' });
    say(answer.status === 403, `a stranger does nothing at ${one}`, told_of(answer));
  }
  for (const method of ['PUT', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND']) {
    const answer = await browser().ask(`${method} /talk HTTP/1.1`);
    say([400, 403, 405, 421].includes(answer.status), `${method} is refused`, told_of(answer));
  }
}

async function sizes(within) {
  const long = await browser().post('/sign-in', { password: 'x'.repeat(17 << 10) });
  say(long.status === 413, 'a stranger\'s form of 17 KiB is refused', told_of(long));
  const act = await within.act('/talk', '/say');
  const huge = await Object.assign(browser(), { cookies: within.cookies }).post('/say', { act, words: 'x'.repeat((1 << 20) + 9) });
  say(huge.status === 413, 'the owner\'s of more than 1 MiB too', told_of(huge));
  const head = await browser().get('/sign-in', [`X-Long: ${'x'.repeat(96 << 10)}`]);
  say([0, 431].includes(head.status), 'a head of 96 KiB is refused', told_of(head));
  const many = await browser().get('/sign-in', Array.from({ length: 300 }, (_, at) => `X-${at}: 1`));
  say([0, 431].includes(many.status), 'a head of 300 lines is refused', told_of(many));
  const json = await browser().ask('POST /sign-in HTTP/1.1', ['Content-Type: application/json', 'Content-Length: 2'], '{}');
  say(json.status === 415, 'a form that is none is refused', told_of(json));
}

/** Reuse of an act's token, and of another session's. */
async function acts(within) {
  const act = await within.act('/talk', '/say');
  const [first, again] = [await within.post('/say', { act, words: 'once from afar' }), await within.post('/say', { act, words: 'once from afar' })];
  say(first.status === 303 && again.status === 409, 'the token of an act is good once', `${first.status} ${again.status}`);
  const other = browser(there[1]);
  await other.sign_in(password);
  const crossed = await other.post('/say', { act: await within.act('/talk', '/say'), words: 'crossed' });
  say(crossed.status === 409 && inbox().split('once from afar').length === 2 && !inbox().includes('crossed'), 'and good in its own session', told_of(crossed));
}

/** Lines that come slowly, or never. They begin together, while the owner is served; the server ends each. */
async function slow_and_crowds() {
  const ended = (bytes, more) => sends(to(there[0], { patience_ms: 45_000, ...more }), bytes).then((came) => ({ came, at: Date.now() }));
  const begun = Date.now();
  const crowd = Array.from({ length: 64 }, () => ended('', { plain: true }));
  const half = Array.from({ length: 64 }, () => ended('\x16\x03\x01', { plain: true }));
  const heads = Array.from({ length: 8 }, () => ended('GET /sign-in HTTP/1.1\r\nHost: '));
  const forms = Array.from({ length: 8 }, () => ended(`POST /sign-in HTTP/1.1\r\nHost: ${own}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 99\r\n\r\npass`));
  const owner = browser(there[2]);
  const signed = await owner.sign_in(password);
  say(signed.status === 303 && (await owner.get('/talk')).status === 200, 'among 64 connections without a handshake, 64 with half of one, slow heads and forms the owner signs in', told_of(signed));
  for (const [what, all, most_s] of [['without a handshake', crowd, 10], ['with half of one', half, 10], ['with half a head', heads, 10], ['with half a form', forms, 20]]) {
    const took_s = Math.max(...(await Promise.all(all)).map(({ at }) => at - begun)) / 1000;
    say(took_s < 40, `connections ${what} are ended by the page, after ${most_s} s`, `${took_s} s`);
    figure(`the last connection ${what} was ended after`, `${took_s.toFixed(1)} s`);
  }
  // More than there are places for: each newer one ends the oldest, and who comes is served.
  const many = Array.from({ length: 600 }, () => connects(to(there[0], { plain: true })).on('error', () => {}));
  say((await browser(there[2]).get('/sign-in')).status === 200, 'among 600 connections a stranger gets the page to sign in at');
  many.forEach((one) => one.destroy());
}

async function downgrade() {
  const plain = await sends(to(there[0], { plain: true }), `GET /talk HTTP/1.1\r\nHost: ${own}\r\n\r\n`);
  say(taken(plain).status === 400 && /HTTPS alone/.test(plain) && !/location/i.test(plain), 'plain HTTP is refused and leads nowhere', plain);
  const hello = (version) => {
    const said = spawnSync('openssl', ['s_client', '-connect', own, version, '-cipher', 'ALL:@SECLEVEL=0'], { input: '', encoding: 'utf8', timeout: 30_000 });
    return said.error ? undefined : said.stdout;
  };
  if (hello('-tls1_2') === undefined) return figure('skipped', 'old versions of TLS need the program openssl');
  for (const old of ['-tls1', '-tls1_1']) say(/Cipher is \(NONE\)/.test(hello(old)), `${old} is refused`, hello(old));
  for (const good of ['-tls1_2', '-tls1_3']) say(/Cipher is (?!\(NONE\))/.test(hello(good)), `${good} is spoken`, hello(good));
  const seen = await new Promise((done) => { const one = connects(to()); one.on('secureConnect', () => { done(one.getPeerCertificate().fingerprint256); one.destroy(); }); });
  say(seen === told.fingerprint, 'by the certificate whose fingerprint is told', seen);
}

async function cookies(within, signed) {
  for (const set of signed.cookies) {
    say(/^__Host-feral-/.test(set) && ['Path=/', 'Secure', 'HttpOnly', 'SameSite=Strict'].every((word) => set.split('; ').includes(word)) && !/domain/i.test(set), 'a cookie is of this host alone, for no script and no other site', set.replace(/=[0-9a-f]{64}/, '=…'));
  }
  for (const one of ['/', '/talk', '/sessions', '/sign-in', '/style.css', '/nothing']) {
    const answer = await within.get(one);
    say(answer.header('cache-control') === 'no-store' && answer.header('strict-transport-security') === undefined, `${one} is kept by no browser, and by a certificate of its own there is no HSTS`, answer.head);
  }
  const thief = Object.assign(browser(there[5]), { cookies: signed.cookies.filter((one) => !one.includes('known')) });
  say((await thief.get('/talk', ['User-Agent: curl/9'])).status === 200, 'a stolen cookie leads in from another address, as the page for owners says');
  const listed = command('sessions');
  const id = listed.split('\n').find((line) => line.includes(`from ${there[4]}`))?.trim().split(/\s+/)[0];
  say(/^[0-9a-f]{8}$/.test(id ?? ''), 'the terminal lists the session with the address it began at', listed);
  command('sessions', 'end', id);
  say((await thief.get('/talk')).status === 303 && (await within.get('/talk')).status === 303, 'ended at the terminal it leads nowhere, for either');
}

const kept = path.join(told.root, '.self/broker/page/guesses.json');

/** As if more had failed just now: a wait then outlasts the steps of this trial, whatever machine it runs on. */
function waits_long() {
  const guesses = JSON.parse(fs.readFileSync(kept, 'utf8'));
  guesses.by[there[0]].count = 14;
  Object.assign(guesses.all, { count: 30, last_ms: Date.now() });
  fs.writeFileSync(kept, JSON.stringify(guesses));
}

async function guesses() {
  command('password');
  const owner = browser(there[6]);
  await owner.sign_in(password);
  const known = owner.cookies.filter((one) => one.includes('known'));
  const times = { owner: [], nobody: [] };
  let status = 0, tries = 0;
  for (; tries < 40 && status !== 429; tries += 1) {
    const user = tries % 2 ? 'owner' : 'nobody';
    const begun = performance.now();
    const answer = await browser(there[0]).post('/sign-in', { user, password: `wrong number ${tries}` }, ['X-Forwarded-For: 198.51.100.' + tries, 'Forwarded: for=198.51.100.' + tries, 'X-Real-IP: 198.51.100.' + tries]);
    status = answer.status;
    if (status === 401) times[user].push(Math.round(performance.now() - begun));
    if (status === 429) say(Number(answer.header('retry-after')) >= 1, 'who waits is told how long', answer.header('retry-after'));
  }
  say(status === 429 && tries >= 6, 'from the fifth wrong password on an address waits, whatever it says of whom it asks for', `${status} after ${tries}`);
  figure('milliseconds of a wrong password, by user', JSON.stringify(times));
  const other = await browser(there[1]).sign_in('a wrong one from elsewhere');
  say(other.status === 401, 'another address does not wait yet', told_of(other));
  let all = 0;
  for (let at = 0; at < 40 && all !== 429; at += 1) all = (await browser(there[1 + (at % 5)]).sign_in(`wrong ${at}`)).status;
  waits_long();
  const fresh = await browser(there[7]).sign_in(password);
  say(all === 429 && fresh.status === 429, 'after twenty of all strangers each of them waits, by a new address and the right password too', `${all} ${told_of(fresh)}`);
  const back = Object.assign(browser(there[0]), { cookies: known });
  const came = await back.sign_in(password);
  say(came.status === 303 && (await back.get('/talk')).status === 200, 'a browser of the owner\'s gets in all the same, from the guesser\'s own address', told_of(came));
  // A crowd that waits anyway takes no turn: nothing is written for it, and the owner is served meanwhile.
  const before = fs.statSync(kept).ino;
  const crowd = await Promise.all(Array.from({ length: 100 }, () => browser(there[0]).sign_in('once more')));
  say(crowd.every((one) => one.status === 429), 'a hundred guesses at once wait', JSON.stringify(crowd.map((one) => one.status)));
  say(fs.statSync(kept).ino === before, 'and nothing is written for them');
  command('password');
  say((await browser(there[0]).sign_in(password)).status === 303, 'a new password at the terminal ends every wait');
}

async function main() {
  const within = browser(there[4]);
  const signed = await within.sign_in(password);
  say(signed.status === 303, 'the owner signs in from another host', told_of(signed));
  await slow_and_crowds();
  await loopback();
  await heads(within);
  await paths();
  await sizes(within);
  await acts(within);
  await downgrade();
  await cookies(within, signed);
  await guesses();
}

await main();
