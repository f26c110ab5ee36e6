// A client for the official judge: starts the real broker with the judge's server in its settings, signs in there as an
// owner does where it wants that, and calls each of its tools.
import { Broker } from './broker.mjs';
import { signIn } from './sign-in.mjs';

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const rules = '[[mcp.it.rules]]\ntool = "*"\ndo = "allow"\nlooks = true\n';
/** Most sign-ins of an owner who is asked again and again. */
const PATIENCE = 3;

/** What an owner writes into owner.toml where the server does not take a client that it does not know. */
function client() {
  const lines = [];
  // The judge's client of that kind is at this address.
  if (scenario === 'auth/basic-cimd') lines.push('client_id = "https://conformance-test.local/client-metadata.json"');
  if (context.client_id) lines.push(`client_id = "${context.client_id}"`);
  if (context.client_secret) lines.push('client_secret_env = "SECRET"');
  if (scenario.startsWith('auth/client-credentials')) lines.push('sign_in = "client"');
  return lines.map((line) => `${line}\n`).join('');
}

const env = context.client_secret ? { SECRET: context.client_secret } : {};
const broker = await Broker.start(`[mcp.it]\nurl = "${url}"\n${client()}${rules}`, { env });
let signIns = 0;

/** Asks until the owner need not sign in, or has done so often enough. */
async function signed(asked) {
  for (;;) {
    const answer = await asked();
    const wants = /feral mcp sign-in/.test(answer?.trouble ?? answer?.error ?? '');
    if (!wants || signIns === PATIENCE) return answer;
    signIns += 1;
    const { done, said } = await signIn(broker);
    console.log(said);
    if (!done) return answer;
  }
}

try {
  // One of the judge's servers has no tools.
  const known = () => broker.ask('/mcp/describe', { server: 'it', tool: 'any' });
  await signed(known);
  const { tools, trouble } = await broker.met(200).catch(() => ({ tools: [] }));
  if (trouble) console.log(`trouble: ${trouble}`);
  const schemas = {};
  for (const { name } of tools) {
    schemas[name] = (await broker.ask('/mcp/describe', { server: 'it', tool: name })).schema;
  }
  for (const { name } of tools) {
    if (name.startsWith('skills/')) {
      // In one scenario nobody uses a skill; else its text is read, and then whatever it names.
      if (scenario.endsWith('-no-prefetch')) continue;
      for (const given of [{}, ...schemas[name].properties.file.enum.map((file) => ({ file }))]) {
        console.log(name, JSON.stringify(await broker.call(name, given)));
      }
      continue;
    }
    // The judge says with what, or takes anything; one of its tools takes the schema of another, as it was seen.
    const said = context.toolCalls?.find((call) => call.name === name)?.arguments;
    const value = ({ type }) => ({ number: 5, integer: 5, boolean: true, object: schemas.json_schema_2020_12_tool })[type] ?? 'text';
    const given = Object.entries(schemas[name]?.properties ?? {}).map(([key, property]) => [key, value(property)]);
    console.log(name, JSON.stringify(await signed(() => broker.call(name, said ?? Object.fromEntries(given)))));
  }
} finally {
  await broker.end();
}
