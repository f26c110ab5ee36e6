// The official judge of MCP clients over the real broker: every scenario passes, or is named here and in docs/mcp.md.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { holds, root } from '../page/told.mjs';

const judge = path.join(root, 'target/mcp/node_modules/@modelcontextprotocol/conformance/dist/index.js');
const client = `${process.execPath} ${path.join(import.meta.dirname, 'client.mjs')}`;

/** Scenarios that do not pass, by the heading of docs/mcp.md that says why. */
const UNSUPPORTED = [
  [/^(elicitation|sep-2322)-/, 'Questions of a server in the middle of a call'],
  [/^auth\/2025-03-26-oauth-endpoint-fallback$/, 'Sign-in without metadata'],
  [/^auth\/(client-credentials-jwt|dpop|enterprise-managed|wif-jwt)/, 'Sign-in by signed tokens'],
];

function judged(scenario) {
  const results = fs.mkdtempSync(path.join(os.tmpdir(), 'feral-judge-'));
  const words = [judge, 'client', '--command', client, '--scenario', scenario, '-o', results];
  const ran = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 120_000 });
  const file = fs.readdirSync(results, { recursive: true }).find((name) => name.endsWith('checks.json'));
  const checks = file ? JSON.parse(fs.readFileSync(path.join(results, file))) : [];
  fs.rmSync(results, { recursive: true, force: true });
  // A scenario that saw nothing of the client has judged nothing.
  const passed = ran.status === 0 && checks.some((check) => check.status === 'SUCCESS');
  return { passed, why: checks.filter((check) => check.status !== 'INFO').map((check) => `${check.id} ${check.status}`) };
}

export function conformance() {
  const listed = spawnSync(process.execPath, [judge, 'list', '--client'], { encoding: 'utf8' }).stdout;
  const scenarios = [...listed.matchAll(/^ +- (\S+) \[/gm)].map(([, scenario]) => scenario);
  holds(scenarios.length > 20, 'the judge has its scenarios', listed);
  const page = fs.readFileSync(path.join(root, 'docs/mcp.md'), 'utf8');
  let passing = 0;
  for (const scenario of scenarios) {
    const { passed, why } = judged(scenario);
    const named = UNSUPPORTED.find(([pattern]) => pattern.test(scenario));
    passing += passed;
    console.log(`   ${scenario}: ${passed ? 'passes' : `does not (${named?.[1] ?? 'NOT NAMED'})`}`);
    if (!passed) holds(named && page.includes(named[1]), `${scenario} passes or is named`, why.join(', '));
  }
  console.log(`   ${passing} of ${scenarios.length} scenarios pass`);
}
