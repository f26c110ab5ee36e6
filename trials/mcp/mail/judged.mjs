// The official judge of MCP servers before the mail hand: an HTTP door that hands each message to its standard streams.
import { spawnSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { holds, root } from '../../page/told.mjs';
import { Hand } from './hand.mjs';

const judge = path.join(root, 'target/mcp/node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** Scenarios that do not pass, by why: the heading of docs/mail.md that says so. */
export const NAMED = [
  [/^tools-call-|^elicitation-|^json-schema|^resources-(read|templates|subscribe|unsubscribe)/, "Tools and resources of the judge's own"],
  [/^prompts-|^completion-|^logging-/, 'Prompts, completions and log levels'],
  [/^server-sse-polling|^dns-/, 'A door of HTTP'],
];

/** Opens the door: a session is a program of its own. */
async function door(env) {
  const hands = new Map();
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method !== 'POST') return response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    const message = JSON.parse(Buffer.concat(chunks));
    let id = request.headers['mcp-session-id'];
    if (message.method === 'initialize') {
      id = `s${hands.size}`;
      hands.set(id, await Hand.open(env));
    }
    const hand = hands.get(id);
    if (!hand) return response.writeHead(404).end();
    if (message.id === undefined) {
      hand.child.stdin.write(`${JSON.stringify(message)}\n`);
      return response.writeHead(202).end();
    }
    const answer = await hand.pass(message);
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': id });
    return response.end(JSON.stringify(answer));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const end = () => {
    server.close();
    hands.forEach((hand) => hand.child.kill());
  };
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, end };
}

function run(words) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [judge, ...words], { stdio: 'ignore' });
    child.on('exit', done);
  });
}

export async function judged(env) {
  if (!fs.existsSync(judge)) return console.log('   the judge of servers is not fetched');
  const listed = spawnSync(process.execPath, [judge, 'list', '--server'], { encoding: 'utf8' }).stdout;
  const scenarios = [...listed.matchAll(/^ +- (\S+)/gm)].map(([, scenario]) => scenario);
  holds(scenarios.length > 10, 'the judge has its scenarios', listed);
  const page = fs.readFileSync(path.join(root, 'docs/mail.md'), 'utf8');
  let passing = 0;
  for (const scenario of scenarios) {
    const { url, end } = await door(env);
    const results = fs.mkdtempSync(path.join(os.tmpdir(), 'feral-judge-'));
    await run(['server', '--url', url, '--scenario', scenario, '-o', results]);
    end();
    const file = fs.readdirSync(results, { recursive: true }).find((name) => name.endsWith('checks.json'));
    const checks = file ? JSON.parse(fs.readFileSync(path.join(results, file))) : [];
    fs.rmSync(results, { recursive: true, force: true });
    const bad = checks.filter((check) => check.status === 'FAILURE');
    const passed = bad.length === 0 && checks.some((check) => check.status === 'SUCCESS');
    passing += passed;
    const named = NAMED.find(([pattern]) => pattern.test(scenario));
    console.log(`   ${scenario}: ${passed ? 'passes' : `does not (${named?.[1] ?? 'NOT NAMED'})`}`);
    if (!passed) holds(named && page.includes(named[1]), `${scenario} passes or is named`, JSON.stringify(bad).slice(0, 500));
  }
  return console.log(`   ${passing} of ${scenarios.length} scenarios of a server pass`);
}
