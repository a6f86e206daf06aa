/**
 * Runs a killer in a copy of the tree and returns its verdict.
 *
 * Owns: the processes, their time limits, the meaning of their answers. If a killer cannot run (a file does
 * not load), the mutant is 'broken', neither killed nor survived, and must be repaired.
 */

import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { COMMIT_WORLDS, type Killer } from './mutant.ts';
import type { SimVerdict } from './sim-worker.ts';

export interface Outcome {
  readonly kind: 'clean' | 'killed' | 'broken';
  /** The killer's message, in one line. */
  readonly detail: string;
}

/** Time limits for a killer that hangs: so long that none fails on a busy machine. */
const LIMIT_S = { jest: 300, model: 300, simulation: 1_500 } as const;
/** Seconds of processor time for the seeds of every commit: three times as many as without a mutant. */
const SIMULATED_S = 120;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly hung: boolean;
}

function run(root: string, args: readonly string[], limitS: number): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, NODE_OPTIONS: '' };
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr, hung] = ['', '', false];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-20_000)));
    const limit = setTimeout(() => {
      hung = true;
      child.kill('SIGKILL');
    }, limitS * 1_000);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(limit);
      resolve({ code, stdout, stderr, hung });
    });
  });
}

const lastLines = (text: string): string => text.trim().split('\n').slice(-3).join(' ').slice(-300);

async function simulate(root: string, killer: Killer & { kind: 'simulation' }): Promise<Outcome> {
  const worker = join(root, 'proof/mutants/sim-worker.ts');
  // The limit for the seeds of every commit, in proportion for more seeds.
  const limitS = SIMULATED_S * Math.max(1, killer.worlds / COMMIT_WORLDS[killer.mode]);
  const given = [root, killer.mode, killer.worlds, limitS, killer.first?.join() ?? ''].map(String);
  const ended = await run(root, ['--import', 'tsx', worker, ...given], LIMIT_S.simulation);
  if (ended.hung) return { kind: 'killed', detail: 'hangs' };
  const line = ended.stdout.trim().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) return { kind: 'broken', detail: lastLines(ended.stderr) };
  const verdict = JSON.parse(line) as SimVerdict;
  const worlds = `${verdict.worlds} worlds`;
  if (verdict.kind === 'clean') return { kind: 'clean', detail: worlds };
  if (verdict.kind === 'slow')
    return { kind: 'clean', detail: `only ${worlds} in ${limitS} s of the processor` };
  if (verdict.kind === 'stuck') return { kind: 'killed', detail: `no further world ends after ${worlds}` };
  return { kind: 'killed', detail: `${verdict.detail ?? verdict.kind} (world ${verdict.worlds})` };
}

interface JestAnswer {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** Full names of the passed and failed tests; undefined if a file did not load. */
export async function runJest(
  root: string,
  path: string,
  test?: string,
): Promise<{ passed: string[]; failed: string[]; hung: boolean; broken?: string }> {
  const out = join(root, `.jest-${process.pid}.json`);
  const pattern = test === undefined ? [] : ['-t', test.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)];
  const args = ['node_modules/jest/bin/jest.js', '-i', '--no-watchman', '--json', '--outputFile', out];
  const ended = await run(root, [...args, ...pattern, path], LIMIT_S.jest);
  if (ended.hung) return { passed: [], failed: [], hung: true };
  let answer: JestAnswer;
  try {
    answer = JSON.parse(readFileSync(out, 'utf8')) as JestAnswer;
  } catch {
    return { passed: [], failed: [], hung: false, broken: lastLines(ended.stderr) };
  } finally {
    rmSync(out, { force: true });
  }
  const results = answer.testResults.flatMap((file) => file.assertionResults);
  const named = (status: string): string[] =>
    results.filter((result) => result.status === status).map((result) => result.fullName);
  const [passed, failed] = [named('passed'), named('failed')];
  if (passed.length + failed.length > 0) return { passed, failed, hung: false };
  const broken = lastLines(answer.testResults.map(({ message }) => message).join('\n')) || 'no test ran';
  return { passed, failed, hung: false, broken };
}

async function ask(root: string, killer: Killer & { kind: 'jest' }): Promise<Outcome> {
  const { failed, hung, broken } = await runJest(root, killer.path, killer.test);
  if (hung) return { kind: 'killed', detail: 'hangs' };
  if (broken !== undefined) return { kind: 'broken', detail: broken };
  const [first] = failed;
  return first === undefined ? { kind: 'clean', detail: 'passed' } : { kind: 'killed', detail: first };
}

async function explore(root: string, killer: Killer & { kind: 'model' }): Promise<Outcome> {
  const args = ['--import', 'tsx', 'proof/model.ts', '--run', killer.run, '--json'];
  const ended = await run(root, args, LIMIT_S.model);
  if (ended.hung) return { kind: 'killed', detail: 'hangs' };
  const line = ended.stdout.trim().split('\n').at(-1) ?? '';
  if (line.startsWith('{') && ended.code === 0) return { kind: 'clean', detail: 'no violation' };
  if (!line.startsWith('{')) return { kind: 'killed', detail: `the run ended: ${lastLines(ended.stderr)}` };
  const { problems, stuck } = (
    JSON.parse(line) as { model: { runs: { problems?: string[]; stuck: number }[] } }
  ).model.runs[0] ?? { stuck: 0 };
  return { kind: 'killed', detail: problems?.[0] ?? `${stuck} stuck states` };
}

export function runKiller(root: string, killer: Killer): Promise<Outcome> {
  if (killer.kind === 'simulation') return simulate(root, killer);
  return killer.kind === 'jest' ? ask(root, killer) : explore(root, killer);
}
