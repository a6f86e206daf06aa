import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod/mini';
import { defaultProvider } from '../../lib/infra/lambda-credentials.ts';
import {
  agentEntry,
  type Bundle,
  bundleDeployment,
  bundleFunctions,
  hostEntry,
} from '../../lib/infra/bundle.ts';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { PROJECT_ROOT } from '../../lib/infra/synth.ts';
import * as whole from '../../lib/index.ts';
import * as roles from '../../lib/without-handlers.ts';
import { project } from './fixture.ts';

/** An author's agent file in its own folder; it imports Steadfast only by its package name. */
const AGENT = `
  import { agent } from 'steadfast';
  import { createRequire } from 'node:module';
  const text = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value: String(value) }) } } as const;
  const echo = agent('echo', { input: text, output: text, effect: 'idempotent', undo: 'none' });
  export const name: string = createRequire(import.meta.url)('node:path').basename('/a/' + echo.spec.name);
  export const handler = async (): Promise<string> => { throw new Error('from ' + name); };
`;

const bundlesOf = (root: string): ReadonlyMap<string, Bundle> =>
  bundleFunctions({
    root,
    entries: { other: join(root, 'echo.ts') },
    agents: { [agentEntry('echo')]: join(root, 'echo.ts') },
  });
const one = (bundles: ReadonlyMap<string, Bundle>, name: string): Bundle => {
  const bundle = bundles.get(name);
  if (bundle === undefined) throw new Error(`no bundle ${name}`);
  return bundle;
};

const bundles = bundlesOf(project({ 'echo.ts': AGENT }));
const echo = one(bundles, agentEntry('echo'));

test('an agent’s bundle is one ES module with a source map, and it runs', async () => {
  expect([...echo.files.keys()].sort()).toEqual(['index.mjs', 'index.mjs.map']);
  const folder = project();
  for (const [name, content] of echo.files) writeFileSync(join(folder, name), content);
  const module = (await import(pathToFileURL(join(folder, 'index.mjs')).href)) as { handler: () => unknown };
  expect(Object.keys(module)).toEqual(['handler']);
  await expect(module.handler()).rejects.toThrow('from echo');
  const map = JSON.parse(readFileSync(join(folder, 'index.mjs.map'), 'utf8')) as { sources: string[] };
  expect(map.sources.some((source) => source.endsWith('echo.ts'))).toBe(true);
});

test('a package beside the code of a host is imported with the agent that needs it, and not before', () => {
  const agentThat = (imports: string): string => `${imports} export const handler = async () => 1;`;
  const root = project({
    'agents/spoilt.ts': agentThat("import spoilt from 'spoilt'; spoilt();"),
    'agents/sound.ts': agentThat(''),
  });
  const agents = ['spoilt', 'sound'].map((name) => {
    return { name, file: join(root, `agents/${name}.ts`), timeoutMs: 1_000, peers: [name] };
  });
  const found = { root, workflows: [], agents, triggers: [], warnings: [] };
  const hosts = new Map([['both', ['spoilt', 'sound']]]);
  const { files } = one(bundleDeployment(found, { spoilt: ['spoilt'] }, undefined, hosts), hostEntry('both'));
  const code = [...files].flatMap(([name, content]): [string, string][] =>
    name.endsWith('.mjs') ? [[name, Buffer.from(content).toString()]] : [],
  );
  const importing = code.filter(([, text]) => /from ?"spoilt"/.test(text)).map(([name]) => name);
  expect(importing).toEqual([expect.stringMatching(/^spoilt-\w+\.mjs$/)]);
  expect(new Map(code).get('index.mjs')).toContain('import("./spoilt-');
});

/**
 * The largest bundle in KB, minified, with the AWS clients: a cold start reads all of it. The scheduler also
 * has the routes and the schemas; the agent of bulk actions, the schemas. The sizes are in docs/COST.md.
 */
const budgetOf = (name: string): number => BUDGETS[name] ?? 560;
const BUDGETS: Readonly<Record<string, number>> = { scheduler: 712, starter: 575, bulk: 606 };
/** The additional KB of clients that an author's agent imports for its own service. */
const AUTHORS_CLIENTS: Readonly<Record<string, number>> = { '@aws-sdk/client-s3': 200 };

let deployed: ReadonlyMap<string, Bundle>;
beforeAll(async () => {
  deployed = bundleDeployment(await discoverWorkflows({ root: PROJECT_ROOT, folders: ['examples'] }));
});

test('what is deployed is small, and nothing of the infrastructure is in it', () => {
  expect([...deployed.keys()]).toEqual(expect.arrayContaining(['scheduler', 'supervisor']));
  for (const [name, bundle] of deployed) {
    const inputs = Object.keys(bundle.metafile.inputs);
    const strangers =
      /aws-cdk-lib|constructs|esbuild|lib\/(infra\/(?!lambda-credentials)|testing\/)|^(local|cli)\/|credential-provider-(sso|ini)|mnemonist/;
    expect([name, inputs.filter((path) => strangers.test(path))]).toEqual([name, []]);
    // An agent needs only its contract; its workflow brings the builder and its checks: 35 KB.
    if (name.startsWith('agents/')) {
      expect([name, inputs.filter((path) => /^examples\/.*workflow\.ts$/.test(path))]).toEqual([name, []]);
    }
    // Only the function behind the API answers HTTP.
    const answersHttp = inputs.some((path) => path.startsWith('node_modules/hono/'));
    expect([name, answersHttp]).toEqual([name, name === 'scheduler']);
    const clients = Object.entries(AUTHORS_CLIENTS).filter(([client]) =>
      inputs.some((path) => path.startsWith(`node_modules/${client}/`)),
    );
    const budget = clients.reduce((sum, [, kilobytes]) => sum + kilobytes, budgetOf(name));
    expect([name, Math.max(bundle.bytes / 1024, budget)]).toEqual([name, budget]);
  }
});

test('no role carries what an agent does', () => {
  const carried = ['scheduler', 'starter', 'supervisor', 'audit'].map((name) => {
    const [output] = Object.values(one(deployed, name).metafile.outputs);
    const inputs = Object.entries(output?.inputs ?? {});
    const ofAgents = inputs.filter(([path]) => /^lib\/(?:agent|remote)\//.test(path));
    return [name, ofAgents.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0) < 300];
  });
  expect(carried).toEqual(carried.map(([name]) => [name, true]));
});

test('the handler of an agent that a role only declares is refused when it is called', async () => {
  expect(Object.keys(roles).sort()).toEqual(Object.keys(whole).sort());
  const text = z.string();
  const declared = roles.agent('echo', { input: text, output: text, effect: 'idempotent', undo: 'none' });
  expect(declared.spec.name).toBe('echo');
  const handlers = [
    declared.handler({ execute: async () => '' }),
    roles.remoteAgent(declared, { url: 'https://x.example' }),
  ];
  for (const handler of handlers)
    await expect(handler({ Records: [] }, {} as never)).rejects.toThrow(
      "agent 'echo' is only declared in this function, so its handler does nothing here. Its work is done by the function made of agents/echo.ts",
    );
});

test('the sizes in the operators’ guide are those that are deployed, within a twentieth', () => {
  const guide = readFileSync(join(PROJECT_ROOT, 'docs', 'COST.md'), 'utf8');
  const rows = [...guide.matchAll(/^\| `([a-z/-]+)`[^|]* \| (\d+) \| (\d+) \| \d+ \| \d+ \|$/gm)];
  const names = rows.map(([, name]) => name);
  expect(names).toEqual(['scheduler', 'starter', 'agents/charge-card', 'supervisor', 'audit']);
  for (const [, name = '', stated, budget] of rows) {
    const { bytes } = one(deployed, name);
    expect([name, Number(budget)]).toEqual([name, budgetOf(name)]);
    expect([name, Math.abs(bytes / 1024 / Number(stated) - 1) < 1 / 20]).toEqual([name, true]);
  }
});

test('the same source gives the same hash, another source another', () => {
  const root = project({ 'echo.ts': AGENT });
  const hash = (text: string): string => {
    writeFileSync(join(root, 'echo.ts'), text);
    return one(bundleFunctions({ root, entries: { other: join(root, 'echo.ts') } }), 'other').hash;
  };
  const first = hash(AGENT);
  expect(hash(AGENT)).toBe(first);
  expect(hash(AGENT.replace("'from '", "'out of '"))).not.toBe(first);
});

test('a file without a handler is refused with what it exports', () => {
  const root = project({ 'echo.ts': 'export const handle = 1; export const other = 2;' });
  const own = { echo: join(root, 'echo.ts') };
  for (const props of [{ entries: own }, { entries: {}, agents: own }]) {
    expect(() => bundleFunctions({ root, ...props })).toThrow(
      /^echo\.ts does not export 'handler' \(it exports handle, other\); write: export const handler = ….handler\(\{ … \}\)$/,
    );
  }
});

describe('credentials in a function', () => {
  const saved = { ...process.env };
  afterEach(() => {
    process.env = { ...saved };
  });

  test('are those of its environment', async () => {
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'key',
      AWS_SESSION_TOKEN: 'token',
    });
    const credentials = { accessKeyId: 'id', secretAccessKey: 'key', sessionToken: 'token' };
    expect(await defaultProvider()()).toEqual(credentials);
  });

  test('are missed clearly', async () => {
    delete process.env['AWS_ACCESS_KEY_ID'];
    await expect(defaultProvider()()).rejects.toThrow(
      'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not in',
    );
  });
});
