/**
 * Stryker's test runner for the core: one process, one load, and for each mutant the tests that reach it.
 *
 * Owns: the order of tests, the verdict on one mutant. Does not own: the mutants and the time limit
 * (Stryker), the bundle (`bundle.ts`). Invariant: a verdict of survived means that every test that reaches
 * the mutant has passed with it.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { activate, bundleOf, forget, load, type Scripts, steps } from './bundle.ts';
import { type Registry, STUCK, type Test } from './registry.ts';
import type {
  DryRunResult,
  MutantRunOptions,
  MutantRunResult,
  Shared,
  TestResult,
  TestRunner,
} from './stryker.ts';

const shared: Shared = ((globalThis as Record<string, unknown>)['__stryker__'] ??= {});

/** What the first run learns for all processes of this run. */
interface Learned {
  /**
   * Tests that also count what their property saw, and see too little in few
   * runs: only a counterexample counts.
   */
  readonly counting: readonly string[];
  /** They would cost more than they are worth thousands of times. */
  readonly leftOut: readonly string[];
  /** What a test takes without any mutant, with all runs of its property. */
  readonly steps: Readonly<Record<string, number>>;
  readonly costsMs: Readonly<Record<string, number>>;
  /** For a mutant of code that runs while modules load: the tests that reach it later, too. */
  readonly reaching: Readonly<Record<string, readonly string[]>>;
}
/** Processor time, which other processes' load does not change. */
const COSTS_AT_MOST_MS = Number(process.env['TEST_COSTS_AT_MOST_MS'] ?? Number.POSITIVE_INFINITY);
const RUNS_AT_MOST = process.env['RUNS_AT_MOST'];
const NOTHING: Learned = { counting: [], leftOut: [], costsMs: {}, steps: {}, reaching: {} };
const LEARNED = 'mutation-learned.json';
/** So many times the steps of a test, and it will not end. */
const STEPS_FACTOR = 20;
const STEPS_SPARE = 100_000;
/** The runs of a property that confirm a failure are more than those that were counted. */
const RUNS_FACTOR = 60;
const STEPS_OF_A_LOAD = 10_000_000;
/** Mutants come in the order of the text: who noticed the last ones notices the next one. */
const REMEMBERED = 8;

class CoreRunner implements TestRunner {
  private readonly root = process.cwd();
  private scripts: Scripts | undefined;
  private clean: Registry | undefined;
  private learned: Learned | undefined;
  private killers: string[] = [];

  capabilities(): { readonly reloadEnvironment: boolean } {
    return { reloadEnvironment: true };
  }

  async init(): Promise<void> {
    // Whoever fails may fail in its own time: a rejection that nobody awaits is no test's verdict.
    process.on('unhandledRejection', () => undefined);
    steps.endless = (mutant) => {
      writeFileSync(this.endless(mutant), '');
      process.exit(1);
    };
    this.scripts = await bundleOf(this.root);
  }

  /** Stryker asks about a mutant again when it has ended our process. */
  private endless(mutant: string): string {
    return join(this.root, `mutation-endless-${mutant}`);
  }

  private loaded(kind: keyof Scripts): Registry {
    if (this.scripts === undefined) throw new Error('init comes first');
    return load(this.scripts[kind], this.root);
  }

  async dryRun(): Promise<DryRunResult> {
    shared.currentTestId = undefined;
    this.clean = this.loaded('counting');
    const tests: TestResult[] = [];
    const costsMs: Record<string, number> = {};
    const stepsOf: Record<string, number> = {};
    const counting: string[] = [];
    const leftOut: string[] = [];
    for (const test of this.clean.tests) {
      steps.taken = 0;
      let measured = await resultOf(test);
      // The first run of anything is slow: what is left out was slow twice.
      if (measured.cpuMs > COSTS_AT_MOST_MS) measured = await resultOf(test);
      if (measured.result.status === 1 && (await failureOf(test, true)) === undefined) {
        counting.push(test.id);
        measured = { ...measured, result: { ...measured.result, status: 0 } };
      }
      stepsOf[test.id] = steps.taken;
      costsMs[test.id] = measured.cpuMs;
      const tooCostly = measured.cpuMs > COSTS_AT_MOST_MS && measured.result.status === 0;
      if (tooCostly) leftOut.push(test.id);
      else tests.push(measured.result);
    }
    const mutantCoverage = shared.mutantCoverage ?? { static: {}, perTest: {} };
    for (const id of leftOut) delete mutantCoverage.perTest[id];
    this.clean = undefined;
    const learned: Learned = {
      counting,
      leftOut,
      costsMs,
      steps: stepsOf,
      reaching: Object.fromEntries(
        Object.keys(mutantCoverage.static).map((mutant) => [
          mutant,
          tests.filter(({ id }) => mutantCoverage.perTest[id]?.[mutant] !== undefined).map(({ id }) => id),
        ]),
      ),
    };
    writeFileSync(join(this.root, LEARNED), JSON.stringify(learned));
    return { status: 'complete', tests, mutantCoverage };
  }

  async mutantRun({ activeMutant, ...options }: MutantRunOptions): Promise<MutantRunResult> {
    this.learned ??= learnedIn(this.root);
    if (existsSync(this.endless(activeMutant.id)))
      return { status: 'timeout', reason: 'it ended our process' };
    // The first counterexample is enough: a smaller one helps nobody here.
    fc.configureGlobal({ endOnFailure: true });
    const isStatic = options.mutantActivation === 'static';
    shared.currentTestId = undefined;
    if (!isStatic) this.clean ??= this.loaded('silent');
    activate(activeMutant.id);
    steps.taken = 0;
    steps.allowed = STEPS_OF_A_LOAD;
    try {
      const registry = isStatic ? this.loaded('silent') : this.clean;
      return await this.judge(this.inOrder(registry?.tests ?? [], activeMutant.id, options.testFilter));
    } catch (error) {
      return { status: 'killed', killedBy: ['load'], failureMessage: messageOf(error), nrOfTests: 0 };
    } finally {
      activate(undefined);
    }
  }

  /** The last killers, then who reaches it, then the cheap ones. */
  private inOrder(all: readonly Test[], mutant: string, filter: readonly string[] | undefined): Test[] {
    const { costsMs, reaching, leftOut } = this.learned ?? NOTHING;
    const chosen = filter === undefined ? undefined : new Set(filter);
    const notNow = new Set(leftOut);
    const near = new Set(reaching[mutant] ?? []);
    const rank = ({ id }: Test): number =>
      (costsMs[id] ?? 0) + (near.size > 0 && !near.has(id) ? 1e9 : 0) - (this.killers.includes(id) ? 1e6 : 0);
    return all
      .filter(({ id }) => chosen?.has(id) ?? !notNow.has(id))
      .map((test) => ({ test, rank: rank(test) }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ test }) => test);
  }

  private async judge(tests: readonly Test[]): Promise<MutantRunResult> {
    for (const [at, test] of tests.entries()) {
      const failureMessage = await this.confirmed(test);
      if (steps.taken > steps.allowed) return { status: 'timeout', reason: `no end of ${test.id}` };
      if (failureMessage === undefined) continue;
      this.killers = [test.id, ...this.killers.filter((id) => id !== test.id)].slice(0, REMEMBERED);
      return { status: 'killed', killedBy: [test.id], failureMessage, nrOfTests: at + 1 };
    }
    return { status: 'survived', nrOfTests: tests.length };
  }

  /** Too little seen in few runs is no verdict; a counterexample is one. */
  private async confirmed(test: Test): Promise<string | undefined> {
    const { counting, steps: usual } = this.learned ?? NOTHING;
    steps.taken = 0;
    steps.allowed = STEPS_FACTOR * (usual[test.id] ?? 0) + STEPS_SPARE;
    const first = await failureOf(test, false);
    if (first === undefined || CERTAIN.test(first) || steps.taken > steps.allowed) return first;
    if (counting.includes(test.id)) return undefined;
    steps.taken = 0;
    steps.allowed *= RUNS_FACTOR;
    return await failureOf(test, true);
  }
}

const CERTAIN = new RegExp(`Property failed|${STUCK}`);
const messageOf = (error: unknown): string => String(error).slice(0, 300);

function learnedIn(root: string): Learned {
  const path = join(root, LEARNED);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Learned) : NOTHING;
}

/** @param whole with as many runs of a property as it has by itself */
async function failureOf(test: Test, whole: boolean): Promise<string | undefined> {
  forget();
  if (whole) delete process.env['RUNS_AT_MOST'];
  try {
    await test.run();
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    if (RUNS_AT_MOST !== undefined) process.env['RUNS_AT_MOST'] = RUNS_AT_MOST;
  }
}

async function resultOf(test: Test): Promise<{ readonly result: TestResult; readonly cpuMs: number }> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  shared.currentTestId = test.id;
  const failureMessage = await failureOf(test, false);
  shared.currentTestId = undefined;
  const { user, system } = process.cpuUsage(before);
  const result: TestResult = {
    id: test.id,
    name: test.id,
    fileName: test.file,
    timeSpentMs: performance.now() - startedAt,
    ...(failureMessage === undefined ? { status: 0 } : { status: 1, failureMessage }),
  };
  return { result, cpuMs: (user + system) / 1_000 };
}

export const strykerPlugins = [{ kind: 'TestRunner', name: 'core', injectableClass: CoreRunner }];
