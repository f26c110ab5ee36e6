// The owner's limits before a real chain: never a wei beyond, gas included, and each call at most once, whatever is killed.
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { holds, rest } from '../page/told.mjs';
import { ETHER, text_of } from './chain.mjs';
import { FEE, FRIEND, Purse, STRANGER, rules } from './purse.mjs';

/** What left the wallet on the chain: ether with gas, and the token. */
async function gone(purse) {
  return [10n * ETHER - (await purse.chain.ether(purse.address)), 1_000_000_000n - (await purse.chain.tokens(purse.address))];
}

const random = (most) => crypto.randomInt(most);

/** A call at random, within a single limit or beyond it. */
function any_call() {
  const token = random(4) === 0;
  const to = random(2) ? FRIEND : STRANGER;
  const amount = token ? text_of(BigInt(random(30_000_000)), 6) : text_of(BigInt(random(22_000)) * 10n ** 12n);
  return { to, amount, max_fee: text_of(100_000_000_000_000n + BigInt(random(9)) * 100_000_000_000_000n), ...(token && { token: 'BUCK' }) };
}

/** Transfers at random through the real broker, two at once: never a wei beyond, gas included, and each at most once. */
export async function limits(count) {
  const [ether, token] = [count / 400, count / 10];
  const purse = await Purse.start(rules(ether, token));
  try {
    let [done, refused, other] = [0, 0, 0];
    const began = Date.now();
    const run = async () => {
      for (let at = 0; at < count / 2; at += 1) {
        const answer = await purse.broker.call('send', any_call());
        if (answer.ok && answer.status === 200) done += 1;
        else if (/may come to|amount is nothing/.test(answer.error ?? answer.body ?? '')) refused += 1;
        else {
          other += 1;
          holds(false, 'a transfer is done or beyond a limit', JSON.stringify(answer));
        }
      }
    };
    await Promise.all([run(), run()]);
    const [wei, bucks] = await gone(purse);
    const sent = await purse.chain.sent(purse.address);
    console.log(`   ${count} calls in ${Math.round((Date.now() - began) / 1000)} s: ${done} done, ${refused} beyond a limit; ${text_of(wei)} of ${ether} ether and ${text_of(bucks, 6)} of ${token} tokens left`);
    holds(wei <= BigInt(Math.round(ether * 1e6)) * 10n ** 12n, 'ether never goes beyond its day, gas included', wei);
    holds(bucks <= BigInt(token) * 1_000_000n, 'nor does the token', bucks);
    holds(sent.length === done && other === 0, 'each that is done is one transaction', `${sent.length} ${done}`);
    holds(done > count / 10 && refused > count / 10, 'some were within and some beyond', `${done} ${refused}`);
    await clocks(purse);
  } finally {
    await purse.end();
  }
}

/** A broker that is started with another clock lets no more out. */
async function clocks(purse) {
  const probe = { to: FRIEND, amount: '0.015', max_fee: FEE };
  const filled = async () => {
    for (let at = 0; at < 200; at += 1) {
      const answer = await purse.broker.call('send', probe);
      if (/24 hours/.test(answer.error ?? '')) return true;
    }
    return false;
  };
  holds(await filled(), 'the day fills up');
  const library = fs.globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0];
  if (!library) console.log('   clocks are not moved: there is no faketime here (apt-get install faketime)');
  for (const moved of library ? ['+30d', '-30d', '+1d', ''] : ['']) {
    // Programs that the broker starts do not get these. The clock of the boot is one that nobody can set.
    const env = moved ? { LD_PRELOAD: library, FAKETIME: moved, FAKETIME_DONT_FAKE_MONOTONIC: '1' } : { LD_PRELOAD: '' };
    await purse.again('SIGKILL', env);
    await purse.broker.met();
    const answer = await purse.broker.call('send', probe);
    holds(/24 hours/.test(answer.error ?? ''), `a clock moved by ${moved || 'nothing'} makes no room`, JSON.stringify(answer));
  }
  await purse.again('SIGTERM');
}

/** Kills wallet or broker at every step of a call; afterwards each call happened at most once, and nothing is beyond. */
export async function kills(rounds) {
  // Half of it is the friend's: room for all of these calls and a few more.
  const ether = rounds * 0.0032;
  const purse = await Purse.start(rules(ether, 100));
  const { chain } = purse;
  try {
    const steps = ['eth_chainId', 'eth_getCode', 'eth_getTransactionCount', 'eth_getBalance', 'eth_call', 'eth_estimateGas', 'eth_getBlockByNumber', 'eth_maxPriorityFeePerGas', 'eth_sendRawTransaction', 'eth_getTransactionReceipt'];
    const places = steps.flatMap((step) => ['before', 'after'].map((when) => [step, when])).concat([['reserved', 'line'], ['signed', 'line'], ['sent', 'line'], ['counted', 'line']]);
    const made_calls = [];
    let killed = 0;
    for (let at = 0; at < rounds; at += 1) {
      const [step, when] = places[at % places.length];
      const whom = Math.floor(at / places.length) % 2 ? 'broker' : 'wallet';
      // Each call is known on the chain by its amount.
      const amount = 10n ** 15n + BigInt(at + 1);
      made_calls.push(amount);
      await purse.told('status');
      const kill = () => {
        killed += 1;
        if (whom === 'broker') purse.broker.child.kill('SIGKILL');
        else purse.wallets().forEach((pid) => process.kill(pid, 'SIGKILL'));
      };
      let armed = true;
      const once = () => {
        if (!armed) return;
        armed = false;
        kill();
      };
      let watch;
      if (when === 'before') chain.before = async (method) => { if (method === step) once(); };
      else if (when === 'after') chain.after = async (method, answer) => { if (method === step) { setTimeout(once, random(4)); } return answer; };
      else {
        const file = step === 'counted' ? purse.broker.path('.self/broker/spent.jsonl') : path.join(purse.home, 'sent.jsonl');
        const mark = step === 'counted' ? '"spent"' : `"step":"${step}"`;
        const count = () => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split(mark).length : 1);
        const had = count();
        watch = setInterval(() => count() > had && once(), 1);
      }
      await Promise.race([purse.send(text_of(amount)).catch(() => {}), rest(25_000)]);
      clearInterval(watch);
      chain.honest();
      await purse.again('SIGKILL');
      await purse.broker.met();
    }
    let more = 0;
    for (let answer = {}; more < rounds && !/24 hours/.test(answer.error ?? ''); more += 1) {
      answer = await purse.send('0.001');
      if (answer.ok) made_calls.push(10n ** 15n);
    }
    holds(more < rounds, 'what was counted fills the day up');
    await purse.told('status');
    const { sent } = await purse.told('history', { count: 100 });
    holds(sent.every((one) => /^(done|void|refused)/.test(one.state)), 'in the end all is known', JSON.stringify(sent.filter((one) => !/^(done|void|refused)/.test(one.state))));
    const values = (await chain.sent(purse.address)).map((one) => BigInt(one.value));
    const twice = made_calls.filter((amount) => amount !== 10n ** 15n && values.filter((value) => value === amount).length > 1);
    holds(twice.length === 0, 'no call happened twice', twice);
    holds(values.every((value) => made_calls.includes(value)), 'and nothing happened that was no call');
    const [wei] = await gone(purse);
    const counted = made_calls.length;
    console.log(`   ${counted} calls with ${killed} kills: ${values.length} on the chain, ${text_of(wei)} of ${ether / 2} ether`);
    holds(wei <= BigInt(Math.round(ether * 5e5)) * 10n ** 12n, 'never beyond the day', wei);
    holds(killed > rounds / 2, 'the kills came', killed);
    const lines = fs.readFileSync(purse.broker.path('.self/broker/spent.jsonl'), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
    const sums = lines.filter((line) => line.spent).length;
    holds(sums >= values.length, 'what is on the chain was counted before', `${sums} ${values.length}`);
  } finally {
    await purse.end();
  }
}
