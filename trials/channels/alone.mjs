// A channel alone, `channels/examples/channel.rs`: what it hears is kept as it comes, and it does what it is told.
import { spawn } from 'node:child_process';
import readline from 'node:readline';
import { until } from '../page/told.mjs';
import { built } from './servers.mjs';


export class Alone {
  /** Starts a channel; `keys` as the program takes them, `env` its tokens. */
  static start(platform, keys, env) {
    const alone = new Alone();
    alone.lines = [];
    alone.nth = 0;
    const words = Object.entries(keys).map(([key, value]) => `${key}=${value}`);
    alone.child = spawn(built('examples/channel'), [platform, ...words], { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
    alone.gone = new Promise((done) => alone.child.on('exit', done));
    readline.createInterface({ input: alone.child.stdout }).on('line', (line) => alone.lines.push(JSON.parse(line)));
    return alone;
  }

  /** All of a kind that was told so far. */
  all(name) {
    return this.lines.filter((line) => name in line);
  }

  words() {
    return this.all('heard').flatMap(({ heard }) => (heard.word ? [heard.word.text] : []));
  }

  /** Tells it to do something; what came of it. */
  async does(what, more) {
    const nth = (this.nth += 1);
    const before = this.all('trouble').length;
    this.child.stdin.write(`${JSON.stringify({ do: what, nth, ...more })}\n`);
    return until(`what came of ${what}`, () => this.lines.find((line) => line.nth === nth) ?? this.all('trouble')[before]);
  }

  async kill() {
    this.child.kill('SIGKILL');
    await this.gone;
  }
}
