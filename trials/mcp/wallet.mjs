// Our own wallet before a real node: it works, refuses what it must, and is sure where the node is not.
import fs from 'node:fs';
import path from 'node:path';
import { holds, rest, root, until } from '../page/told.mjs';
import { ETHER, program, text_of } from './chain.mjs';
import { FEE, FRIEND, GRIM, OPEN, PASSWORD, Purse, STRANGER, TOKEN, rules } from './purse.mjs';
import { DEADLINE, READS, rows, through } from './rows.mjs';
import { served } from './served.mjs';
import { kills, limits } from './wallet_money.mjs';

async function works() {
  const purse = await Purse.start(rules(5, 100));
  try {
    const { chain, address, home } = purse;
    const mode = (name) => (fs.statSync(path.join(home, name)).mode & 0o777).toString(8);
    holds(mode('key.json') === '600' && mode('') === '700', 'the key is closed to others', mode('key.json'));
    const key = JSON.parse(fs.readFileSync(path.join(home, 'key.json'), 'utf8'));
    holds(key.version === 3 && key.crypto.kdf === 'scrypt' && key.crypto.cipher === 'aes-128-ctr', 'its form is version 3');
    const held = await purse.told('balance');
    holds(held.balances?.ETH === '10' && held.balances?.BUCK === '1000', 'it says what it holds', JSON.stringify(held));
    const before = await chain.ether(FRIEND);
    const sent = await purse.told('send', { to: FRIEND, amount: '0.01', max_fee: FEE });
    holds(sent.state === 'done', 'ether is sent', JSON.stringify(sent));
    holds((await chain.ether(FRIEND)) - before === ETHER / 100n, 'and arrives to the wei');
    const paid = 10n * ETHER - (await chain.ether(address)) - ETHER / 100n;
    holds(text_of(paid).replace(/0+$/, '') === sent.fee, 'the fee it tells is the fee that was paid', `${paid} ${sent.fee}`);
    const token = await purse.told('send', { to: STRANGER, amount: '12.345678', token: 'BUCK', max_fee: FEE });
    holds(token.state === 'done' && (await chain.tokens(STRANGER)) === 12_345_678n, 'the token is sent', JSON.stringify(token));
    const { sent: history } = await purse.told('history');
    holds(history.length === 2 && history[0].token === 'BUCK' && history[1].hash === sent.hash, 'it says what it sent', JSON.stringify(history));
    const status = await purse.told('status');
    holds(status.next_nonce === 2 && status.waiting.length === 0 && status.trouble === null, 'and how things stand', JSON.stringify(status));
    const two = await Promise.all([purse.told('send', { to: FRIEND, amount: '0.001', max_fee: FEE }), purse.told('send', { to: STRANGER, amount: '0.002', max_fee: FEE })]);
    holds(two.every((one) => one.state === 'done') && two[0].nonce !== two[1].nonce, 'two at once have nonces of their own', JSON.stringify(two));
  } finally {
    await purse.end();
  }
}

/** Calls of which nothing may come of: nothing is signed, nothing is on the chain, and the words say why. */
async function refuses() {
  const purse = await Purse.start(OPEN, { before: [`[tokens.ODD]\ncontract = "${GRIM}"\ndecimals = 6\n`] });
  const { chain } = purse;
  try {
    const refused = async (what, given, words) => {
      const answer = await purse.broker.call('send', { to: FRIEND, amount: '0.01', max_fee: FEE, ...given });
      const said = answer.body ?? answer.error ?? '';
      holds((!answer.ok || answer.status === 422) && words.test(said), `refused: ${what}`, JSON.stringify(answer));
    };
    await refused('an address without checksum', { to: FRIEND.toLowerCase() }, /checksum/);
    await refused('one letter in the other case', { to: FRIEND.replace('dc', 'Dc') }, /checksum/);
    await refused('a name', { to: 'vitalik.eth' }, /checksum/);
    await refused('the zero address', { to: `0x${'0'.repeat(40)}` }, /zero address/);
    await refused('itself', { to: purse.address }, /this wallet/);
    await refused('the contract of a token', { to: TOKEN }, /contract of a token/);
    await refused('an unknown token', { token: 'USDC' }, /no token "USDC"/);
    for (const amount of ['-1', '1e-3', '0x10', '1,5', '.5', '1.', ' 1', '00.1', '', '٣', '1'.repeat(90)]) {
      await refused(`the amount ${JSON.stringify(amount.slice(0, 8))}`, { amount }, /amount/);
    }
    await refused('a number that is no text', { amount: 0.01 }, /text/);
    await refused('nothing', { amount: '0.0' }, /nothing/);
    await refused('half a wei', { amount: '0.0000000000000000005' }, /18 decimals/);
    await refused('too fine for the token', { amount: '0.0000001', token: 'BUCK' }, /6 decimals/);
    await refused('no cap on gas', { max_fee: undefined }, /max_fee/);
    await refused('a cap below what gas costs', { max_fee: '0.00000001' }, /gas costs up to/);
    await refused('data of its own', { data: '0x095ea7b3' }, /unknown field/);
    await refused('more than there is', { amount: '10' }, /are free, and this needs/);
    await refused('more of the token than there is', { amount: '1000.000001', token: 'BUCK' }, /there are 1000 BUCK/);
    await refused('a transfer that fails in simulation', { to: GRIM }, /contract of a token/);
    await refused('a token whose contract fails', { token: 'ODD' }, /ODD: .*revert/);
    for (const tool of ['approve', 'permit', 'permit2', 'sign', 'call', 'eth_sendTransaction']) {
      const answer = await purse.broker.call(tool, { spender: FRIEND, amount: '1' });
      holds(!answer.ok, `there is no ${tool}`, JSON.stringify(answer));
    }
    await lies(purse, refused);
    holds((await chain.sent(purse.address)).length === 0 && purse.lines().length === 0, 'nothing of all this was signed or sent');
    holds((await purse.told('send', { to: FRIEND, amount: '0.01', max_fee: FEE })).state === 'done', 'and a good one goes through after all');
  } finally {
    await purse.end();
  }
}

/** What a node can do that lies, fails or is not there. */
async function lies({ chain }, refused) {
  const says = (wanted, result) => async (method, answer) =>
    (method === wanted ? JSON.stringify({ jsonrpc: '2.0', id: 1, ...result }) : answer);
  const lie = async (method, result, words) => {
    chain.after = says(method, result);
    await refused(`${method} is ${JSON.stringify(result).slice(0, 60)}`, {}, words);
    chain.honest();
  };
  await lie('eth_chainId', { result: '0x1' }, /chain 1, and the owner's is 31337/);
  await lie('eth_chainId', { result: 31337 }, /no number/);
  await lie('eth_chainId', { error: { code: 1, message: '\u001b[31mno' } }, /the node says: \[31mno/);
  await lie('eth_getCode', { result: '0x60' }, /fee beside gas/);
  await lie('eth_getTransactionCount', { result: '0xffffffffffffffffff' }, /beyond all bounds/);
  await lie('eth_estimateGas', { result: '0xffffffff' }, /more gas than a block/);
  await lie('eth_estimateGas', { error: { code: 3, message: 'execution reverted: closed' } }, /would fail.*closed/);
  await lie('eth_call', { error: { code: 3, message: 'execution reverted: shut' } }, /would fail.*shut/);
  await lie('eth_getBlockByNumber', { result: {} }, /no base fee/);
  await lie('eth_maxPriorityFeePerGas', { result: '0xffffffffffffff' }, /gas costs up to/);
  await lie('eth_getBalance', { result: '0x' }, /no number/);
  chain.after = async () => 'x'.repeat(5 << 20);
  await refused('an answer without end', {}, /not reached/);
  chain.after = async () => '<html>';
  await refused('no JSON', {}, /no JSON/);
  chain.honest();
  chain.before = async () => {
    throw new Error('down');
  };
  await refused('no node', {}, /not reached/);
  chain.honest();
}

/** A node that takes a transaction and says otherwise, or does not take it: the call happens at most once, and is told of. */
async function unsure() {
  const purse = await Purse.start(OPEN);
  const { chain } = purse;
  try {
    for (const [what, before, after] of [
      ['never arrives', async (method) => { if (method === 'eth_sendRawTransaction') throw new Error('lost'); }, undefined],
      ['arrives, and its answer is lost', undefined, async (method, answer) => { if (method === 'eth_sendRawTransaction') throw new Error('lost'); return answer; }],
    ]) {
      const count = (await chain.sent(purse.address)).length;
      chain.before = before ?? chain.before;
      chain.after = after ?? chain.after;
      const call = purse.told('send', { to: FRIEND, amount: '0.01', max_fee: FEE });
      await rest(1_500);
      chain.honest();
      const answer = await call;
      holds(/signed|done/.test(answer.state), `what ${what} is told of`, JSON.stringify(answer));
      const status = await purse.told('status');
      holds(status.waiting.length === 0 || status.waiting[0].hash === answer.hash, `what ${what} is looked after`, JSON.stringify(status));
      const { sent } = await until('its block', async () => {
        const history = await purse.told('history');
        return history.sent[0].state === 'done' && history;
      }, 200);
      holds(sent[0].hash === answer.hash, `what ${what} is the same transaction in the end`);
      holds((await chain.sent(purse.address)).length === count + 1, `what ${what} happened once`);
    }
    await says_no(purse);
    await stuck(purse);
  } finally {
    await purse.end();
  }
}

/** A node that refuses what is signed, and one that says so and takes it all the same. */
async function says_no(purse) {
  const { chain } = purse;
  const no = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'transaction underpriced' } });
  const send = () => purse.broker.call('send', { to: FRIEND, amount: '0.004', max_fee: FEE });
  const before = (await chain.sent(purse.address)).length;
  chain.instead = (method) => (method === 'eth_sendRawTransaction' ? no : undefined);
  const refused = await send();
  holds(refused.status === 422 && /refused it: transaction underpriced/.test(refused.body), 'what the node refuses is told of', JSON.stringify(refused));
  chain.honest();
  const next = JSON.parse((await send()).body);
  holds(next.state === 'done' && next.nonce === before, 'and its nonce is the next one\'s', JSON.stringify(next));
  chain.after = async (method, answer) => (method === 'eth_sendRawTransaction' ? no : answer);
  const taken = JSON.parse((await send()).body);
  holds(taken.state === 'done', 'what it took and denied is found', JSON.stringify(taken));
  chain.honest();
  holds((await chain.sent(purse.address)).length === before + 2, 'and each of these happened once');
}

/** No block takes it: it is told as waiting, then as stuck, and nothing follows it; when one does, all goes on. */
async function stuck(purse) {
  const { chain } = purse;
  await chain.ask('evm_setAutomine', [false]);
  const waits = await purse.told('send', { to: FRIEND, amount: '0.003', max_fee: FEE });
  holds(/sent: no block/.test(waits.state), 'what no block takes is told as waiting', JSON.stringify(waits));
  await purse.broker.stop();
  const file = path.join(purse.home, 'sent.jsonl');
  const old = fs.readFileSync(file, 'utf8').replace(/"at_s":(\d+)/g, (_, at) => `"at_s":${Number(at) - 700}`);
  fs.writeFileSync(file, old);
  await purse.broker.open();
  const status = await purse.told('status');
  holds(/stuck/.test(status.waiting[0]?.state) && /stuck/.test(status.trouble), 'later as stuck, with its nonce', JSON.stringify(status));
  const next = await purse.broker.call('send', { to: FRIEND, amount: '0.003', max_fee: FEE });
  holds(next.status === 422 && /nonce \d+ is stuck/.test(next.body), 'and nothing follows it', JSON.stringify(next));
  await chain.ask('evm_setAutomine', [true]);
  await chain.ask('evm_mine');
  const done = await purse.told('send', { to: FRIEND, amount: '0.003', max_fee: FEE });
  holds(done.state === 'done' && done.nonce === waits.nonce + 1, 'until a block took it', JSON.stringify(done));
}

/** Scenarios of the official judge that need what a wallet has not. */
const OTHERS = [
  [/^tools-call-|^json-schema|^elicitation|^input-required|^server-sse-polling/, 'calls a tool of the judge\'s own example server'],
  [/^logging/, 'it does not log over the protocol'],
  [/^completion|^resources|^prompts|^caching/, 'it has tools alone'],
  [/^dns-rebinding|^server-s|^http-/, 'it speaks on standard streams; the bridge of this trial is what is judged'],
];

async function conforms() {
  const purse = await Purse.start(OPEN);
  try {
    await purse.broker.stop();
    await served('feral-wallet', [program(root), '--home', purse.home], { env: purse.env }, OTHERS);
  } finally {
    await purse.end();
  }
}

/** What every server is put through; and a key that its password does not open. */
async function each() {
  const own = program(root);
  const folders = JSON.stringify([READS, path.dirname(own)]);
  const how = `command = ${JSON.stringify(through('FERAL_WALLET_PASSWORD', [own]))}\nread = ${folders}\n${DEADLINE}`;
  const purse = await Purse.start(OPEN.replace('do =', 'looks = true\ndo ='), { how });
  try {
    await rows('the wallet', purse.broker, { tool: 'balance', shows: /"ETH":\s*"10"/, secret: PASSWORD });
    await purse.again('SIGTERM', { FERAL_WALLET_PASSWORD: 'another password 0123' });
    const shut = await purse.broker.call('balance');
    holds(!shut.ok && /cannot be reached/.test(shut.error), 'with a wrong password it does not start, and that is told', JSON.stringify(shut));
    await purse.again('SIGTERM', { FERAL_WALLET_PASSWORD: PASSWORD });
    holds((await purse.broker.call('balance')).ok, 'and with the right one it does');
  } finally {
    await purse.end();
  }
}

export async function wallet({ is_full }) {
  if (!fs.existsSync(program(root))) throw new Error(`build it first: cargo build --manifest-path hands/Cargo.toml --target-dir target/hands`);
  await conforms();
  await works();
  await each();
  await refuses();
  await unsure();
  await limits(is_full ? 3_000 : 1_000);
  await kills(is_full ? 240 : 48);
}
