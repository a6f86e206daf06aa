/**
 * Finds references that a workflow's function tests as if they were values: `if (w.input.gift)`,
 * `!gift`, `gift && …`, `gift ? … : …`; and those that it compares, `if (kind === 'box')`,
 * `switch (kind)`, `if (eq(kind, 'box'))`.
 *
 * Owns: finding them, and the words. Does not own: another run of the function
 * (`core/plan/builder/rebuild.ts`), paths that lead nowhere (`core/plan/schemas/reference-check.ts`),
 * sums and texts, which a reference refuses itself.
 *
 * A reference cannot notice that it is tested: an object is true. So the function is run again with something
 * false in the place of a reference. Where that makes other steps, it was tested, in whatever words. Where it
 * is nowhere in what was built, it was compared. A function whose steps are others each time is believed.
 */

import { type Declared, rebuilt } from '../core/plan/builder/rebuild.ts';
import { type MakeRef, nameOf, ref, type RefSource } from '../core/plan/refs.ts';
import type { FoundWarning } from './discovery.ts';

/** False, and nothing that a plan has: it shows where it was put. */
const FALSE = 0n;

/**
 * Up to so many reads each is tried; of a larger workflow one run with all of them
 * shows first whether any is tested.
 */
const FEW_READS = 300;
const MOST_READS = 1_000;

interface Tested {
  readonly name: string;
  readonly children?: readonly Tested[];
}

/** One for each reference that is tested, in a workflow and in those that it runs. */
export function testedReferences(workflow: Tested, file: string, shown: string): FoundWarning[] {
  const { name, children = [] } = workflow;
  const own = testedIn(workflow, file).map(({ reference, line, isCompared = false }) => {
    const what = isCompared
      ? `reads ${reference} and gives it to no step: compared while the workflow is built (===, switch, typeof, if (eq(…))), it is the same for every execution`
      : `tests ${reference} as if it were a value (if, !, &&, ||, ?:), but while the workflow is built it is always true`;
    return {
      id: `steadfast:testedReference[${name}/${reference}]`,
      message: `${shown}${line}: workflow '${name}' ${what}: give the step a condition (when: eq(${reference}, …) or when: exists(${reference})), or take a default with orElse`,
    };
  });
  return [...own, ...children.flatMap((child) => testedReferences(child, file, shown))];
}

interface Found {
  readonly reference: string;
  readonly line: string;
  /** And no whole input or output, which each handle has. */
  readonly isField: boolean;
  readonly isCompared?: true;
}

function testedIn(workflow: Tested, file: string): Found[] {
  const run = (isFalse: IsFalse): Run | undefined => runWith(workflow, isFalse, file);
  const plain = run(() => false);
  if (plain === undefined || plain.steps !== run(() => false)?.steps) return [];
  const isAny = run(() => true)?.shape !== plain.shape;
  if (!isAny && plain.reads > FEW_READS) return [];
  const [found, compared] = [new Map<string, Found>(), new Map<string, Found>()];
  for (let at = 1; at <= Math.min(plain.reads, MOST_READS); at += 1) {
    let one: Found | undefined;
    const ran = runWith(
      workflow,
      (read) => read === at,
      file,
      (put) => (one = put),
    );
    if (one === undefined || found.has(one.reference)) continue;
    if (ran?.steps !== plain.steps) found.set(one.reference, one);
    else if (!ran.isUsed && one.isField) compared.set(one.reference, { ...one, isCompared: true });
  }
  if (found.size > 0 || !isAny) return [...new Map([...compared, ...found]).values()];
  // In `a || b` neither alone changes anything: the first of so many that do together. Whole inputs and
  // outputs have fields.
  const upTo =
    (most: number): IsFalse =>
    (read, path) =>
      read <= most && path.length > 0;
  let [low, high] = [0, plain.reads];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (run(upTo(middle))?.shape === plain.shape) low = middle;
    else high = middle;
  }
  let last: Found | undefined;
  runWith(workflow, upTo(high), file, (put) => (last = put));
  return last === undefined ? [] : [last];
}

interface Run {
  readonly reads: number;
  /** As text, in which what is false is the reference that it stands for. */
  readonly steps: string;
  /** As text in which all references are the same. */
  readonly shape: string;
  /** What is false was given to something, or its fields were read. */
  readonly isUsed: boolean;
}

/** Whether a reference stands for a false value, by the number of its read, from 1, and its path. */
type IsFalse = (read: number, path: readonly string[]) => boolean;

/**
 * Runs its function; nothing where that fails.
 * @param note called with each that is
 */
function runWith(
  workflow: Tested,
  isFalse: IsFalse,
  file: string,
  note?: (found: Found) => void,
): Run | undefined {
  let reads = 0;
  let latest: { readonly $ref: RefSource; readonly path: readonly string[] } | undefined;
  const make: MakeRef = (source, path) => {
    reads += 1;
    if (!isFalse(reads, path)) return ref(source, path, make);
    latest = { $ref: source, path };
    const line = lineOf(new Error().stack, file);
    note?.({ reference: nameOf(source, path), line, isField: path.length > 0 });
    return FALSE;
  };
  let isReadOn = false;
  const fieldOf = (key: string): unknown => {
    isReadOn = true;
    return latest === undefined ? undefined : make(latest.$ref, [...latest.path, key]);
  };
  try {
    const declared = withFields(fieldOf, () => rebuilt(workflow, make));
    if (declared === undefined) return undefined;
    const isUsed = isReadOn || JSON.stringify(declared, asGiven).includes(GIVEN);
    return { reads, steps: textOf(declared, latest ?? {}), shape: textOf(declared), isUsed };
  } catch {
    return undefined;
  }
}

/**
 * What stands for a reference has fields, as a reference has. Only while a function
 * runs, which is never interrupted.
 */
function withFields<T>(fieldOf: (key: string) => unknown, run: () => T): T {
  const fields = new Proxy(Object.create(null) as object, {
    get: (_, key) => (typeof key === 'string' ? fieldOf(key) : undefined),
  });
  const before: unknown = Object.getPrototypeOf(BigInt.prototype);
  Object.setPrototypeOf(BigInt.prototype, fields);
  try {
    return run();
  } finally {
    Object.setPrototypeOf(BigInt.prototype, before as object);
  }
}

/**
 * Which step comes after which follows from what it reads, and is left out.
 * @param stood what is false stands for; absent: all references are the same
 */
const textOf = (declared: Declared, stood?: unknown): string =>
  JSON.stringify(declared, (key, value: unknown) => {
    if (key === 'after') return undefined;
    const isReference = typeof value === 'object' && value !== null && Object.hasOwn(value, '$ref');
    if (typeof value === 'bigint') return stood ?? 'a reference';
    return isReference && stood === undefined ? 'a reference' : value;
  });

const GIVEN = 'steadfast:given';
const asGiven = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? GIVEN : value);

/** ':12', where the file reads it. */
function lineOf(stack: string | undefined, file: string): string {
  const line = /^\d+/.exec(stack?.split(`${file}:`)[1] ?? '')?.[0];
  return line === undefined ? '' : `:${line}`;
}
