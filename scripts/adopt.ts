/**
 * Takes the package up as its users do: builds and packs it, installs the tarball into fresh projects, and in each checks types,
 * synthesis and tests, starts the local system, and waits for a finished execution.
 *
 *     npm run adopt                  all projects
 *     npm run adopt -- cdk-init      one of them
 *     npm run adopt -- --json        ends with one line of JSON
 *
 * It needs the registry of npm. Everything is in a temporary folder, which is removed if all went well.
 */

import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
const MAX_TARBALL_KB = 900;
const MAX_FILES = 600;
const MAX_CLIENT_KB = 10;
/** The oldest CDK that is promised, as in `peerDependencies`. */
const FLOOR = { 'aws-cdk-lib': '2.275.0', constructs: '10.5.1' };
/** Of the workflow that `create` writes. */
const AGENT = 'workflows/hello-greeting/agents/compose-greeting.ts';
const PUBLINT = 'publint@0.3.25';
const ATTW = '@arethetypeswrong/cli@0.18.5';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false } },
});
const startedAt = Date.now();
const work = mkdtempSync(join(tmpdir(), 'steadfast-adopt-'));
const say = (text: string): boolean => process.stderr.write(`${text}\n`);

class Failed extends Error {}

/** Runs a command line to its end, quietly; says what it said if it fails. */
function run(cwd: string, line: string): string {
  const began = Date.now();
  const { status, stdout, stderr } = spawnSync(line, {
    cwd,
    shell: true,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, NODE_OPTIONS: '', npm_config_audit: 'false', npm_config_fund: 'false' },
  });
  if (status !== 0)
    throw new Failed(`'${line}' ended with ${status}:\n${`${stdout}${stderr}`.slice(-4_000)}`);
  say(`    ${line}  (${((Date.now() - began) / 1_000).toFixed(1)} s)`);
  return stdout;
}

function check(holds: boolean, text: string): void {
  if (!holds) throw new Failed(text);
}

interface Packed {
  readonly tarball: string;
  readonly kb: number;
  readonly files: number;
}

function pack(): Packed {
  // It builds first; what the build says is not part of the answer.
  const line = `npm pack --json --foreground-scripts=false --pack-destination ${work}`;
  const [made] = JSON.parse(run(ROOT, line)) as [
    { readonly size: number; readonly entryCount: number; readonly filename: string },
  ];
  const kb = Math.ceil(made.size / 1024);
  check(kb <= MAX_TARBALL_KB, `the tarball has ${kb} KB; ${MAX_TARBALL_KB} are allowed`);
  check(made.entryCount <= MAX_FILES, `the tarball has ${made.entryCount} files; ${MAX_FILES} are allowed`);
  return { tarball: join(work, made.filename), kb, files: made.entryCount };
}

const folder = (name: string): string => {
  const path = join(work, name);
  mkdirSync(path, { recursive: true });
  return path;
};

const create = (tarball: string, place = '.'): string =>
  `node ${join(ROOT, 'create', 'index.mjs')} ${place} --package ${tarball}`;

const ENDED = /It ended: \w+/;
const CHANGED = 'with the change.';

/**
 * Starts `steadfast dev --try` and waits until its execution has ended; changes a file, and waits until that runs; then interrupts
 * it, and waits until all is gone.
 */
async function tryIt(cwd: string, options = ''): Promise<void> {
  const line = `npx steadfast dev --try --fresh --port 0${options}`;
  const child = spawn(line, { cwd, shell: true, detached: true, env: { ...process.env, NODE_OPTIONS: '' } });
  const { pid = 0 } = child;
  let said = '';
  const listen = (chunk: Buffer): void => {
    const before = said;
    said += chunk.toString('utf8');
    if (!ENDED.test(before) && ENDED.test(said)) appendFileSync(join(cwd, AGENT), '\n');
    // The whole group, as Ctrl-C does.
    if (!before.includes(CHANGED) && said.includes(CHANGED)) process.kill(-pid, 'SIGINT');
  };
  child.stdout.on('data', listen);
  child.stderr.on('data', listen);
  await once(child, 'close');
  const problem = ['It ended: succeeded', `${AGENT} has changed.`, CHANGED, 'Stopped.'].find(
    (text) => !said.includes(text),
  );
  check(problem === undefined, `'${line}' did not say '${problem ?? ''}':\n${said.slice(-4_000)}`);
  say(`    ${line}: an execution succeeded, a change was taken over`);
}

/** Everything that a project of TypeScript does with it. */
async function use(cwd: string): Promise<void> {
  run(cwd, 'npx tsc');
  run(cwd, 'npx cdk synth --quiet');
  run(cwd, 'npm test');
  await tryIt(cwd);
}

/** Writes the first workflow as a reader of docs/FIRST-PROJECT.md does. */
function followFirstProject(cwd: string): void {
  const page = readFileSync(join(ROOT, 'docs', 'FIRST-PROJECT.md'), 'utf8');
  const shown = /^`(workflows\/[^`]+\.ts)`[^`]*(?:`[^`\n]+`[^`]*)*?\n```ts\n([\s\S]*?)^```$/gm;
  const files = [...page.matchAll(shown)];
  check(files.length === 3, `docs/FIRST-PROJECT.md shows ${files.length} files of the first workflow, not 3`);
  for (const [, path = '', content = ''] of files) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), content);
  }
}

/** What a command line says on its way to a failure. */
function refused(cwd: string, line: string, text: string): void {
  const { status, stdout, stderr } = spawnSync(line, { cwd, shell: true, encoding: 'utf8' });
  const said = `${stdout}${stderr}`;
  check(status !== 0 && said.includes(text), `'${line}' did not say '${text}':\n${said.slice(-4_000)}`);
  say(`    ${line}: refused`);
}

/** Two stages, and a stack with two Steadfasts. */
const SEVERAL = {
  'bin/app.ts': `import { App, RemovalPolicy } from 'aws-cdk-lib/core';
import { SteadfastStack, Workflows } from 'steadfast/cdk';
import { AppStack } from '../lib/app-stack.js';

const app = new App();
const workflows = Workflows.fromFolder('workflows');
new SteadfastStack(app, 'Orders-dev', { workflows, removalPolicy: RemovalPolicy.DESTROY });
new SteadfastStack(app, 'Orders-prod', { workflows, supervisorConcurrency: 6 });
new AppStack(app, 'Shop');
`,
  'lib/app-stack.ts': `import { Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { Steadfast, Workflows } from 'steadfast/cdk';

export class AppStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    for (const name of ['Payments', 'Reports'])
      new Steadfast(this, name, { workflows: Workflows.fromFolder('workflows') });
  }
}
`,
  'workflows/hello-greeting/triggers.ts': `import { onMessage } from 'steadfast';
import { helloGreeting } from './workflow.js';

export const requests = onMessage(helloGreeting, { idempotencyKey: '$.body.name' });
`,
};

/** One copy of a package in the whole tree. */
function onlyOne(cwd: string, name: string): void {
  const found = readdirSync(join(cwd, 'node_modules'), { recursive: true, encoding: 'utf8' }).filter(
    (path) => path === name || path.endsWith(`node_modules/${name}`),
  );
  check(found.length === 1, `there are ${found.length} copies of ${name}: ${found.join(', ')}`);
}

interface Report {
  readonly fixtures: number;
  passed: number;
  clientKB?: number;
  clientInstallMB?: number;
}

type Project = (given: { readonly tarball: string; readonly report: Report }) => Promise<void>;

const PROJECTS: Readonly<Record<string, Project>> = {
  /** What `cdk init` makes, as it is: CommonJS, jest. */
  'cdk-init': async ({ tarball }) => {
    const cwd = folder('orders');
    run(cwd, `${join(ROOT, 'node_modules', '.bin', 'cdk')} init app --language typescript --generate-only`);
    run(cwd, create(tarball));
    await use(cwd);
  },
  /** What `npm create steadfast` makes: ES modules, vitest, the newest CDK. */
  'new-app': async ({ tarball }) => {
    run(work, create(tarball, 'new-app'));
    const cwd = join(work, 'new-app');
    onlyOne(cwd, 'constructs');
    followFirstProject(cwd);
    await use(cwd);
  },
  /** Stages as stacks, and two Steadfasts in one stack, with what starts their workflow beside it. */
  'two-stacks': async ({ tarball }) => {
    run(work, create(tarball, 'two-stacks'));
    const cwd = join(work, 'two-stacks');
    for (const [path, text] of Object.entries(SEVERAL)) writeFileSync(join(cwd, path), text);
    run(cwd, 'npx tsc');
    // Each synthesises all of them.
    refused(
      cwd,
      'npx steadfast dev --port 0 --stack Shop',
      'choose with --name one of: Shop/Payments, Shop/Reports',
    );
    await tryIt(cwd, ' --stack Shop --name Reports');
  },
  /** The oldest CDK that is promised. */
  floor: async ({ tarball }) => {
    run(work, `${create(tarball, 'floor')} --no-install`);
    const cwd = join(work, 'floor');
    const file = join(cwd, 'package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...manifest, dependencies: FLOOR }, null, 2));
    run(cwd, `npm install ${tarball} zod`);
    onlyOne(cwd, 'constructs');
    onlyOne(cwd, 'aws-cdk-lib');
    run(cwd, 'npx tsc');
    run(cwd, 'npx cdk synth --quiet');
  },
  /** An application that starts executions: no CDK, one small module. */
  client: async ({ tarball, report }) => {
    const cwd = folder('client');
    writeFileSync(join(cwd, 'package.json'), '{ "name": "client", "private": true, "type": "module" }');
    run(cwd, `npm install ${tarball} --omit=optional`);
    writeFileSync(join(cwd, 'main.js'), "export { createClient } from 'steadfast/client';\n");
    const esbuild = join(ROOT, 'node_modules', '.bin', 'esbuild');
    run(cwd, `${esbuild} main.js --bundle --minify --format=esm --outfile=out.js --metafile=meta.json`);
    const { inputs } = JSON.parse(readFileSync(join(cwd, 'meta.json'), 'utf8')) as {
      readonly inputs: object;
    };
    report.clientKB = Math.round((statSync(join(cwd, 'out.js')).size / 1024) * 10) / 10;
    check(
      report.clientKB <= MAX_CLIENT_KB,
      `the client has ${report.clientKB} KB; ${MAX_CLIENT_KB} are allowed`,
    );
    const foreign = Object.keys(inputs).filter(
      (path) => path.includes('node_modules/') && !path.includes('/steadfast/'),
    );
    check(foreign.length === 0, `the client loads ${foreign.join(', ')}`);
    run(
      cwd,
      `node -e "import('steadfast/client').then((m) => m.createClient({ url: 'http://127.0.0.1:1' }))"`,
    );
    run(
      cwd,
      `node --input-type=commonjs -e "require('steadfast/client').createClient({ url: 'http://127.0.0.1:1' })"`,
    );
    report.clientInstallMB = Math.round(Number(run(cwd, 'du -sk node_modules').split('\t')[0]) / 1024);
    check(!readdirSync(join(cwd, 'node_modules')).includes('aws-cdk-lib'), 'a client installs aws-cdk-lib');
  },
};

async function main(): Promise<number> {
  const wanted = positionals.length === 0 ? Object.keys(PROJECTS) : positionals;
  const strangers = wanted.filter((name) => !(name in PROJECTS));
  if (strangers.length > 0) {
    say(`there is no project ${strangers.join(', ')}; there are ${Object.keys(PROJECTS).join(', ')}`);
    return 2;
  }
  const report: Report = { fixtures: wanted.length, passed: 0 };
  say('package');
  const packed = pack();
  run(ROOT, `npx --yes ${PUBLINT} ${packed.tarball} --strict`);
  run(ROOT, `npx --yes ${ATTW} ${packed.tarball} --profile node16`);
  run(ROOT, 'npm publish --dry-run --ignore-scripts');
  run(ROOT, 'npm publish --dry-run ./create');
  for (const name of wanted) {
    say(name);
    try {
      await PROJECTS[name]?.({ tarball: packed.tarball, report });
      report.passed += 1;
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      say(`    FAILED: ${error.message}`);
    }
  }
  const seconds = Math.round((Date.now() - startedAt) / 1_000);
  const adopt = { ...report, tarballKB: packed.kb, files: packed.files, seconds };
  if (values.json) process.stdout.write(`${JSON.stringify({ adopt })}\n`);
  else
    say(
      `${report.passed} of ${report.fixtures} in ${seconds} s; the tarball has ${packed.kb} KB in ${packed.files} files`,
    );
  if (report.passed < report.fixtures) return 1;
  rmSync(work, { recursive: true, force: true });
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  say(error instanceof Failed ? error.message : String((error as Error).stack));
  process.exitCode = 1;
}
