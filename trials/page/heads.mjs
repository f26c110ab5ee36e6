// What no browser sends: forged heads, damaged requests and paths that climb; and the headers every answer must have.
import net from 'node:net';
import { changed, held } from './house.mjs';
import { holds, part, tried } from './told.mjs';

const POLICY = { 'default-src': "'none'", 'frame-ancestors': "'none'", 'base-uri': "'none'", 'form-action': "'self'", 'script-src': "'self'" };

export async function heads(house, server) {
  part('heads that no browser sends');
  const cookie = await server.cookie();
  const before = held(house);
  await tried('every answer', () => every_answer(server, cookie));
  await tried('hosts and origins', () => forged(server, cookie));
  await tried('paths', () => paths(server, cookie));
  await tried('damaged requests', () => damaged(server, cookie));
  holds(changed(before, held(house)).length === 0, 'none of it changed a file', changed(before, held(house)));
  holds((await server.ask('/', { headers: { cookie } })).status === 200, 'and the page goes on');
}

async function every_answer(server, cookie) {
  const paths = ['/', '/talk', '/asks', '/life', '/life.svg?width=800', '/edits', '/more', '/style.css', '/stream.js', '/life.js', '/talk.js', '/favicon.svg?asks=1', '/favicon.svg?asks=%3C', '/export/days.svg', '/nowhere', '/thought/999999', '/lives/0', '/record/memory.jsonl/0',
    '/commit/zzz', '/export/life/1.json', '/export/life/1.html', '/search?q=%FF', '/report?since=x', '/spend?days=x', '/life?from=x&to=y', '/stream'];
  for (const [path, headers] of [...paths.map((path) => [path, { cookie }]), ['/', {}], ['/', { cookie, host: 'evil.test' }], ['/talk', { cookie, origin: 'http://evil.test' }]]) {
    const answer = await server.ask(path, { headers, stops_ms: path === '/stream' ? 300 : 0 });
    const of = answer.headers;
    const policy = Object.entries(POLICY).every(([name, value]) => (of['content-security-policy'] ?? '').includes(`${name} ${value}`));
    const rest = of['x-frame-options'] === 'DENY' && of['x-content-type-options'] === 'nosniff' && of['referrer-policy'] === 'no-referrer'
      && of['cross-origin-opener-policy'] === 'same-origin' && of['cross-origin-resource-policy'] === 'same-origin' && of['cache-control'] === 'no-store';
    holds(policy && rest, `${path} (${answer.status}) has all the headers`, JSON.stringify(of));
    holds(answer.status < 500, `${path} is answered without a failure`, answer.status);
    holds(!of.server && !of['access-control-allow-origin'], `${path} allows no other origin`);
  }
}

/** All but the first are refused. */
async function forged(server, cookie) {
  const self = `127.0.0.1:${server.port}`;
  const good = await server.ask('/asks', { headers: { cookie, host: self, origin: `http://${self}`, 'sec-fetch-site': 'same-origin' } });
  holds(good.status === 200, 'an honest head is let in', good.status);
  const forged = [{ host: 'evil.test' }, { host: `evil.test:${server.port}` }, { host: `127.0.0.1.evil.test:${server.port}` }, { host: `127.0.0.1:${server.port}@evil.test` },
    { host: `0.0.0.0:${server.port}` }, { host: `localhost.:${server.port}` }, { host: `[::ffff:127.0.0.1]:${server.port}` }, { host: `2130706433:${server.port}` },
    { host: self, origin: 'http://evil.test' }, { host: self, origin: 'null' }, { host: self, origin: `https://${self}` }, { host: self, origin: `http://localhost:${server.port}` },
    { host: self, origin: `http://127.0.0.1:${server.port + 1}` }, { host: self, origin: `http://${self}.evil.test` }, { host: self, 'sec-fetch-site': 'cross-site' },
    { host: self, 'sec-fetch-site': 'same-site' }, { host: self, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }];
  for (const headers of forged) {
    const answer = await server.ask('/asks', { headers: { cookie, ...headers } });
    holds([400, 403, 421].includes(answer.status), `${JSON.stringify(headers)} is refused`, answer.status);
  }
  const good_port = await server.ask('/asks', { headers: { cookie, host: `127.0.0.1:${server.port + 1}` } });
  console.log(`   to know: the host 127.0.0.1 with another port is answered with ${good_port.status}`);
  for (const headers of [{ cookie: '' }, { cookie: cookie.replace(/=.*/, '=') }, { cookie: cookie.replace(/.$/, 'x') }, { cookie: cookie.replace(/=/, '=0') }]) {
    holds((await server.ask('/asks', { headers })).status === 403, 'a wrong cookie is refused');
  }
  const post = (path, body, type = 'application/x-www-form-urlencoded') => server.ask(path, { method: 'POST', headers: { cookie, 'content-type': type, 'content-length': Buffer.byteLength(body) }, body });
  for (const [path, body, type] of [['/say', 'words=x', undefined], ['/say', `words=x&act=${'0'.repeat(64)}`, undefined], ['/say', 'words=x&act=a&act=b', undefined], ['/asks/4/yes', 'act=x&digest=x', undefined],
    ['/say', '{"text":"x"}', 'application/json'], ['/say', 'text=x', 'text/plain'], ['/link/new', '', undefined], ['/ladder/1/back', '', undefined]]) {
    const answer = await post(path, body, type);
    holds(answer.status >= 400 && answer.status < 500, `${path} with ${body.slice(0, 20)} (${type ?? 'form'}) is refused`, answer.status);
  }
  for (const path of ['/say', '/asks/4/yes', '/link/new', '/pause', '/ladder/1/back']) {
    const answer = await server.ask(path, { headers: { cookie } });
    holds(answer.status >= 400, `${path} is no act by GET`, answer.status);
  }
}

/** What climbs out of its folder finds nothing. */
async function paths(server, cookie) {
  const climbs = ['/record/../owner.toml/0', '/record/..%2fowner.toml/0', '/record/%2e%2e%2f.env/0', '/record/broker/0', '/record/broker%2fpage.json/0', '/record/.env/0', '/record/page.json/0', '/record/guardian.json/0',
    '/record/memory.jsonl%00.txt/0', '/record/memory.jsonl/-1', '/record/memory.jsonl/99999999999999999999', '/record/memory.jsonl/18446744073709551615', '/record//etc/passwd/0', '/record/%2fetc%2fpasswd/0',
    '/memory/..%2f..%2fowner.toml', '/memory/paper/..%2f.env', '/memory/paper/../.env', '/memory/paper/self/../.env', '/memory/paper/self%2f%2e%2e%2f.env', '/memory/paper/%2fetc%2fpasswd', '/memory/paper/owner.toml', '/memory/snapshot/..%2fbroker%2fpage.json', '/memory/snapshot/%2e%2e%2fbroker%2fpage.json', '/asks/..%2f..%2fguardian%2fstate', '/asks/4%00', '/commit/--help', '/commit/HEAD%7e1',
    '/commit/refs%2fheads%2fmain', '/ladder/..', '/ladder/-1', '/lives/18446744073709551616', '/thought/-1', '/export/life/..%2f..%2f.env.json', '/export/span.json?from=a&to=b', '/life.svg?width=999999999', '/life.svg?width=-1', '/life?from=9223372036854775807&to=-9223372036854775808'];
  for (const path of climbs) {
    const answer = await server.ask(path, { headers: { cookie } });
    holds(answer.status < 500, `${path} is answered without a failure`, answer.status);
    holds(!/sk-live|"token"|root:x:|\[limits\]/.test(answer.body), `${path} gives nothing away`, answer.body.slice(0, 200));
    holds(answer.body.length < 3_000_000, `${path} is bounded`, answer.body.length);
  }
}

/** Bytes as they are, straight to the port; what comes back, or that it closed. */
function raw(server, bytes, most_ms = 3_000) {
  return new Promise((done) => {
    let told = '';
    const socket = net.connect(server.port, '127.0.0.1', () => socket.write(bytes));
    const end = () => { socket.destroy(); done(told); };
    socket.on('data', (data) => { told += data; if (told.length > 100_000) end(); });
    socket.on('close', end);
    socket.on('error', end);
    setTimeout(end, most_ms);
  });
}

async function damaged(server, cookie) {
  const self = `127.0.0.1:${server.port}`;
  const head = (first, more = '') => `${first}\r\nHost: ${self}\r\nCookie: ${cookie}\r\n${more}Connection: close\r\n\r\n`;
  const refused = { 'two hosts': `GET / HTTP/1.1\r\nHost: ${self}\r\nHost: evil.test\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`,
    'an empty host': `GET / HTTP/1.1\r\nHost:\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`,
    'no host': `GET / HTTP/1.1\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`, 'another absolute address': head(`GET http://evil.test/ HTTP/1.1`),
    'HTTP/1.0 without a host': `GET / HTTP/1.0\r\nCookie: ${cookie}\r\n\r\n`, 'CONNECT': head('CONNECT evil.test:80 HTTP/1.1'), 'TRACE': head('TRACE / HTTP/1.1'),
    'two origins': head('GET / HTTP/1.1', `Origin: http://${self}\r\nOrigin: http://evil.test\r\n`), 'noise': '\u0000\u0001\u0002\r\n\r\n',
    'a head without an end': `GET / HTTP/1.1\r\nHost: ${self}\r\nX: ${'x'.repeat(400_000)}\r\n\r\n`,
    'two lengths': head('POST /say HTTP/1.1', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n') + '0\r\n\r\n',
    'a body without an end': head('POST /say HTTP/1.1', 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 99999999999\r\n') + 'x'.repeat(100_000) };
  for (const [what, bytes] of Object.entries(refused)) {
    const told = await raw(server, bytes);
    holds(!/^HTTP\/1.[01] [23]/.test(told), `${what}: refused`, told.slice(0, 60));
  }
}
