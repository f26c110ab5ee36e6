// A wallet of its own for a trial: a chain, a key, and the real broker with the owner's rules before it.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { holds, root, until } from '../page/told.mjs';
import { Broker, pids } from './broker.mjs';
import { CHAIN, Chain, ETHER, program } from './chain.mjs';

export const PASSWORD = 'a trial of the wallet 0123';
/** Accounts of the node's own, and the contracts as its first account makes them; with their checksums. */
export const FRIEND = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const STRANGER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
export const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
export const GRIM = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512';
export const FEE = '0.0005';

/** The owner's rules: ether to a friend, ether to anybody, the token to anybody; gas counts with ether. */
export const rules = (ether, token) => `
[[mcp.it.rules]]
tool = "balance"
do = "allow"
looks = true
[[mcp.it.rules]]
tool = "history"
do = "allow"
looks = true
[[mcp.it.rules]]
tool = "status"
do = "allow"
looks = true
[[mcp.it.rules]]
tool = "send"
with = { token = "", to = "${FRIEND}" }
do = "allow"
limit = [{ of = ["amount", "max_fee"], each = "0.02", day = "${ether / 2}" }, { of = ["amount", "max_fee"], each = "0.02", day = "${ether}", sum = "ether" }]
[[mcp.it.rules]]
tool = "send"
with = { token = "" }
do = "allow"
limit = [{ of = ["amount", "max_fee"], each = "0.01", day = "${ether}", sum = "ether" }]
[[mcp.it.rules]]
tool = "send"
with = { token = "BUCK" }
do = "allow"
limit = [{ of = ["amount"], each = "25", day = "${token}" }, { of = ["max_fee"], each = "0.001", day = "${ether}", sum = "ether" }]
`;

/** Rules that leave everything to the wallet. */
export const OPEN = '[[mcp.it.rules]]\ntool = "*"\ndo = "allow"\n';

export class Purse {
  /** A new wallet with 10 ether and 1,000 of the token, its chain, and a broker with these rules. */
  static async start(text, { before = [], env = {}, how = 'hand = "wallet"\n' } = {}) {
    const purse = new Purse();
    purse.chain = await Chain.start();
    const settings = `[mcp.it]\n${how}env = ["FERAL_WALLET_PASSWORD"]\nnetwork = "open"\n`
      + `untrusted = false\nper_hour = 1000000\n${text}`;
    purse.env = { FERAL_WALLET_PASSWORD: PASSWORD, ...env };
    const files = (house) => made(purse, path.join(house, '.self/broker/mcp/it'), before);
    purse.broker = await Broker.start((house) => {
      files(house);
      return settings;
    }, { env: purse.env });
    await purse.chain.gives(purse.address, 10n * ETHER, 1_000_000_000n);
    purse.ready();
    await purse.broker.met();
    return purse;
  }

  ready() {
    this.home = this.broker.path('.self/broker/mcp/it');
  }

  send(amount, more = {}) {
    return this.broker.call('send', { to: FRIEND, amount, max_fee: FEE, ...more });
  }

  async told(tool, given = {}) {
    const answer = await this.broker.call(tool, given);
    return answer.ok && answer.status === 200 ? JSON.parse(answer.body) : answer;
  }

  /** The processes of the wallet's own program. */
  wallets() {
    const is = (pid) => {
      try {
        return fs.readlinkSync(`/proc/${pid}/exe`).endsWith('feral-wallet');
      } catch {
        return false;
      }
    };
    return pids(this.broker.house).filter(is);
  }

  lines() {
    const text = fs.readFileSync(path.join(this.home, 'sent.jsonl'), 'utf8');
    return text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  }

  async again(signal = 'SIGTERM', env = {}) {
    await this.broker.stop(signal);
    await until('the end of all', () => pids(this.broker.house).length === 0);
    Object.assign(this.broker.env, env);
    await this.broker.open();
  }

  async end() {
    await this.broker.end('SIGKILL');
    this.chain.end();
  }
}

function made(purse, home, more) {
  fs.mkdirSync(path.dirname(home), { recursive: true });
  const words = ['new', '--home', home, '--chain', String(CHAIN), '--node', purse.chain.url];
  const ran = spawnSync(program(root), words, { env: purse.env, encoding: 'utf8' });
  holds(ran.status === 0, 'a key is made', ran.stderr);
  purse.address = ran.stdout.trim();
  const table = `[tokens.BUCK]\ncontract = "${TOKEN}"\ndecimals = 6\n`;
  fs.appendFileSync(path.join(home, 'wallet.toml'), table + more.join('\n'));
}
