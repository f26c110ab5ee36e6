// A chain for the wallet's trial: a real node of a chain of its own, a proxy before it that can fail or lie, and a small token.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { until } from '../page/told.mjs';
import { modules } from './broker.mjs';

export const CHAIN = 31337;
export const ETHER = 10n ** 18n;
/** The token's supply, all of it its maker's. */
const SUPPLY = 10n ** 15n;

/** The token, by hand: `decimals()` is 6, `balanceOf`, and `transfer`, which fails beyond the balance; a balance lies at its address. */
const TOKEN = `
  PUSH1 00 CALLDATALOAD PUSH1 e0 SHR
  DUP1 PUSH4 313ce567 EQ PUSH1 @decimals JUMPI
  DUP1 PUSH4 70a08231 EQ PUSH1 @balance JUMPI
  DUP1 PUSH4 a9059cbb EQ PUSH1 @transfer JUMPI
  :fail PUSH1 00 DUP1 REVERT
  :decimals PUSH1 06 PUSH1 00 MSTORE PUSH1 20 PUSH1 00 RETURN
  :balance PUSH1 04 CALLDATALOAD SLOAD PUSH1 00 MSTORE PUSH1 20 PUSH1 00 RETURN
  :transfer PUSH1 24 CALLDATALOAD CALLER SLOAD
  DUP2 DUP2 LT PUSH1 @fail JUMPI
  DUP2 SWAP1 SUB CALLER SSTORE
  PUSH1 04 CALLDATALOAD SWAP1 DUP2 SLOAD ADD SWAP1 SSTORE
  PUSH1 01 PUSH1 00 MSTORE PUSH1 20 PUSH1 00 RETURN`;
const CODES = {
  ADD: '01', SUB: '03', LT: '10', EQ: '14', SHR: '1c', CALLER: '33', CALLDATALOAD: '35', CODECOPY: '39', MSTORE: '52', SLOAD: '54',
  SSTORE: '55', JUMPI: '57', PUSH1: '60', PUSH4: '63', PUSH8: '67', DUP1: '80', DUP2: '81', SWAP1: '90', RETURN: 'f3', REVERT: 'fd',
};

/** Bytes of a code, in two passes: a label is one byte, and a place to jump to. */
function assembled(text) {
  const words = text.trim().split(/\s+/);
  const labels = {};
  let at = 0;
  for (const word of words) {
    if (word.startsWith(':')) labels[word.slice(1)] = at.toString(16).padStart(2, '0');
    at += word in CODES || /^[:@]/.test(word) ? 1 : word.length / 2;
  }
  return words.map((word) => CODES[word] ?? (word.startsWith(':') ? '5b' : word.startsWith('@') ? labels[word.slice(1)] : word)).join('');
}

/** The code that makes a contract of this code, after it kept the supply as its maker's. */
function maker(code, supply) {
  const length = (code.length / 2).toString(16).padStart(2, '0');
  const keep = supply ? `PUSH8 ${supply.toString(16).padStart(16, '0')} CALLER SSTORE` : '';
  const head = (at) => assembled(`${keep} PUSH1 ${length} DUP1 PUSH1 ${at} PUSH1 00 CODECOPY PUSH1 00 RETURN`);
  return `0x${head((head('00').length / 2).toString(16).padStart(2, '0'))}${code}`;
}

const word = (value) => BigInt(value).toString(16).padStart(64, '0');
export const hex = (value) => `0x${BigInt(value).toString(16)}`;

function unused() {
  return new Promise((done) => {
    const server = http.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

export class Chain {
  static async start() {
    const chain = new Chain();
    const binary = path.join(modules, `@foundry-rs/anvil-linux-${process.arch === 'arm64' ? 'arm64' : 'amd64'}/bin/anvil`);
    chain.port = await unused();
    chain.child = spawn(binary, ['--host', '127.0.0.1', '--port', String(chain.port), '--silent'], { stdio: 'ignore' });
    await until('the node', () => chain.ask('eth_chainId').catch(() => false));
    chain.rich = (await chain.ask('eth_accounts'))[0];
    await chain.proxy();
    chain.token = await chain.made(maker(assembled(TOKEN), SUPPLY));
    // Fails whatever it is called with.
    chain.grim = await chain.made(maker(assembled('PUSH1 00 DUP1 REVERT'), 0n));
    return chain;
  }

  async ask(method, params = []) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`http://127.0.0.1:${this.port}`, { method: 'POST', headers, body });
    const { error, result } = await response.json();
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  async made(data) {
    return (await this.rich_sends({ data })).contractAddress;
  }

  async rich_sends(transaction) {
    const hash = await this.ask('eth_sendTransaction', [{ from: this.rich, ...transaction }]);
    return until('a block', () => this.ask('eth_getTransactionReceipt', [hash]));
  }

  /** Gives an address so much ether and so many of the token's smallest units. */
  async gives(to, ether, tokens) {
    await this.ask('anvil_setBalance', [to, hex(ether)]);
    const data = `0xa9059cbb${word(to)}${word(tokens)}`;
    await this.rich_sends({ to: this.token, data });
  }

  async ether(of) {
    return BigInt(await this.ask('eth_getBalance', [of, 'latest']));
  }

  async tokens(of) {
    return BigInt(await this.ask('eth_call', [{ to: this.token, data: `0x70a08231${word(of)}` }, 'latest']));
  }

  /** All transactions of an address, in order. */
  async sent(from) {
    const newest = Number(await this.ask('eth_blockNumber'));
    const all = [];
    for (let at = this.seen ?? 0; at <= newest; at += 1) {
      const block = await this.ask('eth_getBlockByNumber', [hex(at), true]);
      all.push(...block.transactions.filter((one) => one.from.toLowerCase() === from.toLowerCase()));
    }
    return all;
  }

  /** The address the wallet uses: what it asks passes `before(method)`, may get `instead(method)`, and passes
   * `after(method, answer)`. */
  async proxy() {
    this.honest();
    this.server = http.createServer(async (request, response) => {
      try {
        let body = '';
        // Its wallet may be killed in the middle of this.
        for await (const bytes of request) body += bytes;
        const { method } = JSON.parse(body);
        await this.before(method);
        const instead = this.instead(method);
        if (instead) return response.end(instead);
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(`http://127.0.0.1:${this.port}`, { method: 'POST', headers, body });
        response.end(await this.after(method, await answer.text()));
      } catch {
        response.destroy();
      }
    });
    await new Promise((done) => this.server.listen(0, '127.0.0.1', done));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
  }

  honest() {
    this.instead = () => undefined;
    this.before = async () => {};
    this.after = async (_, answer) => answer;
  }

  end() {
    this.server.closeAllConnections();
    this.server.close();
    this.child.kill();
  }
}

export const program = (root) => path.join(process.env.CARGO_TARGET_DIR ?? path.join(root, 'target'), 'hands/debug/feral-wallet');
export const text_of = (units, decimals = 18) => {
  const digits = units.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
};
