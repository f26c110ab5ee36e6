// A broker that posts, its owner's answers, and somebody between it and the network who counts and may kill.
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Broker } from '../mcp/broker.mjs';
import { root, until } from '../page/told.mjs';

export const installed = createRequire(path.join(root, 'target/social/package.json'));

/** Starts a house with these settings and variables. */
export async function house(settings, env) {
  const broker = await Broker.start(settings, { env });
  broker.post = (service, parts, more = {}) =>
    broker.ask('/post', { service, parts: parts.map((one) => (typeof one === 'string' ? { text: one } : one)), ...more });
  broker.get = async (service, target) => {
    const said = await broker.ask('/service', { service, method: 'GET', path: target });
    return said.ok ? JSON.parse(said.body) : said;
  };
  broker.text = (name) => fs.readFileSync(broker.path(name), 'utf8');
  broker.answer = async (id, answer) => {
    const ask = () => JSON.parse(broker.text(`.self/broker/asks/${id}.json`));
    const line = { at: '2026-01-01T00:00:00Z', id: String(id), answer, digest: ask().digest };
    fs.appendFileSync(broker.path('.self/broker/answers.jsonl'), `${JSON.stringify(line)}\n`);
    return until(`the end of ask ${id}`, () => ['executed', 'failed', 'denied'].includes(ask().state) && ask());
  };
  return broker;
}

export const posted = (said) => (said.ok ? JSON.parse(said.body).posted : said);

/** Passes calls on to a server; `before(nth)` and `after(nth)` see each, and may keep it from going on. */
export class Between {
  static async start(target) {
    const between = new Between();
    between.forget();
    between.server = http.createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      between.count += 1;
      const nth = between.count;
      between.paths.push(`${request.method} ${request.url.split('?')[0]}`);
      if ((await between.before(nth)) === false) return response.destroy();
      if (between.refuses?.(request.url.split('?')[0])) {
        // As a server of the AT protocol refuses an access token that is over (its specification, "HTTP API").
        return response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"ExpiredToken","message":"Token has expired"}');
      }
      const headers = { ...request.headers, host: new URL(target).host };
      const passed = http.request(target + request.url, { method: request.method, headers }, async (answer) => {
        if ((await between.after(nth)) === false) return response.destroy();
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      });
      passed.on('error', () => response.destroy());
      passed.end(body);
    });
    await new Promise((done) => between.server.listen(0, '127.0.0.1', done));
    between.url = `http://127.0.0.1:${between.server.address().port}`;
    return between;
  }

  forget() {
    this.count = 0;
    this.paths = [];
    this.before = this.after = () => true;
  }

  end() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** Posts again and again, while the broker is killed once at each call in turn; how often it was. */
export async function killed(broker, between, each) {
  for (let nth = 1; ; nth += 1) {
    for (const phase of ['before', 'after']) {
      between.forget();
      let fell = false;
      between[phase] = async (at) => {
        if (at !== nth) return true;
        fell = true;
        await broker.stop('SIGKILL');
        return false;
      };
      const post = each(`${nth} ${phase}`);
      await post.first().catch(() => undefined);
      between.before = between.after = () => true;
      if (fell) await broker.open();
      await post.again(fell);
      if (!fell) return nth - 1;
    }
  }
}

/** A picture of so many bytes: a real PNG of one dot, and noise behind it that readers pass over. */
export function picture(name, bytes, alt = '') {
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const head = Buffer.from(dot, 'base64');
  const rest = Buffer.alloc(Math.max(0, bytes - head.length), 7);
  return { name, alt, data: Buffer.concat([head, rest]).toString('base64') };
}
