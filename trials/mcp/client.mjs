// A client for the official judge: starts the real broker with the judge's server in its settings, and calls each of its tools.
import { Broker } from './broker.mjs';

const url = process.argv.at(-1);
const rules = '[[mcp.it.rules]]\ntool = "*"\ndo = "allow"\nlooks = true\n';
const broker = await Broker.start(`[mcp.it]\nurl = "${url}"\n${rules}`);
try {
  // One of the judge's servers has no tools.
  const { tools, trouble } = await broker.met(200).catch(() => ({ tools: [] }));
  if (trouble) console.log(`trouble: ${trouble}`);
  for (const { name } of tools) {
    const { schema } = await broker.ask('/mcp/describe', { server: 'it', tool: name });
    const value = ({ type }) => (type === 'number' || type === 'integer' ? 5 : type === 'boolean' ? true : 'text');
    const given = Object.entries(schema?.properties ?? {}).map(([key, property]) => [key, value(property)]);
    console.log(name, JSON.stringify(await broker.call(name, Object.fromEntries(given))));
  }
} finally {
  await broker.end();
}
