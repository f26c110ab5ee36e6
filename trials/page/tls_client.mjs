// A browser's part by hand over TLS, for heads that no browser would send: one request as bytes, the answer taken apart.
import net from 'node:net';
import tls from 'node:tls';

const FORM = 'application/x-www-form-urlencoded';
/** What a reader waits for at most: a machine may be slow. */
const PATIENCE_MS = 60_000;

export const say = (is, what, seen = '') => console.log(JSON.stringify({ is: Boolean(is), what, seen: String(seen).slice(0, 500) }));
export const figure = (what, seen) => console.log(JSON.stringify({ what, seen }));

/** A connection as far as asked; `by`: the address it comes from. */
export function connects({ here, port, by, plain = false }) {
  const socket = net.connect({ host: here, port, localAddress: by });
  if (plain) return socket;
  return tls.connect({ socket, rejectUnauthorized: false, servername: 'house.test' });
}

/** All that comes back for these bytes until the other side ends, or `null` where it was broken off before a word. */
export function sends(to, bytes) {
  return new Promise((done) => {
    const stream = connects(to);
    let came = '';
    const end = () => { stream.destroy(); done(came || null); };
    stream.setTimeout(to.patience_ms ?? PATIENCE_MS, end);
    stream.on('data', (more) => { came += more.toString('latin1'); if (to.until?.test(came)) end(); });
    stream.on('end', end).on('close', end).on('error', end);
    stream.on(to.plain ? 'connect' : 'secureConnect', () => stream.write(bytes));
  });
}

export function taken(came) {
  const [head, ...body] = (came ?? '').split('\r\n\r\n');
  const headers = head.split('\r\n').slice(1).map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]);
  const header = (name) => headers.find(([given]) => given === name)?.[1];
  const cookies = headers.filter(([name]) => name === 'set-cookie').map(([, value]) => value);
  return { status: Number(head.split(' ')[1] ?? 0), head, header, cookies, body: body.join('\r\n\r\n') };
}

/** A browser at an address, with the cookies it holds. */
export class Browser {
  constructor(to, host) {
    Object.assign(this, { to, host, cookies: [] });
  }

  async ask(first, lines = [], body = '') {
    const cookie = this.cookies.length ? [`Cookie: ${this.cookies.map((one) => one.split(';')[0]).join('; ')}`] : [];
    const head = [first, ...(this.host === null ? [] : [`Host: ${this.host}`]), ...cookie, ...lines, 'Connection: close'];
    return taken(await sends(this.to, `${head.join('\r\n')}\r\n\r\n${body}`));
  }

  get(path, lines = []) {
    return this.ask(`GET ${path} HTTP/1.1`, lines);
  }

  post(path, fields, lines = [`Origin: https://${this.host}`, 'Sec-Fetch-Site: same-origin']) {
    const body = new URLSearchParams(fields).toString();
    return this.ask(`POST ${path} HTTP/1.1`, [`Content-Type: ${FORM}`, `Content-Length: ${body.length}`, ...lines], body);
  }

  async sign_in(password, lines = undefined) {
    const answer = await this.post('/sign-in', { user: 'owner', password }, lines);
    if (answer.cookies.length) this.cookies = answer.cookies;
    return answer;
  }

  async act(page, path) {
    const { body } = await this.get(page);
    const form = body.split('<form').find((one) => one.includes(`action="${path}"`)) ?? '';
    return form.match(/name="act" value="([^"]+)"/)?.[1];
  }
}
