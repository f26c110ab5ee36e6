// The official judge of MCP servers over one of our own: its standard streams behind a bridge that only carries messages on.
import { spawn, spawnSync } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';
import { holds } from '../page/told.mjs';
import { modules } from './broker.mjs';

const judge = path.join(modules, '@modelcontextprotocol/conformance/dist/index.js');
/** Revisions, and what carries each over to a program's streams. */
const REVISIONS = { '2025-11-25': bridge, '2026-07-28': stateless };
const transports = path.join(modules, '@modelcontextprotocol/sdk/dist/esm/server/streamableHttp.js');

/** Serves a program at an address: each session has a process of its own, and ends the one before. */
async function bridge(command, options) {
  const { StreamableHTTPServerTransport } = await import(pathToFileURL(transports));
  const sessions = new Map();
  const opened = async () => {
    await Promise.all([...sessions.values()].map(({ child, gone }) => child.kill() && gone));
    sessions.clear();
    const child = spawn(command[0], command.slice(1), { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
    const gone = new Promise((done) => child.on('exit', done));
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => sessions.set(id, { transport, child, gone }),
    });
    transport.onmessage = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
    transport.onclose = () => child.kill();
    readline.createInterface({ input: child.stdout }).on('line', (line) => transport.send(JSON.parse(line)).catch(() => {}));
    await transport.start();
    return { transport, child };
  };
  const server = http.createServer(async (request, response) => {
    const known = sessions.get(request.headers['mcp-session-id']);
    const { transport } = known ?? (await opened());
    await transport.handleRequest(request, response);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const end = () => {
    server.closeAllConnections();
    server.close();
    sessions.forEach(({ child }) => child.kill());
  };
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, end };
}

/** Serves a program at an address without sessions: each request has a process of its own, as long as it is answered. */
async function stateless(command, options) {
  const children = new Set();
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    if (request.method !== 'POST') return response.writeHead(405).end();
    const asked = JSON.parse(body);
    if (asked.id === undefined) return response.writeHead(202).end();
    // One at a time, as a home of theirs has it.
    if (asked.method !== 'subscriptions/listen') await Promise.all([...children].map((child) => child.kill() && child.gone));
    const child = spawn(command[0], command.slice(1), { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
    children.add(child);
    child.gone = new Promise((done) => child.on('exit', done)).then(() => children.delete(child));
    child.stdin.on('error', () => {});
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.on('close', () => child.kill());
    readline.createInterface({ input: child.stdout }).on('line', (line) => {
      response.write(`event: message\ndata: ${line}\n\n`);
      const said = JSON.parse(line);
      if (said.id === asked.id && ('result' in said || 'error' in said)) response.end();
    });
    child.gone.then(() => response.end());
    child.stdin.write(`${JSON.stringify(asked)}\n`);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const end = () => {
    server.closeAllConnections();
    server.close();
    children.forEach((child) => child.kill());
  };
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, end };
}

/** Runs every scenario of both revisions; those that do not pass have to be among `others`, pairs of a pattern and the reason. */
export async function served(name, command, options, others) {
  for (const [revision, carried] of Object.entries(REVISIONS)) await judged(name, revision, await carried(command, options), others);
}

async function judged(name, revision, { url, end }, others) {
  const of = ['--spec-version', revision];
  try {
    const listed = spawnSync(process.execPath, [judge, 'list', '--server', ...of], { encoding: 'utf8' }).stdout;
    const scenarios = [...listed.matchAll(/^ +- (\S+) \[/gm)].map(([, scenario]) => scenario);
    holds(scenarios.length > 20, 'the judge has its scenarios', listed);
    let passing = 0;
    for (const scenario of scenarios) {
      const words = [judge, 'server', '--url', url, '--scenario', scenario, ...of];
      const ran = await new Promise((done) => {
        const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
        let said = '';
        child.stdout.on('data', (bytes) => (said += bytes));
        child.stderr.on('data', (bytes) => (said += bytes));
        child.on('exit', (status) => done({ status, said }));
      });
      const passed = ran.status === 0;
      const reason = others.find(([pattern]) => pattern.test(scenario))?.[1];
      passing += passed;
      console.log(`   ${revision} ${scenario}: ${passed ? 'passes' : `does not (${reason ?? 'NOT NAMED'})`}`);
      if (!passed) holds(reason, `${name}, ${revision}: ${scenario} passes or is named`, ran.said.slice(-700));
    }
    console.log(`   ${name}, ${revision}: ${passing} of ${scenarios.length} scenarios pass`);
  } finally {
    end();
  }
}
