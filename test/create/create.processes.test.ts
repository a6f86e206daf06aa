/**
 * `npm create steadfast`: the files that it writes into a new project and into a CDK app, and its refusals.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eachFolder, writeFiles } from '../fresh-folder.ts';

let root: string;
eachFolder('create', (path) => (root = path));
beforeEach(() => {
  agent = '';
});

const write = (files: Readonly<Record<string, string>>): void => writeFiles(root, files);
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const SCRIPT = join(import.meta.dirname, '..', '..', 'create', 'index.mjs');
/** The package manager that runs it, in the form of npm, pnpm and yarn. */
let agent = '';
function create(...args: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, '--no-install', ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', npm_config_user_agent: agent },
  });
  return { status, said: `${stdout}${stderr}` };
}

const STACK = `import * as cdk from 'aws-cdk-lib/core';
import { Construct } from 'constructs';

export class OrdersStack extends cdk.Stack {
  constructor(scope: Construct, id: string, props?: cdk.StackProps) {
    super(scope, id, props);
    // The code that defines your stack goes here
  }
}
`;
const app = (manifest: object, more: Readonly<Record<string, string>> = {}): void =>
  write({
    'cdk.json': '{}',
    'package.json': JSON.stringify(manifest),
    'lib/orders-stack.ts': STACK,
    ...more,
  });

describe('in a CDK app', () => {
  it('with CommonJS and jest, adds a workflow, its test and the construct', () => {
    app({ scripts: { test: 'jest' }, devDependencies: { jest: '^30' } }, { '.gitignore': 'node_modules' });
    const { status, said } = create();
    expect(status).toBe(0);
    expect(said).toContain('Install: npm install steadfast@latest zod\n');
    expect(said).toContain('  npm test\n  npx steadfast dev --try');
    expect(read('lib/orders-stack.ts')).toContain(
      `from 'constructs';\nimport { Steadfast, Workflows } from 'steadfast/cdk';\n`,
    );
    expect(read('lib/orders-stack.ts')).toContain(
      `props);\n\n    new Steadfast(this, 'Steadfast', { workflows: Workflows.fromFolder('workflows'), hosting: 'shared' });\n    // The code`,
    );
    expect(read('workflows/hello-greeting/agents/post-greeting.ts')).toContain("from '../workflow';");
    expect(read('test/hello-greeting.test.ts')).toMatch(/^import \{ crashEverywhere/);
    expect(JSON.parse(read('package.json'))).toMatchObject({
      scripts: { test: 'jest', dev: 'steadfast dev' },
    });
    expect(read('.gitignore')).toBe('node_modules\n.steadfast/\n');
    const ci = read('.github/workflows/ci.yml');
    expect(ci).toContain('on: [push, pull_request]\njobs:\n');
    expect(ci).toContain('cache: npm }\n      - run: npm ci\n');
    expect(ci).toContain('checkout@v4\n      - uses: actions/setup-node@v4\n');
  });

  it('with ES modules, vitest and pnpm, writes the matching files', () => {
    app(
      { type: 'module', devDependencies: { vitest: '^4' } },
      { 'pnpm-lock.yaml': '', '.github/workflows/x.yml': '' },
    );
    const { said } = create('--package', '1.2.3');
    expect(said).toContain('Install: pnpm add --allow-build=esbuild steadfast@1.2.3 zod\n');
    expect(said).toContain(
      'There are workflows in .github/workflows: have one run pnpm install --frozen-lockfile, npx tsc --noEmit, pnpm test, npx cdk synth --quiet.\n',
    );
    expect(read('workflows/hello-greeting/agents/post-greeting.ts')).toContain("from '../workflow.js';");
    expect(read('test/hello-greeting.test.ts')).toContain("from 'vitest';");
    expect(existsSync(join(root, '.github/workflows/ci.yml'))).toBe(false);
  });

  it('with pnpm, has a CI workflow that installs it before its cache is read', () => {
    app({}, { 'pnpm-lock.yaml': '' });
    create();
    expect(read('.github/workflows/ci.yml')).toContain(
      'checkout@v4\n      - run: npm install --global pnpm\n      - uses: actions/setup-node@v4\n',
    );
  });

  it('in a folder of a repository, has CI where GitHub reads it, at work in that folder', () => {
    write({ '.git': 'gitdir: elsewhere', 'apps/orders/cdk.json': '{}', 'apps/orders/package.json': '{}' });
    expect(create('apps/orders').said).toContain('  wrote ../../.github/workflows/ci.yml\n');
    const ci = read('.github/workflows/ci.yml');
    expect(ci).toContain(']\ndefaults: { run: { working-directory: "apps/orders" } }\njobs:');
    expect(ci).toContain("cache: npm, cache-dependency-path: '**/package-lock.json' }\n");
  });

  it.each([
    ['1', '# yarn lockfile v1\n', {}, ['yarn install --frozen-lockfile', 'checkout@v4\n      - uses: ', '']],
    [
      '4',
      '__metadata:\n',
      {},
      ['yarn install --immutable', '- run: corepack enable\n', 'nodeLinker: node-modules in'],
    ],
    [
      '4 that makes node_modules',
      '',
      { '.yarnrc.yml': 'nodeLinker: node-modules\n' },
      ['--immutable', 'corepack', ''],
    ],
  ])('of Yarn %s, installs as that one can', (_, lock, more, [install = '', setup = '', byHand = '']) => {
    app({}, { 'yarn.lock': lock, ...more });
    const { said } = create();
    expect(read('.github/workflows/ci.yml')).toContain(install);
    expect(read('.github/workflows/ci.yml')).toContain(setup);
    expect(/nodeLinker: node-modules in/.exec(said)?.[0] ?? '').toBe(byHand);
  });

  it.each([
    ['no stack in lib', { 'lib/orders-stack.ts': 'export {};' }],
    ['two stacks', { 'lib/other-stack.ts': STACK }],
  ])('with %s, says what to add by hand, and for whom the test is', (_, more) => {
    app({}, more);
    const { said } = create();
    expect(said).toContain(
      "Add the construct to your stack:\n  import { Steadfast, Workflows } from 'steadfast/cdk';\n",
    );
    expect(said).toContain('The test is for vitest');
  });

  it('overwrites nothing', () => {
    app({}, { 'test/hello-greeting.test.ts': 'mine' });
    expect(create()).toEqual({
      status: 2,
      said: 'test/hello-greeting.test.ts is there already: move it away first; nothing was written\n(--help for the options)\n',
    });
    expect(existsSync(join(root, 'workflows'))).toBe(false);
    expect(read('lib/orders-stack.ts')).toBe(STACK);
  });
});

it('has the check of Node that the package itself has', () => {
  const codeOf = (path: string): string =>
    readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8').replace(/^\/\*\*[\s\S]*?\*\/\n/, '');
  expect(codeOf('create/node-version.cjs')).toBe(codeOf('bin/node-version.cjs'));
});

it('before the first release, says what to install before npm says 404, and writes nothing', () => {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, 'my-app'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', npm_config_user_agent: '' },
  });
  expect([status, stderr]).toEqual([2, expect.stringContaining('npm pack')]);
  expect(existsSync(join(root, 'my-app'))).toBe(false);
});

describe('elsewhere', () => {
  it('starts a new app, named like its folder', () => {
    const { status, said } = create('My Orders');
    expect(status).toBe(0);
    expect(said).toContain('  cd My Orders\n');
    expect(JSON.parse(read('My Orders/package.json'))).toMatchObject({ name: 'my-orders', type: 'module' });
    expect(read('My Orders/bin/app.ts')).toContain("new AppStack(app, 'My-Orders');");
    expect(read('My Orders/README.md')).toContain('# my-orders\n');
    expect(read('My Orders/.gitignore')).toBe('node_modules/\ncdk.out/\n.steadfast/\n');
    expect(read('My Orders/lib/app-stack.ts').match(/new Steadfast/g)).toHaveLength(1);
    expect(read('My Orders/lib/app-stack.ts')).toContain("hosting: 'shared',");
  });

  it('starts one for Yarn since 2 with node_modules, and with what every Node that is allowed installs', () => {
    agent = 'yarn/4.18.1 npm/? node/v20.19.0';
    expect(create('orders').said).toContain('Install: yarn add steadfast@latest zod\n');
    expect(read('orders/.yarnrc.yml')).toBe('nodeLinker: node-modules\n');
    expect(JSON.parse(read('orders/package.json'))).toMatchObject({
      packageManager: 'yarn@4.18.1',
      // Version 5 needs Node 22, which Yarn 1 insists on, and a vite of the project, which Yarn does not add.
      devDependencies: { vitest: expect.stringMatching(/^\^4\./) },
    });
  });

  it.each([
    [['.'], /has files and no cdk\.json: give the name of a new folder \(node create\/index\.mjs my-app\)/],
    [['a', 'b'], /^one folder is taken, and there are 2: a, b/],
    [['--pakage', 'x'], /Unknown option '--pakage'/],
  ])('%j is refused, with what to do', (args, message) => {
    write({ 'notes.txt': '' });
    const { status, said } = create(...args);
    expect([status, said]).toEqual([2, expect.stringMatching(message)]);
  });
});
