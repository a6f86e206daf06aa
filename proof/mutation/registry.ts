/**
 * `describe`, `it` and `beforeEach` of jest, as far as the tests of the core use them,
 * kept as a list of tests to run.
 *
 * Owns: the names of tests, their order, one test's run. Does not own: which tests
 * are run (`runner.ts`), `expect`.
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

/** No step is taken in so many checks, each after a turn of the event loop: nothing will happen any more. */
const LOOKS = 3;
const POLL_EVERY_MS = 150;
export const STUCK = 'the test waits for what never comes';

/** @param progress anything that differs when work was done */
export function registryOf(progress: () => number): Registry {
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
        for (const hook of before) await answer(hook(), progress);
        await answer(body(), progress);
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

async function answer(given: unknown, progress: () => number): Promise<void> {
  if (!(given instanceof Promise)) return;
  let timer: NodeJS.Timeout | undefined;
  const stuck = new Promise((_, reject) => {
    let [seen, looks] = [progress(), 0];
    timer = setInterval(() => {
      looks = progress() === seen ? looks + 1 : 0;
      seen = progress();
      if (looks === LOOKS) reject(new Error(STUCK));
    }, POLL_EVERY_MS);
  });
  try {
    await Promise.race([given, stuck]);
  } finally {
    clearInterval(timer);
  }
}
