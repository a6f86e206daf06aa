/**
 * `describe`, `it` and `beforeEach` of jest, as far as the tests of the core use them, kept as a list of tests to run.
 *
 * Owns: the names of tests, their order, one test's run. Does not own: which tests are run (`runner.ts`), `expect`.
 */

import { bind } from 'jest-each';

type Body = () => unknown;

export interface Test {
  /** The file and the names, unique. */
  readonly id: string;
  readonly file: string;
  /** Rejects when the test fails. */
  readonly run: () => Promise<void>;
}

export interface Registry {
  readonly tests: readonly Test[];
  /** What test files find as globals. */
  readonly globals: Readonly<Record<string, unknown>>;
  /** Runs what registers a file's tests. */
  readonly file: (path: string, load: () => void) => void;
}

/** A mutant that never answers is ended here; one that never yields is ended by Stryker. */
const ANSWER_WITHIN_MS = 5_000;

export function registryOf(): Registry {
  const tests: Test[] = [];
  const taken = new Map<string, number>();
  let file = '';
  let names: string[] = [];
  let hooks: Body[] = [];

  const describe = (name: string, body: Body): void => {
    const [outerNames, outerHooks] = [names, hooks];
    names = [...names, name];
    hooks = [...hooks];
    body();
    names = outerNames;
    hooks = outerHooks;
  };
  const it = (name: string, body: Body): void => {
    const said = `${file}: ${[...names, name].join(' ')}`;
    const same = (taken.get(said) ?? 0) + 1;
    taken.set(said, same);
    const before = hooks;
    tests.push({
      id: same === 1 ? said : `${said} (${same})`,
      file,
      run: async () => {
        for (const hook of before) await answer(hook());
        await answer(body());
      },
    });
  };
  const beforeEach = (hook: Body): void => {
    hooks.push(hook);
  };
  return {
    tests,
    globals: {
      describe: Object.assign(describe, { each: bind(describe as never, false) }),
      it: Object.assign(it, { each: bind(it as never, false) }),
      beforeEach,
    },
    file: (path, load) => {
      file = path;
      hooks = [];
      load();
    },
  };
}

async function answer(given: unknown): Promise<void> {
  if (!(given instanceof Promise)) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('the test did not end in time')), ANSWER_WITHIN_MS);
  });
  try {
    await Promise.race([given, late]);
  } finally {
    clearTimeout(timer);
  }
}
