/**
 * Runs independent checks: tools and runtimes that nobody here wrote. Reports the result of each, or why it
 * was not run. Exits with 1 if one failed.
 *
 *     npm run independent [-- --json]
 *
 * cfn-lint and moto are Python packages (`pip install cfn-lint 'moto[server]'`); Node 24, which Lambda runs,
 * is the npm package `node`. The bundles run as they are deployed: handlers and environment of the template,
 * events of API Gateway, SQS and EventBridge.
 */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthesize } from '../lib/infra/synth.ts';

const ROOT = join(import.meta.dirname, '..');
const NODE = 'node@24';
const MOTO_PORT = 5_566;
const MOTO_START_MS = 30_000;
const JEST = ['node_modules/jest/bin/jest.js'];
const VERIFY = ['--import', 'tsx', 'bin/steadfast.ts', 'verify', '--local', '--json'];

interface Opinion {
  readonly of: string;
  readonly outcome: 'passed' | 'failed' | 'not run';
  /** The last line of output, or why it was not run. */
  readonly says: string;
}

const hasProgram = (name: string): boolean => spawnSync(name, ['--version']).error === undefined;
const notRun = (of: string, says: string): Opinion => ({ of, outcome: 'not run', says });

/** Runs a program to its end; its output goes to the terminal. */
async function opinion(
  of: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Opinion> {
  process.stderr.write(`${of}\n`);
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  const says = text.trim().split('\n').at(-1) ?? '';
  return { of, outcome: code === 0 ? 'passed' : 'failed', says };
}

async function linted(): Promise<Opinion> {
  const of = 'cfn-lint: the template';
  if (!hasProgram('cfn-lint')) return notRun(of, 'cfn-lint is not installed');
  const outdir = mkdtempSync(join(tmpdir(), 'steadfast-independent-'));
  try {
    await synthesize({ outdir, folders: ['examples'], validation: false });
    const templates = readdirSync(outdir).filter((name) => name.endsWith('.template.json'));
    const paths = templates.map((name) => join(outdir, name));
    return await opinion(of, 'cfn-lint', ['--non-zero-exit-code', 'error', '--', ...paths]);
  } finally {
    rmSync(outdir, { recursive: true });
  }
}

/** The checks that run on moto's DynamoDB instead of the embedded one. */
const ON_MOTO: readonly (readonly [of: string, args: readonly string[]])[] = [
  ["moto: the store's contract", [...JEST, 'test/contract/store.test.ts']],
  ['moto: the bundles, on its tables', VERIFY],
];

async function onMoto(): Promise<readonly Opinion[]> {
  if (!hasProgram('moto_server')) return ON_MOTO.map(([of]) => notRun(of, 'moto is not installed'));
  const server = spawn('moto_server', ['-p', String(MOTO_PORT)], { stdio: 'ignore' });
  try {
    if (!(await answers(MOTO_PORT))) return ON_MOTO.map(([of]) => notRun(of, 'moto does not start'));
    const env = { AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${MOTO_PORT}` };
    const all: Opinion[] = [];
    for (const [of, args] of ON_MOTO) all.push(await opinion(of, process.execPath, args, env));
    return all;
  } finally {
    server.kill();
  }
}

async function answers(port: number): Promise<boolean> {
  const untilAt = Date.now() + MOTO_START_MS;
  while (Date.now() < untilAt) {
    const socket = connect(port, '127.0.0.1');
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) return true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return false;
}

/** The Node that runs the command also runs the processes of a local cloud. */
async function onNode24(): Promise<Opinion> {
  const of = 'Node 24: the bundles, on the local cloud';
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-independent-'));
  try {
    const installed = spawnSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', NODE]);
    const node = join(folder, 'node_modules', '.bin', 'node');
    const version = spawnSync(node, ['--version']).stdout?.toString().trim() ?? '';
    if (installed.status !== 0 || !version.startsWith('v24'))
      return notRun(of, `npm has no ${NODE} for this machine`);
    return await opinion(of, node, VERIFY);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const opinions = [await linted(), ...(await onMoto()), await onNode24()];
if (process.argv.includes('--json')) console.log(JSON.stringify({ independent: opinions }));
else for (const { of, outcome, says } of opinions) console.log(`${outcome.padEnd(8)} ${of}: ${says}`);
process.exitCode = opinions.some(({ outcome }) => outcome === 'failed') ? 1 : 0;
