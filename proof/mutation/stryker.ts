/**
 * What Stryker and a test runner of ours say to each other.
 *
 * Owns: the few shapes of @stryker-mutator/api that we use, and the memory it shares with the
 * instrumented code. Does not own: a dependency on that package, which the script fetches when it runs:
 * `npm ci` stays as quick as it was.
 */

/** Mutants by test, each with how often it was reached. */
export type Coverage = Record<string, Readonly<Record<string, number>>>;

/** Instrumented code reads and writes it as a global, by these names. */
export interface Shared {
  currentTestId?: string | undefined;
  mutantCoverage?: { static: Record<string, number>; perTest: Coverage };
}

export interface TestResult {
  readonly id: string;
  readonly name: string;
  readonly fileName: string;
  readonly timeSpentMs: number;
  /** 0 is success, 1 is a failure. */
  readonly status: 0 | 1;
  readonly failureMessage?: string;
}

export type DryRunResult =
  | {
      readonly status: 'complete';
      readonly tests: readonly TestResult[];
      readonly mutantCoverage: Shared['mutantCoverage'];
    }
  | { readonly status: 'error'; readonly errorMessage: string };

export interface MutantRunOptions {
  readonly activeMutant: { readonly id: string; readonly fileName: string };
  /** The ids of the tests that reach the mutant; none for code that runs while modules load. */
  readonly testFilter?: readonly string[];
  readonly mutantActivation: 'runtime' | 'static';
}

export type MutantRunResult =
  | {
      readonly status: 'killed';
      readonly killedBy: readonly string[];
      readonly failureMessage: string;
      readonly nrOfTests: number;
    }
  | { readonly status: 'survived'; readonly nrOfTests: number }
  | { readonly status: 'timeout'; readonly reason: string };

export interface TestRunner {
  capabilities(): { readonly reloadEnvironment: boolean };
  init(): Promise<void>;
  dryRun(): Promise<DryRunResult>;
  mutantRun(options: MutantRunOptions): Promise<MutantRunResult>;
}
