/** Files that are missing from an agent's bundle: synthesis names them, and settings add them. */

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentSettings } from '../../lib/infra/agent-settings.ts';
import { writeBundle } from '../../lib/infra/asset.ts';
import { agentEntry, bundleAgents } from '../../lib/infra/bundle.ts';
import type { Owner } from '../../lib/infra/brought-along.ts';
import { bundleContainers } from '../../lib/infra/bundle-container.ts';
import { equipAgents } from '../../lib/infra/code-source.ts';
import { project } from './fixture.ts';

const away: string[] = [];
afterAll(() => {
  for (const folder of away) rmSync(folder, { recursive: true });
});

const READ =
  "import { readFileSync } from 'node:fs'; const read = (url: URL | string) => readFileSync(url, 'utf8');";
const agentThat = (imports: string, answer: string): string =>
  `${READ} ${imports}\nexport const handler = async () => ${answer};`;

interface Made {
  readonly folder: string;
  readonly warnings: readonly string[];
}

/** Makes the agent's asset. */
function make(files: Readonly<Record<string, string>>, settings: AgentSettings = {}): Made {
  const root = project(files);
  const owner = { root, name: 'write', file: join(root, 'flow/agents/write.ts') };
  const { nodeModules = [] } = settings;
  const bundle = bundleAgents(root, [owner], { write: nodeModules }, {}).get(agentEntry('write'))!;
  const { equipped, warnings } = equipAgents([owner], bundle, { write: settings });
  const folder = join(root, 'asset');
  writeBundle(equipped, folder);
  return { folder, warnings };
}

/** Runs the agent with only its asset. @returns its answer */
function answerOf({ folder }: Made): unknown {
  const alone = mkdtempSync(join(tmpdir(), 'steadfast-alone-'));
  away.push(alone);
  cpSync(folder, alone, { recursive: true });
  const script =
    "const { handler } = await import('./index.mjs'); console.log(JSON.stringify(await handler()));";
  const args = ['--input-type=module', '-e', script];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: alone, encoding: 'utf8' }));
}

const LETTER = agentThat('', "read(new URL('./letter.txt', import.meta.url))");
const FILES = {
  'flow/agents/letter.txt': 'Dear',
  'flow/templates/page.html': '<p>',
  'flow/agents/data.json': '{}',
};

describe("a file beside an agent's own", () => {
  test.each([
    [
      "new URL('./letter.txt', import.meta.url)",
      "read(new URL('./letter.txt', import.meta.url))",
      './letter.txt',
    ],
    ['a folder above', "read(new URL('../templates/page.html', import.meta.url))", '../templates/page.html'],
    ['import.meta.dirname', "read(join(import.meta.dirname, 'letter.txt'))", 'letter.txt'],
    ['a template of it', 'read(`${import.meta.dirname}/letter.txt`)', 'letter.txt'],
    ['its folder by a name', "read(join(here, 'letter.txt'))", 'letter.txt'],
    ['createRequire', "createRequire(import.meta.url)('./data.json')", './data.json'],
  ])('named by %s is refused with what to write, and comes along when it is written', (_, answer, named) => {
    const imports = `import { createRequire } from 'node:module'; import { dirname, join } from 'node:path';
      import { fileURLToPath } from 'node:url'; const here = dirname(fileURLToPath(import.meta.url)); void here;`;
    const files = {
      ...FILES,
      'flow/agents/write.ts': agentThat(imports, `[createRequire, dirname, join, ${answer}].at(-1)`),
    };
    expect(() => make(files)).toThrow(
      `flow/agents/write.ts:3 names ${named}, which the asset of the agent 'write' does not hold: set agentSettings: { 'write': { files: ['${named}'] } }`,
    );
    const made = make(files, { files: [named] });
    expect(answerOf(made)).toEqual(named.includes('json') ? {} : named.includes('html') ? '<p>' : 'Dear');
    expect(made.warnings).toEqual([]);
  });

  test('comes along in a folder that is named, and into an image', () => {
    const files = {
      'flow/agents/texts/a/letter.txt': 'Dear',
      'flow/agents/write.ts': agentThat('', "read(new URL('./texts/a/letter.txt', import.meta.url))"),
    };
    expect(answerOf(make(files, { files: ['./texts'] }))).toBe('Dear');
    const root = project(files);
    const agent = { name: 'write', timeoutMs: 1, peers: [], runsIn: 'container' } as const;
    const agents = [{ ...agent, file: join(root, 'flow/agents/write.ts') }];
    const found = { root, agents, workflows: [], triggers: [], warnings: [] };
    const image = bundleContainers(
      found,
      root,
      {},
      (bundle, { name, file }) =>
        equipAgents([{ root, name, file }], bundle, { write: { files: ['./texts'] } }).equipped,
    ).get('write')!;
    expect(answerOf({ folder: image, warnings: [] })).toBe('Dear');
    expect(readFileSync(join(image, 'Dockerfile'), 'utf8')).toContain('COPY texts ./texts/\n');
  });

  test('that is only named in a comment, or with another scheme, is not missing', () => {
    const code = agentThat(
      "// new URL('./letter.txt', import.meta.url)",
      "String(new URL('data:,x', import.meta.url)) + existsSync(new URL('./cache.txt', import.meta.url))",
    ).replace('readFileSync }', 'existsSync, readFileSync }');
    expect(make({ ...FILES, 'flow/agents/write.ts': code }).warnings).toEqual([]);
  });

  test('beside another module is refused: once bundled, that module reads elsewhere', () => {
    const render = "export const page = new URL('./page.html', import.meta.url);";
    const files = {
      'flow/lib/render.ts': render,
      'flow/lib/page.html': '<p>',
      'flow/agents/write.ts': agentThat("import { page } from '../lib/render.ts';", 'read(page)'),
    };
    expect(() => make(files)).toThrow(
      /flow\/lib\/render\.ts:1 names \.\/page\.html beside itself; bundled, it looks beside flow\/agents\/write\.ts/,
    );
  });

  test('that settings name and is not there, or is not of the project, is refused', () => {
    const files = { ...FILES, 'flow/agents/write.ts': LETTER };
    expect(() => make(files, { files: ['./lettre.txt'] })).toThrow(
      "agent 'write': files: ./lettre.txt is not there; name it from flow/agents/write.ts",
    );
    expect(() => make(files, { files: ['../../..'] })).toThrow('lies outside of the project');
  });
});

test.each([
  [
    'wasm',
    "import './sum.wasm';",
    { 'flow/agents/sum.wasm': '' },
    "files: ['./sum.wasm'] } }, and load it by new URL",
  ],
  [
    'a native module',
    "import 'fast';",
    {
      'node_modules/fast/package.json': '{"name":"fast","main":"index.js"}',
      'node_modules/fast/index.js': "module.exports = require('./build/fast.node');",
      'node_modules/fast/build/fast.node': '',
    },
    "nodeModules: ['fast']",
  ],
])('an import of %s is refused with what to write', (_, imports, files, remedy) => {
  const all = { ...files, 'flow/agents/write.ts': agentThat(imports, '1') };
  expect(() => make(all)).toThrow(/:\d+ imports \S+(?:wasm|node), which a bundle cannot hold/);
  expect(() => make(all)).toThrow(remedy);
});

/** A package with its binary in another package, as sharp has. */
const NATIVE = {
  'node_modules/image/package.json':
    '{"name":"image","main":"index.js","optionalDependencies":{"@image/linux":"1","@image/mac":"1"},"dependencies":{"deep":"2"}}',
  'node_modules/image/index.js':
    "const name = process.env.NAME ?? 'linux'; try { module.exports = require('@image/' + name); } catch { module.exports = 'none'; } require('deep');",
  'node_modules/@image/linux/package.json':
    '{"name":"@image/linux","main":"index.js","dependencies":{"deep":"1"}}',
  'node_modules/@image/linux/index.js': "module.exports = 'native ' + require('deep');",
  'node_modules/@image/linux/image.node': 'MZ, and no ELF',
  'node_modules/deep/package.json': '{"name":"deep","main":"index.js"}',
  'node_modules/deep/index.js': 'module.exports = 1;',
  'node_modules/image/node_modules/deep/package.json': '{"name":"deep","main":"index.js"}',
  'node_modules/image/node_modules/deep/index.js': 'module.exports = 2;',
};

describe('a package that names modules only when it runs', () => {
  const agent = agentThat("import image from 'image';", 'image');

  test('is warned of, with what to write, by the name that the author imports', () => {
    const { warnings } = make({
      ...NATIVE,
      'node_modules/outer/package.json': '{"name":"outer","main":"index.js"}',
      'node_modules/outer/index.js': "module.exports = require('image');",
      'flow/agents/write.ts': agentThat("import image from 'outer';", 'image'),
    });
    expect(warnings).toEqual([
      expect.stringMatching(
        /the package outer looks for .* \(node_modules\/image\/index\.js:1\).*nodeModules: \['outer'\]/,
      ),
    ]);
  });

  test('comes along with what it depends on, each in its version; a binary for another machine is said', () => {
    const made = make({ ...NATIVE, 'flow/agents/write.ts': agent }, { nodeModules: ['image'] });
    expect(answerOf(made)).toBe('native 1');
    expect(made.warnings).toEqual([
      expect.stringMatching(
        /image is native, and none of it is for Linux on arm64.*npm install --os=linux --cpu=arm64/,
      ),
    ]);
    const [bundle] = readdirSync(made.folder).filter((name) => name === 'index.mjs');
    expect(readFileSync(join(made.folder, bundle!), 'utf8')).not.toContain('@image');
  });

  test('is said of each agent of a host, not of the first alone', () => {
    const root = project({ ...NATIVE, 'flow/agents/write.ts': agent });
    const [first, write] = ['first', 'write'].map((name) => ({
      root,
      name,
      file: join(root, 'flow/agents/write.ts'),
    })) as [Owner, Owner];
    const bundle = bundleAgents(root, [write], { write: ['image'] }, {}).get(agentEntry('write'))!;
    const { warnings } = equipAgents([first, write], bundle, { write: { nodeModules: ['image'] } });
    expect(warnings).toEqual([expect.stringMatching(/^agent 'write': image is native/)]);
  });

  test('that is not installed is refused', () => {
    expect(() => make({ 'flow/agents/write.ts': agentThat('', '1') }, { nodeModules: ['image'] })).toThrow(
      "agent 'write': nodeModules: image is not installed; run npm install image",
    );
  });
});

test("a module that the author's code names only when it runs is warned of; createRequire of a package refused", () => {
  const computed = agentThat('', 'import(process.env.X!)');
  expect(make({ 'flow/agents/write.ts': computed }).warnings).toEqual([
    expect.stringMatching(/^flow\/agents\/write\.ts:2 names a module only when it runs/),
  ]);
  const required = agentThat(
    "import { createRequire } from 'node:module';",
    "createRequire(import.meta.url)('image')",
  );
  expect(() => make({ ...NATIVE, 'flow/agents/write.ts': required })).toThrow(
    /loads image by createRequire.*nodeModules: \['image'\]/,
  );
});
