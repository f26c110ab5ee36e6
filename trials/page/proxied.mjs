// The page behind a reverse proxy that ends TLS: by its name the owner is served, and all who come through it are one address.
import { Browser, say, sends } from './tls_client.mjs';

const { here, there, proxy, host, password } = JSON.parse(process.argv[2]);
const browser = (by, name = `${host}:${proxy}`) => new Browser({ here, port: proxy, by }, name);

const owner = browser(there[0]);
const signed = await owner.sign_in(password);
say(signed.status === 303, 'behind a proxy the owner signs in by the page\'s name', `${signed.status} ${signed.body.slice(0, 300)}`);
const act = await owner.act('/talk', '/say');
say((await owner.post('/say', { act, words: 'through the proxy' })).status === 303, 'and says a word');
const cookie = owner.cookies.map((one) => one.split(';')[0]).join('; ');
const stream = await sends({ here, port: proxy, by: there[0], until: /event: status/, patience_ms: 20_000 }, `GET /stream HTTP/1.1\r\nHost: ${host}:${proxy}\r\nCookie: ${cookie}\r\n\r\n`);
say(/event: status/.test(stream ?? ''), 'and follows what happens, which the proxy does not hold back', stream);
const named = await browser(there[0], `${here}:${proxy}`).get('/sign-in');
say(named.status === 421 && /proxy stands between/.test(named.body), 'by another name it says what to do', `${named.status} ${named.body.slice(0, 300)}`);
let tries = 0, status = 0;
for (; tries < 20 && status !== 429; tries += 1) {
  status = (await browser(there[tries % there.length]).sign_in(`wrong ${tries}`, [`Origin: https://${host}:${proxy}`, `X-Forwarded-For: 198.51.100.${tries}`])).status;
}
say(status === 429 && tries >= 5 && tries <= 12, 'guesses through it count as of one address, whoever it says they are of', `${status} after ${tries}`);
const back = browser(there[3]);
back.cookies = owner.cookies.filter((one) => one.includes('known'));
say((await back.sign_in(password)).status === 303, 'and a browser of the owner\'s gets in all the same');
