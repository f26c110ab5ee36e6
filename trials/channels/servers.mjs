// Servers of the channels' own tests as programs of their own, for what no server of others' has: lines in, lines out.
import { spawn } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import readline from 'node:readline';
import { root } from '../page/told.mjs';

export const built = (name) => path.resolve(root, process.env.CARGO_TARGET_DIR ?? 'target', 'debug', name);

/** A port that nobody listens on. */
export async function free() {
  const server = http.createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

export class Faithful {
  /** `discord` or `slack`, at an address of its own. */
  static async start(platform) {
    const server = new Faithful();
    server.child = spawn(built('examples/socket_server'), [platform], { stdio: ['pipe', 'pipe', 'inherit'] });
    server.lines = readline.createInterface({ input: server.child.stdout })[Symbol.asyncIterator]();
    server.last = Promise.resolve();
    return Object.assign(server, await server.line());
  }

  async line() {
    const { value, done } = await this.lines.next();
    if (done) throw new Error('the server of the tests ended');
    return JSON.parse(value);
  }

  /** Has the other side do something; one after another. */
  does(deed, more = {}) {
    this.last = this.last.then(async () => {
      this.child.stdin.write(`${JSON.stringify({ do: deed, ...more })}\n`);
      return (await this.line()).done;
    });
    return this.last;
  }

  end() {
    this.child.kill('SIGKILL');
  }
}
